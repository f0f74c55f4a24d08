import { book, line, minus } from '../../ledger/ledger.ts';
import type { Deposit } from '../deposit.entity.ts';
import type { Settling } from '../settling.ts';
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

/** Whether a deposit in a block has the confirmations that it needs, at a scanned height. */
export function isRipe(deposit: Deposit, height: number): boolean {
  return (
    deposit.state === 'mined' && deposit.height !== null && height - deposit.height + 1 >= deposit.confirmationsRequired
  );
}

/** Credits each deposit that has its confirmations, and lets an order go on whose deposit came back. */
export async function creditDeposits(settling: Settling): Promise<void> {
  const { em, order, deposits, heights, now } = settling;
  for (const deposit of deposits) {
    if (!isRipe(deposit, heights.get(deposit.chain) ?? 0)) continue;
    markCredited(deposit, now);
    await book(em, {
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
