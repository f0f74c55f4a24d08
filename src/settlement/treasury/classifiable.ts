import { lastingComparisons, slowTransferMs } from '../../ledger/ledger.ts';
import type { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import type { VenueMovement } from '../rows/venue-movement.entity.ts';

// What two members may decide about an entry at an exchange. The decision checks the same rules as
// the lists that offer it.

/** What the members know when they decide. An older comparison may lack something. */
export const freshMs = 300_000;

/** What exchanges tell of a movement that is over. Members find out what an unknown word means. */
const overStates: readonly VenueMovement['state'][] = ['done', 'locked', 'unknown'];
const lostAfterMs = 86_400_000;

/** SQL: movements of the coin of a `venue_balance` that may be its difference, and come first. */
export const unclearMovements = (balance: string): string => `
  select m.kind, m.reference from venue_movement m
   where m.venue = ${balance}.venue and m.coin = ${balance}.coin and m.part in ('open', 'foreign')
     and (m.kind = 'withdrawal' or m.state in ('done', 'locked'))`;

/**
 * SQL: whether the difference of a row of `venue_balance` may be classified. Two comparisons in a
 * row found the same amount, and nothing was booked since. It binds the time of the oldest
 * comparison that counts.
 */
export const isDifferenceClear = (balance: string): string => `(
  ${balance}.same_amount >= ${lastingComparisons} and ${balance}.compared_at > ?
  and not exists (
    select from ledger_transaction x join ledger_line l on l.transaction_id = x.id
     where x.at > ${balance}.compared_at and l.account = 'venue:' || ${balance}.venue and l.coin = ${balance}.coin
  )
  and not exists (${unclearMovements(balance)})
  and exists (select from venue_account a where a.venue = ${balance}.venue and a.opened_at is not null))`;

/** Whether a movement is over at the exchange, by what it tells. */
export function isMovementOver({ state }: Pick<VenueMovement, 'state'>): boolean {
  return overStates.includes(state);
}

/**
 * Whether no list has shown a movement for a day that has not ended.
 *
 * @param listedWholeAt when the newest reading of whole lists began.
 */
export function hasMovementVanished(
  { state, readAt }: Pick<VenueMovement, 'state' | 'readAt'>,
  listedWholeAt: Date | null,
): boolean {
  const isOpen = state === 'pending' || state === 'unknown';
  return isOpen && listedWholeAt !== null && listedWholeAt.getTime() - readAt.getTime() > lostAfterMs;
}

/** Whether members may call the rest of a transfer a cost. */
export function mayEndTransfer(
  transfer: Pick<TreasuryTransfer, 'problem' | 'state' | 'createdAt'>,
  movement: Pick<VenueMovement, 'kind' | 'state'>,
  now: Date,
): boolean {
  if (transfer.problem !== null) return true;
  // An exchange may have moved it inside, without a word of it.
  const isOver = movement.kind === 'withdrawal' && movement.state === 'done';
  const isUnseen = transfer.state === 'asked' || transfer.state === 'sent';
  return isOver && isUnseen && now.getTime() - transfer.createdAt.getTime() >= slowTransferMs;
}
