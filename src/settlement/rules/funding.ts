import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Big, formatDecimal } from '../../base/money.ts';
import { type Booking, line, minus } from '../../ledger/ledger.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import type { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import { depositReference, markCredited } from './credit.ts';

// Arrivals at hot wallets. One that belongs to a transfer from an exchange is no new capital.

/**
 * SQL: whether an account at an exchange is watched. Then arrivals at hot wallets are compared with
 * its list of withdrawals before they are credited, by `TransferTask`.
 */
export const isWatchedSql = 'exists (select from venue_account where is_watched)';

/** Whether arrivals at hot wallets wait for the list of an exchange. */
export async function fundingWaits(em: EntityManager): Promise<boolean> {
  const [row] = await sql<{ waits: boolean }>(em, `select ${isWatchedSql} as waits`);
  return row?.waits === true;
}

/**
 * Credits a confirmed arrival at a hot wallet, as capital or as the arrival of its transfer.
 * Returns its entry.
 */
export function creditFunding(deposit: Deposit, transfer: TreasuryTransfer | null, now: Date): Booking {
  markCredited(deposit, now);
  return bookedArrival(deposit, transfer, transfer ? 'transfer_in' : 'funding', deposit.amount, now);
}

/** Takes back the entry of a credited arrival whose block was orphaned. */
export function reverseFunding(deposit: Deposit, transfer: TreasuryTransfer | null, now: Date): Booking {
  const kind = transfer ? 'transfer_in_reversal' : 'funding_reversal';
  return bookedArrival(deposit, transfer, kind, minus(deposit.amount), now);
}

/** Makes a credited arrival, which counts as capital, the arrival of a transfer. */
export function matchFunding(deposit: Deposit, transfer: TreasuryTransfer, now: Date): Booking {
  addArrived(transfer, deposit.amount, now);
  const lines = [line('opening', deposit, deposit.amount), line('transit', deposit, minus(deposit.amount))];
  return { kind: 'transfer_match', reference: referenceOf(deposit, transfer), orderId: null, at: now, lines };
}

function bookedArrival(
  deposit: Deposit,
  transfer: TreasuryTransfer | null,
  kind: Booking['kind'],
  amount: Big | string,
  now: Date,
): Booking {
  if (transfer) addArrived(transfer, amount, now);
  const other = transfer ? 'transit' : 'opening';
  const lines = [line('hot', deposit, amount), line(other, deposit, minus(amount))];
  return { kind, reference: referenceOf(deposit, transfer), orderId: null, at: now, lines };
}

/** The entries of a transfer have references that begin with its id. */
function referenceOf(deposit: Deposit, transfer: TreasuryTransfer | null): string {
  return transfer ? `${transfer.id}:${depositReference(deposit)}` : depositReference(deposit);
}

/** Opens the transfer again: `TransferTask` decides its state. */
function addArrived(transfer: TreasuryTransfer, amount: Big | string, now: Date): void {
  transfer.arrived = formatDecimal(new Big(transfer.arrived).plus(amount));
  transfer.state = 'arrived';
  transfer.updatedAt = now;
}
