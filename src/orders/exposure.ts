import type { EntityManager } from '@mikro-orm/postgresql';
import type { Partner } from '../accounts/partners/partner.entity.ts';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import { Big, formatDecimal } from '../base/money.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import type { RateType } from '../market/rates/quote.ts';
import { adversePartners, dayMs } from './fixed-results.ts';
import { dollars, type Usd, usdText } from './usd.ts';

/** Amounts in US dollars. */
export interface ExposureCaps {
  /** A partner's orders that wait for their deposit. */
  readonly orders: number;
  /** A partner's fixed-rate orders created within an hour, and within a day. */
  readonly fixedUsd: number;
  readonly fixedDayUsd: number;
  /** Fixed-rate orders of all partners created within an hour. */
  readonly fixedAllUsd: number;
  /** A partner's float orders that wait for their deposit, or are between deposit and payout. */
  readonly floatUsd: number;
  /** Float orders of all partners between a mined deposit and the payout. */
  readonly floatAllUsd: number;
}

/** What a partner's orders take of its caps. Amounts are decimal strings in US dollars. */
export interface Exposure {
  readonly partnerId: string;
  /** Orders that wait for their deposit, and cancels beyond their bound. */
  readonly orders: number;
  readonly ordersCap: number;
  /** Fixed-rate orders created within an hour and within a day. */
  readonly fixedHourUsd: string;
  readonly fixedHourCapUsd: string;
  readonly fixedDayUsd: string;
  readonly fixedDayCapUsd: string;
  /** Float orders that wait for their deposit, or are between deposit and payout. */
  readonly floatUsd: string;
  readonly floatCapUsd: string;
  /** Whether the fixed caps are lower because the partner's fixed-rate orders lose money. */
  readonly areFixedCapsCut: boolean;
}

/** The caps of one partner. Fixed caps are cut while its fixed-rate orders lose money. */
export interface PartnerCaps {
  readonly orders: number;
  readonly fixedUsd: Usd;
  readonly fixedDayUsd: Usd;
  readonly floatUsd: number;
}

interface ExposureOptions {
  readonly clock: Clock;
  readonly prices: PriceBook;
  readonly depositWindowSec: number;
  readonly caps: ExposureCaps;
}

/** The turnover of fixed-rate orders is counted in slots of this length. */
export const slotMs = 300_000;
export const hourMs = 3_600_000;
/** Percent of the fixed caps that remain to a partner whose fixed-rate orders lose money. */
const adversePercent = 10n;
/** Percent of the fixed caps that remain to a partner whose fixed-rate orders lose nothing. */
export const whole = 100n;

const zero = new Big('0');

/**
 * What the orders of partners take of their caps now, as the next create would find it. One
 * statement reads all of them. What other processes admit at this moment is missing.
 */
export async function exposures(
  partners: readonly Partner[],
  em: EntityManager,
  options: ExposureOptions,
): Promise<Exposure[]> {
  if (partners.length === 0) return [];
  const now = options.clock.now();
  const hourAgo = new Date(now.getTime() - hourMs - slotMs);
  const dayAgo = new Date(now.getTime() - dayMs - slotMs);
  const rows = await sql<ExposureRow>(
    em,
    `select p.id as partner, t.* from (values ${partners.map(() => '(?::uuid)').join(', ')}) as p (id)
      cross join lateral (
        ${partnerRows('p.id')}
        union all select 'fixed_hour', null, 0, coalesce(sum(usd), 0)::text
          from fixed_turnover where partner_id = p.id and slot > ?
        union all select 'fixed_day', null, 0, coalesce(sum(usd), 0)::text
          from fixed_turnover where partner_id = p.id and slot > ?) as t`,
    [...partners.map(({ id }) => id), ...partnerValues(now, [], options.depositWindowSec), hourAgo, dayAgo],
  );
  const byPartner = Map.groupBy(rows, ({ partner }) => partner);
  return partners.map((partner) => exposureOf(partner, byPartner.get(partner.id) ?? [], options));
}

function exposureOf(
  partner: Partner,
  rows: readonly ExposureRow[],
  { prices, caps: usual }: ExposureOptions,
): Exposure {
  const count = (wanted: ExposureRow['what']): number => rows.find(({ what }) => what === wanted)?.count ?? 0;
  const amount = (wanted: ExposureRow['what']): string =>
    formatDecimal(new Big(rows.find(({ what }) => what === wanted)?.amount ?? '0'));
  const fixedPercent = fixedPercentOf(rows);
  const caps = capsOf(usual, partner, fixedPercent);
  const float = rows
    .filter(({ what }) => what === 'float')
    .reduce((sum, row) => sum.plus(worth(prices, row.coin ?? '', new Big(row.amount))), zero);
  return {
    partnerId: partner.id,
    orders: placesOf({ orders: count('open'), cancelled: count('cancelled') }, caps.orders),
    ordersCap: caps.orders,
    fixedHourUsd: amount('fixed_hour'),
    fixedHourCapUsd: usdText(caps.fixedUsd),
    fixedDayUsd: amount('fixed_day'),
    fixedDayCapUsd: usdText(caps.fixedDayUsd),
    floatUsd: formatDecimal(float),
    floatCapUsd: String(caps.floatUsd),
    areFixedCapsCut: !partner.keepsFixedCaps && fixedPercent < whole,
  };
}

/**
 * Reads a partner's open orders, its float orders by coin, and whether its fixed-rate orders lose
 * money.
 */
export function readPartnerOrders(
  em: EntityManager,
  now: Date,
  partner: string,
  depositWindowSec: number,
): Promise<TallyRow[]> {
  return sql<TallyRow>(em, partnerRows('?'), partnerValues(now, [partner], depositWindowSec));
}

