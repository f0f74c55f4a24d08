import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
import { advisoryLocks } from '../db/database.ts';
import type { LedgerAsset } from '../ledger/ledger.ts';
import { Big, ceilTo, minOf } from '../money.ts';
import type { PriceBook } from '../rates/price-book.ts';
import { type ChainLease, guardLease } from './chain-lease.ts';
import type { Payment } from './payment.entity.ts';
import { secondsAfter } from './settling.ts';

/** Most US dollars that may begin in any hour and in any day. */
export interface UsdLimit {
  readonly hour: number;
  readonly day: number;
}

/** The limits of automatic payments. */
export interface PayoutRules {
  /** Of all assets together. */
  readonly overall: UsdLimit;
  readonly asset: (asset: LedgerAsset) => UsdLimit;
}

/** What a payment that waits for room has as its problem. */
export type LimitProblem = 'payout_limit' | 'payout_limit_asset';
export const limitProblems: readonly LimitProblem[] = ['payout_limit', 'payout_limit_asset'];

/** A payment would exceed a limit. Nothing was written. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';
  readonly problem: LimitProblem;
  /** What the payments are worth that found no room. */
  readonly usd: string;

  constructor(problem: LimitProblem, usd: string) {
    super(`a limit on automatic payments leaves no room: ${problem}`);
    this.problem = problem;
    this.usd = usd;
  }
}

export interface PayoutLimitsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: Pick<PriceBook, 'live' | 'reference'>;
  readonly rules: PayoutRules;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Until a payment asks for room again. */
const againSec = 30;
/** A payment that did not ask for room for so long keeps no later one waiting. */
const absentMs = 300_000;
/** No sum overflows its column by this much. */
const mostUsd = new Big('1000000000000');

/** Several payments that begin together, or not at all. */
interface Lot {
  readonly lot: number;
  readonly id: string;
  readonly number: string;
  readonly coin: string;
  readonly network: string;
  readonly usd: string;
}

/**
 * Limits what payouts and refunds may begin to send, in US dollars: of each asset and of all together, in any hour and
 * any day. Movements between our own addresses do not count. A payment counts when its transaction is stored, before
 * it is signed, and is uncounted when that transaction is given up unsigned.
 *
 * What begins is summed by minutes. A minute counts until all of it has left the window, so no window ever exceeds its
 * limit, and room frees at most a minute late. One advisory lock orders all processes, so the sums are exact.
 *
 * Payments that wait keep their order: one may begin only when there is room for those before it as well. A payment
 * that is above a limit by itself waits for staff and keeps none of the others waiting.
 */
export class PayoutLimits {
  readonly #options: PayoutLimitsOptions;

  constructor(options: PayoutLimitsOptions) {
    this.#options = options;
  }

  /** Notes on payments that begin what they are worth and when they begin. */
  async value(em: EntityManager, beginning: readonly Payment[]): Promise<void> {
    const payments = beginning.filter(isLimited);
    const agreed = await this.#agreedPrices(em, payments);
    for (const payment of payments) {
      payment.valueUsd = this.#worth(payment, agreed).toFixed(2);
      payment.begunAt = this.#options.clock.now();
    }
  }

