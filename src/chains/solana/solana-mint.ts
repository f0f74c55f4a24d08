import { encodeSolana } from '../addresses/solana.ts';
import { unsound } from '../nodes/node-answer.ts';
import { programs, type SolanaToken } from './solana-keys.ts';
import type { SolanaAccount } from './solana-node.ts';

/** The sizes and places of https://docs.rs/spl-token-interface and its extensions. */
const sizes = { mint: 82, account: 165, kind: 1, extension: 4 } as const;
const places = { decimals: 44, hasMint: 45, accountAmount: 64, accountState: 108 } as const;
const mintKind = 1;
const isUsable = 1;

/** An account of a token of 2022 states that it stays with its owner. */
const ownerStays = sizes.kind + sizes.extension;

/**
 * Extensions of mints by which a payment moves what it says, to whom it says. Others take a fee,
 * call a program that may refuse, hide amounts, or let a stranger move the tokens of others.
 * https://www.solana-program.com/docs/token-2022/extensions
 */
const harmless: ReadonlySet<number> = new Set([3, 18, 19, 20, 21, 22, 23]);

/** What is wrong with a mint, as the end of a sentence; null for one that can be exchanged. */
export function mintFault(account: SolanaAccount | null): string | null {
  if (account === null) return 'does not exist';
  const { owner, data } = account;
  const isOfToken = owner === programs.token && data.length === sizes.mint;
  const isOf2022 = owner === programs.token2022 && (data.length === sizes.mint || kindOf(data) === mintKind);
  if ((!isOfToken && !isOf2022) || data[places.hasMint] !== 1) return 'is no token';
  const unknown = extensionsOf(data).find((kind) => !harmless.has(kind));
  return unknown === undefined ? null : `is a token with the extension ${unknown}, by which a payment may go astray`;
}

/** @throws ChainError for an account that is no usable mint. */
export function readMint(mint: string, account: SolanaAccount | null): SolanaToken {
  const fault = mintFault(account);
  if (account === null || fault !== null) throw unsound(`a mint ${mint} that ${fault}`);
  return { mint, program: account.owner, decimals: account.data[places.decimals] ?? 0 };
}

function kindOf(data: Uint8Array): number | undefined {
  return data[sizes.account];
}

/** The kinds of a mint's extensions: each has two bytes, then two bytes of length. */
function extensionsOf(data: Uint8Array): number[] {
  const found: number[] = [];
  const bytes = Buffer.from(data);
  for (let at = sizes.account + sizes.kind; at + sizes.extension <= bytes.length; ) {
    const kind = bytes.readUInt16LE(at);
    // The rest is empty.
    if (kind === 0) break;
    found.push(kind);
    at += sizes.extension + bytes.readUInt16LE(at + 2);
  }
  return found;
}

/** The size of the account in which a wallet keeps a token. */
export function accountSize({ program }: Pick<SolanaToken, 'program'>): number {
  return program === programs.token ? sizes.account : sizes.account + ownerStays;
}

/** What a token account holds, and whose it is. */
export interface TokenHolding {
  readonly owner: string;
  readonly amount: bigint;
  /** Not frozen by the token's issuer. */
  readonly isUsable: boolean;
}

/** Puts the larger of two amounts first. */
export function descending(one: bigint, other: bigint): number {
  if (one === other) return 0;
  return one > other ? -1 : 1;
}

/** @throws ChainError for an account that keeps another token, or none. */
export function readHolding(account: SolanaAccount, mint: string): TokenHolding {
  const data = Buffer.from(account.data);
  const isOfProgram = account.owner === programs.token || account.owner === programs.token2022;
  if (!isOfProgram || data.length < sizes.account) throw unsound('an account that keeps no token');
  if (encodeSolana(data.subarray(0, 32)) !== mint) throw unsound('an account of another token');
  return {
    owner: encodeSolana(data.subarray(32, places.accountAmount)),
    amount: data.readBigUInt64LE(places.accountAmount),
    isUsable: data[places.accountState] === isUsable,
  };
}
