import type { Clock } from '../clock.ts';
import { errorMembers, type Log } from '../log.ts';
import { Big, formatDecimal, maxOf, minOf, parseDecimal, roundToSignificant } from '../money.ts';
import type { PriceOverride } from './price-override.entity.ts';
import type { PriceSource } from './price-source.ts';
import type { PriceWindows, WindowDepth, WindowPrices } from './price-windows.ts';
import type { PricePair } from './quote.ts';

interface BookedPrice {
  readonly price: Big;
  readonly at: Date;
}

/** The prices of a hold window, as all processes have them. */
interface HoldWindow {
  readonly startsAtMs: number;
  /** The regular end, a multiple of the hold. An early window ends the one before it. */
  readonly endsAtMs: number;
  readonly fixed: ReadonlyMap<string, Big>;
  readonly reference: ReadonlyMap<string, Big>;
  readonly overrides: ReadonlyMap<string, string>;
  readonly depth: ReadonlyMap<string, HeldDepth>;
}

/** What one order may take of a coin at the venue, in US dollars. */
interface HeldDepth {
  readonly buy: Big;
  readonly sell: Big;
  readonly atMs: number;
}

/** For float quotes, for fixed ones, and for limits. */
export type PriceView = 'live' | 'fixed' | 'reference';

/** Limits follow a reference price that stays until the market has moved this far from it. */
const referenceBand = new Big('0.1');
/** A price that jumps by more than this factor within its allowed age is not believed. */
const largestJump = new Big('3');
/** An early window renews the coins that have moved by more than this part of the allowed drift. */
const renewedPart = new Big('0.25');

export interface PriceBookOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly source: PriceSource;
  /** Prices of pairs that staff set by hand, and that go before the market's. */
  readonly overrides?: () => Promise<readonly PriceOverride[]>;
  readonly windows: PriceWindows;
  readonly refreshSec: number;
  readonly maxAgeSec: number;
  readonly fixedHoldSec: number;
  /** A fraction. A held price is not quoted once the live price of the pair is farther away than this. */
  readonly fixedMaxDrift: string;
  /** Where trades are made on order books; absent where they are not, and then depth limits nothing. */
  readonly venue?: VenueRules;
}

/** How limits follow the order books of the venue. */
export interface VenueRules {
  /** The coin between the legs of a trade, which needs no order book. */
  readonly cash: string;
  /** The part of what the books hold near the price that one order may take, as a fraction. */
  readonly depthShare: string;
  /** A book that was read longer ago is not taken for a new window. */
  readonly depthMaxAgeSec: number;
}

/**
 * The newest believable price of each coin, in memory, so that a quote costs no I/O. Three views: `live` for float
 * quotes, of this process alone; `fixed`, which stands still during each hold window; `reference`, for limits, which
 * moves in steps between windows only, so that a minimum that a partner has just read still holds when it creates the
 * order. The latter two are the same in all processes.
 *
 * A held price that the market has left would be a free option. Once the live prices of a pair are farther than
 * `fixedMaxDrift` from the held ones, two things happen. The next refresh begins a new window for all processes, at most
 * one in each refresh interval. Until this process knows that window, it quotes the pair at the held or the live price,
 * whichever gives the user less, and promises no time.
 */
