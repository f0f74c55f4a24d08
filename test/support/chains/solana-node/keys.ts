import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58 } from '@scure/base';

/** An address or a hash, in base58. */
export type Text58 = string;

export interface SolanaKey {
  readonly address: Text58;
  readonly secret: Uint8Array;
}

/** Programs and accounts that every network has. */
export const programs = {
  system: '11111111111111111111111111111111',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  token2022: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  associated: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  memo: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
  lookup: 'AddressLookupTab1e1111111111111111111111111',
} as const;

/** The mint of wrapped SOL. */
export const wrappedSol = 'So11111111111111111111111111111111111111112';

/** The key of a text, so that tests repeat. */
export function keyOf(seed: string): SolanaKey {
  const secret = sha256(new TextEncoder().encode(seed));
  return { address: base58.encode(ed25519.getPublicKey(secret)), secret };
}

/** @throws Error for a text that is no base58 of 32 bytes. */
export function bytesOf(address: Text58): Uint8Array {
  const bytes = base58.decode(address);
  if (bytes.length !== 32) throw new Error('WrongSize');
  return bytes;
}

export function isAddress(text: unknown): text is Text58 {
  if (typeof text !== 'string' || text.length > 44) return false;
  try {
    return bytesOf(text).length === 32;
  } catch {
    return false;
  }
}

/** The address that `createAccountWithSeed` makes. https://docs.rs/solana-address */
export function seededAddress(base: Text58, seed: string, owner: Text58): Text58 {
  return base58.encode(sha256(joined([bytesOf(base), new TextEncoder().encode(seed), bytesOf(owner)])));
}

/** An address of a program, which is no point of the curve. https://solana.com/docs/core/pda */
export function programAddress(seeds: readonly Uint8Array[], program: Text58): Text58 {
  const end = joined([bytesOf(program), new TextEncoder().encode('ProgramDerivedAddress')]);
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = sha256(joined([...seeds, Uint8Array.of(bump), end]));
    if (!isPoint(hash)) return base58.encode(hash);
  }
  throw new Error('no address of the program');
}

/** The token account that wallets use for an owner and a mint. */
export function associatedAddress(owner: Text58, mint: Text58, tokenProgram: Text58): Text58 {
  return programAddress([owner, tokenProgram, mint].map(bytesOf), programs.associated);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

function isPoint(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}
