import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { advisoryLocks } from '../../base/db/database.ts';
import { sql } from '../../base/db/sql.ts';
import { Big, ceilTo, floorTo, formatDecimal, minOf } from '../../base/money.ts';
import type { LedgerAsset } from '../../ledger/ledger.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import { leavesUs, type Payment } from '../rows/payment.entity.ts';
import { secondsAfter } from '../rules/settling.ts';
import { type ChainLease, guardLease } from '../turns/chain-lease.ts';

/** Most US dollars that payments may begin to send in any hour and in any day. */
export interface UsdLimit {
  readonly hour: number;
  readonly day: number;
}

/** The limits of automatic payments. */
export interface PayoutRules {
  /**
   * Fractions of each limit that all refunds together, the payments of one partner's orders, and
   * all commission together may use. The refunds of one partner may use the product of the first
   * two.
   */
  readonly parts: { readonly refunds: string; readonly partner: string; readonly commission: string };
  /** For all assets together. */
  readonly overall: UsdLimit;
  readonly asset: (asset: LedgerAsset) => UsdLimit;
}

/**
 * The problem of a payment that waits for room. `above_share`: it exceeds a share by itself, and
 * begins only when staff raise that share.
 */
export type LimitProblem = 'payout_limit' | 'payout_limit_asset' | 'payout_share' | 'above_share';
const limitProblems: readonly LimitProblem[] = ['payout_limit', 'payout_limit_asset', 'payout_share', 'above_share'];

/** A payment would exceed a limit. Nothing was written. */
export class PayoutLimitExceeded extends Error {
  override readonly name = 'PayoutLimitExceeded';
  readonly problem: LimitProblem;
  /** Value of the refused payments, in US dollars. */
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
  /**
   * The signer's daily limits of an asset, in its units: of all payments, and of commission among
   * them. Null where the signer has none.
   */
  readonly signedPerDay?: (asset: LedgerAsset) => { readonly all: string; readonly commission: string } | null;
}

/** The limits of an asset, in US dollars. */
interface AssetLimit {
  readonly hour: string;
  readonly day: string;
  /** The signer's limit of commission in a day. Null where it has none. */
  readonly commission: string | null;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Seconds until a payment asks for room again. */
const againSec = 30;
/** A payment that has not asked for room for this long blocks no later one. */
const absentMs = 300_000;
/** Upper bound of a payment's value, so that no sum overflows its column. */
const mostUsd = new Big('1000000000000');

/** One of several payments that begin together, or not at all. `lot` numbers the group. */
interface Lot {
  readonly lot: number;
  readonly id: string;
  readonly number: string;
  readonly coin: string;
  readonly network: string;
  readonly usd: string;
}

/**
 * Limits what payments that leave us may begin to send, in US dollars: for each asset and for all
 * together, in any hour and any day. These are payouts, refunds and commission. Movements between
 * our own addresses do not count. A payment counts when its transaction is stored, before it is
 * signed. It is uncounted when that transaction is abandoned unsigned.
 *
 * The value is summed by minutes. A minute counts until all of it has left the window, so no window
 * ever exceeds its limit, and room becomes free at most a minute late. One advisory lock orders all
 * processes, so the sums are exact.
 *
 * Waiting payments keep their order: one may begin only when there is room for the earlier ones as
 * well. A payment that alone exceeds a limit waits for staff and does not block the others.
 *
 * The signer's daily limit of an asset is a limit of that asset as well. Otherwise refunds, or one
 * partner, could use up the signer's day. It would then refuse the payments of all others until
 * midnight.
 *
 * All refunds together, and the payments of one partner, may use only a fraction of each limit. A
 * refund costs its user little more than a network fee, so one user could otherwise stop all
 * payouts for an hour or a day. A payment that waits for its fraction blocks no payment of others.
 * Within the refunds' fraction, the refunds of one partner may use that partner's fraction. Its
 * users thus cannot stop the refunds of others.
 *
 * All commission together has a fraction too. It becomes due for all partners at once, and may
 * wait, so user payouts go first.
 */
export class PayoutLimits {
  readonly #options: PayoutLimitsOptions;

  constructor(options: PayoutLimitsOptions) {
    this.#options = options;
  }

  /** Sets the value and the begin time of payments that begin. */
  async value(em: EntityManager, beginning: readonly Payment[]): Promise<void> {
    const payments = beginning.filter(leavesUs);
    const agreed = await this.#agreedPrices(em, payments);
    for (const payment of payments) {
      payment.valueUsd = this.#worth(payment, agreed).toFixed(2);
      payment.begunAt = this.#options.clock.now();
    }
  }

