import { stepSec } from '../market.ts';
import { type Actor, Arrivals, type Strategy } from '../strategy.ts';
import { type Account, type Coin, coins, type MadeOrder, type Sent, type World } from '../world.ts';

/** A fixed rate that may be used or not. */
interface Option {
  readonly order: MadeOrder;
  /** What the gateway owes before its fees, in units of the coin it pays. */
  readonly gross: number;
  /** Its deposit, while that waits in the mempool at a fee too low for miners. */
  held: Sent | null;
}

export interface TakerOptions {
  readonly orders: number;
  readonly perDay: number;
  readonly accounts: readonly Account[];
}

/** What selling the payout costs, as a fraction. */
const exitCost = 0.001;
/** So long before the window's end a deposit is sent at the latest, to be seen in time. */
const leadMs = 25_000;
/** A burst of orders after a jump. */
const burst = 10;

/**
 * Takes fixed rates as free options, of all pairs and partners. It watches the market until the last moment and funds
 * exactly what beats it by more than fees and costs. After a jump it takes rates of the hold window that the jump left
 * behind, at once and as many as it gets. What is nearly worth it goes into the mempool at a low fee, to be decided later.
 */
export class OptionTaker implements Actor {
  readonly #world: World;
  readonly #accounts: readonly Account[];
  readonly #arrivals: Arrivals;
  readonly #orderUsd: number;
  #options: Option[] = [];
  /** When an account that was refused tries again. */
  readonly #pauses = new Map<Account, number>();

  constructor(world: World, { orders, perDay, accounts }: TakerOptions) {
    this.#world = world;
    this.#accounts = accounts;
    this.#arrivals = new Arrivals(world, orders, perDay);
    // As many orders as fill the cap once in each deposit window.
    const windows = 86_400 / world.config.DEPOSIT_WINDOW_SEC;
    const perWindow = Math.max(1, perDay / accounts.length / windows);
    this.#orderUsd = Math.min(Math.max(world.config.MAX_FIXED_EXPOSURE_USD / perWindow, 500), 150_000);
  }

  get isDone(): boolean {
    return this.#arrivals.left === 0 && this.#options.length === 0;
  }

  async act(): Promise<void> {
    await this.#exercise();
    const wanted = this.#arrivals.next();
    // Once in a hold window its rates are the market's; it is worth looking whenever they are not.
    const best = this.#bestQuotes();
    const isBurst = (best[0]?.edge ?? 0) > 0.0005 && this.#arrivals.left > 0;
    if (isBurst) await this.#createBurst(best);
    for (let count = 0; count < wanted; count++) await this.#create(best, this.#orderUsd);
  }

