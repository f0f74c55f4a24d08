import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import type { Partner } from '../accounts/partners/partner.entity.ts';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';
import type { PartnerQueues } from '../base/limits/partner-queues.ts';
import { Big } from '../base/money.ts';
import { quoteFault } from '../market/rates/binding-quotes.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import type { RateType } from '../market/rates/quote.ts';
import type { Quote } from '../market/rates/rate-service.ts';
import {
  capsOf,
  type Exposure,
  type ExposureCaps,
  exposures,
  hourMs,
  type PartnerCaps,
  placesOf,
  slotMs,
  whole,
  worth,
} from './exposure.ts';
import { dayMs } from './fixed-results.ts';
import { countsUnpaid, newTally, type Pending, readingsEnd, type Tally } from './open-order-tally.ts';
import { TallyReader } from './tally-reader.ts';
import { dollars, type Usd, usdOf, usdText } from './usd.ts';

interface OpenOrdersOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: PriceBook;
  readonly depositWindowSec: number;
  /** Default caps of a partner, and the caps over all partners. */
  readonly caps: ExposureCaps;
  /** How far the market may leave a fixed price before an order weighs more, as a fraction. */
  readonly maxDrift: string;
  /** The turns of partners at the connections. */
  readonly queues: PartnerQueues;
  /** Number of processes that create orders, including this one. */
  readonly processes: number;
}

/**
 * What the statement that creates a fixed-rate order counts and checks. Amounts are decimal strings
 * in US dollars.
 */
interface FixedHeadroom extends SlotTimes {
  readonly usd: string;
  readonly hourUsd: string;
  readonly dayUsd: string;
  /** The cap of all partners within an hour. */
  readonly allUsd: string;
}

interface SlotTimes {
  /** Start of the five-minute slot in which the order counts. */
  readonly slot: string;
  /** Slots that start after these moments belong to the last hour and the last day. */
  readonly hourAgo: string;
  readonly dayAgo: string;
}

/** A reservation for one more order under the caps. */
export interface OrderHeadroom {
  /** Null for a float order. */
  readonly fixed: FixedHeadroom | null;
  /** The refusal of an order that finds no room when it is created. */
  refusal(): AppError;
  /** The refusal of an order that broke the constraint `capOfAll`. */
  refusalOfAll(): AppError;
  /** Ends the reservation. With `isTaken` false it frees the reserved room. */
  close(isTaken: boolean): void;
}

const partnersRemembered = 10_000;
/** How long one read stays valid: far from every cap, and above half of a cap. */
const knownForMs = 10_000;
const nearlyKnownForMs = 1_000;
/** How old a read may be with which creates go on while a new one is made. */
const goOnForMs = 60_000;
/** Reads that a create waits for: it may come when one has already counted the orders that wait. */
const mostReads = 3;
/**
 * Dollars of the caps that a dollar of certain gain takes: what the price of a used quote gives
 * more than the market, beyond the allowed drift. So 300,000 dollars a day admit 60 dollars of it.
 */
const gainWeight = new Big('5000');

const zero = new Big('0');

/**
 * Limits the open orders of partners.
 *
 * - Number of unpaid orders: each takes a deposit address for ever. Cancelled ones count beyond a
 *   bound (`placesOf`).
 * - USD value of fixed-rate orders created within an hour and a day: each is an option on our
 *   prices.
 * - USD value of float orders that are unpaid, or between deposit and payout: we carry their
 *   position until it is sold.
 *
 * The cap on the float orders of all partners counts only orders with a deposit in a block. An
 * unpaid float order does not commit the gateway. Counting it would let a few users stop the
 * creates of all partners at no cost.
 *
 * A fixed-rate order counts for its hour and its day whether or not it is paid. Neither a deposit
 * nor expiry frees room, because an option taker pays only the orders that the market favoured.
 *
 * A binding quote is honoured although the market has left it. Its order then counts a multiple of
 * its value: otherwise a taker would hold quotes of all pairs, and use a day's cap after each jump.
 *
 * Fixed caps hold over all processes. The statement that creates the order raises a counter of its
 * partner, and one of all partners. The latter is also counted in memory, so that creates are
 * refused without a statement once that cap is reached.
 *
 * All other caps are counted in memory: the last database read plus what this process admitted
 * since. A read is repeated after ten seconds, or after one second near a cap. Creates wait for
 * it. Below half of a partner's caps they go on with a read of the last minute meanwhile.
 *
 * Between two reads a process admits float orders up to its part of the remaining room, or one
 * larger order. Together all processes admit less than twice a cap on float orders, and one such
 * order for each process. The count of open orders may be exceeded by what other processes admit
 * until the next read.
 */
