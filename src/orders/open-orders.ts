import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { Big, formatDecimal } from '../money.ts';
import type { Partner } from '../partners/partner.entity.ts';
import type { PriceBook } from '../rates/price-book.ts';
import type { RateType } from '../rates/quote.ts';
import type { Quote } from '../rates/rate-service.ts';
import { adversePartners, dayMs } from './fixed-results.ts';

/** Amounts in US dollars. */
export interface ExposureCaps {
  /** Orders of a partner that wait for their deposit. */
  readonly orders: number;
  /** Fixed orders of a partner created within an hour, and within a day. */
  readonly fixedUsd: number;
  readonly fixedDayUsd: number;
  /** Fixed orders of all partners created within an hour. */
  readonly fixedAllUsd: number;
  /** Float orders of a partner, and of all, that wait or are between deposit and payout. */
  readonly floatUsd: number;
  readonly floatAllUsd: number;
}

export interface OpenOrdersOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: PriceBook;
  readonly depositWindowSec: number;
  /** What holds for partners without caps of their own, and for all partners together. */
  readonly caps: ExposureCaps;
  /** How many processes create orders, this one included. */
  readonly processes: number;
}

/** What the statement that creates a fixed order counts and checks. Amounts in US dollars as decimal strings. */
export interface FixedRoom {
  readonly usd: string;
  /** Beginning of the step of five minutes that the order counts in. */
  readonly slot: string;
  readonly hourUsd: string;
  readonly dayUsd: string;
  /** Slots after these moments are of the last hour and day. */
  readonly hourAgo: string;
  readonly dayAgo: string;
}

/** Room for one more order. */
export interface Room {
  /** Null for a float order. */
  readonly fixed: FixedRoom | null;
  /** Ends the create that it was kept for; what was not taken is free again. */
  close(isTaken: boolean): void;
}

/** An order that is being created. */
interface Pending {
  readonly repeatKey: string | null;
  readonly rateType: RateType;
  readonly usd: Big;
  hasFailed: boolean;
}

/** US dollars: as they were read last, and what this process admitted since. */
interface Sum {
  read: Big;
  admitted: Big;
}

/** What a partner, or all of them, have open: as it was read last, and what this process admitted since. */
interface Tally {
  /** Null for all partners together. */
  readonly partnerId: string | null;
  /** Null until it was read. */
  readAtMs: number | null;
  orders: number;
  readonly usd: Record<RateType, Sum>;
  /** What is left of the partner's fixed caps, as a fraction: less than all while its fixed orders cost more than they bring. */
  fixedPart: Big;
  readonly pending: Set<Pending>;
  /** The reading that is under way. */
  reading: Promise<void> | null;
}

const partnersRemembered = 10_000;
/** How long a reading serves a tally that is far from its caps, and one that is at more than half of one. */
const knownForMs = 10_000;
const nearlyKnownForMs = 1_000;
const slotMs = 300_000;
const hourMs = 3_600_000;
/** What is left of the fixed caps of a partner whose fixed orders cost more than they bring. */
const adversePart = new Big('0.1');

const zero = new Big('0');
const whole = new Big('1');

/**
 * Caps on the orders of partners: how many wait for their deposit, as each takes an address for ever; what fixed orders
 * are worth that were created within an hour and a day, as each is an option on our prices; and what float orders are
 * worth that wait or are between deposit and payout, as we carry their position until it is sold.
 *
 * A fixed order counts for its hour and its day whatever becomes of it. Neither a deposit nor its expiry frees room, because
 * a taker of options pays only the orders that the market favoured.
 *
 * The fixed caps of a partner are exact over all processes: the statement that creates the order raises a counter. All
 * other caps are counted in memory, from a reading that is at most ten seconds old, or one second near a cap, and all that
 * this process admitted since. Between two readings a process admits its share of what was left, or one order that is
 * larger than its share. All processes together exceed a cap by at most one such order for each other process.
 * The count of open orders may be exceeded by what the other processes admit until the next reading.
 */
export class OpenOrders {
  readonly #options: OpenOrdersOptions;
  readonly #tallies = new LRUCache<string, Tally>({ max: partnersRemembered });
  readonly #all = newTally(null);

  constructor(options: OpenOrdersOptions) {
    this.#options = options;
  }

