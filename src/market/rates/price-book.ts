import { LRUCache } from 'lru-cache';
import { type Repeated, repeat, warning } from '../../base/jobs/repeat.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { Big, formatDecimal, parseDecimal } from '../../base/money.ts';
import {
  type HeldDepth,
  type HoldWindow,
  HoldWindows,
  type HoldWindowsOptions,
  ofPair,
  pairIn,
  pairKey,
  type VenueRules,
} from './hold-windows.ts';
import type { PriceOverride } from './price-override.entity.ts';
import type { PricePair, RateType } from './quote.ts';

interface BookedPrice {
  readonly price: Big;
  readonly at: Date;
}

/** A moment, and the newest window that has begun by then. */
interface Moment {
  readonly ms: number;
  /** When a window could not be shared, the previous one stays. Null before the first. */
  readonly window: HoldWindow | null;
}

/** The prices from which a pair is quoted. */
export interface PairPrices {
  readonly prices: PricePair;
  /** For limits. */
  readonly reference: PricePair;
  readonly mostUsd: Big | 'unlimited';
}

/** The prices of a pair at one moment. */
interface PresentPrices extends PairPrices {
  /** Null for float. For fixed: whole seconds for which the rate holds, see `#fixedForSec`. */
  readonly expiresIn: number | null;
}

/** The prices of a window for one pair, to which a quote is bound. */
export interface BoundPrices extends PairPrices {
  /** The start of the window, in milliseconds since 1970. It names the window in the database. */
  readonly windowMs: number;
}

/** The prices of one window for a pair. Null when the window lacks a coin. */
export type RecentWindow = (coinFrom: string, coinTo: string) => BoundPrices | null;

/** `live` for float quotes, `fixed` for fixed quotes, `reference` for limits. */
type PriceView = 'live' | 'fixed' | 'reference';

/** A price that jumps by more than this factor within its allowed age is refused. */
export const largestJump = new Big('3');

/** Whether a price that follows a fresh one is believed. */
export function isBelievable(price: Big, known: Big): boolean {
  return price.gt('0') && isWithin(price.div(known), largestJump);
}
/** Pairs whose deviation from the market is remembered. */
const rememberedPairs = 10_000;

interface MarketDeviation {
  readonly held: PricePair;
  readonly live: PricePair;
  readonly market: 'near' | 'below' | 'above';
}

interface PriceBookOptions extends HoldWindowsOptions {
  readonly log: Log;
  /** Pair prices that staff set by hand. They take precedence over the market's. */
  readonly overrides?: () => Promise<readonly PriceOverride[]>;
  readonly maxAgeSec: number;
}

/**
 * Holds the newest believable price of each coin in memory, so that a quote costs no I/O. Three
 * views:
 *
 * - `live`, for float quotes, belongs to this process alone.
 * - `fixed`, for fixed quotes, does not change during each hold window.
 * - `reference`, for limits, moves in steps and only between windows. A minimum that a partner has
 *   just read still holds when it creates the order.
 *
 * All processes share `fixed` and `reference`.
 *
 * A held price that the market has left would be a free option. Once the live prices of a pair are
 * farther than `fixedMaxDrift` from the held ones, two things happen. The next refresh begins a new
 * window for all processes, at most one in each refresh interval. Until this process knows that
 * window, it quotes the pair at the held or the live price, whichever gives the user less, and
 * promises no time.
 */
