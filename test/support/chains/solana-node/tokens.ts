import { base58 } from '@scure/base';
import { programs, type Text58 } from './keys.ts';
import { littleEndian, Reader } from './reader.ts';

export interface Account {
  readonly lamports: bigint;
  readonly owner: Text58;
  readonly data: Uint8Array;
  readonly executable: boolean;
}

export interface TokenAccount {
  readonly mint: Text58;
  readonly owner: Text58;
  readonly amount: bigint;
  readonly state: 'initialized' | 'frozen';
  readonly isNative: boolean;
}

/** One entry of `preTokenBalances` or `postTokenBalances`. */
export interface TokenBalance extends Pick<TokenAccount, 'mint' | 'owner' | 'amount'> {
  readonly accountIndex: number;
  readonly decimals: number;
  readonly programId: Text58;
}

export const tokenPrograms: readonly Text58[] = [programs.token, programs.token2022];

const [accountSize, mintSize] = [165, 82];

/** A token account of either program, or null for what is none. */
export function tokenAccountOf({ owner: program, data }: Account): TokenAccount | null {
  if (!tokenPrograms.includes(program) || kindOf(data) !== 'account') return null;
  const reader = new Reader(data);
  const [mint, owner] = [base58.encode(reader.take(32)), base58.encode(reader.take(32))];
  const amount = reader.number(8);
  const state = data[108] === 2 ? 'frozen' : 'initialized';
  return data[108] === 0 ? null : { mint, owner, amount, state, isNative: data[109] === 1 };
}

/** The decimal places of a mint, or null for what is none. */
export function decimalsOf({ owner: program, data }: Account): number | null {
  if (!tokenPrograms.includes(program) || kindOf(data) !== 'mint') return null;
  return data[44] ?? null;
}

/** With extensions, a byte after the size of an account tells the kind. */
function kindOf(data: Uint8Array): 'account' | 'mint' | null {
  if (data.length === mintSize) return 'mint';
  if (data.length === accountSize) return 'account';
  if (data.length < accountSize) return null;
  return ([null, 'mint', 'account'] as const)[data[accountSize] ?? 0] ?? null;
}

/** The data of a token account with another amount. */
export function withAmount(data: Uint8Array, amount: bigint): Uint8Array {
  const changed = data.slice();
  changed.set(littleEndian(amount, 8), 64);
  return changed;
}
