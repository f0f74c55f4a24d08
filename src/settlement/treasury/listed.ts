import { Big, formatDecimal } from '../../base/money.ts';
import type { Movement } from '../../exchanges/exchange.ts';
import type { VenueMovement } from '../rows/venue-movement.entity.ts';

/** Takes what a list shows now into a stored movement. */
export function updated(row: VenueMovement, movement: Movement, began: Date, now: Date): VenueMovement {
  const { atMs, kind, reference, ...told } = movement;
  const { isInternal, coin, network, txid, address, tag, amount, fee, state } = row;
  const before = { isInternal, coin, network, txid, address, tag, amount: plain(amount), fee: plain(fee), state };
  const after = { ...told, amount: plain(told.amount), fee: plain(told.fee) };
  const isChanged = Object.entries(before).some(([name, value]) => after[name as keyof typeof before] !== value);
  row.readAt = began;
  if (!isChanged) return row;
  // What is classified, or goes to a hot wallet, is not judged again.
  if (row.part === 'none' && row.state === 'returned' && told.state !== 'returned') row.part = 'open';
  if (told.state === 'returned' && (row.part === 'foreign' || (row.part === 'open' && kind === 'withdrawal'))) {
    row.part = 'none';
  }
  Object.assign(row, told, { changedAt: now });
  return row;
}

function plain(amount: string): string {
  return formatDecimal(new Big(amount));
}
