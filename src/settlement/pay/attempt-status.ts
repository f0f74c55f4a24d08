import type { ChainAdapter, ChainTraits, Expiry, TxStatus } from '../../chains/port/chain-adapter.ts';
import type { PaymentAttempt } from '../rows/payment-attempt.entity.ts';
import type { Mined } from './payment-booking.ts';
import type { PaymentWithAttempts } from './payment-writer.ts';
import { expiryOf, signedTx } from './signed-attempts.ts';

/** A signed transaction of a payment, and the chain's status of it. */
export interface Observed {
  readonly attempt: PaymentAttempt;
  readonly status: TxStatus;
}

/** A payment, and the statuses of its living transactions and of dead ones, asked again. */
export interface ObservedPayment extends PaymentWithAttempts {
  readonly statuses: readonly Observed[];
}

/**
 * What the statuses of a payment's transactions mean for it.
 * - `waiting`: in no block, and at least one may still come.
 * - `in_block`: one is in a block, and not everything is final.
 * - `dying`: none can confirm, and that is not final for each.
 * - `paid`, `failed`, `dead`: final for each. One moved the amount; one is in a block and moved
 *   nothing; none is in a block.
 */
export type Outlook = 'waiting' | 'in_block' | 'dying' | 'paid' | 'failed' | 'dead';

/**
 * Judges a payment. A transaction is settled when its own status is final, or when a transaction
 * that shares a reservation with it is finally in a block.
 */
export function outlookOf(statuses: readonly Observed[]): Outlook {
  const mined = statuses.filter(isMined);
  const final = mined.filter(({ status }) => status.final);
  const isSettled = (one: Observed): boolean => isFinal(one.status) || isExcluded(one.attempt, final);
  if (statuses.length > 0 && statuses.every(isSettled)) {
    if (final.length === 0) return 'dead';
    return final.some(({ status }) => status.success) ? 'paid' : 'failed';
  }
  if (mined.length > 0) return 'in_block';
  return statuses.length > 0 && statuses.every(({ status }) => status.state === 'dead') ? 'dying' : 'waiting';
}

/** Whether the chain cannot confirm an attempt because it confirmed one that spends the same. */
export function isExcluded({ reserves }: PaymentAttempt, confirmed: readonly Observed[]): boolean {
  return confirmed.some(({ attempt }) => attempt.reserves.some((reserve) => reserves.includes(reserve)));
}

export function isMined(seen: Observed): seen is Observed & { readonly status: Mined } {
  return seen.status.state === 'mined';
}

function isFinal(status: TxStatus): boolean {
  return (status.state === 'mined' || status.state === 'dead') && status.final;
}

/** Why an attempt is dead: the stored reason, or else the chain's. Null while it is not dead. */
export function deathOf({ attempt, status }: Observed): 'conflict' | 'expired' | null {
  const { deadWhy } = attempt;
  if (deadWhy === 'conflict' || deadWhy === 'expired') return deadWhy;
  return status.state === 'dead' ? status.why : null;
}

/**
 * Whether a payment whose attempts are all dead gets no further one. Attempts that replaced one
 * another, or that reserve the same again, count once. A death by expiry does not count where
 * attempts exclude each other. A sweep that lost to another transaction is decided again.
 */
export function hasNoFurther(
  { payment, statuses }: ObservedPayment,
  { exclusive, furtherAttempts }: Pick<ChainTraits, 'exclusive' | 'furtherAttempts'>,
): boolean {
  const deaths = statuses.filter((one) => deathOf(one) === 'conflict' || !exclusive);
  const isLost = statuses.some((one) => one.attempt.deadAt === null && deathOf(one) === 'conflict');
  if (payment.kind === 'sweep' && isLost) return true;
  return new Set(deaths.map(({ attempt }) => JSON.stringify(attempt.reserves))).size >= furtherAttempts;
}

/**
 * Reads the statuses of signed attempts, in their order, in one request where the chain has one.
 *
 * @throws Error when the adapter does not tell a status of each, or tells one of a transaction that
 *   expires at another time.
 */
export async function statusesOf(
  adapter: ChainAdapter,
  attempts: readonly PaymentAttempt[],
): Promise<readonly Observed[]> {
  if (attempts.length === 0) return [];
  const together = await adapter.statusAll?.(attempts.map(signedTx));
  // A status is found by its place, and must never be taken for that of another transaction.
  if (together && together.length !== attempts.length)
    throw new Error(`${adapter.chain} did not tell a status of each`);
  const statuses: Observed[] = [];
  for (const [index, attempt] of attempts.entries()) {
    const status = together?.[index] ?? (await adapter.status(signedTx(attempt)));
    if (status.state === 'waiting' && !isSameExpiry(status.until, expiryOf(attempt))) {
      throw new Error(`${adapter.chain} lets ${attempt.txid} wait until another time than it expires`);
    }
    statuses.push({ attempt, status });
  }
  return statuses;
}

function isSameExpiry(one: Expiry, other: Expiry | null): boolean {
  if (other === null) return false;
  if ('height' in one) return 'height' in other && one.height === other.height;
  return 'timeMs' in other && one.timeMs === other.timeMs;
}

/**
 * Reads the statuses of the living transactions of payments, in one request where the chain has
 * one. Otherwise it stops after a payment once the time is over.
 */
export async function observe(
  adapter: ChainAdapter,
  sent: readonly PaymentWithAttempts[],
  hasTime: () => boolean,
): Promise<readonly ObservedPayment[]> {
  const signed = ({ alive }: PaymentWithAttempts): PaymentAttempt[] => alive.filter(({ raw }) => raw !== null);
  if (adapter.statusAll) {
    const all = Map.groupBy(await statusesOf(adapter, sent.flatMap(signed)), ({ attempt }) => attempt.paymentId);
    return sent.map((one) => ({ ...one, statuses: all.get(one.payment.id) ?? [] }));
  }
  const seen: ObservedPayment[] = [];
  for (const one of sent) {
    if (seen.length > 0 && !hasTime()) break;
    seen.push({ ...one, statuses: await statusesOf(adapter, signed(one)) });
  }
  return seen;
}
