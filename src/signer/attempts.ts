/** What a signature that was given once says of itself. */
export interface SignedAttempt {
  readonly attempt: number;
  /** What the transaction spends; null for one of an early journal, which did not note it. */
  readonly reserves: readonly string[] | null;
  /** In the smallest unit of the chain's own coin. */
  readonly fee: bigint;
}

/** What a further transaction of a payment adds to what can leave the wallet. */
export interface AddedSpending {
  /** It can confirm beside those signed before, so that its amount may leave the wallet once more. */
  readonly isFurther: boolean;
  /** By so much it costs more than the dearest of those whose place it takes. */
  readonly fee: bigint;
}

/**
 * Splits a payment's transactions into groups of which the chain can confirm one at most: each transaction of a group
 * spends something that each other one spends too. The number of groups bounds how often the payment can go out.
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

/** What one more transaction adds to the groups there are. */
export function addedSpending(groups: readonly SignedAttempt[][], next: SignedAttempt): AddedSpending {
  const group = groupOf(groups, next);
  if (!group) return { isFurther: true, fee: next.fee };
  const dearest = group.reduce((most, { fee }) => (fee > most ? fee : most), 0n);
  return { isFurther: false, fee: next.fee > dearest ? next.fee - dearest : 0n };
}

function groupOf(groups: readonly SignedAttempt[][], next: SignedAttempt): SignedAttempt[] | undefined {
  return groups.find((group) => group.every((member) => excludeEachOther(member, next)));
}

function excludeEachOther(one: SignedAttempt, other: SignedAttempt): boolean {
  return one.reserves?.some((reserve) => other.reserves?.includes(reserve)) ?? false;
}
