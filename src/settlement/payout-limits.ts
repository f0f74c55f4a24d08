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
  /** The parts of each limit that refunds together, and the payments of one partner, may use up: fractions. */
  readonly parts: { readonly refunds: string; readonly partner: string };
  /** Of all assets together. */
  readonly overall: UsdLimit;
  readonly asset: (asset: LedgerAsset) => UsdLimit;
}

/** What a payment that waits for room has as its problem. */
export type LimitProblem = 'payout_limit' | 'payout_limit_asset' | 'payout_share';
export const limitProblems: readonly LimitProblem[] = ['payout_limit', 'payout_limit_asset', 'payout_share'];

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
 *
 * Refunds together, and the payments of one partner, may use up a part of each limit only. A refund costs its user little
 * more than a network fee, so one user could else stop everybody's payouts for an hour or a day. What waits for its part
 * keeps no payment of others waiting.
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
      `with gone as (
         select s.share, c.coin, c.network, m.minute, sum(m.usd) as usd
           from jsonb_to_recordset(?::jsonb) as m (id uuid, coin text, network text, minute timestamptz, usd numeric)
           join payment p on p.id = m.id
           left join exchange_order o on o.id = p.order_id
          cross join lateral (${sharesSql}) as s (share)
          cross join lateral (values (m.coin, m.network), ('', '')) as c (coin, network)
          group by 1, 2, 3, 4
       ), shares as (
         update payout_share_spent t set usd = greatest(t.usd - g.usd, 0) from gone g
          where t.share = g.share and t.coin = g.coin and t.network = g.network and t.minute = g.minute
       )
       update payout_spent s set usd = greatest(s.usd - g.usd, 0) from gone g
        where g.share = '' and s.coin = g.coin and s.network = g.network and s.minute = g.minute`,
      [
        JSON.stringify(
          counted.map(({ id, coin, network, begunAt, valueUsd }) => {
            return { id, coin, network, minute: minuteOf(begunAt ?? new Date(0)), usd: valueUsd };
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
    const judged = await this.#judge(em, lots, now, false);
    const over = new Set(judged.map(({ lot }) => waiting[lot]?.payment.id));
    await em.execute(
      // What keeps it waiting decides whether others wait for it, and may have changed.
      `update payment p set next_action_at = ?, problem = o.problem
         from jsonb_to_recordset(?::jsonb) as o (id uuid, problem text) where p.id = o.id and p.state = 'ready'`,
      [
        secondsAfter(now, againSec),
        JSON.stringify(judged.map(({ lot, problem }) => ({ id: waiting[lot]?.payment.id, problem }))),
      ],
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
    const before = new Date(now.getTime() - 2 * dayMs);
    await em.execute('delete from payout_spent where minute < ?', [before]);
    await em.execute('delete from payout_share_spent where minute < ?', [before]);
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
         select m.lot, s.share, a.coin, a.network, sum(m.usd) as usd, max(m.number) as number
           from mine m
           join payment p on p.id = m.id
           left join exchange_order o on o.id = p.order_id
          cross join lateral (${sharesSql}) as s (share)
          cross join lateral (values (m.coin, m.network), ('', '')) as a (coin, network)
          group by 1, 2, 3, 4
       ), bounded as (
         select c.*, l.hour * part.of_limit as hour_limit, l.day * part.of_limit as day_limit
           from counted c
           join jsonb_to_recordset(?::jsonb) as l (coin text, network text, hour numeric, day numeric)
             on l.coin = c.coin and l.network = c.network
          cross join lateral (
            select case c.share when '' then 1 when 'refunds' then ?::numeric else ?::numeric end as of_limit) as part
          where c.share = '' or part.of_limit < 1
       ), judged as (
         select c.lot, c.share, case c.coin when '' then 'payout_limit' else 'payout_limit_asset' end as problem,
                s.hour + w.usd + c.usd > c.hour_limit or s.day + w.usd + c.usd > c.day_limit as is_over
           from bounded c
          cross join lateral (
            select coalesce(sum(usd) filter (where minute > ?), 0) as hour, coalesce(sum(usd), 0) as day
              from (select minute, usd from payout_spent
                     where c.share = '' and coin = c.coin and network = c.network and minute > ?
                    union all
                    select minute, usd from payout_share_spent
                     where share = c.share and coin = c.coin and network = c.network and minute > ?) as spent) as s
          cross join lateral (
            select coalesce(sum(p.value_usd), 0) as usd
              from payment p
             where c.share = '' and p.state = 'ready' and p.problem in ('payout_limit', 'payout_limit_asset')
               and p.number < c.number and p.value_usd <= least(c.hour_limit, c.day_limit) and p.next_action_at > ?
               and case c.coin when '' then p.problem = 'payout_limit'
                        else p.problem = 'payout_limit_asset' and p.coin = c.coin and p.network = c.network end
               and not exists (select from mine m where m.lot = c.lot and m.id = p.id)) as w
       )${isCounting ? `, ${writtenSql}` : ''}
       select lot, case when bool_or(share <> '') then 'payout_share' else min(problem) end as problem
         from judged where is_over group by lot order by lot`,
      [
        JSON.stringify(lots),
        JSON.stringify(limits),
        rules.parts.refunds,
        rules.parts.partner,
        before(hourMs + minuteMs),
        before(dayMs + minuteMs),
        before(dayMs + minuteMs),
        before(absentMs),
        ...(isCounting ? [minuteOf(now), minuteOf(now)] : []),
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

/** What payment `p` of order `o` counts in: everything, refunds, and its partner's own. */
const sharesSql = `select '' union all select 'refunds' where p.kind = 'refund'
                   union all select o.partner_id::text where o.partner_id is not null`;

const writtenSql = `written as (
    insert into payout_spent as s (coin, network, minute, usd)
    select coin, network, ?::timestamptz, usd from counted
     where share = '' and not exists (select from judged where is_over)
    on conflict (coin, network, minute) do update set usd = s.usd + excluded.usd
  ), shared as (
    insert into payout_share_spent as s (share, coin, network, minute, usd)
    select share, coin, network, ?::timestamptz, usd from counted
     where share <> '' and not exists (select from judged where is_over)
    on conflict (share, coin, network, minute) do update set usd = s.usd + excluded.usd
  )`;

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
