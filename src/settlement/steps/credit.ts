import { line, minus } from '../../ledger/ledger.ts';
import type { Deposit } from '../deposit.entity.ts';
import type { ScannedTo, Settling } from '../settling.ts';
import { mainDeposit } from './notice.ts';

/** What a booking of a deposit is known by: one that is reorganised away and comes back is booked anew. */
export function depositReference({ chain, key, credits }: Pick<Deposit, 'chain' | 'key' | 'credits'>): string {
  return `${chain}:${key}:${credits}`;
}

export function markCredited(deposit: Deposit, now: Date): void {
  deposit.state = 'credited';
  deposit.creditedAt = now;
  deposit.credits += 1;
}

/**
 * Whether a deposit in a block counts, as far as its chain was read: it has the confirmations that it needs, and its
 * block is final where the chain itself says what is.
 */
export function isRipe(deposit: Deposit, { height, final }: ScannedTo): boolean {
  if (deposit.state !== 'mined' || deposit.height === null) return false;
  return height - deposit.height + 1 >= deposit.confirmationsRequired && deposit.height <= (final ?? height);
}

/** Credits each deposit that counts by now, and lets an order go on whose deposit came back. */
export function creditDeposits(settling: Settling): void {
  const { bookings, order, deposits, scanned, now } = settling;
  for (const deposit of deposits) {
    const to = scanned.get(deposit.chain);
    if (!to || !isRipe(deposit, to)) continue;
    markCredited(deposit, now);
    bookings.push({
      kind: 'deposit',
      reference: depositReference(deposit),
      orderId: order.id,
      at: now,
      lines: [line('deposits', deposit, deposit.amount), line('client', deposit, minus(deposit.amount))],
    });
  }
  if (order.holdReason === depositGone && mainDeposit(settling)?.state === 'credited') {
    order.heldAt = null;
    order.holdReason = null;
    order.updatedAt = now;
  }
}

/** Why an order is held whose deposit was credited, used, and then reorganised away. */
export const depositGone = 'deposit_reorganised';
