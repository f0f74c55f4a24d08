import { furtherAfterExpiryMs, furtherClockMs } from '../chains/port/further-attempts.ts';
import type { JournalEntry } from './journal.ts';

/** A further transaction, which is not signed yet. */
interface FurtherAttempt {
  readonly paymentId: string;
  readonly attempt: number;
  /** The time of the chain that its bytes state. */
  readonly builtAtMs: number | undefined;
  /** Txids of the payment's other signed attempts, as the gateway knows them. */
  readonly earlier: readonly string[];
}

/**
 * Why a further transaction of a payment is not signed now, on a chain whose attempts do not
 * exclude each other. Null when none was signed, or all that were signed are dead. The signer has
 * no node: it compares their expiries with its own clock. The chain's time in the new transaction
 * must agree with that clock.
 */
export function refusalOfFurther(
  signed: readonly JournalEntry[],
  { paymentId, attempt, builtAtMs, earlier }: FurtherAttempt,
  now: Date,
): string | null {
  if (earlier.some((txid) => signed.every((entry) => entry.txid !== txid))) {
    return (
      `payment ${paymentId} has a signed transaction that is not in the journal, so its expiry is unknown; ` +
      'no further one is ever signed'
    );
  }
  if (signed.length === 0) return null;
  let last = { attempt: 0, deadAtMs: Number.NEGATIVE_INFINITY };
  for (const entry of signed) {
    const { expiresAt } = entry;
    if (expiresAt === null || !('timeMs' in expiresAt)) {
      return (
        `attempt ${entry.attempt} of payment ${paymentId} has no time of expiry that the signer can judge; ` +
        'no further one is ever signed'
      );
    }
    const deadAtMs = expiresAt.timeMs + furtherAfterExpiryMs;
    if (deadAtMs > last.deadAtMs) last = { attempt: entry.attempt, deadAtMs };
  }
  if (now.getTime() < last.deadAtMs) {
    const from = new Date(last.deadAtMs).toISOString();
    return `attempt ${last.attempt} of payment ${paymentId} may still confirm; a further one may be asked for from ${from}`;
  }
  if (builtAtMs === undefined) {
    return `attempt ${attempt} of payment ${paymentId} does not state the time of the chain, so it is not signed`;
  }
  // Written so that a time that is no number is refused.
  if (Math.abs(now.getTime() - builtAtMs) < furtherClockMs) return null;
  return (
    `the time of the chain in attempt ${attempt} of payment ${paymentId} is 30 s or more from the signer's clock; ` +
    'it may be asked for again once it is built on a block of the present time, and the clock is right'
  );
}
