import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { type Repeated, repeat, warning } from '../../base/jobs/repeat.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { Big, formatDecimal, maxOf, minOf, parseDecimal, roundToSignificant } from '../../base/money.ts';
import type { PriceOverride } from './price-override.entity.ts';
import type { PriceSource } from './price-source.ts';
import type { PriceWindows, WindowDepth, WindowPrices } from './price-windows.ts';
import type { PricePair, RateType } from './quote.ts';

interface BookedPrice {
  readonly price: Big;
  readonly at: Date;
}

/** The prices of a hold window, the same in all processes. */
interface HoldWindow {
  readonly startsAtMs: number;
  /** The regular end, a multiple of the window. An early next window ends this one sooner. */
  readonly endsAtMs: number;
  readonly fixed: ReadonlyMap<string, Big>;
  readonly reference: ReadonlyMap<string, Big>;
  readonly overrides: ReadonlyMap<string, string>;
  readonly depth: ReadonlyMap<string, HeldDepth>;
}

/** The largest order of a coin that the venue's books allow, in US dollars. */
interface HeldDepth {
  readonly buy: Big;
  readonly sell: Big;
  readonly atMs: number;
}

/** A moment, and the newest window that has begun by then. */
interface Moment {
  readonly ms: number;
  /** When a window could not be shared, the one before stays. Null before the first. */
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
export interface PresentPrices extends PairPrices {
  /** Null for float. For fixed: as `fixedForSec` gives it. */
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
export type PriceView = 'live' | 'fixed' | 'reference';

/**
 * Limits follow a reference price, which changes only when the market has moved this far from it.
 */
const referenceBand = new Big('0.1');
/** A price that jumps by more than this factor within its allowed age is refused. */
const largestJump = new Big('3');
/** Earlier windows that are remembered for the quotes bound to them. */
const rememberedWindows = 100;
/** Pairs whose stand to the market is remembered. */
const rememberedPairs = 10_000;

interface MarketStand {
  readonly held: PricePair;
  readonly live: PricePair;
  readonly market: 'near' | 'below' | 'above';
}

/**
 * An early window renews the coins that have moved by more than this fraction of the allowed drift.
 */
const renewedPart = new Big('0.25');

export interface PriceBookOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly source: PriceSource;
  /** Pair prices that staff set by hand. They take precedence over the market's. */
  readonly overrides?: () => Promise<readonly PriceOverride[]>;
  readonly windows: PriceWindows;
  readonly refreshSec: number;
  readonly maxAgeSec: number;
  readonly fixedWindowSec: number;
  /** A fraction. A held price is not quoted once the live price of the pair is farther away. */
  readonly fixedMaxDrift: string;
  /** Set when trades run on order books. When absent, depth limits nothing. */
  readonly venue?: VenueRules;
}

/** How limits follow the venue's order books. */
export interface VenueRules {
  /** The coin between the two legs of a trade. It needs no order book. */
  readonly cash: string;
  /** The fraction of the book's depth near the price that one order may take. */
  readonly depthShare: string;
  /** A book older than this is not used for a new window. */
  readonly depthMaxAgeSec: number;
}

/**
 * Holds the newest believable price of each coin in memory, so that a quote costs no I/O. Three
 * views:
 *
 * - `live`, for float quotes, belongs to this process alone.
 * - `fixed`, for fixed quotes, stands still during each hold window.
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
  readonly #stands = new LRUCache<string, MarketStand>({ max: rememberedPairs });
  #paused: ReadonlySet<string> = new Set();
  #overrides = new Map<string, PriceOverride>();
  /** The present window and, shortly before it begins, the next. */
  #windows: readonly HoldWindow[] = [];
  readonly #earlier = new LRUCache<number, HoldWindow>({ max: rememberedWindows });
  #refreshing: Repeated | undefined;

