import { Big, formatDecimal } from '../../base/money.ts';
import type { GasCoin } from '../../chains/networks/networks.ts';
import { type Account, type Booking, type LedgerLine, line, minus } from '../../ledger/ledger.ts';
import { venueAccount } from '../rows/liquidity-venue.ts';
import type { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import type { VenueMovement } from '../rows/venue-movement.entity.ts';

/** The largest share of a transfer that may be missing at its end and is a cost of the transfer. */
const tolerated = '0.0001';
/** After this time a paid withdrawal should have arrived. */
const lateMs = 86_400_000;
/** An exchange may review a withdrawal or a deposit for some days. */
const reviewMs = 3 * 86_400_000;
const none = new Big('0');

/** What a transfer leaves in the account `transit`. */
export function inTransit({ bookedAmount, bookedFee, arrived, writtenOff }: TreasuryTransfer): Big {
  return new Big(bookedAmount).minus(bookedFee).minus(arrived).minus(writtenOff);
}

/**
 * Books what left the source, or the difference to what was booked before. `amount` zero gives all
 * of it back.
 *
 * @param gas the chain's cost of a transfer from a hot wallet, booked with the first entry.
 */
export function bookSource(
  transfer: TreasuryTransfer,
  { amount, fee }: { readonly amount: Big; readonly fee: Big },
  gas: GasCoin | null,
  now: Date,
): Booking[] {
  const moved = amount.minus(transfer.bookedAmount);
  const cost = fee.minus(transfer.bookedFee);
  if (moved.eq(none) && cost.eq(none)) return [];
  const isFirst = transfer.entries === 0;
  const source: Account = transfer.movementKind === 'withdrawal' ? venueAccount(transfer.venue) : 'hot';
  const lines: LedgerLine[] = [
    line(source, transfer, minus(moved)),
    line('treasury_cost', transfer, cost),
    line('transit', transfer, moved.minus(cost)),
  ];
  if (isFirst && gas) lines.push(line('network_cost', gas, transfer.gas), line('hot', gas, minus(transfer.gas)));
  const kind = amount.eq(none)
    ? 'transfer_reversal'
    : new Big(transfer.bookedAmount).eq(none)
      ? 'transfer_out'
      : 'transfer_fee';
  transfer.bookedAmount = formatDecimal(amount);
  transfer.bookedFee = formatDecimal(fee);
  return [entry(transfer, kind, lines, now)];
}

/**
 * Books what the exchange has credited of a transfer to it, or the difference to what was booked
 * before.
 *
 * @param returned the part of `arrived` that came back to the hot wallet.
 */
export function bookCredit(transfer: TreasuryTransfer, credited: Big, returned: Big, now: Date): Booking[] {
  const more = credited.minus(new Big(transfer.arrived).minus(returned));
  if (more.eq(none)) return [];
  transfer.arrived = formatDecimal(new Big(transfer.arrived).plus(more));
  const lines = [line(venueAccount(transfer.venue), transfer, more), line('transit', transfer, minus(more))];
  return [entry(transfer, more.gt(none) ? 'transfer_in' : 'transfer_in_reversal', lines, now)];
}

/**
 * Decides the state of a transfer from its movement and its entries, and books a small remainder as
 * a cost. Takes that back where the transfer is open again.
 *
 * @param isSeen whether an arrival was seen that is not booked yet.
 */
export function settleTransfer(
  transfer: TreasuryTransfer,
  movement: Pick<VenueMovement, 'state' | 'txid'>,
  isSeen: boolean,
  now: Date,
): Booking[] {
  const before = [transfer.state, transfer.problem, transfer.entries].join(' ');
  const left = new Big(transfer.bookedAmount).minus(transfer.bookedFee);
  const rest = left.minus(transfer.arrived);
  const hasArrived = new Big(transfer.arrived).gt(none);
  const isAccepted = !rest.eq(none) && rest.eq(transfer.acceptedRest);
  const isWhole = isAccepted || (hasArrived && left.gt(none) && rest.abs().lte(left.times(tolerated)));
  const bookings = writeOff(transfer, isWhole ? rest : none, now);
  transfer.problem = null;
  const isWithdrawal = transfer.movementKind === 'withdrawal';
  if (isWithdrawal && movement.state === 'returned') {
    transfer.state = 'returned';
    if (hasArrived && !isAccepted) transfer.problem = 'arrived_after_end';
  } else if (isWhole) {
    const isOpen = !isWithdrawal && movement.state === 'locked';
    transfer.state = isOpen ? 'arrived' : movement.state === 'returned' ? 'returned' : 'done';
  } else if (hasArrived) {
    transfer.state = 'arrived';
    transfer.problem = 'short_arrival';
  } else if (isSeen) transfer.state = 'arrived';
  else if (hasEndedUnbooked(transfer)) return bookings;
  else if (isLate(transfer, movement, now)) transfer.problem = 'not_arrived';
  else if (isWithdrawal) transfer.state = movement.txid === null ? 'asked' : 'sent';
  // An exchange that refuses a deposit sends the coins back.
  else if (transfer.state === 'returned') transfer.state = 'sent';
  if ([transfer.state, transfer.problem, transfer.entries].join(' ') !== before) transfer.updatedAt = now;
  return bookings;
}

/** Whether a transfer ended with nothing booked: by members, or because its coins never left. */
function hasEndedUnbooked({ state, entries }: TreasuryTransfer): boolean {
  return state === 'returned' && entries === 0;
}

/**
 * Ends a transfer that has a problem, as members decided: what is in transit becomes a cost. A
 * later arrival or credit is booked all the same.
 */
export function endTransfer(
  transfer: TreasuryTransfer,
  movement: Pick<VenueMovement, 'state' | 'txid'>,
  now: Date,
): Booking[] {
  if (transfer.entries === 0) {
    transfer.state = 'returned';
    transfer.problem = null;
    transfer.updatedAt = now;
    return [];
  }
  transfer.acceptedRest = formatDecimal(inTransit(transfer));
  return settleTransfer(transfer, movement, false, now);
}

function isLate(
  { movementKind, createdAt }: TreasuryTransfer,
  { state }: Pick<VenueMovement, 'state'>,
  now: Date,
): boolean {
  const ageMs = now.getTime() - createdAt.getTime();
  if (movementKind === 'withdrawal') return ageMs >= (state === 'done' ? lateMs : reviewMs);
  // What is credited waits for its chain only.
  return state !== 'done' && state !== 'locked' && ageMs >= reviewMs;
}

function writeOff(transfer: TreasuryTransfer, amount: Big, now: Date): Booking[] {
  const more = amount.minus(transfer.writtenOff);
  if (more.eq(none)) return [];
  transfer.writtenOff = formatDecimal(amount);
  const lines = [line('treasury_cost', transfer, more), line('transit', transfer, minus(more))];
  return [entry(transfer, 'transfer_fee', lines, now)];
}

/** An entry of a transfer. Its reference begins with the id of the transfer. */
function entry(transfer: TreasuryTransfer, kind: Booking['kind'], lines: readonly LedgerLine[], at: Date): Booking {
  transfer.entries += 1;
  return { kind, reference: `${transfer.id}:${transfer.entries}`, orderId: null, at, lines };
}
