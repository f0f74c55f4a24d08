import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { type Clock, systemClock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { Big, floorTo, formatDecimal, maxOf } from '../../base/money.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { type CommissionFigures, CommissionStatement } from '../rows/commission-statement.entity.ts';
import { lockPartner } from './commission-addresses.ts';
import { type CommissionEntries, endOf, monthOf } from './commission-entries.ts';
import { commissionCsv, readMonths } from './commission-reads.ts';

/** The event `commission.statement`, of a month that was closed. Amounts are decimal text. */
export interface StatementEvent {
  readonly month: string;
  readonly state: 'closed' | 'rolled' | 'payable';
  readonly coin: string;
  readonly network: string;
  readonly due: string | null;
  readonly sha256: string;
}

export interface CommissionClosingOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly entries: CommissionEntries;
  readonly catalogue: CurrencyCatalogue;
  readonly prices: { live(coin: string): Big | null; reference(coin: string): Big | null };
  /** US dollars below which a month is not paid. */
  readonly minimumUsd: number;
  /** Whether the books are compared. A month then waits for a comparison after its end. */
  readonly isReconciled: boolean;
  /** Stores the event for the partner's webhooks, in the transaction that closes the month. */
  readonly onClosed: (em: EntityManager, partnerId: string, data: StatementEvent, at: Date) => Promise<unknown>;
}

/** How long after its end a month is closed. */
const closeAfterMs = 5 * 60_000;
/** After this many months below the minimum, a balance above the network fee is paid. */
const mostRolledMonths = 12;

/** Closes months of partners: each once, in order, with figures that never change. */
export class CommissionClosing {
  readonly #options: CommissionClosingOptions;

  constructor(options: CommissionClosingOptions) {
    this.#options = options;
  }

  /**
   * Closes all months that have ended, once a comparison of the books has begun after their end
   * and found no difference in what partners earned. Any number of workers may call it. Returns how
   * many months it closed.
   */
  async close(): Promise<number> {
    const { orm, clock, log } = this.#options;
    let count = 0;
    const failed = new Set<string>();
    for (;;) {
      const em = orm.em.fork();
      const compared = await lastComparison(em);
      const ends = [new Date((await slowestClock(em, clock)).getTime() - closeAfterMs)];
      if (this.#options.isReconciled) ends.push(compared?.startedAt ?? new Date(0));
      const before = ends.map(monthOf).sort()[0] ?? '';
      const due = await sql<{ partnerId: string; month: string }>(
        em,
        `select distinct on (partner_id) partner_id as "partnerId", month::text as month
           from commission_statement
          where state = 'open' and month < ?::date
            and partner_id not in (select jsonb_array_elements_text(?::jsonb)::uuid)
          order by partner_id, month limit 100`,
        [before, JSON.stringify([...failed])],
      );
      if (due.length === 0) return count;
      if (compared?.differs) {
        log.warn({ event: 'commission_not_closed' }, 'months of partners stay open while the books differ');
        return count;
      }
      for (const { partnerId, month } of due) {
        try {
          if (await orm.em.fork().transactional((own) => this.#close(own, partnerId, month))) count += 1;
        } catch (error) {
          // The months of other partners go on.
          failed.add(partnerId);
          const members = { event: 'commission_not_closed', partner_id: partnerId, ...errorMembers(error) };
          log.error(members, 'the month of a partner could not be closed');
        }
      }
    }
  }

  /** Entries that were under way hold the month's row, and are waited for. */
  async #close(em: EntityManager, partnerId: string, month: string): Promise<boolean> {
    const { clock, entries, onClosed } = this.#options;
    const open = { partnerId, month, state: 'open' } as const;
    await lockPartner(em, partnerId);
    const statement = await em.findOne(CommissionStatement, open, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!statement) return false;
    const now = clock.now();
    const read = (await readMonths(em, partnerId, month)).at(-1);
    if (!read) throw new Error(`there is no month ${month} of partner ${partnerId}`);
    const { figures, orders } = read;
    const { state, due } = await this.#decide(em, statement, read.figures);
    const hash = sha256.create();
    for await (const part of commissionCsv(em, partnerId, month)) hash.update(utf8ToBytes(part));
    const digest = bytesToHex(hash.digest());
    Object.assign(statement, {
      state,
      due: due && formatDecimal(due),
      figures,
      orders,
      sha256: digest,
      closedAt: now,
    });
    await em.flush();
    // What remains goes on in the next month, also without a new order.
    if (figures.some(({ closing }) => closing !== '0')) await entries.openMonths(em, [partnerId], endOf(month));
    const { coin, network } = statement;
    const event = { month: month.slice(0, 7), state, coin, network, due: statement.due, sha256: digest };
    await onClosed(em, partnerId, event, now);
    return true;
  }

  /**
   * Decides whether the balance is paid: what no earlier month is still to be paid for. A debt in
   * another asset, as after a correction, is subtracted. The next conversion balances it.
   */
  async #decide(
    em: EntityManager,
    statement: CommissionStatement,
    [own, ...others]: readonly CommissionFigures[],
  ): Promise<{ readonly state: 'closed' | 'rolled' | 'payable'; readonly due: Big | null }> {
    const { catalogue, minimumUsd } = this.#options;
    const { coin, network } = statement;
    const unpaid = await unpaidPart(em, statement, new Big(own?.closing ?? '0'));
    if (unpaid.lte('0')) return { state: 'closed', due: null };
    const price = this.#priceOf(coin);
    const debt = this.#debtOf(others, price);
    if (debt === null || unpaid.lte(debt)) return { state: 'rolled', due: null };
    const currency = catalogue.find(coin, network);
    const payable = floorTo(unpaid.minus(debt), currency?.decimals ?? 0);
    // A payment below the least amount of the coin may be refused by its chain for ever.
    const left = payable.minus(currency?.networkFee ?? '0');
    const exceedsFee = left.gt('0') && left.gte(currency?.minAmount ?? '0');
    const isEnough = price === null || payable.times(price).gte(String(minimumUsd));
    if (exceedsFee && (isEnough || (await isExempt(em, statement)))) return { state: 'payable', due: payable };
    return { state: 'rolled', due: null };
  }

  /** What balances below zero are worth, at a price of the month's asset. Null without a price. */
  #debtOf(others: readonly CommissionFigures[], price: Big | null): Big | null {
    let debt = new Big('0');
    for (const { coin, closing } of others.filter((one) => new Big(one.closing).lt('0'))) {
      const its = this.#priceOf(coin);
      if (its === null || price === null) return null;
      debt = debt.minus(new Big(closing).times(its).div(price));
    }
    return debt;
  }

