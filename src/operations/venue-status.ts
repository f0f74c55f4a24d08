import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';
import { formatDecimal } from '../base/money.ts';
import { type TransferState, TreasuryTransfer } from '../settlement/rows/treasury-transfer.entity.ts';
import { type MovementPart, VenueMovement } from '../settlement/rows/venue-movement.entity.ts';
import {
  freshMs,
  hasMovementVanished,
  isDifferenceClear,
  isMovementOver,
  mayEndTransfer,
} from '../settlement/treasury/classifiable.ts';

/** A reading of an account that is older is not current. Accounts are read once a minute. */
export const venueReadingMaxAgeMs = 300_000;

/** What an account at an exchange holds of a coin. Amounts are decimal text in the coin's units. */
export interface VenueBalanceStatus {
  readonly coin: string;
  /** With what open orders and withdrawals lock. */
  readonly total: string;
  readonly free: string;
  readonly readAt: Date;
  /** The total at the newest comparison with the books, and the books then; null before one. */
  readonly comparedTotal: string | null;
  readonly booked: string | null;
  /** What happened at the exchange and is rightly not booked yet. */
  readonly inFlight: string | null;
  /** How much more the exchange had than the books: `comparedTotal - inFlight - booked`. */
  readonly difference: string | null;
  readonly comparedAt: Date | null;
  /** How many comparisons in a row found this difference; 0 without one. */
  readonly differing: number;
  /** Since when every comparison found a difference. */
  readonly differingSince: Date | null;
  /** Whether members may classify the difference now. */
  readonly isClassifiable: boolean;
}

/** An account at an exchange as workers last read it. */
export interface VenueAccountStatus {
  readonly venue: string;
  readonly isWatched: boolean;
  readonly watchedFrom: Date;
  /** When two members took its balances into the books. */
  readonly openedAt: Date | null;
  /** When the newest complete reading of its lists began, and the one of its balances. */
  readonly listedAt: Date | null;
  readonly balancesAt: Date | null;
  readonly failingSince: Date | null;
  readonly failure: string | null;
  readonly balances: readonly VenueBalanceStatus[];
}

const ms = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;

type Times<Row, Names extends keyof Row & string> = Omit<Row, Names> & {
  readonly [Name in Names as `${Name}Ms`]: string | number | null;
};

/** Reads all accounts at exchanges with their balances, by name. Two statements. */
export async function venueAccounts(em: EntityManager, now: Date): Promise<VenueAccountStatus[]> {
  type Account = Omit<VenueAccountStatus, 'balances'>;
  const accounts = await sql<Times<Account, 'watchedFrom' | 'openedAt' | 'listedAt' | 'balancesAt' | 'failingSince'>>(
    em,
    `select venue, is_watched as "isWatched", failure, ${ms('watched_from')} as "watchedFromMs",
            ${ms('opened_at')} as "openedAtMs", ${ms('listed_at')} as "listedAtMs", ${ms('balances_at')} as "balancesAtMs",
            ${ms('failing_since')} as "failingSinceMs"
       from venue_account order by venue`,
  );
  if (accounts.length === 0) return [];
  const balances = await sql<
    Times<VenueBalanceStatus, 'readAt' | 'comparedAt' | 'differingSince'> & { readonly venue: string }
  >(
    em,
    `select venue, coin, total::text as total, free::text as free, ${ms('read_at')} as "readAtMs",
            compared_total::text as "comparedTotal", booked::text as booked, in_flight::text as "inFlight",
            (compared_total - in_flight - booked)::text as difference, ${ms('compared_at')} as "comparedAtMs", differing,
            ${ms('differing_since')} as "differingSinceMs", ${isDifferenceClear('b')} as "isClassifiable"
       from venue_balance b order by venue, coin`,
    [new Date(now.getTime() - freshMs)],
  );
  const ofVenue = Map.groupBy(balances, ({ venue }) => venue);
  return accounts.map(({ watchedFromMs, openedAtMs, listedAtMs, balancesAtMs, failingSinceMs, ...account }) => ({
    ...account,
    watchedFrom: dateOf(watchedFromMs) ?? new Date(0),
    openedAt: dateOf(openedAtMs),
    listedAt: dateOf(listedAtMs),
    balancesAt: dateOf(balancesAtMs),
    failingSince: dateOf(failingSinceMs),
    balances: (ofVenue.get(account.venue) ?? []).map(
      ({ venue: _, readAtMs, comparedAtMs, differingSinceMs, ...row }) => ({
        ...row,
        total: formatDecimal(row.total),
        free: formatDecimal(row.free),
        comparedTotal: plain(row.comparedTotal),
        booked: plain(row.booked),
        inFlight: plain(row.inFlight),
        difference: plain(row.difference),
        readAt: dateOf(readAtMs) ?? new Date(0),
        comparedAt: dateOf(comparedAtMs),
        differingSince: dateOf(differingSinceMs),
      }),
    ),
  }));
}

/** What movements to list. */
interface MovementFilter {
  readonly venue?: string;
  readonly kind?: VenueMovement['kind'];
  readonly part?: MovementPart;
  readonly coin?: string;
  readonly state?: VenueMovement['state'];
}

/** A part of a list, from its beginning, or backwards from its end. */
export interface ListPart {
  readonly backwards: boolean;
  /** The row next to which it begins. */
  readonly cursor: string | null;
  /** Most rows. */
  readonly limit: number;
}

