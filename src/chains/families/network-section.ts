import { didYouMean, type FileSection, oneOf } from '../networks/file-section.ts';
import type { ChainCoin } from '../networks/network-config.ts';
import { networkById, networkOfChain } from '../networks/networks.ts';
import { families, type NetworkConfig } from './families.ts';

/**
 * Reads the network of a chain from the section that names it. Faults are recorded there.
 *
 * @param coins The coins of the catalogue on the chain.
 * @returns null for a chain that no adapter serves.
 */
export function readNetwork(parent: FileSection, chain: string, coins: readonly ChainCoin[]): NetworkConfig | null {
  const family = families.find(({ chains }) => chains.includes(chain));
  const section = parent.section(chain);
  if (family === undefined) {
    parent.fault(chain, noAdapter(chain));
    return null;
  }
  const { kind } = family;
  const given = section.required(
    'kind',
    oneOf(kind, ...families.map((each) => each.kind).filter((each) => each !== kind)),
  );
  if (given !== kind) section.fault('kind', `does not fit ${chain}`, kind);
  const network = family.readSection(section, chain, coins);
  section.end();
  return network;
}

function noAdapter(chain: string): string {
  const network = networkById(chain) ?? networkById(chain.toUpperCase());
  if (networkOfChain(chain)) {
    return `cannot be live: there is no adapter for ${chain}; leave it out, and it is off`;
  }
  if (network) return `is unknown: a chain is named here; did you mean ${network.chain}?`;
  return `is unknown${didYouMean(
    chain,
    families.flatMap(({ chains }) => chains),
  )}`;
}