export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #maxDrift: Big;
  readonly #live = new Map<string, BookedPrice>();
  readonly #deviations = new LRUCache<string, MarketDeviation>({ max: rememberedPairs });
  #paused: ReadonlySet<string> = new Set();
  #overrides = new Map<string, PriceOverride>();
  readonly #windows: HoldWindows;
  #refreshing: Repeated | undefined;

  constructor(options: PriceBookOptions) {
    this.#options = options;
    this.#maxDrift = new Big(options.fixedMaxDrift);
    this.#windows = new HoldWindows(options);
  }

  /**
   * Fetches the first prices, then refreshes until `stop`. When a source fails, the stored prices
   * age.
   */
  async start(coins: () => readonly string[]): Promise<void> {
    await this.refresh(coins());
    const { clock, log, refreshSec } = this.#options;
    const refreshMs = refreshSec * 1000;
    this.#refreshing = repeat({
      task: () => this.refresh(coins()),
      // At whole multiples of the interval by the wall clock: all processes then fetch the prices
      // of the same moment.
      rhythm: () => refreshMs - (clock.now().getTime() % refreshMs),
      onFailure: warning(log, 'price_refresh_failed', 'prices could not be refreshed'),
    });
  }

  /** Begins no further refresh. A running refresh may still end. */
  stop(): void {
    void this.#refreshing?.stop();
  }

  async refresh(coins: readonly string[]): Promise<void> {
    const { source, log, overrides } = this.#options;
    try {
      if (overrides)
        this.#overrides = new Map((await overrides()).map((row) => [pairKey(row.coinFrom, row.coinTo), row]));
      const prices = await source.fetch(coins);
      this.#paused = source.paused?.() ?? this.#paused;
      for (const [coin, { price, at }] of prices) this.#book(coin, price, at);
    } catch (error) {
      log.warn({ event: 'price_refresh_failed', ...errorMembers(error) }, 'prices could not be refreshed');
    }
    try {
      await this.#windows.decide(this.#quotable(), this.#overrides);
    } catch (error) {
      log.warn({ event: 'price_window_failed', ...errorMembers(error) }, 'the prices of a window could not be shared');
    }
  }

  /** The live price. Null when it is too old, or when the source paused the coin. */
  live(coin: string): Big | null {
    return this.#price(coin, 'live', this.#moment());
  }

  /** The slow price for limits. Null when the coin was never priced. */
  reference(coin: string): Big | null {
    return this.#price(coin, 'reference', this.#moment());
  }

  #price(coin: string, view: PriceView, { ms, window }: Moment): Big | null {
    if (view === 'reference') return window?.reference.get(coin) ?? null;
    const live = this.#paused.has(coin) ? null : this.#fresh(this.#live.get(coin), ms);
    if (view === 'live' || !live) return live;
    const isUsable = window && ms - window.endsAtMs <= this.#options.maxAgeSec * 1000;
    return isUsable ? (window.fixed.get(coin) ?? null) : null;
  }

  /** What a quote of a pair is computed from at this moment. Null while a part of it is missing. */
  present(coinFrom: string, coinTo: string, rateType: RateType): PresentPrices | null {
    const moment = this.#moment();
    const isFixed = rateType === 'fixed';
    const prices = this.#pair(coinFrom, coinTo, isFixed ? 'fixed' : 'live', moment);
    const reference = this.#pair(coinFrom, coinTo, 'reference', moment);
    const mostUsd = this.#mostUsdIn(moment.window, coinFrom, coinTo, moment.ms);
    if (!prices || !reference || mostUsd === null) return null;
    return { prices, reference, mostUsd, expiresIn: isFixed ? this.#fixedForSec(coinFrom, coinTo, moment) : null };
  }

  /**
   * Both prices of a pair in one view, including prices set by hand. Null when one is missing. When
   * the market has left a fixed price, the live price replaces it if that gives the user less.
   */
  pair(coinFrom: string, coinTo: string, view: PriceView): PricePair | null {
    return this.#pair(coinFrom, coinTo, view, this.#moment());
  }

  #pair(coinFrom: string, coinTo: string, view: PriceView, moment: Moment): PricePair | null {
    const prices = this.#viewed(coinFrom, coinTo, view, moment);
    if (view !== 'fixed' || !prices) return prices;
    const live = this.#viewed(coinFrom, coinTo, 'live', moment);
    return live && this.#deviation(coinFrom, coinTo, prices, live) === 'below' ? live : live && prices;
  }

  #viewed(coinFrom: string, coinTo: string, view: PriceView, moment: Moment): PricePair | null {
    const to = this.#price(coinTo, view, moment);
    const override = this.#override(coinFrom, coinTo, view, moment);
    const from = override ? to?.times(override) : this.#price(coinFrom, view, moment);
    return from && to ? { from, to } : null;
  }

  #override(coinFrom: string, coinTo: string, view: PriceView, { ms, window }: Moment): string | null {
    if (view !== 'live') return ofPair(window?.overrides, coinFrom, coinTo) ?? null;
    const override = ofPair(this.#overrides, coinFrom, coinTo);
    return override && override.endsAt.getTime() > ms ? override.price : null;
  }

  /**
   * The largest USD value of one order of a pair that the venue's order books allow. `unlimited`
   * where no order book is needed. Null while the depth of a coin is unknown or too old.
   */
  mostUsd(coinFrom: string, coinTo: string): Big | 'unlimited' | null {
    const { ms, window } = this.#moment();
    return this.#mostUsdIn(window, coinFrom, coinTo, ms);
  }

  #mostUsdIn(window: HoldWindow | null, coinFrom: string, coinTo: string, atMs: number): Big | 'unlimited' | null {
    const { venue } = this.#options;
    if (!venue || coinFrom === coinTo) return 'unlimited';
    const depthOf = (coin: string, side: 'buy' | 'sell'): Big | 'unlimited' | null =>
      coin === venue.cash ? 'unlimited' : this.#depthOf(window?.depth.get(coin), side, venue, atMs);
    const sell = depthOf(coinFrom, 'sell');
    const buy = depthOf(coinTo, 'buy');
    if (sell === 'unlimited' || buy === null) return buy;
    if (buy === 'unlimited' || sell === null) return sell;
    return sell.lt(buy) ? sell : buy;
  }

  #depthOf(
    depth: HeldDepth | undefined,
    side: 'buy' | 'sell',
    { depthMaxAgeSec }: VenueRules,
    atMs: number,
  ): Big | null {
    // A window keeps for its whole length a depth that was young enough when it was decided.
    const oldestMs = atMs - (depthMaxAgeSec + this.#options.fixedWindowSec) * 1000;
    return depth && depth.atMs >= oldestMs ? depth[side] : null;
  }

  /**
   * The prices of the present window, to which a fixed quote can be bound. Null when a price is
   * missing or too old. Null as well when the market has left the window and gives the user less,
   * and while this process does not know the window of this moment.
   */
  binding(coinFrom: string, coinTo: string): BoundPrices | null {
    const moment = this.#moment();
    const { ms, window } = moment;
    const live = this.#viewed(coinFrom, coinTo, 'live', moment);
    if (!window || !live || ms >= window.endsAtMs) return null;
    const bound = this.#boundIn(window, coinFrom, coinTo, ms);
    return bound && this.#deviation(coinFrom, coinTo, bound.prices, live) !== 'below' ? bound : null;
  }

  /**
   * The prices of an earlier window for a pair, from memory or from the database. Null when there
   * is no such window, or it lacks a coin.
   */
  async bindingOf(windowMs: number, coinFrom: string, coinTo: string): Promise<BoundPrices | null> {
    const known = this.#windows.known(windowMs);
    const found = known && this.#boundIn(known, coinFrom, coinTo, windowMs);
    if (found) return found;
    const window = await this.#windows.read(windowMs);
    return window && this.#boundIn(window, coinFrom, coinTo, windowMs);
  }

  /** Reads the windows that began at `from` or later and before now, newest first. */
  async recentWindows(from: Date): Promise<readonly RecentWindow[]> {
    const found = await this.#windows.since(from);
    return found.map(
      (window): RecentWindow =>
        (coinFrom, coinTo) =>
          this.#boundIn(window, coinFrom, coinTo, window.startsAtMs),
    );
  }

  #boundIn(window: HoldWindow, coinFrom: string, coinTo: string, atMs: number): BoundPrices | null {
    const prices = pairIn(window, 'fixed', coinFrom, coinTo);
    const reference = pairIn(window, 'reference', coinFrom, coinTo);
    const mostUsd = this.#mostUsdIn(window, coinFrom, coinTo, atMs);
    return prices && reference && mostUsd !== null ? { windowMs: window.startsAtMs, prices, reference, mostUsd } : null;
  }

  /** The market price of a pair, without prices set by hand. Null when a price is too old. */
  market(coinFrom: string, coinTo: string): Big | null {
    const from = this.live(coinFrom);
    const to = this.live(coinTo);
    return from && to ? from.div(to) : null;
  }

  /** The newest price of each coin in US dollars, and its age in seconds. */
  newest(): { coin: string; price: string; ageSec: number }[] {
    const nowMs = this.#options.clock.now().getTime();
    return [...this.#live].map(([coin, { price, at }]) => {
      return { coin, price: formatDecimal(price), ageSec: (nowMs - at.getTime()) / 1000 };
    });
  }

  /**
   * Whole seconds for which fixed quotes of a pair keep their rate, unless the market leaves it. 0
   * while the market has left it, and while this process does not know the present window.
   */
  #fixedForSec(coinFrom: string, coinTo: string, moment: Moment): number {
    const { ms, window } = moment;
    const prices = this.#viewed(coinFrom, coinTo, 'fixed', moment);
    const live = this.#viewed(coinFrom, coinTo, 'live', moment);
    if (!window || !prices || !live || this.#deviation(coinFrom, coinTo, prices, live) !== 'near') return 0;
    return Math.max(0, Math.floor((window.endsAtMs - ms) / 1000));
  }

  /**
   * How the live price of a pair deviates from the held one: near it, or farther than the allowed
   * drift and giving the user less (`below`) or more (`above`). Computed once for the same prices.
   */
  #deviation(coinFrom: string, coinTo: string, held: PricePair, live: PricePair): MarketDeviation['market'] {
    const key = pairKey(coinFrom, coinTo);
    const known = this.#deviations.get(key);
    if (known && isSamePair(known.held, held) && isSamePair(known.live, live)) return known.market;
    const atHeld = held.from.times(live.to);
    const rise = live.from.times(held.to).minus(atHeld);
    const hasLeft = rise.abs().gt(atHeld.times(this.#maxDrift));
    const market = hasLeft ? (rise.lt('0') ? 'below' : 'above') : 'near';
    this.#deviations.set(key, { held, live, market });
    return market;
  }

  #book(coin: string, text: string, at: Date): void {
    const price = parseDecimal(text);
    const known = this.#live.get(coin);
    const now = this.#options.clock.now();
    const fresh = this.#fresh(known, now.getTime());
    const believable = price && (fresh ? isBelievable(price, fresh) : price.gt('0'));
    if (!price || !believable || Number.isNaN(at.getTime())) {
      this.#options.log.warn({ event: 'price_refused', coin }, 'a price was not believable and was ignored');
      return;
    }
    // A known price with a future time predates a clock correction, and is replaced.
    if (known && known.at > at && known.at <= now) return;
    this.#live.set(coin, { price, at });
  }

  #fresh(booked: BookedPrice | undefined, nowMs: number): Big | null {
    return booked && nowMs - booked.at.getTime() <= this.#options.maxAgeSec * 1000 ? booked.price : null;
  }

  #moment(): Moment {
    const ms = this.#options.clock.now().getTime();
    return { ms, window: this.#windows.begun(ms) };
  }

  /** The current live prices by coin. */
  #quotable(): Map<string, Big> {
    const found = [...this.#live.keys()].flatMap((coin): [string, Big][] => {
      const price = this.live(coin);
      return price ? [[coin, price]] : [];
    });
    return new Map(found);
  }
}

function isSamePair(one: PricePair, other: PricePair): boolean {
  return one.from === other.from && one.to === other.to;
}

function isWithin(ratio: Big, factor: Big): boolean {
  return ratio.lte(factor) && ratio.times(factor).gte('1');
}
