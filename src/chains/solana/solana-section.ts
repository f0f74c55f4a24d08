import { toUnits } from '../../base/money.ts';
import { readCommon, readTwoNodesAbove } from '../networks/common-section.ts';
import { BadValue, type FileSection, oneOf, type Reader } from '../networks/file-section.ts';
import type { ChainCoin, LiveNetwork } from '../networks/network-config.ts';
import { networkOfChain } from '../networks/networks.ts';
import { readTokens } from '../token-section.ts';
import { isSolanaKey } from './solana-keys.ts';

/** The public networks by the hash of their block 0, and a private chain. */
type SolanaNet = keyof typeof genesisHashes | 'private';

export interface SolanaNetwork extends LiveNetwork {
  readonly kind: 'solana';
  readonly net: SolanaNet;
  /** Hash of block 0. */
  readonly genesis: string;
  readonly finality: 'finalized';
  /**
   * By mint, '' for the chain's own coin. The most that deposits of a day may bring on the word of
   * one node, which could make up a whole block. Above it they count only when a second node tells
   * the same of them. In the smallest unit.
   */
  readonly twoNodesAbove: ReadonlyMap<string, bigint>;
}

/** https://solana.com/docs/references/clusters, with `getGenesisHash` of each */
const genesisHashes = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
} as const;

export const solDecimals = 9;
/** Ten times what a payment to a new holder of a token costs, by the rents of 2026. */
const dearestFee = '0.03';
/** A CAIP-2 name has so many digits of the hash, https://namespaces.chainagnostic.org/solana/caip2 */
const nameLength = 32;

export function solanaChainId(genesis: string): string {
  return `solana:${genesis.slice(0, nameLength)}`;
}

/** Whether coins of the network with this CAIP-2 name have a value. */
export function isSolanaOfValue(chainId: string): boolean {
  return chainId === solanaChainId(genesisHashes.mainnet);
}

/** Whether the file names a mint. */
export function isListed({ tokens }: Pick<SolanaNetwork, 'tokens'>, mint: string): boolean {
  return [...tokens.values()].includes(mint);
}

/**
 * Path of a deposit address's key by its index from 1, or of the wallet's key, 0. Wallets show the
 * same addresses for the same words.
 *
 * @throws Error for a chain that is not Solana.
 */
export function solanaPath(chain: string, index = 0): string {
  const paths = networkOfChain(chain);
  if (paths?.family !== 'solana') throw new Error(`${chain} is not Solana`);
  return `${paths.accountPath}/${index}'/0'`;
}

export function readSolanaSection(section: FileSection, chain: string, coins: readonly ChainCoin[]): SolanaNetwork {
  const net = section.required('net', oneOf<SolanaNet>('mainnet', 'testnet', 'devnet', 'private'));
  const known = net === 'private' ? null : genesisHashes[net];
  const genesis =
    known === null ? section.required('genesis', blockHash) : section.optional('genesis', blockHash, known);
  if (known !== null && genesis !== known) section.fault('genesis', `is not that of net ${net}; leave it out`);
  const finality = section.optional('finality', oneOf<'finalized'>('finalized'), 'finalized');
  const tokens = readTokens(section, chain, coins, 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
  const common = readCommon(section, chain, finality, coins, tokens, {
    pollMs: 1_000,
    // Nothing is taken back: the window only shows that the blocks of a scan join those before.
    reorgWindow: 20,
    stalledAfterSec: net === 'private' ? 0 : 60,
    maxFee: toUnits(dearestFee, solDecimals),
  });
  return { kind: 'solana', net, genesis, ...common, twoNodesAbove: readTwoNodesAbove(section, coins, tokens) };
}

const blockHash: Reader<string> = {
  good: genesisHashes.devnet,
  read(value) {
    if (!isSolanaKey(value)) throw new BadValue('must be the hash of block 0: 32 bytes in base58');
    return value;
  },
};
