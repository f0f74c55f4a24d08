import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { Big, formatDecimal, maxOf, minOf, roundToSignificant } from '../../base/money.ts';
import type { PriceOverride } from './price-override.entity.ts';
import type { PriceSource } from './price-source.ts';
import type { PriceWindows, WindowDepth, WindowPrices } from './price-windows.ts';
import type { PricePair } from './quote.ts';

/** The prices of a hold window, the same in all processes. */
export interface HoldWindow {
  readonly startsAtMs: number;
  /** The regular end, a multiple of the window. An early next window ends this one sooner. */
  readonly endsAtMs: number;
  readonly fixed: ReadonlyMap<string, Big>;
  readonly reference: ReadonlyMap<string, Big>;
  readonly overrides: ReadonlyMap<string, string>;
  readonly depth: ReadonlyMap<string, HeldDepth>;
}

/** The largest order of a coin that the venue's books allow, in US dollars. */
export interface HeldDepth {
  readonly buy: Big;
  readonly sell: Big;
  readonly atMs: number;
}

/**
 * Limits follow a reference price, which changes only when the market has moved this far from it.
 */
const referenceBand = new Big('0.1');
/**
 * An early window renews the coins that have moved by more than this fraction of the allowed drift.
 */
const renewedPart = new Big('0.25');
/** Earlier windows that are remembered for the quotes bound to them. */
const rememberedWindows = 100;

/** The pair prices that staff set by hand, by pair. */
type ByHand = ReadonlyMap<string, PriceOverride>;

export interface HoldWindowsOptions {
  readonly clock: Clock;
  readonly source: PriceSource;
  readonly windows: PriceWindows;
  readonly refreshSec: number;
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

/** The hold windows that this process knows, and how it decides on them with all others. */
export class HoldWindows {
  readonly #options: HoldWindowsOptions;
  readonly #maxDrift: Big;
  /** The present window and, shortly before it begins, the next. */
  #held: readonly HoldWindow[] = [];
  readonly #earlier = new LRUCache<number, HoldWindow>({ max: rememberedWindows });

  constructor(options: HoldWindowsOptions) {
    this.#options = options;
    this.#maxDrift = new Big(options.fixedMaxDrift);
  }

  /** The newest known window that has begun by this moment, in milliseconds since 1970. */
  begun(ms: number): HoldWindow | null {
    return this.#held.findLast(({ startsAtMs }) => startsAtMs <= ms) ?? null;
  }

  /** The window that begins at this moment, where it is kept in memory. */
  known(startsAtMs: number): HoldWindow | undefined {
    return this.#held.find((window) => window.startsAtMs === startsAtMs) ?? this.#earlier.get(startsAtMs);
  }

  /** Reads the window that begins at this moment from the database, and remembers it. */
  async read(startsAtMs: number): Promise<HoldWindow | null> {
    const prices = await this.#options.windows.at(new Date(startsAtMs));
    if (!prices) return null;
    const window = this.#toWindow(startsAtMs, prices);
    this.#earlier.set(startsAtMs, window);
    return window;
  }

