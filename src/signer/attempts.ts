import type { Expiry } from '../chains/port/chain-adapter.ts';

/** The facts of a signed transaction, as its journal entry holds them. */
export interface SignedAttempt {
  readonly attempt: number;
  /**
   * The inputs or the nonce that the transaction spends; null for an entry of an early journal,
   * which did not record them.
   */
  readonly reserves: readonly string[] | null;
  /** In the smallest unit of the chain's own coin. */
  readonly fee: bigint;
  /** Null when the transaction never expires, and for an entry of an early journal. */
  readonly expiresAt: Expiry | null;
}

type Spender = Pick<SignedAttempt, 'reserves' | 'fee'>;

/** What a further transaction of a payment adds to the total that can leave the wallet. */
export interface AddedSpending {
  /**
   * True when it can confirm together with the transactions signed before, so that its amount may
   * leave the wallet once more.
   */
  readonly isFurther: boolean;
  /** The amount by which its fee exceeds the highest fee of the transactions that it replaces. */
  readonly fee: bigint;
}

/**
 * Splits a payment's transactions into groups of which the chain can confirm at most one. Each
 * transaction of a group spends an input or nonce that each other one of the group spends too. The
 * number of groups is the largest number of times that the payment can go out.
 */
export function exclusiveGroups(attempts: readonly SignedAttempt[]): SignedAttempt[][] {
  const groups: SignedAttempt[][] = [];
  for (const attempt of attempts.toSorted((one, other) => one.attempt - other.attempt)) {
    const group = groupOf(groups, attempt);
    if (group) group.push(attempt);
    else groups.push([attempt]);
  }
  return groups;
}

/** What one more transaction adds to the existing groups. */
export function addedSpending(groups: readonly SignedAttempt[][], next: Spender): AddedSpending {
  const group = groupOf(groups, next);
  if (!group) return { isFurther: true, fee: next.fee };
  const dearest = group.reduce((most, { fee }) => (fee > most ? fee : most), 0n);
  return { isFurther: false, fee: next.fee > dearest ? next.fee - dearest : 0n };
}

function groupOf(groups: readonly SignedAttempt[][], next: Spender): SignedAttempt[] | undefined {
  return groups.find((group) => group.every((member) => excludeEachOther(member, next)));
}

function excludeEachOther(one: Spender, other: Spender): boolean {
  return one.reserves?.some((reserve) => other.reserves?.includes(reserve)) ?? false;
}