export class OpenOrders {
  readonly #options: OpenOrdersOptions;
  readonly #tallies = new LRUCache<string, Tally>({ max: partnersRemembered });
  readonly #all = newTally(null);
  readonly #reader: TallyReader;
  #slot: { readonly startMs: number; readonly times: SlotTimes } | null = null;

  constructor(options: OpenOrdersOptions) {
    this.#options = options;
    this.#reader = new TallyReader(options);
  }

  /**
   * Reserves room for one more order. No other create gets this room until the reservation is
   * closed.
   *
   * @param adverse how much more the price of its binding quote gives than the market, as a
   *   fraction. Null without one.
   * @throws AppError open_orders_limit, fixed_exposure_limit or float_exposure_limit.
   */
  async room(partner: Partner, quote: Quote, adverse: Big | null, repeatKey: string | null): Promise<OrderHeadroom> {
    const { rateType } = quote;
    const pending = { ...this.#judged(quote, adverse), repeatKey };
    const tallies = [this.#tally(partner.id), this.#all];
    for (let reads = 0; reads < mostReads; reads++) {
      const refreshed = this.#refresh(tallies, partner, pending);
      if (!refreshed) break;
      await refreshed;
    }
    // From here to the reservation nothing is waited for, so that no other create takes the room.
    for (const tally of tallies) this.#refuse(tally, partner, pending);
    const counting = tallies.filter((tally) => countsUnpaid(tally, rateType));
    for (const tally of counting) {
      tally.orders++;
      tally.usd[rateType].admitted += pending.usd;
      tally.pending.add(pending);
    }
    const fixed = rateType === 'fixed' ? this.#fixedRoom(partner, pending.usd) : null;
    return {
      fixed,
      refusal: () => noRoom(fixed, pending),
      refusalOfAll: () => noRoomForAll(pending),
      close: (isTaken) => {
        if (!isTaken) pending.hasFailed = true;
        for (const tally of counting) {
          tally.pending.delete(pending);
          if (isTaken) continue;
          tally.orders--;
          tally.usd[rateType].admitted -= pending.usd;
        }
      },
    };
  }

  /**
   * Checks whether one more order would be admitted, and reserves nothing.
   *
   * @throws AppError open_orders_limit, fixed_exposure_limit or float_exposure_limit.
   */
  async check(partner: Partner, quote: Quote, adverse: Big | null): Promise<void> {
    const pending = { ...this.#judged(quote, adverse), repeatKey: null };
    const tallies = [this.#tally(partner.id), this.#all];
    await this.#refresh(tallies, partner, pending);
    for (const tally of tallies) this.#refuse(tally, partner, pending);
    if (quote.rateType !== 'fixed') return;
    const room = this.#fixedRoom(partner, pending.usd);
    if (!(await this.#isWithin(partner.id, room))) throw noRoom(room, pending);
  }

  /** Whether a create with this idempotency key runs in this process. It may hold the last room. */
  isPending(partner: Partner, repeatKey: string): boolean {
    return [...(this.#tallies.get(partner.id)?.pending ?? [])].some((pending) => pending.repeatKey === repeatKey);
  }

  /**
   * Reads the partner's orders again for the next create, because one of them was cancelled. Other
   * processes see it with their next read.
   */
  forget(partnerId: string): void {
    const tally = this.#tallies.get(partnerId);
    if (!tally) return;
    const forget = (): void => {
      tally.readAtMs = null;
    };
    forget();
    // A read under way may have begun before the cancel.
    tally.reading?.then(forget, forget);
  }

  /** What the orders of partners take of their caps now, as the next create would find it. */
  exposures(partners: readonly Partner[], em: EntityManager): Promise<Exposure[]> {
    return exposures(partners, em, this.#options);
  }

  /** Deletes the turnover of fixed-rate orders that no cap counts any more. */
  async forgetOld(): Promise<void> {
    const before = new Date(this.#options.clock.now().getTime() - 2 * dayMs);
    for (const table of ['fixed_turnover', 'fixed_turnover_all'])
      await sql(this.#options.orm.em.fork(), `delete from ${table} where slot < ?`, [before]);
  }

  #judged({ rateType, from, amountFrom }: Quote, adverse: Big | null): Omit<Pending, 'repeatKey'> {
    const usd = worth(this.#options.prices, from.coin, amountFrom);
    const excess = adverse?.minus(this.#options.maxDrift) ?? zero;
    const isSurcharged = excess.gt(zero);
    return {
      rateType,
      usd: usdOf(isSurcharged ? usd.plus(usd.times(excess).times(gainWeight)) : usd),
      isSurcharged,
      hasFailed: false,
    };
  }

  /**
   * Reads the tallies again that are too old, or that lack room for the order in what this process
   * may admit. Null when there is nothing to wait for.
   */
  #refresh(tallies: readonly Tally[], partner: Partner, pending: Pending): Promise<void> | null {
    const old = tallies.filter((tally) => !this.#isKnown(tally, partner, pending));
    for (const tally of old) {
      this.#reader.start(tally);
    }
    const needed = tallies.filter((tally) => tally.reading && !this.#mayGoOn(tally, partner, pending));
    return needed.length > 0 ? readingsEnd(needed) : null;
  }

  /**
   * Whether creates need not wait while the orders of a partner are read again: far from every cap,
   * with the order too, and for a bounded time. The read of a partner with many open orders takes a
   * while.
   */
  #mayGoOn(tally: Tally, partner: Partner, pending: Pending): boolean {
    const isPartners = tally.partnerId !== null && tally.readAtMs !== null;
    if (!isPartners || this.#isNear(tally, partner, pending)) return false;
    return this.#fits(tally, partner, pending) && !this.#isOlder(tally, goOnForMs);
  }

  /** Whether a fixed-rate order fits the partner's exact caps, as the creating statement counts. */
  async #isWithin(partnerId: string, { usd, hourUsd, dayUsd, hourAgo, dayAgo }: FixedHeadroom): Promise<boolean> {
    const { orm, queues } = this.#options;
    const [row] = await queues.work(partnerId, () =>
      sql<{ fits: boolean }>(
        orm.em.fork(),
        `select coalesce(sum(usd) filter (where slot > ?), 0) + ?::numeric <= ?::numeric
          and coalesce(sum(usd), 0) + ?::numeric <= ?::numeric as fits
         from fixed_turnover where partner_id = ? and slot > ?`,
        [hourAgo, usd, hourUsd, usd, dayUsd, partnerId, dayAgo],
      ),
    );
    return row?.fits ?? true;
  }

  #fixedRoom(partner: Partner, usd: Usd): FixedHeadroom {
    const { fixedUsd, fixedDayUsd } = this.#caps(partner);
    return {
      usd: usdText(usd),
      hourUsd: usdText(fixedUsd),
      dayUsd: usdText(fixedDayUsd),
      allUsd: String(this.#options.caps.fixedAllUsd),
      ...this.#slotTimes(),
    };
  }

  /** The times of the present slot. All orders of a slot share their texts. */
  #slotTimes(): SlotTimes {
    const nowMs = this.#options.clock.now().getTime();
    const startMs = nowMs - (nowMs % slotMs);
    if (this.#slot?.startMs === startMs) return this.#slot.times;
    const at = (ms: number): string => new Date(ms).toISOString();
    const times = { slot: at(startMs), hourAgo: at(startMs - hourMs - slotMs), dayAgo: at(startMs - dayMs - slotMs) };
    this.#slot = { startMs, times };
    return times;
  }

  #isKnown(tally: Tally, partner: Partner, pending: Pending): boolean {
    if (!this.#isFresh(tally, partner)) return false;
    return this.#fits(tally, partner, pending) || !this.#isOlder(tally, nearlyKnownForMs);
  }

  #refuse(tally: Tally, partner: Partner, pending: Pending): void {
    const { orders, floatUsd } = this.#caps(partner);
    if (tally.partnerId !== null && placesOf(tally, orders) >= orders) {
      const detail = `${orders} orders of this partner account wait for their deposit, which is its limit; wait until some are paid or expire, or ask for a higher limit`;
      throw new AppError('open_orders_limit', detail);
    }
    if (this.#fits(tally, partner, pending)) return;
    if (pending.rateType === 'fixed') throw noRoomForAll(pending);
    if (pending.isSurcharged) throw noRoom(null, pending);
    const detail =
      tally.partnerId === null
        ? 'the open float orders of all partners have reached their limit; try again later'
        : `the open float orders of this partner account would be worth more than ${floatUsd} US dollars; wait until some are completed or expire, or ask for a higher limit`;
    throw new AppError('float_exposure_limit', detail);
  }

  /**
   * Whether the order fits the remaining room, and for a partner's float orders the part of it that
   * this process may admit, unless the order is the first.
   */
  #fits(tally: Tally, partner: Partner, { rateType, usd }: Pending): boolean {
    const cap = this.#cap(tally, partner, rateType);
    if (cap === null) return true;
    const { read, admitted } = tally.usd[rateType];
    const left = dollars(cap) - read;
    const taken = admitted + usd;
    if (tally.partnerId === null) return taken <= left;
    const isFirst = admitted <= 0n;
    return taken <= left && (isFirst || taken * BigInt(this.#options.processes) <= left);
  }

  /** The cap in US dollars. Null where the statement that creates the order counts exactly. */
  #cap(tally: Tally, partner: Partner, rateType: RateType): number | null {
    const { fixedAllUsd, floatAllUsd } = this.#options.caps;
    if (tally.partnerId === null) return rateType === 'fixed' ? fixedAllUsd : floatAllUsd;
    return rateType === 'fixed' ? null : this.#caps(partner).floatUsd;
  }

  #tally(partnerId: string): Tally {
    let tally = this.#tallies.get(partnerId);
    if (!tally) {
      tally = newTally(partnerId);
      this.#tallies.set(partnerId, tally);
    }
    return tally;
  }

  #isFresh(tally: Tally, partner: Partner): boolean {
    if (tally.readAtMs === null) return false;
    return !this.#isOlder(tally, this.#isNear(tally, partner) ? nearlyKnownForMs : knownForMs);
  }

  /** Whether the tally is above half of a cap, with the worth of one more order if there is one. */
  #isNear(tally: Tally, partner: Partner, more: Pending | null = null): boolean {
    const isNearCap = (['fixed', 'float'] as const).some((rateType) => {
      const cap = this.#cap(tally, partner, rateType);
      const { read, admitted } = tally.usd[rateType];
      const taken = read + admitted + (more?.rateType === rateType ? more.usd : 0n);
      return cap !== null && taken * 2n >= dollars(cap);
    });
    const { orders } = this.#caps(partner);
    return isNearCap || (tally.partnerId !== null && placesOf(tally, orders) * 2 >= orders);
  }

  /** A read with a future time predates a clock correction, and counts as old. */
  #isOlder({ readAtMs }: Tally, ms: number): boolean {
    const ageMs = this.#options.clock.now().getTime() - (readAtMs ?? Number.NEGATIVE_INFINITY);
    return ageMs < 0 || ageMs >= ms;
  }

  /** The caps of a partner, as they are after the last read of its orders. */
  #caps(partner: Partner): PartnerCaps {
    return capsOf(this.#options.caps, partner, this.#tallies.get(partner.id)?.fixedPercent ?? whole);
  }
}

/** The refusal of an order that the cap on fixed-rate orders of all partners has no room for. */
function noRoomForAll(pending: Pending): AppError {
  if (pending.isSurcharged) return noRoom(null, pending);
  const detail =
    'fixed orders of all partners have reached their limit for this hour; take rate_type float, or try again later';
  return new AppError('fixed_exposure_limit', detail);
}

/** The refusal of an order that the statement which creates orders has not admitted. */
function noRoom(fixed: FixedHeadroom | null, { isSurcharged }: Pending): AppError {
  if (isSurcharged) {
    const detail =
      'the market has moved far away from this quote, which is too large to be honoured; ask for a new one';
    return quoteFault('quote_expired', detail);
  }
  const limits = fixed && `${fixed.hourUsd} US dollars within an hour, or ${fixed.dayUsd} within a day`;
  const detail = `fixed orders of this partner account would be worth more than ${limits}; take rate_type float, try again later, or ask for a higher limit`;
  return new AppError('fixed_exposure_limit', detail);
}