  /** Reads the windows that began at `from` or later and before now, newest first. */
  async since(from: Date): Promise<HoldWindow[]> {
    const found = await this.#options.windows.between(from, this.#options.clock.now());
    return found.map(({ startsAt, prices }) => this.#toWindow(startsAt.getTime(), prices));
  }

  /**
   * Reads or decides the present window. Begins an early window when the market has left the
   * present one. Decides the next window one refresh before it begins, so that no quote waits for
   * its prices.
   *
   * @param prices the live prices by coin. Without one nothing is decided.
   */
  async decide(prices: ReadonlyMap<string, Big>, overrides: ByHand): Promise<void> {
    const { clock, fixedWindowSec, refreshSec, windows } = this.#options;
    if (prices.size === 0) return;
    const now = clock.now();
    const nowMs = now.getTime();
    const presentMs = nowMs - (nowMs % (fixedWindowSec * 1000));
    const newest = await windows.newest(now);
    if (newest && newest.startsAt.getTime() >= presentMs)
      this.#keep(newest.startsAt.getTime(), newest.prices, presentMs);
    const begunMs = Math.max(presentMs, this.#present()?.startsAtMs ?? presentMs);
    await this.#decideOne(begunMs, prices, overrides, presentMs);
    // The same start for all processes that see the same market, and at most one in each interval.
    const earlyMs = nowMs - (nowMs % (refreshSec * 1000));
    const held = this.#present();
    if (held && earlyMs > held.startsAtMs && this.#isStale(held, prices, overrides)) {
      const renewed = new Map([...prices].filter(([coin, price]) => this.#isRenewed(held.fixed.get(coin), price)));
      const decided = await windows.decide(new Date(earlyMs), (last) => {
        const proposal = this.#propose(prices, overrides, last);
        const kept = Object.entries(proposal.fixed).map(([coin, price]): [string, string] => {
          const before = renewed.has(coin) ? undefined : held.fixed.get(coin);
          return [coin, before ? formatDecimal(before) : price];
        });
        return { ...proposal, fixed: Object.fromEntries(kept) };
      });
      this.#keep(earlyMs, decided, presentMs);
    }
    const nextMs = presentMs + fixedWindowSec * 1000;
    if (nextMs - nowMs <= refreshSec * 1000) await this.#decideOne(nextMs, prices, overrides, presentMs);
  }

  /** Decides a window with all other processes, unless this process knows it with every coin. */
  async #decideOne(
    startsAtMs: number,
    prices: ReadonlyMap<string, Big>,
    overrides: ByHand,
    presentMs: number,
  ): Promise<void> {
    const known = this.#held.find((window) => window.startsAtMs === startsAtMs);
    const isKnown = known && [...prices.keys()].every((coin) => known.fixed.has(coin));
    if (isKnown && Object.keys(this.#youngDepth(null)).every((coin) => known.depth.has(coin))) return;
    const decided = await this.#options.windows.decide(new Date(startsAtMs), (last) =>
      this.#propose(prices, overrides, last),
    );
    this.#keep(startsAtMs, decided, presentMs);
  }

  #keep(startsAtMs: number, prices: WindowPrices, presentMs: number): void {
    const others = this.#held.filter((one) => one.startsAtMs >= presentMs && one.startsAtMs !== startsAtMs);
    this.#held = [...others, this.#toWindow(startsAtMs, prices)].sort((a, b) => a.startsAtMs - b.startsAtMs);
  }

  #toWindow(startsAtMs: number, prices: WindowPrices): HoldWindow {
    const { fixedWindowSec, venue } = this.#options;
    return toHoldWindow(startsAtMs, fixedWindowSec * 1000, prices, venue?.depthShare ?? '0');
  }

  /** The newest window that has begun. */
  #present(): HoldWindow | null {
    return this.begun(this.#options.clock.now().getTime());
  }

  /**
   * Whether a pair has left the window: two coins have drifted apart, or staff set or ended a price
   * by hand.
   */
  #isStale(held: HoldWindow, prices: ReadonlyMap<string, Big>, overrides: ByHand): boolean {
    const moves = [...prices].flatMap(([coin, price]) => {
      const before = held.fixed.get(coin);
      return before ? [price.div(before)] : [];
    });
    const one = new Big('1');
    const spread = moves.reduce(maxOf, moves[0] ?? one).minus(moves.reduce(minOf, moves[0] ?? one));
    if (spread.gt(this.#maxDrift)) return true;
    const byHand = [...overrides].map(([pair, { price }]): [string, string] => [pair, price]);
    return byHand.length !== held.overrides.size || byHand.some(([pair, price]) => held.overrides.get(pair) !== price);
  }

  #isRenewed(before: Big | undefined, price: Big): boolean {
    return !before || price.minus(before).abs().gt(before.times(this.#maxDrift).times(renewedPart));
  }

  #propose(prices: ReadonlyMap<string, Big>, overrides: ByHand, last: WindowPrices | null): WindowPrices {
    const reference = { ...last?.reference };
    for (const [coin, price] of prices) {
      const before = reference[coin];
      const hasMoved = before === undefined || price.minus(before).abs().gt(new Big(before).times(referenceBand));
      if (hasMoved) reference[coin] = formatDecimal(roundToSignificant(price, 2));
    }
    return {
      fixed: Object.fromEntries([...prices].map(([coin, price]) => [coin, formatDecimal(price)])),
      reference,
      overrides: Object.fromEntries([...overrides].map(([pair, { price }]) => [pair, price])),
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
export function pairIn(
  window: HoldWindow,
  view: 'fixed' | 'reference',
  coinFrom: string,
  coinTo: string,
): PricePair | null {
  const to = window[view].get(coinTo);
  const byHand = ofPair(window.overrides, coinFrom, coinTo);
  const from = byHand === undefined ? window[view].get(coinFrom) : to?.times(byHand);
  return from && to ? { from, to } : null;
}

/** The entry of a pair. Most tables are empty, and building the key costs more than all else. */
export function ofPair<T>(table: ReadonlyMap<string, T> | undefined, coinFrom: string, coinTo: string): T | undefined {
  return table?.size ? table.get(pairKey(coinFrom, coinTo)) : undefined;
}

export function pairKey(coinFrom: string, coinTo: string): string {
  return `${coinFrom}-${coinTo}`;
}
