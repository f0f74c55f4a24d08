import type { ChainAdapter, Expiry, SignedTx } from '../../chains/port/chain-adapter.ts';
import { furtherAfterExpiryMs, furtherClockMs } from '../../chains/port/further-attempts.ts';
import type { PaymentAttempt } from '../rows/payment-attempt.entity.ts';

export function signedTx(attempt: PaymentAttempt): SignedTx {
  const { txid, raw, reserves } = attempt;
  if (txid === null || raw === null) throw new Error('the attempt is not signed');
  return { txid, raw, reserves, expiresAt: expiryOf(attempt) };
}

/** When the attempt can no longer confirm; null when it never expires. */
export function expiryOf({
  expiresAtHeight,
  expiresAt,
}: Pick<PaymentAttempt, 'expiresAtHeight' | 'expiresAt'>): Expiry | null {
  if (expiresAt !== null) return { timeMs: expiresAt.getTime() };
  return expiresAtHeight === null ? null : { height: expiresAtHeight };
}

/**
 * When the signer signs an attempt after these ones, which are dead: now, or later where only their
 * expiry keeps them apart from it. Its clock may be behind ours. An attempt that was never signed
 * delays nothing.
 */
export function furtherAt(dead: readonly PaymentAttempt[], isExclusive: boolean, now: Date): Date {
  if (isExclusive) return now;
  const expiries = dead.flatMap(({ raw, expiresAt }) => (raw === null || expiresAt === null ? [] : [expiresAt]));
  const waitMs = furtherAfterExpiryMs + furtherClockMs;
  return new Date(Math.max(now.getTime(), ...expiries.map((at) => at.getTime() + waitMs)));
}

/**
 * Selects the attempts that no block from now on can hold: their time has passed by the clock, or
 * the next block is above their height. The chain is asked for its head only where one expires at a
 * height. Such an attempt may be in a block already, so that only its status tells whether it is
 * dead.
 */
export async function pastExpiry(
  adapter: Pick<ChainAdapter, 'head' | 'lateHeight'>,
  now: Date,
  attempts: readonly PaymentAttempt[],
): Promise<ReadonlySet<PaymentAttempt>> {
  const isByHeight = attempts.some(({ expiresAtHeight }) => expiresAtHeight !== null);
  const late = isByHeight ? await lateHeight(adapter) : 0;
  const hasPassed = (attempt: PaymentAttempt): boolean => {
    const expiry = expiryOf(attempt);
    if (expiry === null) return false;
    return 'timeMs' in expiry ? now.getTime() >= expiry.timeMs : late >= expiry.height;
  };
  return new Set(attempts.filter(hasPassed));
}

async function lateHeight(adapter: Pick<ChainAdapter, 'head' | 'lateHeight'>): Promise<number> {
  return adapter.lateHeight ? adapter.lateHeight() : (await adapter.head()).height;
}
