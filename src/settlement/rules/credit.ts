import { accountOfDeposits } from '../../chains/port/deposit-account.ts';
import { line, minus } from '../../ledger/ledger.ts';
import { releaseOrder } from '../../orders/order-moves.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import { mainDeposit } from './match.ts';
import type { ScannedTo, Settling } from './settling.ts';

/**
 * The journal reference of a deposit. A deposit that returns after a reorg gets a new one and is
 * booked again.
 */
export function depositReference({ chain, key, credits }: Pick<Deposit, 'chain' | 'key' | 'credits'>): string {
  return `${chain}:${key}:${credits}`;
}

export function markCredited(deposit: Deposit, now: Date): void {
  deposit.state = 'credited';
  deposit.creditedAt = now;
  deposit.credits += 1;
}

/**
 * Whether a mined deposit counts: it has its confirmations, and its block is final where the chain
 * has finality.
 */
export function isConfirmed(deposit: Deposit, { height, final }: ScannedTo): boolean {
  if (deposit.state !== 'mined' || deposit.height === null) return false;
  return height - deposit.height + 1 >= deposit.confirmationsRequired && deposit.height <= (final ?? height);
}

/**
 * Credits each confirmed deposit, and releases an order whose lost deposit has returned. Returns
 * how many it credited.
 */
export function creditDeposits(settling: Settling): number {
  const { em, bookings, order, deposits, scanned, now, tools } = settling;
  let credited = 0;
  for (const deposit of deposits) {
    const to = scanned.get(deposit.chain);
    if (!to || !isConfirmed(deposit, to)) continue;
    markCredited(deposit, now);
    credited += 1;
    const account = accountOfDeposits(tools.traitsOf(deposit.chain));
    bookings.push({
      kind: 'deposit',
      reference: depositReference(deposit),
      orderId: order.id,
      at: now,
      lines: [line(account, deposit, deposit.amount), line('client', deposit, minus(deposit.amount))],
    });
  }
  if (order.holdReason === depositGone && mainDeposit(settling)?.state === 'credited') {
    releaseOrder(em, order, { at: now });
  }
  return credited;
}

/** Hold reason of an order whose deposit was credited, used, and then lost in a reorg. */
export const depositGone = 'deposit_reorganised';
