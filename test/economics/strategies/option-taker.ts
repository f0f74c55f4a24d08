import type { Config } from '../../../src/config/settings.ts';
import { widePayouts } from '../../support/gateway/settings.ts';
import { type Coin, coins } from '../chains.ts';
import type { Account, MadeOrder, Sent } from '../dealings.ts';
import { stepSec } from '../market.ts';
import { type Actor, Arrivals, type Strategy } from '../strategy.ts';
import type { World } from '../world.ts';

/** A pair as its fixed rate stands to the market. */
interface PairQuote {
  readonly from: Coin;
  readonly to: Coin;
  /** Units of the one for a unit of the other, before fees. */
  readonly ratio: number;
  /** How much more than the market it gives, as a fraction, before and after fees. */
  readonly staleness: number;
  readonly edge: number;
}

/** A fixed rate that may be used or not. */
interface Option {
  readonly order: MadeOrder;
  /**
   * Units of the coin that is sent, of the one that is paid out, and of the latter before the
   * gateway's fees.
   */
  readonly sent: number;
  readonly net: number;
  readonly gross: number;
  /** What sending costs, in units of the coin that is sent. */
  readonly sendingFee: number;
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
const leadMs = 35_000;
/** The least that a rate must bring, as a fraction, to be taken and paid at once. */
const burstEdge = 0.0005;
/** A move that diffusion does not make in a step, as a fraction. */
const leastJump = 0.004;
/** The largest order, in US dollars: no pair takes much more. */
const largestUsd = 150_000;
/** How long an account waits that was refused. */
const pauseMs = 900_000;

/**
 * Takes fixed rates as free options, of all pairs and partners, as far as caps admit. It makes its
 * orders when the rate of the hold window is best compared with the market. It watches the market
 * until the last moment. It funds exactly the orders that beat the market by more than fees and
 * costs. After a jump it takes the outdated rates, with all partners at once. For orders that are
 * nearly worth it, it sends the deposit at a low fee and decides later.
 */
export class OptionTaker implements Actor {
  readonly #world: World;
  readonly #accounts: readonly Account[];
  readonly #arrivals: Arrivals;
  readonly #orderUsd: number;
  #options: Option[] = [];
  /** Orders that wait for a better moment. */
  #wanted = 0;
  /** Of the last step in which it had no order to make. */
  #prices: ReadonlyMap<Coin, number> = new Map();
  /** When an account that was refused tries again. */
  readonly #pauses = new Map<Account, number>();

  constructor(world: World, { orders, perDay, accounts }: TakerOptions) {
    this.#world = world;
    this.#accounts = accounts;
    this.#arrivals = new Arrivals(world, orders, perDay);
    // The caps of a day, in as many orders as are made.
    const usd = dailyUsd(world.config) / (perDay / accounts.length);
    this.#orderUsd = Math.min(Math.max(usd, 500), largestUsd);
  }

  get isDone(): boolean {
    return this.#arrivals.left === 0 && this.#wanted === 0 && this.#options.length === 0;
  }

  async act(): Promise<void> {
    await this.#exercise();
    this.#wanted += this.#arrivals.next();
    if (this.#wanted === 0 && (this.#arrivals.left === 0 || !this.#hasJumped())) return;
    // Pairs that the gateway prices as it did when it last asked; it asks before each order.
    if (!this.#isGoodMoment(this.#quotes())) return;
    await this.#world.refreshPrices();
    const quotes = this.#quotes();
    if (!this.#isGoodMoment(quotes)) return;
    if ((quotes[0]?.edge ?? 0) > burstEdge) await this.#createBurst(quotes);
    while (this.#wanted > 0) {
      this.#wanted -= 1;
      await this.#create(this.#world.dice.pick(quotes.slice(0, 3)), this.#orderUsd);
    }
  }

  /** Whether some price has moved since the last step as no diffusion moves it. */
  #hasJumped(): boolean {
    const { market } = this.#world;
    const before = this.#prices;
    this.#prices = new Map(coins.map((coin) => [coin, market.price(coin)]));
    return coins.some((coin) => Math.abs(market.price(coin) / (before.get(coin) ?? Number.NaN) - 1) > leastJump);
  }

  /**
   * Whether some rate is worth using at once, or many orders wait, or the best rate is well beside
   * the market.
   */
  #isGoodMoment([best]: readonly PairQuote[]): boolean {
    if (!best) return false;
    if (best.edge > burstEdge) return true;
    const waiting = this.#wanted / this.#accounts.length;
    return this.#wanted > 0 && (best.staleness > 0.0005 || waiting > 0.2);
  }

  /** Pairs by what their fixed rate gives above the market. */
  #quotes(): PairQuote[] {
    const { app, config, market } = this.#world;
    const quotes = coins.flatMap((from) =>
      coins.flatMap((to) => {
        const held = from === to ? null : app.prices.pair(from, to, 'fixed');
        if (!held) return [];
        const ratio = Number(held.from.toFixed()) / Number(held.to.toFixed());
        const staleness = (ratio * market.price(to)) / market.price(from) - 1;
        return [{ from, to, ratio, staleness, edge: staleness - Number(config.FEE_RATE_FIXED) - exitCost }];
      }),
    );
    return quotes.sort((a, b) => b.staleness - a.staleness);
  }

