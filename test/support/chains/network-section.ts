import { stringify } from 'yaml';
import { NetworkFileError, readNetworks } from '../../../src/chains/families/network-file.ts';
import type { LiveNetwork } from '../../../src/chains/networks/network-config.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';

type Members = Readonly<Record<string, unknown>>;

export interface SectionReader<T> {
  /** @throws NetworkFileError for a section with faults. */
  read(changes?: Members): T;
  /** The faults of a section; none for one that can be read. */
  faultsOf(changes: Members): readonly string[];
}

/**
 * Reads files of networks with one section. It has its least members and what a test changes;
 * an undefined one is left out.
 */
export function sectionReader<T extends LiveNetwork>(chain: string, least: Members): SectionReader<T> {
  const read = (changes: Members = {}): T => {
    const file = stringify({ networks: { [chain]: { ...least, ...changes } } });
    return readNetworks(file, 'x', chainCoins).networks[0] as unknown as T;
  };
  return {
    read,
    faultsOf(changes) {
      try {
        read(changes);
      } catch (error) {
        if (error instanceof NetworkFileError) return error.problems;
        throw error;
      }
      return [];
    },
  };
}