  /**
   * Counts payments that begin, all or none, as the last step of the transaction that begins them.
   *
   * @throws PayoutLimitExceeded when a limit would be exceeded.
   */
  async count(em: EntityManager, beginning: readonly Payment[]): Promise<void> {
    const payments = beginning.filter(leavesUs);
    if (payments.length === 0) return;
    // A separate statement: the sums must be read in a snapshot that is taken under the lock.
    await sql(em, 'select pg_advisory_xact_lock(?)', [advisoryLocks.payoutLimits]);
    const now = this.#options.clock.now();
    const [over] = await this.#judge(
      em,
      payments.map((payment) => lotOf(payment, 0)),
      now,
      true,
    );
    if (!over) return;
    const usd = payments.reduce((sum, { valueUsd }) => sum.plus(valueUsd ?? '0'), new Big('0'));
    throw new PayoutLimitExceeded(over.problem, usd.toFixed(2));
  }

  /** Subtracts payments from the sums. Their transactions were never signed and never will be. */
  async uncount(em: EntityManager, payments: readonly Payment[]): Promise<void> {
    const counted = payments.filter(({ begunAt, valueUsd }) => begunAt !== null && valueUsd !== null);
    if (counted.length === 0) return;
    await sql(em, 'select pg_advisory_xact_lock(?)', [advisoryLocks.payoutLimits]);
    await sql(
      em,
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

  /** Selects the payments that may try to begin. Waiting payments without room are postponed. */
  async withRoom<T extends { readonly payment: Payment }>(ready: readonly T[]): Promise<readonly T[]> {
    const { orm, clock } = this.#options;
    const waiting = ready.filter(({ payment }) => isWaiting(payment));
    if (waiting.length === 0) return ready;
    const now = clock.now();
    const em = orm.em.fork();
    const lots = waiting.map(({ payment }, index) => lotOf(payment, index));
    const judged = await this.#judge(em, lots, now, false);
    const over = new Set(judged.map(({ lot }) => waiting[lot]?.payment.id));
    await sql(
      em,
      // The problem decides which other payments wait behind this one, and may have changed.
      `update payment p set next_action_at = ?, problem = o.problem
         from jsonb_to_recordset(?::jsonb) as o (id uuid, problem text) where p.id = o.id and p.state = 'ready'`,
      [
        secondsAfter(now, againSec),
        JSON.stringify(judged.map(({ lot, problem }) => ({ id: waiting[lot]?.payment.id, problem }))),
      ],
    );
    return ready.filter(({ payment }) => !over.has(payment.id));
  }

  /** Records that a payment waits for room, since when, and its value. */
  async wait(lease: ChainLease, { id }: Payment, { problem, usd }: PayoutLimitExceeded): Promise<void> {
    const { orm, clock } = this.#options;
    const now = clock.now();
    await orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      await sql(
        em,
        // A payment that waits for room counts as a retry, after payments that have not asked yet.
        `update payment set problem = ?, value_usd = ?, next_action_at = ?, tries = greatest(tries, 1),
                problem_since = case when problem is not distinct from ? then problem_since else ? end
          where id = ? and state = 'ready'`,
        [problem, usd, secondsAfter(now, againSec), problem, now, id],
      );
    });
  }

  /** Deletes minutes outside every window. */
  async forgetOld(em: EntityManager, now: Date): Promise<void> {
    const before = new Date(now.getTime() - 2 * dayMs);
    await sql(em, 'delete from payout_spent where minute < ?', [before]);
    await sql(em, 'delete from payout_share_spent where minute < ?', [before]);
  }

