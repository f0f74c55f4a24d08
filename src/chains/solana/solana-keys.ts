import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { encodeSolana } from '../addresses/solana.ts';

/** The programs that transactions of ours call. https://solana.com/docs/core/programs */
export const programs = {
  system: '11111111111111111111111111111111',
  budget: 'ComputeBudget111111111111111111111111111111',
  associated: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  token2022: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
} as const;

/** The longest seed of a derived address, in bytes. */
const longestSeed = 32;

/**
 * The 32 bytes of an address, or of a block's hash.
 *
 * @throws RangeError for a text that is none.
 */
export function solanaKey(address: string): Uint8Array {
  const bytes = isBase58(address) ? base58.decode(address) : new Uint8Array();
  if (bytes.length !== 32) throw new RangeError('this is not 32 bytes in base58');
  return bytes;
}

export function isSolanaKey(text: unknown): text is string {
  return typeof text === 'string' && isBase58(text) && base58.decode(text).length === 32;
}

function isBase58(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text);
}

/**
 * The address that a seed gives beside another one. Transactions that its base signs make and empty
 * it. https://solana.com/docs/core/pda
 *
 * @throws RangeError for a seed that is too long.
 */
export function seedAddress(base: string, seed: string, owner: string): string {
  const bytes = utf8ToBytes(seed);
  if (bytes.length > longestSeed) throw new RangeError('a seed has at most 32 bytes');
  return encodeSolana(sha256(concatBytes(solanaKey(base), bytes, solanaKey(owner))));
}

/** A token, with the program that keeps it. */
export interface SolanaToken {
  readonly mint: string;
  readonly program: string;
  readonly decimals: number;
}

/**
 * The account in which wallets keep a token. It is the first one of its seeds that is no point of
 * the curve, so that it has no key. https://www.solana-program.com/docs/associated-token-account
 */
export function associatedAccount(owner: string, { mint, program }: Pick<SolanaToken, 'mint' | 'program'>): string {
  const seeds = [owner, program, mint].map(solanaKey);
  for (let bump = 255; bump >= 0; bump -= 1) {
    const end = [Uint8Array.of(bump), solanaKey(programs.associated), utf8ToBytes('ProgramDerivedAddress')];
    const found = sha256(concatBytes(...seeds, ...end));
    if (!isPoint(found)) return encodeSolana(found);
  }
  throw new Error('these seeds have no address, which cannot happen by chance');
}

/** As the chain decides it, which also takes points in another form than the usual one. */
function isPoint(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
}

/**
 * The seed of a payment's marker: an empty account that each transaction of the payment makes
 * first. The chain makes it once, and so confirms one transaction of the payment.
 *
 * @param number Counts from 0. A further marker is used where a stranger made the address before.
 */
export function markerSeed(paymentId: string, number: number): string {
  return bytesToHex(sha256(utf8ToBytes(`${paymentId}:${number}`))).slice(0, longestSeed);
}

export function markerAddress(wallet: string, seed: string): string {
  return seedAddress(wallet, seed, programs.system);
}
