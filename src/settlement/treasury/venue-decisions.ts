import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { sql } from '../../base/db/sql.ts';
import { AppError, notPossible } from '../../base/errors.ts';
import { Big, formatDecimal, isStorable, parseDecimal } from '../../base/money.ts';
import { type MovementKind, movementKinds } from '../../exchanges/exchange.ts';
import { type Account, book, bookAll, type LedgerLine, line, minus } from '../../ledger/ledger.ts';
import { venueAccount } from '../rows/liquidity-venue.ts';
import type { StaffAction, VenueClass } from '../rows/staff-action.entity.ts';
import { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import { VenueMovement } from '../rows/venue-movement.entity.ts';
import {
  freshMs,
  hasMovementVanished,
  isDifferenceClear,
  isMovementOver,
  mayEndTransfer,
  unclearMovements,
} from './classifiable.ts';
import { endTransfer } from './transfer-entries.ts';

// What two members decide about our account at an exchange. Each runs in the caller's transaction.

/** The account of the books against which each class is booked. */
const accounts: Readonly<Record<VenueClass, Account>> = {
  capital: 'opening',
  trading: 'trading',
  cost: 'treasury_cost',
};

/** A movement at the exchange, or a difference of a coin, to be classified. */
export interface VenueSubject {
  readonly kind?: string;
  readonly reference?: string;
  readonly coin?: string;
  /** Of a difference: how much more the exchange has than the books, as a decimal string. */
  readonly amount?: string;
}

/** What a proposal stores of its subject. */
export type StoredSubject = Pick<StaffAction, 'movementKind' | 'reference' | 'coin' | 'amount'>;

/**
 * Reads the subject of a proposal to classify.
 *
 * @throws AppError when it names neither a movement nor a difference.
 */
export function subjectOf({ kind, reference, coin, amount }: VenueSubject): StoredSubject {
  if (reference !== undefined) {
    if (coin !== undefined || amount !== undefined) {
      throw new AppError('invalid_value', 'a movement has its own coin and amount; leave them out');
    }
    const movementKind = movementKinds.find((one) => one === kind);
    if (!movementKind) throw new AppError('invalid_value', `the kind of a movement is ${movementKinds.join(' or ')}`);
    return { movementKind, reference, coin: null, amount: null };
  }
  const difference = amount === undefined ? null : parseDecimal(amount);
  if (coin === undefined || difference === null || difference.eq('0') || !isStorable(difference)) {
    throw new AppError('invalid_value', 'name a movement by its kind and reference, or a coin and its difference');
  }
  return { movementKind: null, reference: null, coin, amount: formatDecimal(difference) };
}

/**
 * Takes the balances of the account into the books, once. Its trades so far become a part of it.
 * What is booked is what the first member saw.
 *
 * @throws AppError action_not_possible
 */
export async function openVenueAccount(em: EntityManager, action: StaffAction, now: Date): Promise<void> {
  const { venue } = action;
  if (venue === null) throw new Error('the proposal names no account');
  const { openedAt } = await lockVenueAccount(em, venue);
  if (openedAt !== null) throw notPossible(`the account at ${venue} is in the books since ${openedAt.toISOString()}`);
  const rows = await sql<{ coin: string; difference: string | null; compared_at: string | null }>(
    em,
    `select coin, (compared_total - in_flight - booked)::text as difference, compared_at
       from venue_balance where venue = ? order by coin for update`,
    [venue],
  );
  if (rows.length === 0) throw notPossible(`the balances at ${venue} were not read yet`);
  const lines: LedgerLine[] = [];
  const earlier = await earlierLines(em, venue);
  for (const { coin, network, amount } of earlier) {
    const asset = { coin, network };
    lines.push(line('venue', asset, minus(amount)), line(venueAccount(venue), asset, amount));
  }
  for (const { coin, difference, compared_at: comparedAt } of rows) {
    if (difference === null || comparedAt === null || now.getTime() - new Date(comparedAt).getTime() > freshMs) {
      throw notPossible(
        `the balance of ${coin} at ${venue} was not compared in the last five minutes; look at 'venue check'`,
      );
    }
    const moved = earlier.filter((one) => one.coin === coin).reduce((sum, one) => sum.plus(one.amount), new Big('0'));
    const asset = { coin, network: venue };
    const opening = new Big(difference).minus(moved);
    lines.push(line(venueAccount(venue), asset, opening), line('opening', asset, minus(opening)));
  }
  // Set by the rehearsal of the proposal.
  const digest = bytesToHex(sha256(utf8ToBytes(JSON.stringify(lines))));
  action.reference ??= digest;
  if (action.reference !== digest) {
    throw notPossible(
      `the balances at ${venue} differ from those of the proposal by more than trades; propose it again`,
    );
  }
  await book(em, { kind: 'venue_opening', reference: venue, orderId: null, at: now, lines });
  await sql(em, 'update venue_account set opened_at = ? where venue = ?', [now, venue]);
  await sql(
    em,
    'update venue_balance set booked = compared_total - in_flight, differing = 0, differing_since = null, same_amount = 0 where venue = ? and compared_at is not null',
    [venue],
  );
}

/**
 * Books a movement that is none of ours, or a difference of a coin, as what members say it is. Of a
 * transfer with a problem, or of a withdrawal that never arrived, they call the rest in transit a
 * cost.
 *
 * @throws AppError action_not_possible
 */
export async function classifyVenueEntry(em: EntityManager, action: StaffAction, now: Date): Promise<void> {
  const { id, venue, class: kind, movementKind, reference } = action;
  if (venue === null || kind === null) throw new Error('the proposal names no account and class');
  await lockVenueAccount(em, venue);
  if (movementKind !== null && reference !== null) {
    const transfer = await em.findOne(
      TreasuryTransfer,
      { venue, movementKind, reference },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (transfer) return acceptRest(em, transfer, kind, now);
  }
  const found =
    movementKind !== null && reference !== null
      ? await classifiedMovement(em, venue, movementKind, reference)
      : { ...(await classifiedDifference(em, venue, action, now)), name: `${action.coin}:${id}` };
  if (found === null) return;
  const { coin, amount, name } = found;
  const asset = { coin, network: venue };
  await book(em, {
    kind: 'venue_other',
    reference: `${venue}:${name}`,
    orderId: null,
    at: now,
    lines: [line(venueAccount(venue), asset, amount), line(accounts[kind], asset, minus(amount))],
  });
  const added = formatDecimal(amount);
  await sql(
    em,
    `update venue_balance set booked = booked + ?,
            differing = case when compared_total - in_flight = booked + ? then 0 else 1 end,
            differing_since = case when compared_total - in_flight <> booked + ? then ?::timestamptz end,
            same_amount = case when compared_total - in_flight = booked + ? then 0 else 1 end
      where venue = ? and coin = ? and compared_at is not null`,
    [added, added, added, now, added, venue, coin],
  );
}

async function acceptRest(em: EntityManager, transfer: TreasuryTransfer, kind: VenueClass, now: Date): Promise<void> {
  const { venue, movementKind, reference } = transfer;
  const movement = await em.findOneOrFail(VenueMovement, { venue, kind: movementKind, reference });
  if (!mayEndTransfer(transfer, movement, now)) {
    throw notPossible(`the transfer of ${movementKind} ${reference} has no problem to decide`);
  }
  if (kind !== 'cost') throw notPossible("what a transfer lost on its way is a 'cost'");
  await bookAll(em, endTransfer(transfer, movement, now));
}

/** The amount is what the account has more by it. */
interface Classified {
  readonly coin: string;
  readonly amount: Big;
}

/**
 * What a movement did to the account. Null for one that has not ended and that no list has shown
 * for a day: nothing is booked for it, and what it did is a difference.
 */
async function classifiedMovement(
  em: EntityManager,
  venue: string,
  kind: MovementKind,
  reference: string,
): Promise<(Classified & { readonly name: string }) | null> {
  const movement = await em.findOne(
    VenueMovement,
    { venue, kind, reference },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!movement) throw new AppError('not_found', `there is no ${kind} ${reference} at ${venue}`);
  if (movement.part !== 'foreign') {
    throw notPossible(`only a movement that is none of ours is classified, and this one is '${movement.part}'`);
  }
  const [account] = await sql<{ whole: string | null }>(
    em,
    'select listed_whole_at as whole from venue_account where venue = ?',
    [venue],
  );
  if (hasMovementVanished(movement, account?.whole ? new Date(account.whole) : null)) {
    movement.part = 'none';
    return null;
  }
  if (!isMovementOver(movement)) {
    throw notPossible(`the ${kind} is not over at ${venue} ('${movement.told}'); wait until it is`);
  }
  movement.part = 'classified';
  const amount = new Big(movement.amount);
  return { coin: movement.coin, amount: kind === 'deposit' ? amount : minus(amount), name: `${kind}:${reference}` };
}

async function classifiedDifference(
  em: EntityManager,
  venue: string,
  action: StaffAction,
  now: Date,
): Promise<Classified> {
  const { coin, amount } = action;
  if (coin === null || amount === null) throw new Error('the proposal names no difference');
  const { openedAt } = await lockVenueAccount(em, venue);
  if (openedAt === null) throw notPossible(`the account at ${venue} is not in the books yet; open it first`);
  const [unclear] = await sql<{ kind: string; reference: string }>(
    em,
    `select m.* from venue_balance b cross join lateral (${unclearMovements('b')}) as m
      where b.venue = ? and b.coin = ? limit 1`,
    [venue, coin],
  );
  if (unclear) {
    throw notPossible(
      `${unclear.kind} ${unclear.reference} of ${coin} is not classified yet and may be the difference; classify it first`,
    );
  }
  const [row] = await sql<{ difference: string; is_clear: boolean }>(
    em,
    `select (compared_total - in_flight - booked)::text as difference, ${isDifferenceClear('b')} as is_clear
       from venue_balance b where venue = ? and coin = ? and compared_at is not null for update`,
    [new Date(now.getTime() - freshMs), venue, coin],
  );
  if (!row?.is_clear || !new Big(row.difference).eq(amount)) {
    const present = row ? formatDecimal(row.difference) : '0';
    throw notPossible(
      `the difference of ${coin} at ${venue} is ${present}, not ${formatDecimal(amount)}, or it was not found twice in a row yet`,
    );
  }
  return { coin, amount: new Big(amount) };
}

/**
 * Journal lines of trades at the exchange from before it had its own account in the books.
 */
async function earlierLines(em: EntityManager, venue: string): Promise<(Classified & { readonly network: string })[]> {
  const rows = await sql<{ coin: string; network: string; amount: string }>(
    em,
    `select l.coin, l.network, sum(l.amount)::text as amount
       from venue_trade v
       join ledger_transaction x on x.reference = v.client_id::text and x.kind in ('trade', 'venue_cash')
       join ledger_line l on l.transaction_id = x.id and l.account = 'venue'
      where v.venue = ? group by l.coin, l.network having sum(l.amount) <> 0 order by l.coin, l.network`,
    [venue],
  );
  return rows.map(({ amount, ...asset }) => ({ ...asset, amount: new Big(amount) }));
}

/**
 * Locks the account at an exchange.
 *
 * @throws AppError not_found
 */
export async function lockVenueAccount(em: EntityManager, venue: string): Promise<{ readonly openedAt: Date | null }> {
  const [row] = await sql<{ opened_at: string | null }>(
    em,
    'select opened_at from venue_account where venue = ? for update',
    [venue],
  );
  if (!row) throw new AppError('not_found', `no account at '${venue}' is read`);
  return { openedAt: row.opened_at === null ? null : new Date(row.opened_at) };
}
