import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { Big, formatDecimal } from '../../base/money.ts';
import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import {
  ExchangeRefusal,
  ExchangeUnavailable,
  type Holdings,
  type Movement,
  type MovementKind,
} from '../../exchanges/exchange.ts';
import { type Booking, bookAll } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import { VenueMovement } from '../rows/venue-movement.entity.ts';
import { compareBalances, marketStamp } from './balances.ts';
import type { OnTreasuryCrashPoint } from './crash-points.ts';
import { chainOfName } from './exchange-networks.ts';
import { updated } from './listed.ts';
import { hotWallets, type Targets } from './targets.ts';
import { bookSource, settleTransfer } from './transfer-entries.ts';
import { newTransfer, unseenMs } from './transfers.ts';

/** What the reader asks the exchange. All throw ExchangeRefusal or ExchangeUnavailable. */
export interface VenueSource {
  readonly name: string;
  holdings(): Promise<readonly Holdings[]>;
  /** All movements of a kind since a time, or an error: never a part of the list. */
  movements(kind: MovementKind, sinceMs: number): Promise<readonly Movement[]>;
}

interface VenueReaderOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly source: VenueSource;
  readonly adapters: ReadonlyMap<string, Pick<ChainAdapter, 'chain' | 'hotWallet'>>;
  readonly catalogue: CurrencyCatalogue;
  readonly onCrashPoint: OnTreasuryCrashPoint;
}

/** Time between two readings, for all workers together. */
const readEveryMs = 60_000;
/** Time between two readings of the whole lists. */
const wholeEveryMs = 86_400_000;
/** Time until it is tried again after a failure. */
const wholeAgainMs = 3_600_000;
/** The range of a reading of whole lists, and of the newest rows. */
const wholeMs = 90 * 86_400_000;
const newestMs = 86_400_000;
/** How long a movement may stay undecided. */
const undecidedMs = 2 * unseenMs;
/** As long, where no chain was asked: its network is not one of ours, or many others wait. */
const unaskedMs = 7_200_000;
/** Movements that one transaction stores. */
const batch = 200;

const none = new Big('0');

/**
 * Reads the account at the exchange once a minute for all workers: the lists of deposits and
 * withdrawals, then the balances. It stores what it read, begins a transfer for each withdrawal to
 * a hot wallet, and books what left the account. It compares the balances with the books.
 *
 * It cannot move coins: its key only reads.
 */
export class VenueReader {
  readonly #options: VenueReaderOptions;
  #wholeTriedMs = Number.NEGATIVE_INFINITY;

  constructor(options: VenueReaderOptions) {
    this.#options = options;
  }

  /** Takes a turn when one is due and no other worker took it. Returns whether it did. */
  async runIfDue(): Promise<boolean> {
    const { orm, clock, source } = this.#options;
    const now = clock.now();
    const taken = await sql(
      orm.em.fork(),
      `update venue_account set turn_at = ?
        where venue = ? and (turn_at is null or turn_at <= ? or turn_at > ?) returning venue`,
      [now, source.name, new Date(now.getTime() - readEveryMs), new Date(now.getTime() + readEveryMs)],
    );
    if (taken.length === 0) return false;
    await this.read();
    return true;
  }

