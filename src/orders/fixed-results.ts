import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';

/** What the fixed orders of a partner came to, by the market prices at the decision of each trade. */
export interface FixedResult {
  readonly partnerId: string;
  /** Orders that were exchanged. */
  readonly orders: number;
  /** What users sent, in US dollars. */
  readonly sentUsd: string;
  /** By how many basis points users were owed more than they sent, before fees. Null without orders. */
  readonly adverseBps: string | null;
  /** What users were owed after the service fee less what they sent, in US dollars. Negative when we earned. */
  readonly lossUsd: string;
}

/** A day's loss above this, in US dollars, on at least so many orders, shows a partner that picks its orders. */
const adverseLossUsd = 100;
const adverseOrders = 5;
/**
 * A loss of 30 days above this, in US dollars, ends the fixed orders of a partner, however few orders made it. A burst
 * of large orders after a jump gains a day's caps at once, and would come again on the day after the cut ended.
 */
const spentLossUsd = 1000;

/**
 * The partners whose fixed orders cost us more than the fee brought, as a select of `partner_id`, `since`, `orders` and
 * `loss_usd` of the last 24 hours, and `month_usd` and `is_spent` of 30 days. It binds one value: the moment 24 hours ago.
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

export const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** A trade may be filled so long after it was decided, and still counts in the hour of its decision. */
const filledWithinMs = 3 * hourMs;
const keptDays = 31;

/**
 * How much the takers of fixed rates gained by choosing which orders to pay. A worker sums up each hour's trades; what
 * reads the sums is then cheap, however many orders there are.
 */
export class FixedResults {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  #summedUntilMs: number | null = null;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /** Sums up the trades of the last hours, or of all days that are kept when this process begins. */
  async rollUp(): Promise<void> {
    const nowMs = this.#clock.now().getTime();
    const sinceMs = Math.max(nowMs - keptDays * dayMs, (this.#summedUntilMs ?? 0) - filledWithinMs);
    const em = this.#orm.em.fork();
    await em.execute(
      `insert into fixed_result (partner_id, hour, orders, sent_usd, owed_usd, fees_usd)
       select o.partner_id, date_trunc('hour', t.created_at, 'UTC'), count(*), sum(t.amount_from * t.price_from),
              sum((t.amount_to + t.service_fee + t.network_fee) * t.price_to), sum(t.service_fee * t.price_to)
         from trade t join exchange_order o on o.id = t.order_id
        where t.created_at >= date_trunc('hour', ?::timestamptz, 'UTC') and t.state = 'filled' and o.rate_type = 'fixed'
          and t.price_from is not null and t.price_to is not null
        group by 1, 2 order by 1, 2
       on conflict (partner_id, hour) do update
          set orders = excluded.orders, sent_usd = excluded.sent_usd, owed_usd = excluded.owed_usd,
              fees_usd = excluded.fees_usd`,
      [new Date(sinceMs)],
    );
    await em.execute('delete from fixed_result where hour < ?', [new Date(nowMs - (keptDays + 1) * dayMs)]);
    this.#summedUntilMs = nowMs;
  }
}

/** Results over the last days, up to 30. Partners without exchanged orders are left out. */
export async function fixedResults(
  em: EntityManager,
  now: Date,
  days: number,
  partnerIds: readonly string[],
): Promise<FixedResult[]> {
  return em.execute<FixedResult[]>(
    `select partner_id as "partnerId", sum(orders)::int as orders,
            trim_scale(round(sum(sent_usd), 2))::text as "sentUsd",
            trim_scale(round((sum(owed_usd) / sum(sent_usd) - 1) * 10000, 1))::text as "adverseBps",
            trim_scale(round(sum(owed_usd - fees_usd - sent_usd), 2))::text as "lossUsd"
       from fixed_result where partner_id = any(?::uuid[]) and hour > ? group by partner_id`,
    [`{${partnerIds.join(',')}}`, new Date(now.getTime() - days * dayMs)],
  );
}

/** How many partners picked their orders in the last 24 hours, and the figure of the worst; null without one. */
export async function worstFixedResult(
  em: EntityManager,
  now: Date,
): Promise<{ readonly partners: number; readonly adverseBps: number | null }> {
  const since = new Date(now.getTime() - dayMs);
  const [found] = await em.execute<{ partners: number; adverseBps: number | null }[]>(
    `select (select count(*)::int from (${adversePartners}) as adverse) as partners,
            (select max(bps) from (
               select (sum(owed_usd) / sum(sent_usd) - 1)::float8 * 10000 as bps from fixed_result where hour > ?
                group by partner_id having sum(orders) >= ${adverseOrders}) as figure) as "adverseBps"`,
    [since, since],
  );
  return found ?? { partners: 0, adverseBps: null };
}