  /**
   * Room for one more order, which no other create gets before it is closed.
   *
   * @throws AppError open_orders_limit, fixed_exposure_limit or float_exposure_limit.
   */
  async room(partner: Partner, quote: Quote, repeatKey: string | null): Promise<Room> {
    const tallies = [this.#tally(partner.id), this.#all];
    const { rateType, from, amountFrom } = quote;
    const pending: Pending = {
      repeatKey,
      rateType,
      usd: worth(this.#options.prices, from.coin, amountFrom),
      hasFailed: false,
    };
    await Promise.all(tallies.map((tally) => this.#known(tally, partner, pending)));
    for (const tally of tallies) this.#refuse(tally, partner, pending);
    for (const tally of tallies) {
      tally.orders++;
      tally.usd[rateType].admitted = tally.usd[rateType].admitted.plus(pending.usd);
      tally.pending.add(pending);
    }
    return {
      fixed: rateType === 'fixed' ? this.#fixedRoom(partner, pending.usd) : null,
      close: (isTaken) => {
        if (!isTaken) pending.hasFailed = true;
        for (const tally of tallies) {
          tally.pending.delete(pending);
          if (isTaken) continue;
          tally.orders--;
          tally.usd[rateType].admitted = tally.usd[rateType].admitted.minus(pending.usd);
        }
      },
    };
  }

  /** Whether a create with this idempotency key is under way in this process, and may hold the last room. */
  isPending(partner: Partner, repeatKey: string): boolean {
    return [...(this.#tallies.get(partner.id)?.pending ?? [])].some((pending) => pending.repeatKey === repeatKey);
  }

  /** Forgets the turnover of fixed orders that no cap counts any more. */
  async forgetOld(): Promise<void> {
    const before = new Date(this.#options.clock.now().getTime() - 2 * dayMs);
    await this.#options.orm.em.fork().execute('delete from fixed_turnover where slot < ?', [before]);
  }

  #fixedRoom(partner: Partner, usd: Big): FixedRoom {
    const nowMs = this.#options.clock.now().getTime();
    const { fixedUsd, fixedDayUsd } = this.#caps(partner);
    const at = (ms: number): string => new Date(ms).toISOString();
    return {
      usd: formatDecimal(usd),
      slot: at(nowMs - (nowMs % slotMs)),
      hourUsd: formatDecimal(fixedUsd),
      dayUsd: formatDecimal(fixedDayUsd),
      hourAgo: at(nowMs - hourMs - slotMs),
      dayAgo: at(nowMs - dayMs - slotMs),
    };
  }

  /** Reads a tally when it is too old, or when the order would exceed what this process may admit by it. */
  async #known(tally: Tally, partner: Partner, pending: Pending): Promise<void> {
    if (
      this.#isFresh(tally, partner) &&
      (this.#fits(tally, partner, pending) || !this.#isOlder(tally, nearlyKnownForMs))
    )
      return;
    tally.reading ??= this.#read(tally).finally(() => {
      tally.reading = null;
    });
    await tally.reading;
  }

  #refuse(tally: Tally, partner: Partner, pending: Pending): void {
    const { orders, floatUsd } = this.#caps(partner);
    if (tally.partnerId !== null && tally.orders >= orders) {
      const detail = `${orders} orders of this partner account wait for their deposit, and no more may; wait until some are paid or expire, or ask for a higher limit`;
      throw new AppError('open_orders_limit', detail);
    }
    if (this.#fits(tally, partner, pending)) return;
    if (pending.rateType === 'fixed') {
      const detail =
        'fixed orders of all partners have reached their limit for this hour; take rate_type float, or try again later';
      throw new AppError('fixed_exposure_limit', detail);
    }
    const detail =
      tally.partnerId === null
        ? 'float orders of all partners that are open have reached their limit; try again later'
        : `float orders of this partner account that are open would be worth more than ${floatUsd} US dollars; wait until some are completed or expire, or ask for a higher limit`;
    throw new AppError('float_exposure_limit', detail);
  }

  /** Whether the order is within what is left, and within this process's share of it unless it is the first one. */
  #fits(tally: Tally, partner: Partner, { rateType, usd }: Pending): boolean {
    const cap = this.#cap(tally, partner, rateType);
    if (cap === null) return true;
    const { read, admitted } = tally.usd[rateType];
    const left = new Big(String(cap)).minus(read);
    const taken = admitted.plus(usd);
    const isFirst = admitted.lte(zero);
    return taken.lte(left) && (isFirst || taken.times(String(this.#options.processes)).lte(left));
  }

  /** Null where the statement that creates the order counts exactly. */
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
    const isNearCap = (['fixed', 'float'] as const).some((rateType) => {
      const cap = this.#cap(tally, partner, rateType);
      const { read, admitted } = tally.usd[rateType];
      return cap !== null && read.plus(admitted).times('2').gte(String(cap));
    });
    const isNear = isNearCap || (tally.partnerId !== null && tally.orders * 2 >= this.#caps(partner).orders);
    return !this.#isOlder(tally, isNear ? nearlyKnownForMs : knownForMs);
  }

  /** A reading of the future is from before the clock was set back, and counts as old. */
  #isOlder({ readAtMs }: Tally, ms: number): boolean {
    const ageMs = this.#options.clock.now().getTime() - (readAtMs ?? Number.NEGATIVE_INFINITY);
    return ageMs < 0 || ageMs >= ms;
  }

  async #read(tally: Tally): Promise<void> {
    const { orm, clock, prices } = this.#options;
    const now = clock.now();
    // The reading may miss what is being created now. What it does not miss is counted twice until the next one.
    const pending = [...tally.pending];
    const em = orm.em.fork();
    const rows = await (tally.partnerId === null
      ? this.#readAll(em, now)
      : this.#readPartner(em, now, tally.partnerId));
    const missed = pending.filter(({ hasFailed }) => !hasFailed);
    tally.readAtMs = now.getTime();
    tally.orders = missed.length + rows.filter(({ what }) => what === 'open').reduce((sum, row) => sum + row.count, 0);
    const isAny = (wanted: TallyRow['what']): boolean => rows.some(({ what }) => what === wanted);
    tally.fixedPart = isAny('spent') ? zero : isAny('adverse') ? adversePart : whole;
    for (const rateType of ['fixed', 'float'] as const) {
      const usd = [
        ...missed.filter((one) => one.rateType === rateType).map((one) => one.usd),
        ...rows
          .filter(({ what }) => what === rateType)
          .map(({ coin, amount }) => (coin === null ? new Big(amount) : worth(prices, coin, new Big(amount)))),
      ];
      tally.usd[rateType] = { read: usd.reduce((sum, one) => sum.plus(one), zero), admitted: zero };
    }
  }

  /** The partner's open orders, its float orders by coin, and whether its fixed orders cost more than they bring. */
  #readPartner(em: EntityManager, now: Date, partner: string): Promise<TallyRow[]> {
    const windowMs = this.#options.depositWindowSec * 1000;
    const waitsAfter = new Date(now.getTime() - windowMs);
    const openedAfter = new Date(now.getTime() - 2 * windowMs);
    // What is too little, or in no block, is no payment: it would end the waiting and leave the order open. It does so
    // for one window more at most.
    return em.execute<TallyRow[]>(
      `select 'open' as what, null as coin, count(*)::int as count, '0' as amount
         from exchange_order o
        where partner_id = ? and created_at > ?
          and ((status = 'waiting_deposit' and created_at > ?)
            or (status = 'confirming' and not exists
                 (select from deposit d where d.order_id = o.id and d.state in ('mined', 'credited')
                     and d.coin = o.coin_from and d.network = o.network_from and d.amount >= o.min_amount)))
        union all ${openFloat('partner_id = ? and')}
        union all select case when is_spent then 'spent' else 'adverse' end, null, 1, '0' from (${adversePartners}) as adverse where partner_id = ?`,
      [partner, openedAfter, waitsAfter, partner, waitsAfter, new Date(now.getTime() - dayMs), partner],
    );
  }

  /** What all partners have: the fixed orders of the hour in US dollars, and open float orders by coin. */
  #readAll(em: EntityManager, now: Date): Promise<TallyRow[]> {
    const waitsAfter = new Date(now.getTime() - this.#options.depositWindowSec * 1000);
    return em.execute<TallyRow[]>(
      `select 'fixed' as what, null as coin, 0 as count, coalesce(sum(usd), 0)::text as amount
         from fixed_turnover where slot > ?
        union all ${openFloat('')}`,
      [new Date(now.getTime() - hourMs - slotMs), waitsAfter],
    );
  }

  #caps(partner: Partner): { orders: number; fixedUsd: Big; fixedDayUsd: Big; floatUsd: number } {
    const { caps } = this.#options;
    const fixedUsd = partner.maxFixedExposureUsd ?? caps.fixedUsd;
    // Own caps of an hour alone are not undone by the day's cap of partners without any.
    const fixedDayUsd = partner.maxFixedDayUsd ?? Math.max(caps.fixedDayUsd, partner.maxFixedExposureUsd ?? 0);
    const part = partner.keepsFixedCaps ? whole : (this.#tallies.get(partner.id)?.fixedPart ?? whole);
    const cut = (usd: number): Big => part.times(String(usd));
    return {
      orders: partner.maxOpenOrders ?? caps.orders,
      fixedUsd: cut(fixedUsd),
      fixedDayUsd: cut(fixedDayUsd),
      floatUsd: partner.maxFloatExposureUsd ?? caps.floatUsd,
    };
  }
}

/** A part of what a tally is read from. Amounts are in units of `coin`, or in US dollars where that is null. */
interface TallyRow {
  readonly what: 'open' | 'adverse' | 'spent' | RateType;
  readonly coin: string | null;
  readonly count: number;
  readonly amount: string;
}

/**
 * Float orders that wait, at what was announced, and those between deposit and payout at what arrived, up to the pair's
 * maximum. Binds the moment after which an order still waits. Its condition is that of the index exchange_order_float_open.
 */
const openFloat = (whose: string): string => `
  select 'float', o.coin_from, 0,
         sum(case when d.id is null then o.amount_from_expected
                  else greatest(o.amount_from_expected, least(d.amount, coalesce(o.max_amount, d.amount))) end)::text
    from exchange_order o left join deposit d on d.id = o.deposit_id
   where ${whose} o.rate_type = 'float' and o.status in ('waiting_deposit', 'confirming', 'exchanging', 'sending')
     and (o.status <> 'waiting_deposit' or o.created_at > ?)
   group by o.coin_from`;

function newTally(partnerId: string | null): Tally {
  return {
    partnerId,
    readAtMs: null,
    orders: 0,
    usd: { fixed: { read: zero, admitted: zero }, float: { read: zero, admitted: zero } },
    fixedPart: whole,
    pending: new Set(),
    reading: null,
  };
}

/** In US dollars, by the slow price, which every coin has that was ever quoted. */
function worth(prices: PriceBook, coin: string, amount: Big): Big {
  return amount.times(prices.reference(coin) ?? zero);
}