/** The values that `partnerRows` binds, with those of its partner. */
function partnerValues(now: Date, partner: readonly string[], depositWindowSec: number): (string | Date)[] {
  const windowMs = depositWindowSec * 1000;
  const waitsAfter = new Date(now.getTime() - windowMs);
  const openedAfter = new Date(now.getTime() - 2 * windowMs);
  const dayAgo = new Date(now.getTime() - dayMs);
  return [...partner, openedAfter, waitsAfter, ...partner, waitsAfter, ...partner, waitsAfter, dayAgo, ...partner];
}

/** Reads over all partners: fixed-rate orders of the last hour, and paid float orders by coin. */
export function readAllOrders(em: EntityManager, now: Date): Promise<TallyRow[]> {
  return sql<TallyRow>(
    em,
    `select 'fixed' as what, null as coin, 0 as count, coalesce(sum(usd), 0)::text as amount
       from fixed_turnover_all where slot > ?
      union all ${openFloat('', 'join', "o.deposit_id is not null and d.state in ('mined', 'credited')")}`,
    [new Date(now.getTime() - hourMs - slotMs)],
  );
}

/**
 * The caps of a partner: its own, else the usual ones.
 *
 * @param fixedPercent what remains of the fixed caps while fixed orders lose money.
 */
export function capsOf(caps: ExposureCaps, partner: Partner, fixedPercent: bigint): PartnerCaps {
  const fixedUsd = partner.maxFixedExposureUsd ?? caps.fixedUsd;
  // A partner with its own hourly cap is not limited further by the default daily cap.
  const fixedDayUsd = partner.maxFixedDayUsd ?? Math.max(caps.fixedDayUsd, partner.maxFixedExposureUsd ?? 0);
  const percent = partner.keepsFixedCaps ? whole : fixedPercent;
  const cut = (usd: number): Usd => (dollars(usd) * percent) / whole;
  return {
    orders: partner.maxOpenOrders ?? caps.orders,
    fixedUsd: cut(fixedUsd),
    fixedDayUsd: cut(fixedDayUsd),
    floatUsd: partner.maxFloatExposureUsd ?? caps.floatUsd,
  };
}

/**
 * One row of a tally's read. `amount` is in units of `coin`, or in US dollars when `coin` is null.
 */
interface TallyRow {
  readonly what: 'open' | 'cancelled' | 'adverse' | 'spent' | RateType;
  readonly coin: string | null;
  readonly count: number;
  readonly amount: string;
}

interface ExposureRow extends Omit<TallyRow, 'what'> {
  readonly partner: string;
  readonly what: TallyRow['what'] | 'fixed_hour' | 'fixed_day';
}

/**
 * Selects open float orders by coin. Unpaid orders count at the announced amount, paid orders at
 * the amount that arrived, up to the pair's maximum. The status condition must equal that of the
 * indexes exchange_order_float_open and exchange_order_float_paid.
 */
const openFloat = (whose: string, join: 'join' | 'left join', which: string): string => `
  select 'float', o.coin_from, 0,
         sum(case when d.id is null then o.amount_from_expected
                  else greatest(o.amount_from_expected, least(d.amount, o.max_amount)) end)::text
    from exchange_order o ${join} deposit d on d.id = o.deposit_id
   where ${whose} o.rate_type = 'float' and o.status in ('waiting_deposit', 'confirming', 'exchanging', 'sending')
     and (${which})
   group by o.coin_from`;

/**
 * Selects the rows of a partner's tally: its open orders, its float orders by coin, and whether its
 * fixed-rate orders lose money. A deposit below the minimum, or outside a block, is no payment: it
 * would end the waiting and leave the order open. It does so for at most one more deposit window.
 * An order that is expired within its own window was cancelled.
 *
 * @param partner SQL of the partner's id.
 */
const partnerRows = (partner: string): string =>
  `select 'open' as what, null as coin, count(*)::int as count, '0' as amount
     from exchange_order o
    where partner_id = ${partner} and created_at > ?
      and ((status = 'waiting_deposit' and created_at > ?)
        or (status = 'confirming' and not exists
             (select from deposit d where d.order_id = o.id and d.state in ('mined', 'credited')
                 and d.coin = o.coin_from and d.network = o.network_from and d.amount >= o.min_amount)))
    union all
   select 'cancelled', null, count(*)::int, '0' from exchange_order
    where partner_id = ${partner} and created_at > ? and status = 'expired'
    union all ${openFloat(`partner_id = ${partner} and`, 'left join', "o.status <> 'waiting_deposit' or o.created_at > ?")}
    union all select case when is_spent then 'spent' else 'adverse' end, null, 1, '0' from (${adversePartners}) as adverse where partner_id = ${partner}`;

/**
 * The places that a partner's orders take under its cap. A cancelled order frees its place at once,
 * but has taken a deposit address for ever. So cancels within one deposit window free no more
 * places than the cap has. A partner that creates and cancels takes at most twice the addresses of
 * one that only creates.
 */
export function placesOf(
  { orders, cancelled }: { readonly orders: number; readonly cancelled: number },
  cap: number,
): number {
  return orders + Math.max(0, cancelled - cap);
}

/** What remains of a partner's fixed caps, in percent. */
export function fixedPercentOf(rows: readonly { readonly what: string }[]): bigint {
  const isAny = (wanted: TallyRow['what']): boolean => rows.some(({ what }) => what === wanted);
  return isAny('spent') ? 0n : isAny('adverse') ? adversePercent : whole;
}

/** Converts to US dollars at the reference price, which every coin has once it was ever quoted. */
export function worth(prices: PriceBook, coin: string, amount: Big): Big {
  return amount.times(prices.reference(coin) ?? zero);
}
