import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { Big, formatDecimal } from '../../base/money.ts';
import { hasForcedReorg } from '../../chains/sandbox/forced-payments.ts';
import { type LedgerAsset, linesOfTransaction } from '../../ledger/ledger.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import { inventoryName } from '../rows/liquidity-venue.ts';
import type { HoldFinding, PayoutHolds } from './payout-holds.ts';
import type { PayoutLimits } from './payout-limits.ts';

export interface PayoutWatchOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: Pick<PriceBook, 'live' | 'reference'>;
  readonly holds: PayoutHolds;
  readonly limits: PayoutLimits;
  /** Most US dollars that trades may lose in 24 hours. */
  readonly venueLossLimitUsd: number;
}

/** Milliseconds between two checks of all workers together. */
const watchEveryMs = 30_000;
/**
 * How far a check looks back before the last one, for journal entries that were committed after it.
 */
const overlapMs = 120_000;
/**
 * A debit that ends sooner opens no hold: a reorganised deposit usually returns with the next
 * blocks.
 */
const debitLastsMs = 60_000;
const dayMs = 86_400_000;

interface Loss {
  readonly asset: LedgerAsset | null;
  readonly usd: Big;
}

/** Closed trades with their loss, or an open position with its value at the time of the trade. */
interface LossRow {
  readonly coin_to: string | null;
  readonly network_to: string | null;
  readonly coin: string | null;
  readonly amount: string | null;
  readonly usd: string;
}

/** Finds the causes for which payouts must be held, once for all workers, and opens the holds. */
export class PayoutWatch {
  readonly #options: PayoutWatchOptions;

  constructor(options: PayoutWatchOptions) {
    this.#options = options;
  }

  /** Runs the checks unless a worker has within the last half minute. Returns whether it did. */
  async runIfDue(): Promise<boolean> {
    const { orm, clock, holds, limits } = this.#options;
    const em = orm.em.fork();
    const now = clock.now();
    // A check with a future time predates a clock correction.
    const claimed = await sql<{ before: Date | string | null }>(
      em,
      `update payout_watch w set looked_at = ? from (select looked_at as before from payout_watch for update) as b
        where b.before is null or b.before <= ? or b.before > ? returning b.before`,
      [now, new Date(now.getTime() - watchEveryMs), now],
    );
    if (claimed.length === 0) return false;
    const before = claimed[0]?.before ?? null;
    await holds.checked('client_debit', await this.#debits(em, new Date(before ?? 0), now));
    await holds.checked('venue_loss', await this.#venueLosses(em, now));
    await limits.forgetOld(em, now);
    return true;
  }

  /**
   * Finds client accounts that are in debit now and were so a minute ago: an order was paid more
   * than it received. It checks orders with a lost credited deposit, orders with entries since the
   * last check, and orders that a hold names. The first run checks all. A debit that a partner of a
   * sandbox forced by a reorganisation concerns its order only.
   */
  async #debits(em: EntityManager, since: Date, now: Date): Promise<HoldFinding[]> {
    const rows = await sql<{ id: string; name: string; coin: string; network: string; amount: string }>(
      em,
      `with touched as (
         select order_id from deposit where credits > 0 and state <> 'credited' and order_id is not null
         union
         select order_id from ledger_transaction where at > ? and order_id is not null
         union
         select split_part(finding, ' ', 1)::uuid
           from payout_hold h cross join lateral unnest(h.findings) as finding
          where h.cause = 'client_debit' and h.closed_at is null
       )
       select o.id, o.short_id as name, l.coin, l.network, sum(l.amount)::text as amount
         from touched t
         join exchange_order o on o.id = t.order_id and not ${hasForcedReorg('o.id')}
         join ledger_transaction x on x.order_id = o.id
         join ${linesOfTransaction('x')} l on l.account = 'client'
        group by o.id, o.short_id, l.coin, l.network
       having sum(l.amount) > 0 and sum(l.amount) filter (where x.at <= ?) > 0
        order by o.short_id, l.coin, l.network`,
      [new Date(Math.max(0, since.getTime() - overlapMs)), new Date(now.getTime() - debitLastsMs)],
    );
    return rows.map(({ id, name, coin, network, amount }) => {
      const debit = formatDecimal(amount);
      return {
        asset: { coin, network },
        name: `${id} ${debit}`,
        detail: `order ${name} was paid ${debit} ${coin} more than it brought`,
      };
    });
  }

  /**
   * Selects the assets with the largest trade losses, until the losses of the others are within the
   * limit. None while the whole day's loss is within it. A loss belongs to the asset that the order
   * pays out.
   */
  async #venueLosses(em: EntityManager, now: Date): Promise<HoldFinding[]> {
    const { venueLossLimitUsd } = this.#options;
    const limit = new Big(String(venueLossLimitUsd));
    const losses = await this.#lossesOfDay(em, now);
    let left = losses.reduce((sum, { usd }) => sum.plus(usd), new Big('0'));
    const all = left;
    const found: HoldFinding[] = [];
    for (const { asset, usd } of losses.toSorted((a, b) => b.usd.cmp(a.usd))) {
      if (left.lte(limit) || usd.lte('0')) break;
      left = left.minus(usd);
      found.push({
        asset,
        name: `${doublings(usd, limit)}`,
        detail: `exchanges lost ${all.toFixed(2)} US dollars in 24 hours, ${usd.toFixed(2)} of them here`,
      });
    }
    return found;
  }

