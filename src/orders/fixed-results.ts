import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';

/**
 * Result of a partner's fixed-rate orders, at the market prices of the moment each trade was
 * decided.
 */
interface FixedResult {
  readonly partnerId: string;
  /** Number of exchanged orders. */
  readonly orders: number;
  /** What users sent, in US dollars. */
  readonly sentUsd: string;
  /**
   * How much more users were owed than they sent, in basis points, before fees. Null without
   * orders.
   */
  readonly adverseBps: string | null;
  /**
   * US dollars owed to users after the service fee, minus what they sent. Negative when we earned.
   */
  readonly lossUsd: string;
}

/**
 * Daily limits for detecting adverse selection: a partner that pays only orders the market favours.
 * A loss above `adverseLossUsd` US dollars on at least `adverseOrders` orders in a day counts.
 */
const adverseLossUsd = 100;
const adverseOrders = 5;
/**
 * A loss above this in 30 days, in US dollars, stops the partner's fixed-rate orders, however few
 * orders caused it. A burst of large orders after a price jump gains a whole day's caps at once.
 * Without the stop, the burst would return on the day after the daily cut ends.
 */
const spentLossUsd = 1000;

/**
 * Selects the partners whose fixed-rate orders cost us more than their fees brought. Columns:
 * `partner_id`, `since`, `orders` and `loss_usd` over the last 24 hours; `month_usd` and `is_spent`
 * over 30 days. Binds one value: the moment 24 hours ago.
 */
export const adversePartners = `
  select * from (
    select partner_id, coalesce(min(hour) filter (where hour > ago), max(hour)) as since,
           coalesce(sum(orders) filter (where hour > ago), 0) as orders,
           coalesce(sum(owed_usd - fees_usd - sent_usd) filter (where hour > ago), 0) as loss_usd,
           sum(owed_usd - fees_usd - sent_usd) as month_usd,
           sum(owed_usd - fees_usd - sent_usd) > ${spentLossUsd} as is_spent
      from fixed_result cross join (select ?::timestamptz as ago) as day
     where hour > ago - interval '29 days'
     group by partner_id) as result
   where is_spent or (orders >= ${adverseOrders} and loss_usd > ${adverseLossUsd})`;

/**
 * SQL: the part of the fee of a trade `t` that is ours. The markup in it is the partner's. It needs
 * the order `o` and its row `m` of `order_terms`, if it has one.
 */
export const ownFee = `t.service_fee * (1 - coalesce(m.markup_bps / (nullif(o.fee_rate, 0) * 10000), 0))`;

export const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Fills before the last run that a run sums again: longer than a fill takes to be committed. */
const overlapMs = hourMs;
const keptDays = 31;

/**
 * Measures how much takers of fixed rates gain by choosing which orders to pay. A worker sums the
 * trades that filled in each hour. So reading the result is cheap however many orders there are.
 */
export class FixedResults {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  #summedUntilMs: number | null = null;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Sums the trades that filled in the last hours. The first run of a process sums all days that
   * are kept.
   */
  async rollUp(): Promise<void> {
    const nowMs = this.#clock.now().getTime();
    const sinceMs = Math.max(nowMs - keptDays * dayMs, (this.#summedUntilMs ?? 0) - overlapMs);
    const em = this.#orm.em.fork();
    await sql(
      em,
      `insert into fixed_result (partner_id, hour, orders, sent_usd, owed_usd, fees_usd)
       select o.partner_id, date_trunc('hour', t.settled_at, 'UTC'), count(*), sum(t.amount_from * t.price_from),
              sum((t.amount_to + t.service_fee + t.network_fee) * t.price_to), sum(${ownFee} * t.price_to)
         from trade t join exchange_order o on o.id = t.order_id left join order_terms m on m.order_id = o.id
        where t.settled_at >= date_trunc('hour', ?::timestamptz, 'UTC') and t.state = 'filled' and o.rate_type = 'fixed'
        group by 1, 2 order by 1, 2
       on conflict (partner_id, hour) do update
          set orders = excluded.orders, sent_usd = excluded.sent_usd, owed_usd = excluded.owed_usd,
              fees_usd = excluded.fees_usd`,
      [new Date(sinceMs)],
    );
    await sql(em, 'delete from fixed_result where hour < ?', [new Date(nowMs - (keptDays + 1) * dayMs)]);
    this.#summedUntilMs = nowMs;
  }
}

/** Reads the results of the last `days` days, up to 30. Omits partners without exchanged orders. */
export async function fixedResults(
  em: EntityManager,
  now: Date,
  days: number,
  partnerIds: readonly string[],
): Promise<FixedResult[]> {
  return sql<FixedResult>(
    em,
    `select partner_id as "partnerId", sum(orders)::int as orders,
            trim_scale(round(sum(sent_usd), 2))::text as "sentUsd",
            trim_scale(round((sum(owed_usd) / sum(sent_usd) - 1) * 10000, 1))::text as "adverseBps",
            trim_scale(round(sum(owed_usd - fees_usd - sent_usd), 2))::text as "lossUsd"
       from fixed_result where partner_id = any(?::uuid[]) and hour > ? group by partner_id`,
    [`{${partnerIds.join(',')}}`, new Date(now.getTime() - days * dayMs)],
  );
}

/**
 * Counts the partners with adverse selection in the last 24 hours, and finds the highest figure in
 * basis points. The figure is null without such a partner.
 */
export async function worstFixedResult(
  em: EntityManager,
  now: Date,
): Promise<{ readonly partners: number; readonly adverseBps: number | null }> {
  const since = new Date(now.getTime() - dayMs);
  const [found] = await sql<{ partners: number; adverseBps: number | null }>(
    em,
    `select (select count(*)::int from (${adversePartners}) as adverse) as partners,
            (select max(bps) from (
               select (sum(owed_usd) / sum(sent_usd) - 1)::float8 * 10000 as bps from fixed_result where hour > ?
                group by partner_id having sum(orders) >= ${adverseOrders}) as figure) as "adverseBps"`,
    [since, since],
  );
  return found ?? { partners: 0, adverseBps: null };
}
