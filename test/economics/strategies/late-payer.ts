import type { Coin } from '../chains.ts';
import type { Account, MadeOrder } from '../dealings.ts';
import { type Actor, Arrivals, anyPair, Diary, type Strategy } from '../strategy.ts';
import type { World } from '../world.ts';
import type { UserCounts } from './honest.ts';
import { partnersOf } from './option-taker.ts';

/** Chains whose reading fails now and then, as deposits there count within a minute. */
const outageCoins: readonly Coin[] = ['USDT', 'XRP'];
const outagesPerDay = 12;
/** How long after its window an order is still looked at. */
const longestMs = 3_600_000;
const lookEveryMs = 60_000;
const orderUsd = 3_000;
const perDay = 90;

/**
 * Lets the window of fixed orders pass and then pays those whose rate has become worth it, best
 * while the gateway cannot read the chain. Some deposits go out just before the end, at any market
 * price.
 */
export class LatePayer implements Actor {
  readonly #world: World;
  readonly #accounts: readonly Account[];
  readonly #arrivals: Arrivals;
  readonly #diary: Diary;
  readonly #hasOutages: boolean;

  constructor(world: World, accounts: readonly Account[], { orders, perDay, hasOutages }: LatePayerOptions) {
    this.#world = world;
    this.#accounts = accounts;
    this.#arrivals = new Arrivals(world, orders, perDay);
    this.#diary = new Diary(world.nowMs);
    this.#hasOutages = hasOutages;
  }

  get isDone(): boolean {
    return this.#arrivals.left === 0 && this.#diary.isEmpty;
  }

  async act(): Promise<void> {
    const world = this.#world;
    await this.#diary.turn(world.nowMs);
    if (this.#hasOutages && world.dice.chance((outagesPerDay * 5) / 86_400)) {
      world.outage(world.dice.pick(outageCoins), world.dice.between(300, 3_600));
    }
    for (let count = this.#arrivals.next(); count > 0; count--) await this.#create();
  }

  async #create(): Promise<void> {
    const world = this.#world;
    const account = world.dice.pick(this.#accounts);
    const order = await world.create(account, { ...anyPair(world, outageCoins), usd: orderUsd, rateType: 'fixed' });
    if (!order) return;
    if (world.dice.chance(0.02)) {
      this.#diary.at(order.expiresMs - world.dice.between(15_000, 60_000), async () => {
        await world.pay(order, { isUrgent: true });
      });
    } else {
      this.#diary.at(order.expiresMs + world.dice.between(5_000, lookEveryMs), () => this.#look(order));
    }
  }

  /** Pays once that is worth it, and looks again later until then. */
  async #look(order: MadeOrder): Promise<void> {
    const world = this.#world;
    const cost = Number(world.currency(order.from).networkFee);
    const value = world.usd(order.to, order.amountTo) - world.usd(order.from, Number(order.amountFrom) + cost);
    if (value > 0.002 * orderUsd) {
      await world.pay(order, { isUrgent: true });
      return;
    }
    const nextMs = world.nowMs + lookEveryMs;
    if (nextMs < order.expiresMs + longestMs) this.#diary.at(nextMs, () => this.#look(order));
  }
}

export interface LatePayerOptions extends UserCounts {
  readonly hasOutages: boolean;
}

export const latePayer: Strategy = {
  name: 'late-payer',
  wants: 'a fixed rate after its window, while the gateway cannot read the chain',
  share: 0.2,
  because: 'it waits for an hour after each window',
  partners: partnersOf,
  bound: () => ({ usd: 0, settings: 'DEPOSIT_WINDOW_SEC, DEPOSIT_GRACE_SEC' }),
  begin: async (world, orders) => {
    world.turnSec = 30;
    const accounts = await world.accountsOf('late payer', partnersOf(orders));
    const counts = { orders, perDay: perDay * accounts.length };
    return { actors: [new LatePayer(world, accounts, { ...counts, hasOutages: true })] };
  },
};
