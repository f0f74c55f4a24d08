import type { MikroORM } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { Big } from '../money.ts';
import type { Partner } from '../partners/partner.entity.ts';
import type { PriceBook } from '../rates/price-book.ts';
import type { RateType } from '../rates/quote.ts';
import type { Quote } from '../rates/rate-service.ts';

export interface OpenOrdersOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: PriceBook;
  readonly depositWindowSec: number;
  /** What holds for partners without caps of their own. */
  readonly maxOrders: number;
  readonly maxFixedUsd: number;
}

/** Room for one more order. */
export interface Room {
  /** Ends the create that it was kept for; what was not taken is free again. */
  close(isTaken: boolean): void;
}

/** An order that is being created. */
interface Pending {
  readonly repeatKey: string | null;
  readonly fixedUsd: Big;
  hasFailed: boolean;
}

/** What a partner has open: as it was read last, and what this process admitted since. */
interface Tally {
  /** Null until it was read. */
  readAtMs: number | null;
  orders: number;
  fixedUsd: Big;
  readonly pending: Set<Pending>;
  /** The reading that is under way. */
  reading: Promise<void> | null;
}

const partnersRemembered = 10_000;
/** How long a reading serves a partner that is far from its caps, and one that is at more than half of one. */
const knownForMs = 10_000;
const nearlyKnownForMs = 1_000;

const zero = new Big('0');

/**
 * Caps on the orders of a partner that wait for their deposit, or for one that is in a block and enough: how many there are, as each takes an address for ever,
 * and what the fixed ones are worth, as each is an option on our prices that costs nothing.
 *
 * Counted in memory, from a reading that is at most ten seconds old, or one second near a cap, and all that this process
 * admitted since. Other processes may exceed a cap by what they admit in that time, which the limit of creates bounds.
 */
export class OpenOrders {
  readonly #options: OpenOrdersOptions;
  readonly #tallies = new LRUCache<string, Tally>({ max: partnersRemembered });

  constructor(options: OpenOrdersOptions) {
    this.#options = options;
  }

  /**
   * Room for one more order, which nobody else gets before it is closed.
   *
   * @throws AppError open_orders_limit or fixed_exposure_limit.
   */
  async room(partner: Partner, quote: Quote, repeatKey: string | null): Promise<Room> {
    const tally = this.#tally(partner.id);
    if (!this.#isFresh(partner, tally)) {
      tally.reading ??= this.#read(partner.id, tally).finally(() => {
        tally.reading = null;
      });
      await tally.reading;
    }
    const pending: Pending = { repeatKey, fixedUsd: this.#fixedUsd(quote), hasFailed: false };
    this.#refuse(partner, tally, pending.fixedUsd);
    tally.orders++;
    tally.fixedUsd = tally.fixedUsd.plus(pending.fixedUsd);
    tally.pending.add(pending);
    return {
      close: (isTaken) => {
        tally.pending.delete(pending);
        if (isTaken) return;
        pending.hasFailed = true;
        tally.orders--;
        tally.fixedUsd = tally.fixedUsd.minus(pending.fixedUsd);
      },
    };
  }

  /** Whether a create with this idempotency key is under way in this process, and may hold the last room. */
  isPending(partner: Partner, repeatKey: string): boolean {
    return [...(this.#tallies.get(partner.id)?.pending ?? [])].some((pending) => pending.repeatKey === repeatKey);
  }

  #refuse(partner: Partner, { orders, fixedUsd }: Tally, addedUsd: Big): void {
    const { maxOrders, maxFixedUsd } = this.#caps(partner);
    if (orders >= maxOrders) {
      const detail = `${maxOrders} orders of this partner account wait for their deposit, and no more may; wait until some are paid or expire, or ask for a higher limit`;
      throw new AppError('open_orders_limit', detail);
    }
    if (addedUsd.gt(zero) && fixedUsd.plus(addedUsd).gt(String(maxFixedUsd))) {
      const detail = `fixed orders of this partner account that wait for their deposit would be worth more than ${maxFixedUsd} US dollars; wait until some are paid or expire, take rate_type float, or ask for a higher limit`;
      throw new AppError('fixed_exposure_limit', detail);
    }
  }

  #tally(partnerId: string): Tally {
    let tally = this.#tallies.get(partnerId);
    if (!tally) {
      tally = { readAtMs: null, orders: 0, fixedUsd: zero, pending: new Set(), reading: null };
      this.#tallies.set(partnerId, tally);
    }
    return tally;
  }

  #isFresh(partner: Partner, { readAtMs, orders, fixedUsd }: Tally): boolean {
    if (readAtMs === null) return false;
    const { maxOrders, maxFixedUsd } = this.#caps(partner);
    const isNear = orders * 2 >= maxOrders || fixedUsd.times('2').gte(String(maxFixedUsd));
    const ageMs = this.#options.clock.now().getTime() - readAtMs;
    // A reading of the future is from before the clock was set back.
    return ageMs >= 0 && ageMs < (isNear ? nearlyKnownForMs : knownForMs);
  }

  async #read(partnerId: string, tally: Tally): Promise<void> {
    const { orm, clock, prices, depositWindowSec } = this.#options;
    const now = clock.now();
    // The reading may miss what is being created now. What it does not miss is counted twice until the next one.
    const pending = [...tally.pending];
    const windowMs = depositWindowSec * 1000;
    // What is too little, or in no block, is no payment: it would end the waiting and leave the order open. It does so
    // for one window more at most.
    const rows = await orm.em.fork().execute<{ coin: string; type: RateType; count: number; amount: string }[]>(
      `select coin_from as coin, rate_type as type, count(*)::int as count, sum(amount_from_expected)::text as amount
         from exchange_order o
        where partner_id = :partner and created_at > :openedAfter
          and ((status = 'waiting_deposit' and created_at > :waitsAfter)
            or (status = 'confirming' and not exists
                 (select from deposit d where d.order_id = o.id and d.state in ('mined', 'credited')
                     and d.coin = o.coin_from and d.network = o.network_from and d.amount >= o.min_amount)))
        group by 1, 2`,
      {
        partner: partnerId,
        openedAfter: new Date(now.getTime() - 2 * windowMs),
        waitsAfter: new Date(now.getTime() - windowMs),
      },
    );
    const missed = pending.filter(({ hasFailed }) => !hasFailed);
    const fixed = rows.filter(({ type }) => type === 'fixed');
    tally.readAtMs = now.getTime();
    tally.orders = missed.length + rows.reduce((sum, { count }) => sum + count, 0);
    tally.fixedUsd = [
      ...missed.map(({ fixedUsd }) => fixedUsd),
      ...fixed.map(({ coin, amount }) => worth(prices, coin, new Big(amount))),
    ].reduce((sum, one) => sum.plus(one), zero);
  }

  #fixedUsd({ rateType, from, amountFrom }: Quote): Big {
    return rateType === 'fixed' ? worth(this.#options.prices, from.coin, amountFrom) : zero;
  }

  #caps(partner: Partner): { maxOrders: number; maxFixedUsd: number } {
    const { maxOrders, maxFixedUsd } = this.#options;
    return {
      maxOrders: partner.maxOpenOrders ?? maxOrders,
      maxFixedUsd: partner.maxFixedExposureUsd ?? maxFixedUsd,
    };
  }
}

/** In US dollars, by the slow price, which every coin has that was ever quoted. */
function worth(prices: PriceBook, coin: string, amount: Big): Big {
  return amount.times(prices.reference(coin) ?? zero);
}
