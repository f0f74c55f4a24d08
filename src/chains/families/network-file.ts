import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import { FileSection, oneOf } from '../networks/file-section.ts';
import type { ChainCoin } from '../networks/network-config.ts';
import { isOfValue } from './chain-identity.ts';
import type { NetworkConfig } from './families.ts';
import { readNetwork } from './network-section.ts';

/** The contents of a file of networks. */
export interface NetworkFile {
  readonly networks: readonly NetworkConfig[];
  /** The state of the chains that it does not name. */
  readonly others: 'off' | 'sandbox';
}

/** All faults of a file of networks at once, each with its place. */
export class NetworkFileError extends Error {
  override readonly name = 'NetworkFileError';
  readonly problems: readonly string[];

  constructor(path: string, faults: readonly string[]) {
    super(`the file of networks ${path} cannot be used`);
    this.problems = faults.map((fault) => `${path}: ${fault}`);
  }
}

/** Limit of the file's size. A file of networks has a few kilobytes. */
const mostBytes = 1_000_000;

/**
 * Reads a file of networks; networks.example.yaml explains each member. It also reads the secrets
 * that the file keeps in separate files.
 *
 * @param coinsOf The coins of the catalogue on a chain.
 * @throws NetworkFileError with all faults.
 */
export function loadNetworks(path: string, coinsOf: (chain: string) => readonly ChainCoin[]): NetworkFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new NetworkFileError(path, ['the file cannot be read']);
  }
  return readNetworks(text, path, coinsOf);
}

export function readNetworks(
  text: string,
  path: string,
  coinsOf: (chain: string) => readonly ChainCoin[],
): NetworkFile {
  const faults: string[] = [];
  const file = new FileSection(readYaml(text, path), '', faults);
  const others = file.optional('others', oneOf('off', 'sandbox'), 'off');
  const section = file.section('networks');
  const networks = section
    .names()
    .map((chain) => readNetwork(section, chain, coinsOf(chain)))
    .filter((network) => network !== null);
  if (section.names().length === 0)
    faults.push('networks names no network; leave the file out, and all is the sandbox');
  section.end();
  file.end();
  faults.push(...mixtures(networks, others));
  if (faults.length > 0) throw new NetworkFileError(path, faults);
  return { networks, others };
}

/**
 * Refuses a mixture of networks with and without value: worthless coins must never buy coins of
 * value.
 */
function mixtures(networks: readonly NetworkConfig[], others: NetworkFile['others']): string[] {
  const ofValue = networks.filter(isOfValue).map(({ chain }) => chain);
  const worthless = networks.filter((network) => !isOfValue(network)).map(({ chain }) => chain);
  if (ofValue.length === 0) return [];
  const faults: string[] = [];
  if (worthless.length > 0) {
    faults.push(
      `networks has main networks (${ofValue.join(', ')}) and test networks (${worthless.join(', ')}), whose coins ` +
        'are free; keep them in files and databases of their own',
    );
  }
  if (others === 'sandbox') {
    faults.push(`others may not be sandbox with main networks (${ofValue.join(', ')}); a good value: off`);
  }
  return faults;
}

/** Reads YAML. Its faults name positions but not the text there, which may be a secret. */
function readYaml(text: string, path: string): unknown {
  if (text.length > mostBytes) throw new NetworkFileError(path, ['the file is longer than a million characters']);
  const lines = new LineCounter();
  const document = parseDocument(text, { version: '1.2', prettyErrors: false, lineCounter: lines });
  const faults = [...document.errors, ...document.warnings].map(({ code, pos }) => {
    const { line, col } = lines.linePos(pos[0]);
    return `line ${line}, column ${col}: ${code.toLowerCase().replaceAll('_', ' ')}`;
  });
  if (faults.length > 0) throw new NetworkFileError(path, faults);
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: 100 });
  } catch {
    throw new NetworkFileError(path, ['an alias leads nowhere, or to too much']);
  }
}