  /** Finds the lots that exceed a limit, each with the limit. Counts lot 0 when it exceeds none. */
  async #judge(
    em: EntityManager,
    lots: readonly Lot[],
    now: Date,
    isCounting: boolean,
  ): Promise<{ lot: number; problem: LimitProblem }[]> {
    const { rules } = this.#options;
    const assets = new Map(lots.map(({ coin, network }) => [`${coin} ${network}`, { coin, network }]));
    const limits = [
      { coin: '', network: '', commission: null, ...rules.overall },
      ...[...assets.values()].map((asset) => ({ ...asset, ...this.#limitOf(asset) })),
    ];
    const before = (ms: number): Date => new Date(now.getTime() - ms);
    return sql<{ lot: number; problem: LimitProblem }>(em, judgingSql(isCounting), [
      JSON.stringify(lots),
      JSON.stringify(limits),
      rules.parts.refunds,
      rules.parts.partner,
      rules.parts.commission,
      before(hourMs + minuteMs),
      before(dayMs + minuteMs),
      before(dayMs + minuteMs),
      before(absentMs),
      ...(isCounting ? [minuteOf(now), minuteOf(now)] : []),
    ]);
  }

  /**
   * The configured limit of an asset, or the value of the signer's daily limit where that is less.
   */
  #limitOf(asset: LedgerAsset): AssetLimit {
    const { prices, rules, signedPerDay } = this.#options;
    const { hour, day } = rules.asset(asset);
    const price = prices.live(asset.coin) ?? prices.reference(asset.coin);
    const signed = signedPerDay?.(asset) ?? null;
    if (!price || signed === null) return { hour: String(hour), day: String(day), commission: null };
    const usdOf = (amount: string): Big => floorTo(new Big(amount).times(price), 2);
    const least = (limit: number): string => formatDecimal(minOf(new Big(String(limit)), usdOf(signed.all)));
    return { hour: least(hour), day: least(day), commission: formatDecimal(usdOf(signed.commission)) };
  }

  /**
   * The value at the live price, else the reference price, else the price of the order's own trade.
   */
  #worth({ kind, orderId, coin, network, amount }: Payment, agreed: ReadonlyMap<string, string>): Big {
    const { prices, rules } = this.#options;
    const price = prices.live(coin) ?? prices.reference(coin) ?? agreed.get(`${orderId} ${coin}`) ?? null;
    if (price !== null) return minOf(ceilTo(new Big(amount).times(price), 2), mostUsd);
    // Without any price, a payment takes the whole part of its partner, or of commission: one such
    // payment may begin in an hour.
    const { overall, parts } = rules;
    const own = this.#limitOf({ coin, network });
    const limit = [own.hour, own.day]
      .map((usd) => new Big(usd))
      .reduce(minOf, new Big(String(Math.min(overall.hour, overall.day))));
    if (kind === 'commission') return floorTo(limit.times(parts.commission), 2);
    return floorTo(limit.times(parts.partner).times(kind === 'refund' ? parts.refunds : '1'), 2);
  }

  /** Reads the trade prices of orders whose coin has no price now, by order and coin. */
  async #agreedPrices(em: EntityManager, payments: readonly Payment[]): Promise<ReadonlyMap<string, string>> {
    const { prices } = this.#options;
    const unpriced = payments.filter(({ coin }) => !prices.live(coin) && !prices.reference(coin));
    if (unpriced.length === 0) return new Map();
    const rows = await sql<{ id: string; coin: string; price: string }>(
      em,
      `select t.order_id as id, c.coin, c.price::text as price
         from trade t cross join lateral (values (t.coin_from, t.price_from), (t.coin_to, t.price_to)) as c (coin, price)
        where t.order_id in (select jsonb_array_elements_text(?::jsonb)::uuid) and c.price is not null`,
      [JSON.stringify(unpriced.map(({ orderId }) => orderId).filter((id) => id !== null))],
    );
    return new Map(rows.map(({ id, coin, price }) => [`${id} ${coin}`, price]));
  }
}

/**
 * SQL: the shares in which payment `p` of order `o` counts: all payments, all commission, all
 * refunds, the partner's refunds, and the payments of the partner's orders.
 */
const sharesSql = `select '' union all select 'commission' where p.kind = 'commission'
                   union all select 'refunds' where p.kind = 'refund'
                   union all select 'refunds ' || o.partner_id where p.kind = 'refund' and o.partner_id is not null
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

/**
 * SQL: the lots that exceed a limit. It binds the lots, the limits by asset, the fractions of
 * refunds, partners and commission, and the starts of the windows. With `isCounting`, it counts lot
 * 0 when that exceeds none, in the minute that it binds for the sums and for the shares.
 */
const judgingSql = (isCounting: boolean): string => `
  with mine as (
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
    select c.*, l.hour * part.of_limit as hour_limit,
           least(l.day * part.of_limit, case c.share when 'commission' then l.commission end) as day_limit
      from counted c
      join jsonb_to_recordset(?::jsonb)
           as l (coin text, network text, hour numeric, day numeric, commission numeric)
        on l.coin = c.coin and l.network = c.network
     cross join lateral (
       select case when c.share = '' then 1 when c.share = 'commission' then r.commission
                   when c.share = 'refunds' then r.refunds
                   when c.share like 'refunds %' then r.refunds * r.partner else r.partner end as of_limit
         from (select ?::numeric as refunds, ?::numeric as partner, ?::numeric as commission) as r) as part
     where c.share = '' or part.of_limit < 1 or c.share = 'commission' and l.commission is not null
  ), judged as (
    select c.lot, c.share, case c.coin when '' then 'payout_limit' else 'payout_limit_asset' end as problem,
           s.hour + w.usd + c.usd > c.hour_limit or s.day + w.usd + c.usd > c.day_limit as is_over,
           c.usd > least(c.hour_limit, c.day_limit) as is_above
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
          -- Commission that waits keeps no payout back.
          and (p.kind <> 'commission'
               or exists (select from mine m join payment own on own.id = m.id
                           where m.lot = c.lot and own.kind = 'commission'))
          and p.number < c.number and p.value_usd <= least(c.hour_limit, c.day_limit) and p.next_action_at > ?
          and case c.coin when '' then p.problem = 'payout_limit'
                   else p.problem = 'payout_limit_asset' and p.coin = c.coin and p.network = c.network end
          and not exists (select from mine m where m.lot = c.lot and m.id = p.id)) as w
  )${isCounting ? `, ${writtenSql}` : ''}
  select lot, case when bool_or(share <> '' and is_above) then 'above_share'
                   when bool_or(share <> '') then 'payout_share' else min(problem) end as problem
    from judged where is_over group by lot order by lot`;

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
