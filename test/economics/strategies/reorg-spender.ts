import type { Account, MadeOrder } from '../dealings.ts';
import type { Actor, Strategy } from '../strategy.ts';
import { usualAmount } from '../strategy.ts';
import type { World } from '../world.ts';

/** Orders that one reorganisation takes the deposits of. */
const batch = 40;
/** Of the chain that is reorganised: LTC needs six confirmations, in blocks of 150 seconds. */
const blockMs = 150_000;

/** How deep it rewrites the chain once it was paid, and before its deposits count. */
const deepBlocks = 16;
const shallowBlocks = 4;

/** What a batch waits for. */
type Stage = 'to reorganise' | 'to pay again';

/**
 * Pays many orders on one chain and takes its blocks away again: before the deposits count, or
 * after the payouts are out. Then it pays again, and wants that second payment back. It can rewrite
 * a chain as deep as it likes, and does not keep what it was paid for nothing: that is a loss that
 * confirmations alone bound.
 */
class ReorgSpender implements Actor {
  readonly #world: World;
  readonly #account: Account;
  #left: number;
  #made: MadeOrder[] = [];
  #stage: Stage = 'to reorganise';
  #isDeep = false;
  #untilMs = 0;

  constructor(world: World, account: Account, orders: number) {
    this.#world = world;
    this.#account = account;
    this.#left = orders;
  }

  get isDone(): boolean {
    return this.#left === 0 && this.#made.length === 0;
  }

  async act(): Promise<void> {
    const { nowMs, dice } = this.#world;
    if (nowMs < this.#untilMs) return;
    if (this.#made.length === 0) {
      if (this.#left > 0) await this.#begin();
      return;
    }
    if (this.#stage === 'to reorganise') {
      await this.#world.reorg('LTC', this.#isDeep ? deepBlocks : shallowBlocks);
      this.#stage = 'to pay again';
      this.#untilMs = nowMs + dice.between(2, 4) * blockMs;
      return;
    }
    for (const order of this.#made) {
      // What never counted, some pay again and some do not.
      if (this.#isDeep || dice.chance(0.5)) await this.#world.pay(order);
    }
    this.#made = [];
    this.#untilMs = nowMs + 16 * blockMs;
  }

  async #begin(): Promise<void> {
    const { nowMs, dice } = this.#world;
    // The sandbox makes blocks only while something is due. A deep rewrite must reach this batch
    // and no earlier one.
    await this.#world.settlement.sandbox.mine(this.#world.chain('LTC'), deepBlocks);
    const count = Math.min(batch, this.#left);
    for (let index = 0; index < count; index++) {
      const order = await this.#world.create(this.#account, {
        from: 'LTC',
        to: dice.pick(['USDT', 'XRP'] as const),
        usd: usualAmount(this.#world),
        rateType: dice.chance(0.5) ? 'fixed' : 'float',
      });
      if (!order) continue;
      this.#made.push(order);
      await this.#world.pay(order);
    }
    this.#left -= count;
    this.#stage = 'to reorganise';
    this.#isDeep = dice.chance(0.5);
    // Deep: once the payouts are final. Shallow: after some of the confirmations.
    this.#untilMs = nowMs + (this.#isDeep ? 12 : 3.5) * blockMs;
  }
}

export const reorgSpender: Strategy = {
  name: 'reorg-spender',
  wants: 'its second payment back, after the first was reorganised away and paid for',
  share: 0.02,
  because: 'each order is settled in full, twice, and a deposit that comes back takes as long as the first',
  bound: () => ({ usd: 0, settings: 'min_confirmations of the currencies' }),
  begin: async (world, orders) => {
    world.turnSec = 60;
    const account = await world.account('reorg spender');
    return { actors: [new ReorgSpender(world, account, orders)] };
  },
};