  /**
   * Sums the losses of trades by the asset that their orders pay out; a gain is negative. Trades
   * closed within a day count as in the venue's journal, open positions at current prices. A trade
   * with our own inventory loses what its user is owed above the deposit's market value. Fees do
   * not count as a gain.
   */
  async #lossesOfDay(em: EntityManager, now: Date): Promise<Loss[]> {
    const { prices } = this.#options;
    const dayAgo = new Date(now.getTime() - dayMs);
    const rows = await sql<LossRow>(
      em,
      `select o.coin_to, o.network_to, null as coin, null as amount, sum(-r.usd)::text as usd
         from venue_result r left join exchange_order o on o.id = r.order_id
        where r.at > ? group by 1, 2
       union all
       select o.coin_to, o.network_to, v.coin, sum(v.amount)::text, coalesce(sum(v.usd), 0)::text
         from venue_position v left join exchange_order o on o.id = v.order_id group by 1, 2, 3
       union all
       select t.coin_to, t.network_to, null, null,
              round(sum((t.amount_to + t.service_fee + t.network_fee - t.bought) * t.price_to), 2)::text
         from trade t where t.settled_at > ? and t.venue = ? and t.state = 'filled'
        group by 1, 2`,
      [dayAgo, dayAgo, inventoryName],
    );
    const lossOf = ({ coin, amount, usd }: LossRow): Big => {
      if (coin === null || amount === null) return new Big(usd);
      const price = prices.live(coin) ?? prices.reference(coin);
      return price ? new Big(usd).minus(price.times(amount)) : new Big('0');
    };
    const byAsset = Map.groupBy(rows, (row) => `${row.coin_to} ${row.network_to}`);
    return [...byAsset.values()].map((group): Loss => {
      const { coin_to: coin, network_to: network } = group[0] ?? {};
      return {
        asset: coin && network ? { coin, network } : null,
        usd: group.reduce((sum, row) => sum.plus(lossOf(row)), new Big('0')),
      };
    });
  }
}

/**
 * How often the limit must be doubled to reach the loss. An acknowledged loss becomes a new finding
 * once it has doubled.
 */
function doublings(usd: Big, limit: Big): number {
  let times = 0;
  for (let bound = limit; bound.lt(usd); bound = bound.times('2')) times++;
  return times;
}
