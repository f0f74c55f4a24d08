import type { Account, MadeOrder } from '../dealings.ts';
import { type Actor, Arrivals, anyPair, Diary, type Strategy, usualAmount } from '../strategy.ts';
import type { World } from '../world.ts';

/** Users who want other coins. They pay what they said within minutes; a few think better of it. */
export class HonestUsers implements Actor {
  readonly made: MadeOrder[] = [];
  readonly #world: World;
  readonly #accounts: readonly Account[];
  readonly #arrivals: Arrivals;
  readonly #diary: Diary;
  /** Called with each order before it is paid. */
  readonly #onOrder: (order: MadeOrder) => Promise<void>;

  constructor(
    world: World,
    accounts: readonly Account[],
    {
      orders,
      perDay,
      onOrder = async () => {},
    }: UserCounts & { readonly onOrder?: (order: MadeOrder) => Promise<void> },
  ) {
    this.#world = world;
    this.#accounts = accounts;
    this.#arrivals = new Arrivals(world, orders, perDay);
    this.#diary = new Diary(world.nowMs);
    this.#onOrder = onOrder;
  }

  get isDone(): boolean {
    return this.#arrivals.left === 0 && this.#diary.isEmpty;
  }

  async act(): Promise<void> {
    await this.#diary.turn(this.#world.nowMs);
    for (let count = this.#arrivals.next(); count > 0; count--) await this.#create();
  }

  async #create(): Promise<void> {
    const { dice, nowMs } = this.#world;
    const rateType = dice.chance(0.3) ? 'fixed' : 'float';
    const order = await this.#world.create(dice.pick(this.#accounts), {
      ...anyPair(this.#world),
      usd: usualAmount(this.#world),
      rateType,
    });
    if (!order) return;
    const delayMs = Math.min(-240_000 * Math.log(1 - dice.next()), 1_500_000);
    if (dice.chance(0.08)) return;
    await this.#onOrder(order);
    this.made.push(order);
    this.#diary.at(nowMs + delayMs, async () => {
      await this.#world.pay(order);
    });
  }
}

/** How many orders users make. */
export interface UserCounts {
  readonly orders: number;
  readonly perDay: number;
}

/** Orders a day that an honest flow makes. */
export const honestPerDay = 4_000;
/** Partners that they come through: the caps of fixed orders are of one partner. */
export const honestPartners = 10;

export const honest: Strategy = {
  name: 'honest',
  wants: 'other coins, at the price of the moment or at a fixed rate',
  share: 0.1,
  because: 'each order is settled in full',
  partners: () => honestPartners,
  bound: () => ({ usd: 0, isEarning: true, settings: 'FEE_RATE_FLOAT, FEE_RATE_FIXED' }),
  begin: async (world, orders) => {
    world.turnSec = 60;
    const accounts = await world.accountsOf('honest', honestPartners);
    return { actors: [new HonestUsers(world, accounts, { orders, perDay: honestPerDay })] };
  },
};
