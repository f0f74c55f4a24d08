import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
import type { LedgerAsset } from '../ledger/ledger.ts';
import { Big, formatDecimal } from '../money.ts';
import type { PriceBook } from '../rates/price-book.ts';
import type { Finding, PayoutHolds } from './payout-holds.ts';
import type { PayoutLimits } from './payout-limits.ts';

export interface PayoutWatchOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: Pick<PriceBook, 'live' | 'reference'>;
  readonly holds: PayoutHolds;
  readonly limits: PayoutLimits;
  /** What exchanges may lose in 24 hours. */
  readonly venueLossLimitUsd: number;
}

/** Between two looks of all workers together. */
const watchEveryMs = 30_000;
/** Bookings that a look may have missed because they were committed after it. */
const overlapMs = 120_000;
/** A debit that is over sooner holds nothing: a reorganised deposit mostly returns with the next blocks. */
const debitLastsMs = 60_000;
const dayMs = 86_400_000;

interface Loss {
  readonly asset: LedgerAsset | null;
  readonly usd: Big;
}

/** Trades that are over, with what they lost; or an open position, with its worth when the trade was decided. */
interface LossRow {
  readonly coin_to: string | null;
  readonly network_to: string | null;
  readonly coin: string | null;
  readonly amount: string | null;
  readonly usd: string;
}

/** Looks for what payouts must be held for, once for all workers, and opens the holds. */
export class PayoutWatch {
  readonly #options: PayoutWatchOptions;

  constructor(options: PayoutWatchOptions) {
    this.#options = options;
  }

  /** Looks when no worker has within the last half minute. Returns whether it did. */
  async runIfDue(): Promise<boolean> {
    const { orm, clock, holds, limits } = this.#options;
    const em = orm.em.fork();
    const now = clock.now();
    // A look of the future was before the clock was set back.
    const claimed = await em.execute<{ before: Date | string | null }[]>(
      `update payout_watch w set looked_at = ? from (select looked_at as before from payout_watch for update) as b
        where b.before is null or b.before <= ? or b.before > ? returning b.before`,
      [now, new Date(now.getTime() - watchEveryMs), now],
    );
    if (claimed.length === 0) return false;
    const before = claimed[0]?.before ?? null;
    await holds.looked('client_debit', await this.#debits(em, new Date(before ?? 0), now));
    await holds.looked('venue_loss', await this.#venueLosses(em, now));
    await limits.forgetOld(em, now);
    return true;
  }

  /**
   * Client accounts that are in debit and were so a minute ago: an order was paid more than it brought. Looks at orders
   * whose credited deposit is gone, at those that were booked since the last look, and at those that a hold names: at
   * all of them the first time.
   */
  async #debits(em: EntityManager, since: Date, now: Date): Promise<Finding[]> {
    const rows = await em.execute<{ id: string; name: string; coin: string; network: string; amount: string }[]>(
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
         join exchange_order o on o.id = t.order_id
         join ledger_transaction x on x.order_id = o.id
         join ledger_line l on l.transaction_id = x.id and l.account = 'client'
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
   * The assets whose exchanges lost, largest loss first, until what the others lost is within the limit. None while all
   * of a day is within it. A loss belongs to the asset that the order pays out.
   */
  async #venueLosses(em: EntityManager, now: Date): Promise<Finding[]> {
    const { venueLossLimitUsd } = this.#options;
    const limit = new Big(String(venueLossLimitUsd));
    const losses = await this.#lossesOfDay(em, now);
    let left = losses.reduce((sum, { usd }) => sum.plus(usd), new Big('0'));
    const all = left;
    const found: Finding[] = [];
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
   * What exchanges lost, by the asset that their orders pay out; a gain is negative. Trades that were over within a day
   * count as the venue's journal has them, positions that are still open at the prices of this moment.
   */
  async #lossesOfDay(em: EntityManager, now: Date): Promise<Loss[]> {
    const { prices } = this.#options;
    const rows = await em.execute<LossRow[]>(
      `select o.coin_to, o.network_to, null as coin, null as amount, sum(-r.usd)::text as usd
         from venue_result r left join exchange_order o on o.id = r.order_id
        where r.at > ? group by 1, 2
       union all
       select o.coin_to, o.network_to, v.coin, sum(v.amount)::text, coalesce(sum(v.usd), 0)::text
         from venue_position v left join exchange_order o on o.id = v.order_id group by 1, 2, 3`,
      [new Date(now.getTime() - dayMs)],
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

/** How often a limit must be doubled to exceed a loss. A loss that two members acknowledged is another one once it has doubled. */
function doublings(usd: Big, limit: Big): number {
  let times = 0;
  for (let bound = limit; bound.lt(usd); bound = bound.times('2')) times++;
  return times;
}