  /** Rates that are in the money already: of each partner as much as is admitted, paid at once. */
  async #createBurst(quotes: readonly PairQuote[]): Promise<void> {
    for (const quote of quotes.filter(({ edge }) => edge > burstEdge).slice(0, 3)) {
      for (const account of this.#accounts) {
        if (this.#arrivals.left === 0) return;
        const option = await this.#create(quote, largestUsd, account);
        if (!option) continue;
        this.#arrivals.left -= 1;
        if (this.#value(option) > 0) await this.#fund(option);
      }
    }
  }

  async #create(quote: PairQuote, usd: number, given?: Account): Promise<Option | null> {
    const { dice, nowMs } = this.#world;
    const isOpen = (account: Account): boolean => (this.#pauses.get(account) ?? 0) <= nowMs;
    const open = (given ? [given] : this.#accounts).filter(isOpen);
    if (open.length === 0) return null;
    const account = dice.pick(open);
    const { from, to, ratio } = quote;
    const order = await this.#world.create(account, { from, to, usd, rateType: 'fixed' });
    if (!order) {
      this.#pauses.set(account, nowMs + pauseMs);
      return null;
    }
    const sent = Number(order.amountFrom);
    const sendingFee = Number(this.#world.currency(order.from).networkFee);
    const option: Option = { order, sent, net: Number(order.amountTo), gross: sent * ratio, sendingFee, held: null };
    this.#options.push(option);
    return option;
  }

  /** What using an option brings its owner now, in US dollars. */
  #value({ order, sent, net, sendingFee }: Option): number {
    const { market } = this.#world;
    const got = net * market.price(order.to) * (1 - exitCost);
    return got - (sent + sendingFee) * market.price(order.from);
  }

  /** How far the market has left the option's rate, as a fraction. */
  #move({ order, sent, gross }: Option): number {
    const { market } = this.#world;
    return (gross * market.price(order.to)) / (sent * market.price(order.from)) - 1;
  }

  async #exercise(): Promise<void> {
    const { nowMs, config } = this.#world;
    const kept: Option[] = [];
    // The venue fills nothing that is farther from the market: nearer than that is the best to be
    // had.
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

  /**
   * Lets a deposit be mined that has become worth it, or drops it in the end. Whether it waits on.
   */
  async #decideHeld(option: Option, value: number): Promise<boolean> {
    const { nowMs, config } = this.#world;
    if (!option.held) return false;
    const endMs = option.order.expiresMs + config.DEPOSIT_GRACE_SEC * 1000 - 2 * stepSec * 1000;
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

/**
 * What a pure taker may cost, in US dollars a day and partner: 100 at 60 % yearly volatility, 1,000
 * at 100 %.
 */
export function takersBound(volatility: number): number {
  const [low, high] = [0.6, 1];
  const slope = (1000 - 100) / (high - low);
  return Math.max(100, 100 + slope * (volatility - low));
}

/** What the caps admit of a partner's fixed orders in a day, in US dollars. */
function dailyUsd(config: Config): number {
  return Math.min(config.MAX_FIXED_DAY_USD, 24 * config.MAX_FIXED_EXPOSURE_USD);
}

/**
 * Limits of the whole house, beyond the reach of any number of partners, so that the limits of a
 * partner alone bound the loss. Brakes would hold payouts until staff end them: there are no staff.
 */
const manyPartners = { ...widePayouts, VENUE_LOSS_LIMIT_USD: '1000000000', MAX_FIXED_ALL_USD: '9000000000' };
/** Orders of a partner in a day: fewer are larger, and cost the same. */
const perDay = 40;
/** Partners of this many orders: more of them make a run shorter, and each has its own caps. */
export const partnersOf = (orders: number): number => Math.max(3, Math.ceil(orders / 1_000));

export const optionTaker: Strategy = {
  name: 'option-taker',
  wants: 'to use a fixed rate only where the market has left it',
  share: 1,
  partners: partnersOf,
  settings: manyPartners,
  bound: (_config, { volatility }) => ({
    usd: -takersBound(volatility),
    settings: 'MAX_FIXED_DAY_USD, MAX_FIXED_EXPOSURE_USD',
  }),
  begin: async (world, orders) => {
    world.turnSec = 120;
    const accounts = await world.accountsOf('taker', partnersOf(orders));
    return { actors: [new OptionTaker(world, { orders, perDay: perDay * accounts.length, accounts })] };
  },
};