  constructor(options: PriceBookOptions) {
    this.#options = options;
    this.#maxDrift = new Big(options.fixedMaxDrift);
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
      await this.#decideWindows();
    } catch (error) {
      log.warn({ event: 'price_window_failed', ...errorMembers(error) }, 'the prices of a window could not be shared');
    }
  }

  /** The live price. Null when it is too old, or when the source paused the coin. */
  live(coin: string): Big | null {
    return this.#price(coin, 'live', this.#moment());
  }

  /** The price of the hold window. Null when the held or the live price is too old. */
  fixed(coin: string): Big | null {
    return this.#price(coin, 'fixed', this.#moment());
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
    return live && this.#standing(coinFrom, coinTo, prices, live) === 'below' ? live : live && prices;
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
    return bound && this.#standing(coinFrom, coinTo, bound.prices, live) !== 'below' ? bound : null;
  }

  /**
   * The prices of an earlier window for a pair, from memory or from the database. Null when there
   * is no such window, or it lacks a coin.
   */
  async bindingOf(windowMs: number, coinFrom: string, coinTo: string): Promise<BoundPrices | null> {
    const known = this.#windows.find(({ startsAtMs }) => startsAtMs === windowMs) ?? this.#earlier.get(windowMs);
    const found = known && this.#boundIn(known, coinFrom, coinTo, windowMs);
    if (found) return found;
    const prices = await this.#options.windows.at(new Date(windowMs));
    if (!prices) return null;
    const window = this.#toWindow(windowMs, prices);
    this.#earlier.set(windowMs, window);
    return this.#boundIn(window, coinFrom, coinTo, windowMs);
  }

  /** Reads the windows that began at `from` or later and before now, newest first. */
  async recentWindows(from: Date): Promise<readonly RecentWindow[]> {
    const found = await this.#options.windows.between(from, this.#options.clock.now());
    return found.map(({ startsAt, prices }): RecentWindow => {
      const window = this.#toWindow(startsAt.getTime(), prices);
      return (coinFrom, coinTo) => this.#boundIn(window, coinFrom, coinTo, window.startsAtMs);
    });
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
  fixedForSec(coinFrom: string, coinTo: string): number {
    return this.#fixedForSec(coinFrom, coinTo, this.#moment());
  }

  #fixedForSec(coinFrom: string, coinTo: string, moment: Moment): number {
    const { ms, window } = moment;
    const prices = this.#viewed(coinFrom, coinTo, 'fixed', moment);
    const live = this.#viewed(coinFrom, coinTo, 'live', moment);
    if (!window || !prices || !live || this.#standing(coinFrom, coinTo, prices, live) !== 'near') return 0;
    return Math.max(0, Math.floor((window.endsAtMs - ms) / 1000));
  }

  /**
   * Where the live price of a pair stands to the held one: near it, or farther than the allowed
   * drift and giving the user less (`below`) or more (`above`). Computed once for the same prices.
   */
  #standing(coinFrom: string, coinTo: string, held: PricePair, live: PricePair): MarketStand['market'] {
    const key = pairKey(coinFrom, coinTo);
    const known = this.#stands.get(key);
    if (known && isSamePair(known.held, held) && isSamePair(known.live, live)) return known.market;
    const atHeld = held.from.times(live.to);
    const rise = live.from.times(held.to).minus(atHeld);
    const hasLeft = rise.abs().gt(atHeld.times(this.#maxDrift));
    const market = hasLeft ? (rise.lt('0') ? 'below' : 'above') : 'near';
    this.#stands.set(key, { held, live, market });
    return market;
  }

  #book(coin: string, text: string, at: Date): void {
    const price = parseDecimal(text);
    const known = this.#live.get(coin);
    const now = this.#options.clock.now();
    const believable =
      price?.gt('0') && (!this.#fresh(known, now.getTime()) || !known || isWithin(price.div(known.price), largestJump));
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
    return { ms, window: this.#windows.findLast(({ startsAtMs }) => startsAtMs <= ms) ?? null };
  }

  /**
   * Reads or decides the present window. Begins an early window when the market has left the
   * present one. Decides the next window one refresh before it begins, so that no quote waits for
   * its prices.
   */
  async #decideWindows(): Promise<void> {
    const { clock, fixedWindowSec, refreshSec, windows } = this.#options;
    const prices = this.#quotable();
    if (prices.size === 0) return;
    const now = clock.now();
    const nowMs = now.getTime();
    const presentMs = nowMs - (nowMs % (fixedWindowSec * 1000));
    const newest = await windows.newest(now);
    if (newest && newest.startsAt.getTime() >= presentMs)
      this.#keep(newest.startsAt.getTime(), newest.prices, presentMs);
    const begunMs = Math.max(presentMs, this.#moment().window?.startsAtMs ?? presentMs);
    await this.#decideWindow(begunMs, prices, presentMs);
    // The same start for all processes that see the same market, and at most one in each interval.
    const earlyMs = nowMs - (nowMs % (refreshSec * 1000));
    const held = this.#moment().window;
    if (held && earlyMs > held.startsAtMs && this.#isStale(held, prices)) {
      const renewed = new Map([...prices].filter(([coin, price]) => this.#isRenewed(held.fixed.get(coin), price)));
      const decided = await windows.decide(new Date(earlyMs), (last) => {
        const proposal = this.#propose(prices, last);
        const kept = Object.entries(proposal.fixed).map(([coin, price]): [string, string] => {
          const before = renewed.has(coin) ? undefined : held.fixed.get(coin);
          return [coin, before ? formatDecimal(before) : price];
        });
        return { ...proposal, fixed: Object.fromEntries(kept) };
      });
      this.#keep(earlyMs, decided, presentMs);
    }
    const nextMs = presentMs + fixedWindowSec * 1000;
    if (nextMs - nowMs <= refreshSec * 1000) await this.#decideWindow(nextMs, prices, presentMs);
  }

  /** Decides a window with all other processes, unless this process knows it with every coin. */
  async #decideWindow(startsAtMs: number, prices: ReadonlyMap<string, Big>, presentMs: number): Promise<void> {
    const known = this.#windows.find((window) => window.startsAtMs === startsAtMs);
    const isKnown = known && [...prices.keys()].every((coin) => known.fixed.has(coin));
    if (isKnown && Object.keys(this.#youngDepth(null)).every((coin) => known.depth.has(coin))) return;
    const decided = await this.#options.windows.decide(new Date(startsAtMs), (last) => this.#propose(prices, last));
    this.#keep(startsAtMs, decided, presentMs);
  }

  #keep(startsAtMs: number, prices: WindowPrices, presentMs: number): void {
    const others = this.#windows.filter((one) => one.startsAtMs >= presentMs && one.startsAtMs !== startsAtMs);
    this.#windows = [...others, this.#toWindow(startsAtMs, prices)].sort((a, b) => a.startsAtMs - b.startsAtMs);
  }

  #toWindow(startsAtMs: number, prices: WindowPrices): HoldWindow {
    const { fixedWindowSec, venue } = this.#options;
    return toHoldWindow(startsAtMs, fixedWindowSec * 1000, prices, venue?.depthShare ?? '0');
  }

  /**
   * Whether a pair has left the window: two coins have drifted apart, or staff set or ended a price
   * by hand.
   */
  #isStale(held: HoldWindow, prices: ReadonlyMap<string, Big>): boolean {
    const moves = [...prices].flatMap(([coin, price]) => {
      const before = held.fixed.get(coin);
      return before ? [price.div(before)] : [];
    });
    const one = new Big('1');
    const spread = moves.reduce(maxOf, moves[0] ?? one).minus(moves.reduce(minOf, moves[0] ?? one));
    if (spread.gt(this.#maxDrift)) return true;
    const byHand = [...this.#overrides].map(([pair, { price }]): [string, string] => [pair, price]);
    return byHand.length !== held.overrides.size || byHand.some(([pair, price]) => held.overrides.get(pair) !== price);
  }

  #isRenewed(before: Big | undefined, price: Big): boolean {
    return !before || price.minus(before).abs().gt(before.times(this.#maxDrift).times(renewedPart));
  }

  /** The current live prices by coin. */
  #quotable(): Map<string, Big> {
    const found = [...this.#live.keys()].flatMap((coin): [string, Big][] => {
      const price = this.live(coin);
      return price ? [[coin, price]] : [];
    });
    return new Map(found);
  }

  #propose(prices: ReadonlyMap<string, Big>, last: WindowPrices | null): WindowPrices {
    const reference = { ...last?.reference };
    for (const [coin, price] of prices) {
      const before = reference[coin];
      const hasMoved = before === undefined || price.minus(before).abs().gt(new Big(before).times(referenceBand));
      if (hasMoved) reference[coin] = formatDecimal(roundToSignificant(price, 2));
    }
    return {
      fixed: Object.fromEntries([...prices].map(([coin, price]) => [coin, formatDecimal(price)])),
      reference,
      overrides: Object.fromEntries([...this.#overrides].map(([pair, { price }]) => [pair, price])),
      depth: this.#youngDepth(last),
    };
  }

  /**
   * The order book depth that this process read. Other coins keep the depth of the window before
   * while it is young.
   */
  #youngDepth(last: WindowPrices | null): Record<string, WindowDepth> {
    const { clock, source, venue } = this.#options;
    if (!venue) return {};
    const own = [...(source.depth?.() ?? [])].map(([coin, { buy, sell, at }]): [string, WindowDepth] => {
      return [coin, { buy, sell, atMs: at.getTime() }];
    });
    const oldestMs = clock.now().getTime() - venue.depthMaxAgeSec * 1000;
    const all = Object.entries({ ...last?.depth, ...Object.fromEntries(own) });
    return Object.fromEntries(all.filter(([, { atMs }]) => atMs >= oldestMs));
  }
}

function toHoldWindow(
  startsAtMs: number,
  holdMs: number,
  { fixed, reference, overrides, depth }: WindowPrices,
  depthShare: string,
): HoldWindow {
  const share = (usd: string): Big => new Big(usd).times(depthShare);
  const bigs = (prices: Readonly<Record<string, string>>): Map<string, Big> =>
    new Map(Object.entries(prices).map(([coin, price]) => [coin, new Big(price)]));
  return {
    startsAtMs,
    endsAtMs: startsAtMs - (startsAtMs % holdMs) + holdMs,
    fixed: bigs(fixed),
    reference: bigs(reference),
    overrides: new Map(Object.entries(overrides)),
    depth: new Map(
      Object.entries(depth).map(([coin, { buy, sell, atMs }]) => [coin, { buy: share(buy), sell: share(sell), atMs }]),
    ),
  };
}

/** Both prices of a pair in a window, with a price set by hand. Null when one is missing. */
function pairIn(window: HoldWindow, view: 'fixed' | 'reference', coinFrom: string, coinTo: string): PricePair | null {
  const to = window[view].get(coinTo);
  const byHand = ofPair(window.overrides, coinFrom, coinTo);
  const from = byHand === undefined ? window[view].get(coinFrom) : to?.times(byHand);
  return from && to ? { from, to } : null;
}

function isSamePair(one: PricePair, other: PricePair): boolean {
  return one.from === other.from && one.to === other.to;
}

function isWithin(ratio: Big, factor: Big): boolean {
  return ratio.lte(factor) && ratio.times(factor).gte('1');
}

/** The entry of a pair. Most tables are empty, and building the key costs more than all else. */
function ofPair<T>(table: ReadonlyMap<string, T> | undefined, coinFrom: string, coinTo: string): T | undefined {
  return table?.size ? table.get(pairKey(coinFrom, coinTo)) : undefined;
}

function pairKey(coinFrom: string, coinTo: string): string {
  return `${coinFrom}-${coinTo}`;
}