  /**
   * Counts payments that begin, all or none, as the last step of the transaction that begins them.
   *
   * @throws NoRoom when a limit would be exceeded.
   */
  async count(em: EntityManager, beginning: readonly Payment[]): Promise<void> {
    const payments = beginning.filter(isLimited);
    if (payments.length === 0) return;
    // A statement of its own: the sums must be read by a snapshot that is taken under the lock.
    await em.execute('select pg_advisory_xact_lock(?)', [advisoryLocks.payoutLimits]);
    const now = this.#options.clock.now();
    const [over] = await this.#judge(
      em,
      payments.map((payment) => lotOf(payment, 0)),
      now,
      true,
    );
    if (!over) return;
    const usd = payments.reduce((sum, { valueUsd }) => sum.plus(valueUsd ?? '0'), new Big('0'));
    throw new NoRoom(over.problem, usd.toFixed(2));
  }

  /** Takes payments out of the sums whose transactions were never signed and never will be. */
  async uncount(em: EntityManager, payments: readonly Payment[]): Promise<void> {
    const counted = payments.filter(({ begunAt, valueUsd }) => begunAt !== null && valueUsd !== null);
    if (counted.length === 0) return;
    await em.execute('select pg_advisory_xact_lock(?)', [advisoryLocks.payoutLimits]);
    await em.execute(
      `update payout_spent s set usd = greatest(s.usd - g.usd, 0)
         from (select c.coin, c.network, m.minute, sum(m.usd) as usd
                 from jsonb_to_recordset(?::jsonb) as m (coin text, network text, minute timestamptz, usd numeric)
                cross join lateral (values (m.coin, m.network), ('', '')) as c (coin, network)
                group by 1, 2, 3) as g
        where s.coin = g.coin and s.network = g.network and s.minute = g.minute`,
      [
        JSON.stringify(
          counted.map(({ coin, network, begunAt, valueUsd }) => {
            return { coin, network, minute: minuteOf(begunAt ?? new Date(0)), usd: valueUsd };
          }),
        ),
      ],
    );
    for (const payment of counted) payment.begunAt = null;
  }

  /** The payments that may try to begin. Those that wait for room, and for which there is none yet, ask again later. */
  async withRoom<T extends { readonly payment: Payment }>(ready: readonly T[]): Promise<readonly T[]> {
    const { orm, clock } = this.#options;
    const waiting = ready.filter(({ payment }) => isWaiting(payment));
    if (waiting.length === 0) return ready;
    const now = clock.now();
    const em = orm.em.fork();
    const lots = waiting.map(({ payment }, index) => lotOf(payment, index));
    const over = new Set((await this.#judge(em, lots, now, false)).map(({ lot }) => waiting[lot]?.payment.id));
    await em.execute(
      `update payment set next_action_at = ?
        where id in (select jsonb_array_elements_text(?::jsonb)::uuid) and state = 'ready'`,
      [secondsAfter(now, againSec), JSON.stringify([...over])],
    );
    return ready.filter(({ payment }) => !over.has(payment.id));
  }

  /** Notes that a payment waits for room, since when, and what it is worth. */
  async wait(lease: ChainLease, { id }: Payment, { problem, usd }: NoRoom): Promise<void> {
    const { orm, clock } = this.#options;
    const now = clock.now();
    await orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      await em.execute(
        // A payment that waits for room comes after those that have not asked for it.
        `update payment set problem = ?, value_usd = ?, next_action_at = ?, tries = greatest(tries, 1),
                problem_since = case when problem is not distinct from ? then problem_since else ? end
          where id = ? and state = 'ready'`,
        [problem, usd, secondsAfter(now, againSec), problem, now, id],
      );
    });
  }

  /** Forgets minutes that no window reaches. */
  async forgetOld(em: EntityManager, now: Date): Promise<void> {
    await em.execute('delete from payout_spent where minute < ?', [new Date(now.getTime() - 2 * dayMs)]);
  }

  /** The lots that exceed a limit, each with the limit, and counts lot 0 when it exceeds none. */
  async #judge(
    em: EntityManager,
    lots: readonly Lot[],
    now: Date,
    isCounting: boolean,
  ): Promise<{ lot: number; problem: LimitProblem }[]> {
    const { rules } = this.#options;
    const assets = new Map(lots.map(({ coin, network }) => [`${coin} ${network}`, { coin, network }]));
    const limits = [
      { coin: '', network: '', ...rules.overall },
      ...[...assets.values()].map((asset) => ({ ...asset, ...rules.asset(asset) })),
    ];
    const before = (ms: number): Date => new Date(now.getTime() - ms);
    return em.execute<{ lot: number; problem: LimitProblem }[]>(
      `with mine as (
         select * from jsonb_to_recordset(?::jsonb)
                  as m (lot integer, id uuid, number bigint, coin text, network text, usd numeric)
       ), counted as (
         select lot, coin, network, sum(usd) as usd, max(number) as number from mine group by lot, coin, network
         union all
         select lot, '', '', sum(usd), max(number) from mine group by lot
       ), judged as (
         select c.lot, case c.coin when '' then 'payout_limit' else 'payout_limit_asset' end as problem,
                s.hour + w.usd + c.usd > l.hour or s.day + w.usd + c.usd > l.day as is_over
           from counted c
           join jsonb_to_recordset(?::jsonb) as l (coin text, network text, hour numeric, day numeric)
             on l.coin = c.coin and l.network = c.network
          cross join lateral (
            select coalesce(sum(usd) filter (where minute > ?), 0) as hour, coalesce(sum(usd), 0) as day
              from payout_spent where coin = c.coin and network = c.network and minute > ?) as s
          cross join lateral (
            select coalesce(sum(p.value_usd), 0) as usd
              from payment p
             where p.state = 'ready' and p.problem in ('payout_limit', 'payout_limit_asset')
               and p.number < c.number and p.value_usd <= least(l.hour, l.day) and p.next_action_at > ?
               and case c.coin when '' then p.problem = 'payout_limit'
                        else p.problem = 'payout_limit_asset' and p.coin = c.coin and p.network = c.network end
               and not exists (select from mine m where m.lot = c.lot and m.id = p.id)) as w
       )${isCounting ? `, written as (${writtenSql})` : ''}
       select lot, min(problem) as problem from judged where is_over group by lot order by lot`,
      [
        JSON.stringify(lots),
        JSON.stringify(limits),
        before(hourMs + minuteMs),
        before(dayMs + minuteMs),
        before(absentMs),
        ...(isCounting ? [minuteOf(now)] : []),
      ],
    );
  }

  /** By the market's price, by the slow one that limits follow, or by the price of the order's own exchange. */
  #worth({ orderId, coin, network, amount }: Payment, agreed: ReadonlyMap<string, string>): Big {
    const { prices, rules } = this.#options;
    const price = prices.live(coin) ?? prices.reference(coin) ?? agreed.get(`${orderId} ${coin}`) ?? null;
    if (price !== null) return minOf(ceilTo(new Big(amount).times(price), 2), mostUsd);
    // Of what has no price at all, one payment may begin in an hour.
    const { overall } = rules;
    const own = rules.asset({ coin, network });
    return new Big(String(Math.min(overall.hour, overall.day, own.hour, own.day)));
  }

  /** The prices of the exchanges of orders whose coin has no price now, by order and coin. */
  async #agreedPrices(em: EntityManager, payments: readonly Payment[]): Promise<ReadonlyMap<string, string>> {
    const { prices } = this.#options;
    const unpriced = payments.filter(({ coin }) => !prices.live(coin) && !prices.reference(coin));
    if (unpriced.length === 0) return new Map();
    const rows = await em.execute<{ id: string; coin: string; price: string }[]>(
      `select t.order_id as id, c.coin, c.price::text as price
         from trade t cross join lateral (values (t.coin_from, t.price_from), (t.coin_to, t.price_to)) as c (coin, price)
        where t.order_id in (select jsonb_array_elements_text(?::jsonb)::uuid) and c.price is not null`,
      [JSON.stringify(unpriced.map(({ orderId }) => orderId).filter((id) => id !== null))],
    );
    return new Map(rows.map(({ id, coin, price }) => [`${id} ${coin}`, price]));
  }
}

const writtenSql = `
  insert into payout_spent as s (coin, network, minute, usd)
  select coin, network, ?::timestamptz, usd from counted where not exists (select from judged where is_over)
  on conflict (coin, network, minute) do update set usd = s.usd + excluded.usd`;

/** Whether a payment leaves for an address that is not ours. */
function isLimited({ depositId }: Payment): boolean {
  return depositId !== null;
}

function isWaiting({ problem, valueUsd }: Payment): boolean {
  return valueUsd !== null && limitProblems.some((one) => one === problem);
}

function lotOf({ id, number, coin, network, valueUsd }: Payment, lot: number): Lot {
  if (valueUsd === null) throw new Error(`payment ${id} was not valued`);
  return { lot, id, number: String(number), coin, network, usd: valueUsd };
}

function minuteOf(at: Date): Date {
  return new Date(at.getTime() - (at.getTime() % minuteMs));
}