/** The id of a movement in lists of it: 'kraken:withdrawal:FTQcuak-V6Za8qrWnhzTx67yYHz8Tg'. */
export function movementId({ venue, kind, reference }: Pick<VenueMovement, 'venue' | 'kind' | 'reference'>): string {
  return `${venue}:${kind}:${reference}`;
}

/**
 * Lists movements at exchanges, newest first; backwards the oldest first. The id of a movement is
 * its cursor.
 *
 * @throws AppError invalid_value for a cursor that no list gave.
 */
export async function venueMovements(
  em: EntityManager,
  filter: MovementFilter,
  { backwards, cursor, limit }: ListPart,
): Promise<VenueMovement[]> {
  const start = cursor === null ? null : await movementById(em, cursor);
  const [newest, first] = backwards ? (['asc', 'desc'] as const) : (['desc', 'asc'] as const);
  return em.find(
    VenueMovement,
    { ...filter, ...(start && behind(start, backwards)) },
    { orderBy: { at: newest, kind: first, reference: first, venue: first }, limit },
  );
}

/** The rows that follow a row in the list, or precede it. */
function behind({ at, kind, reference, venue }: VenueMovement, backwards: boolean) {
  const past = <Value>(value: Value) => (backwards ? { $lt: value } : { $gt: value });
  return {
    at: backwards ? { $gte: at } : { $lte: at },
    $or: [
      { at: backwards ? { $gt: at } : { $lt: at } },
      { kind: past(kind) },
      { kind, reference: past(reference) },
      { kind, reference, venue: past(venue) },
    ],
  };
}

async function movementById(em: EntityManager, id: string): Promise<VenueMovement> {
  const [found] = await movementsById(em, [id]);
  if (!found) throw new AppError('invalid_value', `'${id.slice(0, 40)}' is no cursor of this list`);
  return found;
}

/** Reads movements by their ids. Unknown ids are left out. */
export async function movementsById(em: EntityManager, ids: readonly string[]): Promise<VenueMovement[]> {
  const names = ids.flatMap(nameOf);
  return names.length === 0 ? [] : em.find(VenueMovement, { $or: names });
}

/** Of these movements, given by their ids, the ones that members may classify now. */
export async function classifiableMovements(em: EntityManager, ids: readonly string[]): Promise<VenueMovement[]> {
  const foreign = (await movementsById(em, ids)).filter(({ part }) => part === 'foreign');
  if (foreign.length === 0) return [];
  const rows = await sql<{ venue: string; wholeMs: string | number | null }>(
    em,
    `select venue, ${ms('listed_whole_at')} as "wholeMs" from venue_account`,
  );
  const whole = new Map(rows.map(({ venue, wholeMs }) => [venue, dateOf(wholeMs)]));
  return foreign.filter(
    (movement) => isMovementOver(movement) || hasMovementVanished(movement, whole.get(movement.venue) ?? null),
  );
}

/** Of these transfers, given by their ids, the ones whose rest members may call a cost now. */
export async function endableTransfers(
  em: EntityManager,
  ids: readonly string[],
  now: Date,
): Promise<TreasuryTransfer[]> {
  const transfers = await em.find(TreasuryTransfer, { id: { $in: [...ids] } });
  const names = transfers.map(({ movementKind: kind, ...transfer }) => movementId({ ...transfer, kind }));
  const movements = new Map((await movementsById(em, names)).map((one) => [movementId(one), one]));
  return transfers.filter((transfer, index) => {
    const movement = movements.get(names[index] ?? '');
    return movement !== undefined && mayEndTransfer(transfer, movement, now);
  });
}

/** Reads the transfers of movements, which are given by their ids. */
export async function transfersOfMovements(em: EntityManager, ids: readonly string[]): Promise<TreasuryTransfer[]> {
  const names = ids.flatMap(nameOf).map(({ kind: movementKind, ...name }) => ({ ...name, movementKind }));
  return names.length === 0 ? [] : em.find(TreasuryTransfer, { $or: names });
}

/** The parts of the id of a movement; none for a text that is not one. */
function nameOf(id: string): Pick<VenueMovement, 'venue' | 'kind' | 'reference'>[] {
  const [, venue, kind, reference] = /^([^:]+):(deposit|withdrawal):(.+)$/s.exec(id) ?? [];
  if (venue === undefined || reference === undefined) return [];
  return [{ venue, kind: kind as VenueMovement['kind'], reference }];
}

/**
 * Lists transfers between exchanges and hot wallets, newest first; backwards the oldest first. The
 * id of a transfer is its cursor.
 *
 * @param states null for all.
 */
export function treasuryTransfers(
  em: EntityManager,
  states: readonly TransferState[] | null,
  { backwards, cursor, limit }: ListPart,
): Promise<TreasuryTransfer[]> {
  // Ids grow with time.
  return em.find(
    TreasuryTransfer,
    {
      ...(states === null ? {} : { state: { $in: [...states] } }),
      ...(cursor === null ? {} : { id: backwards ? { $gt: cursor } : { $lt: cursor } }),
    },
    { orderBy: { id: backwards ? 'asc' : 'desc' }, limit },
  );
}

function plain(amount: string | null): string | null {
  return amount === null ? null : formatDecimal(amount);
}

function dateOf(milliseconds: string | number | null): Date | null {
  return milliseconds === null ? null : new Date(Number.parseInt(String(milliseconds), 10));
}