export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #maxDrift: Big;
  readonly #live = new Map<string, BookedPrice>();
  #paused: ReadonlySet<string> = new Set();
  #overrides = new Map<string, PriceOverride>();
  /** The present one and, shortly before it begins, the next. */
  #windows: readonly HoldWindow[] = [];
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: PriceBookOptions) {
    this.#options = options;
    this.#maxDrift = new Big(options.fixedMaxDrift);
  }

  /** Takes the first prices, then keeps refreshing until `stop`. A source that fails leaves the prices to grow old. */
  async start(coins: () => readonly string[]): Promise<void> {
    await this.refresh(coins());
    const schedule = (): void => {
      if (this.#stopped) return;
      // On whole multiples of the interval by the wall clock, so that all processes know the prices of a moment.
      const refreshMs = this.#options.refreshSec * 1000;
      const delayMs = refreshMs - (this.#options.clock.now().getTime() % refreshMs);
      this.#timer = setTimeout(() => void this.refresh(coins()).then(schedule), delayMs).unref();
    };
    schedule();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
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

  /** The live price, or null when there is none young enough or the source says that nobody knows it. */
  live(coin: string): Big | null {
    return this.#paused.has(coin) ? null : this.#fresh(this.#live.get(coin));
  }

  /** The price of the hold window, or null when there is none young enough, in the window or live. */
  fixed(coin: string): Big | null {
    const { clock, maxAgeSec } = this.#options;
    const held = this.#held();
    if (!held || !this.live(coin)) return null;
    const overMs = clock.now().getTime() - held.endsAtMs;
    return overMs <= maxAgeSec * 1000 ? (held.fixed.get(coin) ?? null) : null;
  }

  /** The slow price that limits are computed from, or null when the coin was never priced. */
  reference(coin: string): Big | null {
    return this.#held()?.reference.get(coin) ?? null;
  }

  /**
   * Both prices of a pair in one view, with what staff set by hand; null when one is missing. A fixed price that the
   * market has left is replaced by the live one where that gives the user less.
   */
  pair(coinFrom: string, coinTo: string, view: PriceView): PricePair | null {
    const prices = this.#viewed(coinFrom, coinTo, view);
    if (view !== 'fixed' || !prices) return prices;
    const live = this.#viewed(coinFrom, coinTo, 'live');
    return live && this.#hasLeft(prices, live) && givesLess(live, prices) ? live : live && prices;
  }

  #viewed(coinFrom: string, coinTo: string, view: PriceView): PricePair | null {
    const to = this[view](coinTo);
    const override = this.#override(coinFrom, coinTo, view);
    const from = override ? to?.times(override) : this[view](coinFrom);
    return from && to ? { from, to } : null;
  }

  #override(coinFrom: string, coinTo: string, view: PriceView): string | null {
    const key = pairKey(coinFrom, coinTo);
    if (view !== 'live') return this.#held()?.overrides.get(key) ?? null;
    const override = this.#overrides.get(key);
    return override && override.endsAt > this.#options.clock.now() ? override.price : null;
  }

  /**
   * The most that one order of a pair may be worth by the order books of the venue, in US dollars. `unlimited` where no
   * order book is needed; null while the depth of a coin is unknown or too old.
   */
  mostUsd(coinFrom: string, coinTo: string): Big | 'unlimited' | null {
    const { venue } = this.#options;
    if (!venue || coinFrom === coinTo) return 'unlimited';
    const sell = coinFrom === venue.cash ? 'unlimited' : this.#depthOf(coinFrom, 'sell', venue);
    const buy = coinTo === venue.cash ? 'unlimited' : this.#depthOf(coinTo, 'buy', venue);
    if (sell === 'unlimited' || buy === null) return buy;
    if (buy === 'unlimited' || sell === null) return sell;
    return sell.lt(buy) ? sell : buy;
  }

  #depthOf(coin: string, side: 'buy' | 'sell', { depthMaxAgeSec }: VenueRules): Big | null {
    const { clock, fixedHoldSec } = this.#options;
    const depth = this.#held()?.depth.get(coin);
    // A window keeps for its length what was young enough when it was decided.
    const oldestMs = clock.now().getTime() - (depthMaxAgeSec + fixedHoldSec) * 1000;
    return depth && depth.atMs >= oldestMs ? depth[side] : null;
  }

  /** The market's price of a pair, whatever staff set by hand; null when there is none young enough. */
  market(coinFrom: string, coinTo: string): Big | null {
    const from = this.live(coinFrom);
    const to = this.live(coinTo);
    return from && to ? from.div(to) : null;
  }

  /** The newest price of each coin, in US dollars, and how many seconds old it is. */
  newest(): { coin: string; price: string; ageSec: number }[] {
    const nowMs = this.#options.clock.now().getTime();
    return [...this.#live].map(([coin, { price, at }]) => {
      return { coin, price: formatDecimal(price), ageSec: (nowMs - at.getTime()) / 1000 };
    });
  }

  /**
   * Whole seconds for which fixed quotes of a pair keep their rate, unless the market leaves it. 0 while the market has
   * left it, and while this process does not know the present window.
   */
  fixedForSec(coinFrom: string, coinTo: string): number {
    const held = this.#held();
    if (!held) return 0;
    const prices = this.#viewed(coinFrom, coinTo, 'fixed');
    const live = this.#viewed(coinFrom, coinTo, 'live');
    if (!prices || !live || this.#hasLeft(prices, live)) return 0;
    return Math.max(0, Math.floor((held.endsAtMs - this.#options.clock.now().getTime()) / 1000));
  }

  /** Whether the live ratio of a pair is farther from the held one than the allowed drift. */
  #hasLeft(held: PricePair, live: PricePair): boolean {
    const atHeld = held.from.times(live.to);
    return live.from.times(held.to).minus(atHeld).abs().gt(atHeld.times(this.#maxDrift));
  }

  #book(coin: string, text: string, at: Date): void {
    const price = parseDecimal(text);
    const known = this.#live.get(coin);
    const believable =
      price?.gt('0') && (!this.#fresh(known) || !known || isWithin(price.div(known.price), largestJump));
    if (!price || !believable || Number.isNaN(at.getTime())) {
      this.#options.log.warn({ event: 'price_refused', coin }, 'a price was not believable and was ignored');
      return;
    }
    // One of the future is from before the clock was set back.
    if (known && known.at > at && known.at <= this.#options.clock.now()) return;
    this.#live.set(coin, { price, at });
  }

  #fresh(booked: BookedPrice | undefined): Big | null {
    if (!booked) return null;
    const ageMs = this.#options.clock.now().getTime() - booked.at.getTime();
    return ageMs <= this.#options.maxAgeSec * 1000 ? booked.price : null;
  }

  /** The newest window that has begun. One that could not be shared leaves the one before. */
  #held(): HoldWindow | null {
    const nowMs = this.#options.clock.now().getTime();
    return this.#windows.findLast(({ startsAtMs }) => startsAtMs <= nowMs) ?? null;
  }

  /**
   * Learns or decides the window of this moment, begins another when the market has left it, and decides the next one when
   * it begins before the next refresh: no quote waits for its prices.
   */
  async #decideWindows(): Promise<void> {
    const { clock, fixedHoldSec, refreshSec, windows } = this.#options;
    const prices = this.#quotable();
    if (prices.size === 0) return;
    const now = clock.now();
    const nowMs = now.getTime();
    const presentMs = nowMs - (nowMs % (fixedHoldSec * 1000));
    const newest = await windows.newest(now);
    if (newest && newest.startsAt.getTime() >= presentMs)
      this.#keep(newest.startsAt.getTime(), newest.prices, presentMs);
    const begunMs = Math.max(presentMs, this.#held()?.startsAtMs ?? presentMs);
    await this.#decideWindow(begunMs, prices, presentMs);
    // One start for all processes that see the same market, and at most one in each interval.
    const earlyMs = nowMs - (nowMs % (refreshSec * 1000));
    const held = this.#held();
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
    const nextMs = presentMs + fixedHoldSec * 1000;
    if (nextMs - nowMs <= refreshSec * 1000) await this.#decideWindow(nextMs, prices, presentMs);
  }

  /** Decides a window with all others, unless this process knows it with every coin. */
  async #decideWindow(startsAtMs: number, prices: ReadonlyMap<string, Big>, presentMs: number): Promise<void> {
    const known = this.#windows.find((window) => window.startsAtMs === startsAtMs);
    const isKnown = known && [...prices.keys()].every((coin) => known.fixed.has(coin));
    if (isKnown && Object.keys(this.#youngDepth(null)).every((coin) => known.depth.has(coin))) return;
    const decided = await this.#options.windows.decide(new Date(startsAtMs), (last) => this.#propose(prices, last));
    this.#keep(startsAtMs, decided, presentMs);
  }

  #keep(startsAtMs: number, prices: WindowPrices, presentMs: number): void {
    const others = this.#windows.filter((one) => one.startsAtMs >= presentMs && one.startsAtMs !== startsAtMs);
    const { fixedHoldSec, venue } = this.#options;
    const window = toHoldWindow(startsAtMs, fixedHoldSec * 1000, prices, venue?.depthShare ?? '0');
    this.#windows = [...others, window].sort((a, b) => a.startsAtMs - b.startsAtMs);
  }

  /** Whether some pair has left the window: two coins have drifted apart, or staff set or ended a price by hand. */
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

  /** The live prices of this moment, by coin. */
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

  /** What this process read of the order books, and for other coins what the window before had, while it is young. */
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

/** Whether a user who sends coin_from gets less at the first prices than at the second. */
function givesLess(one: PricePair, other: PricePair): boolean {
  return one.from.times(other.to).lt(other.from.times(one.to));
}

function isWithin(ratio: Big, factor: Big): boolean {
  return ratio.lte(factor) && ratio.times(factor).gte('1');
}

function pairKey(coinFrom: string, coinTo: string): string {
  return `${coinFrom}-${coinTo}`;
}