  /** Pairs by what their fixed rate gives above the market, after the fee. */
  #bestQuotes(): { from: Coin; to: Coin; edge: number }[] {
    const { app, config, market } = this.#world;
    const quotes = coins.flatMap((from) =>
      coins.flatMap((to) => {
        const held = from === to ? null : app.prices.pair(from, to, 'fixed');
        if (!held) return [];
        const ratio = Number(held.from.div(held.to).toFixed());
        const edge = (ratio * market.price(to)) / market.price(from) - 1 - Number(config.FEE_RATE_FIXED) - exitCost;
        return [{ from, to, edge }];
      }),
    );
    return quotes.sort((a, b) => b.edge - a.edge);
  }

  /** Rates that are in the money already: as many and as large as are admitted, paid at once. */
  async #createBurst(best: readonly { from: Coin; to: Coin; edge: number }[]): Promise<void> {
    for (const pair of best.filter(({ edge }) => edge > 0.0005).slice(0, 3)) {
      for (let count = 0; count < burst && this.#arrivals.left > 0; count++) {
        const option = await this.#create([pair], Math.max(this.#orderUsd, 100_000));
        if (!option) break;
        this.#arrivals.left -= 1;
        if (this.#value(option) > 0) await this.#fund(option);
      }
    }
  }

  async #create(best: readonly { from: Coin; to: Coin }[], usd: number): Promise<Option | null> {
    const { dice, nowMs } = this.#world;
    const open = this.#accounts.filter((account) => (this.#pauses.get(account) ?? 0) <= nowMs);
    if (open.length === 0) return null;
    const account = dice.pick(open);
    // Of the better half, lest all options are the same.
    const pair = dice.pick(best.slice(0, Math.max(1, Math.ceil(best.length / 2))));
    if (!pair) return null;
    const held = this.#world.app.prices.pair(pair.from, pair.to, 'fixed');
    const order = await this.#world.create(account, { ...pair, usd, rateType: 'fixed' });
    if (!order || !held) {
      this.#pauses.set(account, nowMs + 60_000);
      return null;
    }
    const gross = Number(order.amountFrom) * Number(held.from.div(held.to).toFixed());
    const option: Option = { order, gross, held: null };
    this.#options.push(option);
    return option;
  }

  /** What using an option brings its owner now, in US dollars. */
  #value({ order }: Option): number {
    const { market } = this.#world;
    const cost = Number(this.#world.currency(order.from).networkFee) * market.price(order.from);
    const got = Number(order.amountTo) * market.price(order.to) * (1 - exitCost);
    return got - Number(order.amountFrom) * market.price(order.from) - cost;
  }

  /** How far the market has left the option's rate, as a fraction. */
  #move({ order, gross }: Option): number {
    const { market } = this.#world;
    return (gross * market.price(order.to)) / (Number(order.amountFrom) * market.price(order.from)) - 1;
  }

  async #exercise(): Promise<void> {
    const { nowMs, config } = this.#world;
    const kept: Option[] = [];
    // The venue fills nothing that is farther from the market: nearer than that is the best to be had.
    const slippage = Number(config.MAX_SLIPPAGE);
    for (const option of this.#options) {
      const value = this.#value(option);
      const move = this.#move(option);
      if (option.held) {
        if (await this.#decideHeld(option, value)) kept.push(option);
        continue;
      }
      const isLast = nowMs >= option.order.expiresMs - leadMs;
      const isBest = move > 0.85 * slippage && move < slippage;
      if (value > 0 && (isBest || (isLast && move < slippage + 0.005))) {
        await this.#fund(option);
        continue;
      }
      if (!isLast) kept.push(option);
      // Only what a small move would make worth using is worth the trouble.
      else if (move > 0 && this.#world.dice.chance(0.5)) {
        option.held = await this.#world.pay(option.order, { isHeld: true });
        kept.push(option);
      }
    }
    this.#options = kept;
  }

  /** Lets a deposit be mined that has become worth it, or drops it in the end. Whether it waits on. */
  async #decideHeld(option: Option, value: number): Promise<boolean> {
    const { nowMs, config } = this.#world;
    if (!option.held) return false;
    const endMs = option.order.expiresMs + config.DEPOSIT_WINDOW_SEC * 1000 - 2 * stepSec * 1000;
    if (value > 0) {
      this.#world.release(option.held);
      return false;
    }
    if (nowMs < endMs) return true;
    await this.#world.drop(option.held);
    return false;
  }

  async #fund(option: Option): Promise<void> {
    this.#options = this.#options.filter((other) => other !== option);
    await this.#world.pay(option.order, { isUrgent: true });
  }
}

/** What a pure taker may cost, in US dollars a day and partner: 100 at 60 % yearly volatility, 1,000 at 100 %. */
export function takersBound(volatility: number): number {
  const [low, high] = [0.6, 1];
  const slope = (1000 - 100) / (high - low);
  return Math.max(100, 100 + slope * (volatility - low));
}

const partners = 3;

export const optionTaker: Strategy = {
  name: 'option-taker',
  wants: 'to use a fixed rate only where the market has left it',
  share: 1,
  partners,
  bound: (_config, { volatility }) => ({ usd: -takersBound(volatility), settings: 'MAX_FIXED_EXPOSURE_USD' }),
  begin: async (world, orders) => {
    world.turnSec = 30;
    const accounts = [];
    for (let partner = 1; partner <= partners; partner++) accounts.push(await world.account(`taker ${partner}`));
    return { actors: [new OptionTaker(world, { orders, perDay: 10_000, accounts })] };
  },
};