  #priceOf(coin: string): Big | null {
    const { prices } = this.#options;
    return prices.live(coin) ?? prices.reference(coin);
  }
}

/**
 * The part of the closing balance of a month, in its asset, that no earlier month is paid for. A
 * payment that was booked after the month is not in its balance, so it counts as not made.
 */
export async function unpaidPart(
  em: EntityManager,
  { partnerId, month, coin, network }: CommissionStatement,
  closing: Big,
): Promise<Big> {
  const [row] = await sql<{ due: string }>(
    em,
    `select coalesce(sum(s.due), 0)::text as due
       from commission_statement s
       left join commission_entry e on e.payment_id = s.payment_id and e.kind = 'payment'
      where s.partner_id = ? and s.month < ?::date and s.coin = ? and s.network = ?
        and (s.state = 'payable' or e.month > ?::date)`,
    [partnerId, month, coin, network, month],
  );
  return maxOf(new Big('0'), closing.minus(row?.due ?? '0'));
}

/**
 * Whether no minimum counts: the partner is inactive, or a balance has rolled for a year since the
 * last month that was paid.
 */
async function isExempt(em: EntityManager, { partnerId, month }: CommissionStatement): Promise<boolean> {
  const [row] = await sql<{ isExempt: boolean }>(
    em,
    `select p.status = 'inactive' or exists (
              select from commission_statement s
               where s.partner_id = p.id and s.state = 'rolled'
                 and s.month <= ?::date - make_interval(months => ?)
                 and not exists (select from commission_statement later
                                  where later.partner_id = p.id and later.month > s.month and later.month < ?::date
                                    and later.state in ('payable', 'paid'))) as "isExempt"
       from partner p where p.id = ?`,
    [month, mostRolledMonths, month, partnerId],
  );
  return row?.isExempt ?? false;
}

/** The last comparison of the books, and whether it found a difference in what partners earned. */
async function lastComparison(em: EntityManager): Promise<{ startedAt: Date; differs: boolean } | null> {
  const [last] = await sql<{ startedAt: string; differs: boolean }>(
    em,
    `select started_at as "startedAt",
            coalesce((differences ->> 'markups')::int, 0) + coalesce((differences ->> 'commission')::int, 0) > 0 as differs
       from reconciliation where ended_at is not null order by due_at desc limit 1`,
  );
  return last ? { startedAt: new Date(last.startedAt), differs: last.differs } : null;
}

/** The time of the database if it is behind. So a worker with a fast clock ends no month. */
async function slowestClock(em: EntityManager, clock: Clock): Promise<Date> {
  const now = clock.now();
  if (clock !== systemClock) return now;
  const [row] = await sql<{ now: string }>(em, 'select clock_timestamp() as now');
  const known = row ? new Date(row.now) : now;
  return known < now ? known : now;
}
