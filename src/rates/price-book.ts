import type { Clock } from '../clock.ts';
import { errorMembers, type Log } from '../log.ts';
import { Big, formatDecimal, parseDecimal, roundToSignificant } from '../money.ts';
import type { PriceOverride } from './price-override.entity.ts';
import type { PriceSource } from './price-source.ts';
import type { PricePair } from './quote.ts';

interface BookedPrice {
  readonly price: Big;
  readonly at: Date;
}

/** For float quotes, for fixed ones, and for limits. */
export type PriceView = 'live' | 'fixed' | 'reference';

/** Limits follow a reference price that stays until the market has moved this far from it. */
const referenceBand = new Big('0.1');
/** A price that jumps by more than this factor within its allowed age is not believed. */
const largestJump = new Big('3');

export interface PriceBookOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly source: PriceSource;
  /** Prices of pairs that staff set by hand, and that go before the market's. */
  readonly overrides?: () => Promise<readonly PriceOverride[]>;
  readonly refreshSec: number;
  readonly maxAgeSec: number;
  readonly fixedHoldSec: number;
}

/**
 * The newest believable price of each coin, in memory, so that a quote costs no I/O. Three views: `live` for float
 * quotes; `fixed`, which stands still during each hold window; `reference`, for limits, which moves in steps only,
 * so that a minimum that a partner has just read still holds when it creates the order.
 */
export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #live = new Map<string, BookedPrice>();
  readonly #reference = new Map<string, Big>();
  #paused: ReadonlySet<string> = new Set();
  #fixed = new Map<string, BookedPrice>();
  #fixedWindow = -1;
  #overrides = new Map<string, PriceOverride>();
  #fixedOverrides = new Map<string, PriceOverride>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: PriceBookOptions) {
    this.#options = options;
  }

  /** Takes the first prices, then keeps refreshing until `stop`. A source that fails leaves the prices to grow old. */
  async start(coins: () => readonly string[]): Promise<void> {
    await this.refresh(coins());
    const schedule = (): void => {
      if (this.#stopped) return;
      // On whole multiples of the interval by the wall clock, so that all processes fix the same prices for a window.
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
    this.#rollFixedWindow();
  }

  /** The live price, or null when there is none young enough or the source says that nobody knows it. */
  live(coin: string): Big | null {
    return this.#paused.has(coin) ? null : this.#fresh(this.#live.get(coin));
  }

  /** The price at the start of the current hold window, or null when the source has no price young enough now. */
  fixed(coin: string): Big | null {
    return this.live(coin) && (this.#fixed.get(coin)?.price ?? null);
  }

  /** The slow price that limits are computed from, or null when the coin was never priced. */
  reference(coin: string): Big | null {
    return this.#reference.get(coin) ?? null;
  }

  /** Both prices of a pair in one view, with what staff set by hand; null when one is missing. */
  pair(coinFrom: string, coinTo: string, view: PriceView): PricePair | null {
    const to = this[view](coinTo);
    const override = this.#override(coinFrom, coinTo, view);
    const from = override ? to?.times(override) : this[view](coinFrom);
    return from && to ? { from, to } : null;
  }

  #override(coinFrom: string, coinTo: string, view: PriceView): string | null {
    const key = pairKey(coinFrom, coinTo);
    if (view === 'fixed') return this.#fixedOverrides.get(key)?.price ?? null;
    const override = this.#overrides.get(key);
    return override && override.endsAt > this.#options.clock.now() ? override.price : null;
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

  /** Whole seconds for which fixed quotes keep their rate. */
  fixedForSec(): number {
    const nowSec = this.#options.clock.now().getTime() / 1000;
    return Math.floor((this.#window(nowSec) + 1) * this.#options.fixedHoldSec - nowSec);
  }

  #book(coin: string, text: string, at: Date): void {
    const price = parseDecimal(text);
    const known = this.#live.get(coin);
    const believable =
      price?.gt('0') && (!this.#fresh(known) || !known || isWithin(price.div(known.price), largestJump));
    if (!price || !believable) {
      this.#options.log.warn({ event: 'price_refused', coin }, 'a price was not believable and was ignored');
      return;
    }
    if (known && known.at > at) return;
    this.#live.set(coin, { price, at });
    const reference = this.#reference.get(coin);
    if (!reference || price.minus(reference).abs().gt(reference.times(referenceBand))) {
      this.#reference.set(coin, roundToSignificant(price, 2));
    }
  }

  #fresh(booked: BookedPrice | undefined): Big | null {
    if (!booked) return null;
    const ageMs = this.#options.clock.now().getTime() - booked.at.getTime();
    return ageMs <= this.#options.maxAgeSec * 1000 ? booked.price : null;
  }

  #window(nowSec: number): number {
    return Math.floor(nowSec / this.#options.fixedHoldSec);
  }

  /** Fixes the live prices of this moment for a window that has begun, and those that came later in it. */
  #rollFixedWindow(): void {
    const window = this.#window(this.#options.clock.now().getTime() / 1000);
    if (window !== this.#fixedWindow) {
      this.#fixed = new Map();
      this.#fixedOverrides = this.#overrides;
    }
    this.#fixedWindow = window;
    for (const [coin, booked] of this.#live) {
      if (!this.#fixed.has(coin) && !this.#paused.has(coin) && this.#fresh(booked)) this.#fixed.set(coin, booked);
    }
  }
}

function isWithin(ratio: Big, factor: Big): boolean {
  return ratio.lte(factor) && ratio.times(factor).gte('1');
}

function pairKey(coinFrom: string, coinTo: string): string {
  return `${coinFrom}-${coinTo}`;
}