  /**
   * Reads the account now. What fails is noted, and keeps nothing else from being read: a list that
   * strangers made too long hides no withdrawal.
   */
  async read(): Promise<void> {
    const { orm, clock, log, source } = this.#options;
    const failures: unknown[] = [];
    const tried = async (work: () => Promise<void>): Promise<void> => {
      await work().catch((error: unknown) => {
        if (!(error instanceof ExchangeUnavailable || error instanceof ExchangeRefusal)) throw error;
        log.warn({ event: 'venue_unread', code: source.name, ...errorMembers(error) }, 'the account was not read');
        failures.push(error);
      });
    };
    try {
      await tried(() => this.#readNewest('withdrawal'));
      await tried(() => this.#readNewest('deposit'));
      await tried(() => this.#readWhole());
      await tried(() => this.#readBalances());
    } catch (error) {
      failures.push(error);
      throw error;
    } finally {
      const [failure] = failures.map(wordsOf);
      await sql(
        orm.em.fork(),
        `update venue_account set failing_since = case when ?::text is not null then coalesce(failing_since, ?) end,
                failure = ? where venue = ? and (failure is not null or ?::text is not null)`,
        [failure ?? null, clock.now(), failure ?? null, source.name, failure ?? null],
      );
    }
  }

  /** Reads the newest rows of a list, back to the oldest one that has not ended. */
  async #readNewest(kind: MovementKind): Promise<void> {
    const { orm, clock, source, onCrashPoint } = this.#options;
    const began = clock.now();
    // A row that lists show no more has not ended, and would make each reading a long one.
    const [row] = await sql<{ oldest_at: string | null }>(
      orm.em.fork(),
      `select min(m.at) as oldest_at from venue_movement m join venue_account a on a.venue = m.venue
        where m.venue = ? and m.kind = ? and m.state in ('pending', 'locked', 'unknown') 
          and m.read_at > a.listed_at - interval '1 hour'`,
      [source.name, kind],
    );
    const oldestMs = row?.oldest_at ? new Date(row.oldest_at).getTime() : began.getTime();
    const sinceMs = Math.max(began.getTime() - wholeMs, Math.min(oldestMs - unseenMs, began.getTime() - newestMs));
    const movements = await source.movements(kind, sinceMs);
    await onCrashPoint('venue.listed');
    await this.#storeAll(movements, began);
    if (kind === 'deposit') await this.#giveUpDeposits(began);
    await onCrashPoint('venue.stored');
    if (kind !== 'withdrawal') return;
    await sql(orm.em.fork(), 'update venue_account set listed_at = greatest(listed_at, ?) where venue = ?', [
      began,
      source.name,
    ]);
    await onCrashPoint('venue.noted');
  }

  /** Reads the whole lists, once a day. */
  async #readWhole(): Promise<void> {
    const { orm, clock, source } = this.#options;
    const began = clock.now();
    const due = await sql(
      orm.em.fork(),
      'select from venue_account where venue = ? and (listed_whole_at is null or listed_whole_at <= ?)',
      [source.name, new Date(began.getTime() - wholeEveryMs)],
    );
    if (due.length === 0 || began.getTime() - this.#wholeTriedMs < wholeAgainMs) return;
    this.#wholeTriedMs = began.getTime();
    for (const kind of ['withdrawal', 'deposit'] as const) {
      await this.#storeAll(await source.movements(kind, began.getTime() - wholeMs), began);
    }
    await sql(orm.em.fork(), 'update venue_account set listed_whole_at = ? where venue = ?', [began, source.name]);
  }

  async #storeAll(movements: readonly Movement[], began: Date): Promise<void> {
    const targets = await hotWallets(this.#options);
    for (let start = 0; start < movements.length; start += batch) {
      await this.#store(movements.slice(start, start + batch), targets, began);
    }
  }

  /** Stores movements, and books what withdrawals to hot wallets took from the account. */
  async #store(movements: readonly Movement[], targets: Targets, began: Date): Promise<void> {
    const { orm, clock, source } = this.#options;
    await orm.em.fork().transactional(async (em) => {
      const now = clock.now();
      // One worker at a time: two that read at once would both add what is new.
      const [account] = await sql<{ watched_from: string }>(
        em,
        'select watched_from from venue_account where venue = ? for update',
        [source.name],
      );
      const watchedFrom = new Date(account?.watched_from ?? now);
      const stored = await em.find(
        VenueMovement,
        { venue: source.name, reference: { $in: movements.map(({ reference }) => reference) } },
        { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { kind: 'asc', reference: 'asc' } },
      );
      const known = new Map(stored.map((row) => [`${row.kind} ${row.reference}`, row]));
      const rows: VenueMovement[] = [];
      for (const movement of movements) {
        const row = known.get(`${movement.kind} ${movement.reference}`);
        // A reading that began later is newer.
        if (row && row.readAt > began) continue;
        rows.push(row ? updated(row, movement, began, now) : this.#added(em, movement, { watchedFrom, began, now }));
      }
      // A transfer refers to its movement.
      await em.flush();
      const withdrawals = rows.filter(({ kind }) => kind === 'withdrawal');
      for (const row of withdrawals) if (row.part === 'open') this.#judge(em, row, targets, now);
      await em.flush();
      const bookings: Booking[] = [];
      const moved = new Map(withdrawals.filter(({ part }) => part === 'transfer').map((row) => [row.reference, row]));
      const transfers = await em.find(
        TreasuryTransfer,
        { venue: source.name, movementKind: 'withdrawal', reference: { $in: [...moved.keys()] } },
        { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { createdAt: 'asc', id: 'asc' } },
      );
      for (const transfer of transfers) {
        const row = moved.get(transfer.reference);
        if (row) bookings.push(...withdrawn(transfer, row, now));
      }
      await em.flush();
      await bookAll(em, bookings);
    });
  }

  #added(
    em: EntityManager,
    movement: Movement,
    { watchedFrom, began, now }: { readonly watchedFrom: Date; readonly began: Date; readonly now: Date },
  ): VenueMovement {
    const { atMs, ...told } = movement;
    const at = new Date(atMs);
    // Exchanges tell whole seconds.
    const isEarlier = atMs < Math.floor(watchedFrom.getTime() / 1_000) * 1_000;
    const hasEnded = movement.state === 'done' && isEarlier;
    // A deposit that the exchange refuses may have left the hot wallet.
    const hasNoEffect = movement.state === 'returned' && (movement.kind === 'withdrawal' || isEarlier);
    const part = hasEnded || hasNoEffect ? 'none' : 'open';
    const times = { at, seenAt: now, changedAt: now, readAt: began, lookedAt: null };
    return em.create(VenueMovement, { venue: this.#options.source.name, ...told, ...times, part }, { persist: true });
  }

  /**
   * Decides whether a withdrawal goes to a hot wallet of ours. It waits where that is not known
   * yet.
   */
  #judge(em: EntityManager, movement: VenueMovement, targets: Targets, now: Date): void {
    const { address, state, coin } = movement;
    if (movement.isInternal) {
      movement.part = 'foreign';
      return;
    }
    if (address === null) {
      if (state === 'done') movement.part = 'foreign';
      return;
    }
    const possible = targets.of(coin, address, movement.tag);
    const named = chainOfName(movement.network);
    const target =
      possible.find(({ chain }) => chain === named) ??
      (named === null && possible.length === 1 ? possible[0] : undefined);
    if (target) {
      movement.part = 'transfer';
      em.create(TreasuryTransfer, newTransfer(movement, target, now), { persist: true });
    } else if (possible.length === 0 || named !== null || now.getTime() - movement.seenAt.getTime() >= undecidedMs) {
      movement.part = 'foreign';
    }
  }

  /** Deposits of unknown networks are none of ours when no chain knew them for a while. */
  async #giveUpDeposits(now: Date): Promise<void> {
    const { orm, source } = this.#options;
    await sql(
      orm.em.fork(),
      `with given_up as (
         select venue, kind, reference from venue_movement
          where venue = ? and kind = 'deposit' and part = 'open'
            and (seen_at <= ? and looked_at is not null or seen_at <= ?)
          order by kind, reference for update
       )
       update venue_movement m set part = case m.state when 'returned' then 'none' else 'foreign' end from given_up g
        where m.venue = g.venue and m.kind = g.kind and m.reference = g.reference`,
      [source.name, new Date(now.getTime() - undecidedMs), new Date(now.getTime() - unaskedMs)],
    );
  }

  async #readBalances(): Promise<void> {
    const { orm, clock, source, onCrashPoint } = this.#options;
    const before = await marketStamp(orm.em.fork(), source.name);
    const readAt = clock.now();
    const holdings = await source.holdings();
    await compareBalances(orm, { venue: source.name, holdings, readAt, before, now: clock.now() });
    await onCrashPoint('venue.compared');
  }
}

/** Books what a withdrawal to a hot wallet has taken from the account by now. */
function withdrawn(transfer: TreasuryTransfer, movement: VenueMovement, now: Date): Booking[] {
  const { state } = movement;
  // What cannot be read decides nothing.
  if (state === 'unknown') return [];
  const [amount, fee] = state === 'returned' ? [none, none] : [new Big(movement.amount), new Big(movement.fee)];
  const bookings = bookSource(transfer, { amount, fee }, null, now);
  if (bookings.length > 0) transfer.updatedAt = now;
  if (amount.gt(none)) transfer.amount = formatDecimal(amount);
  return [...bookings, ...settleTransfer(transfer, movement, transfer.state === 'arrived', now)];
}

/** Why a reading failed, as text that the database can store. */
function wordsOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return words.replaceAll('\0', ' ').toWellFormed().slice(0, 300);
}
