import { Big, floorTo, formatDecimal } from '../../../src/base/money.ts';
import type { Account, MadeOrder } from '../dealings.ts';
import { type Actor, Arrivals, anyPair, Diary, type Strategy, usualAmount } from '../strategy.ts';
import type { World } from '../world.ts';
import type { UserCounts } from './honest.ts';

/** What a farmer pays in addition to what was agreed, or in its place. */
const crops = {
  'too much': 3,
  'far too much': 1,
  'twice the same': 3,
  'many small': 2,
  'below the minimum': 3,
  'too late': 3,
  'another coin': 2,
} as const;
type Crop = keyof typeof crops;

/** This many small deposits go to one order. */
const smallDeposits = 10;

/** Pays so that as much as possible is sent back, in as many payments as possible. */
export class RefundFarmer implements Actor {
  readonly #world: World;
  readonly #account: Account;
  readonly #arrivals: Arrivals;
  readonly #diary: Diary;

  constructor(world: World, account: Account, { orders, perDay }: UserCounts) {
    this.#world = world;
    this.#account = account;
    this.#arrivals = new Arrivals(world, orders, perDay);
    this.#diary = new Diary(world.nowMs);
  }

  get isDone(): boolean {
    return this.#arrivals.left === 0 && this.#diary.isEmpty;
  }

  async act(): Promise<void> {
    await this.#diary.turn(this.#world.nowMs);
    for (let count = this.#arrivals.next(); count > 0; count--) await this.#create();
  }

  async #create(): Promise<void> {
    const { dice } = this.#world;
    const crop = dice.weighted(crops);
    const order = await this.#world.create(this.#account, {
      ...(crop === 'another coin'
        ? { from: 'USDT' as const, to: dice.pick(['BTC', 'LTC'] as const) }
        : anyPair(this.#world)),
      usd: usualAmount(this.#world),
      rateType: dice.chance(0.5) ? 'fixed' : 'float',
    });
    if (order) await this.#pay(order, crop);
  }

  async #pay(order: MadeOrder, crop: Crop): Promise<void> {
    const world = this.#world;
    const { networkFee, minAmount } = world.currency(order.from);
    const amount = (share: string, of: string = order.amountFrom): string =>
      formatDecimal(floorTo(new Big(of).times(share), Math.min(8, world.currency(order.from).decimals)));
    switch (crop) {
      case 'too much':
        return void (await world.pay(order, { amount: amount('1.5') }));
      case 'far too much':
        return void (await world.pay(order, { amount: amount('20') }));
      case 'twice the same':
        await world.pay(order);
        this.#diary.at(world.nowMs + world.dice.between(30_000, 3_600_000), async () => {
          await world.pay(order);
        });
        return;
      case 'many small':
        await world.pay(order);
        for (let count = 0; count < smallDeposits; count++)
          await world.pay(order, { amount: amount('1.05', networkFee) });
        return;
      case 'below the minimum':
        return void (await world.pay(order, { amount: amount('0.6', minAmount) }));
      case 'too late':
        this.#diary.at(order.expiresMs + world.dice.between(60_000, 1_800_000), async () => {
          await world.pay(order);
        });
        return;
      case 'another coin': {
        const trx = world.app.catalogue.find('TRX', 'TRX');
        if (trx) await world.pay(order, { currency: trx, amount: trx.minAmount });
        return;
      }
    }
  }
}

export const refundFarmer: Strategy = {
  name: 'refund-farmer',
  wants: 'more back than was paid in, or refunds that cost the house more than they are charged',
  share: 0.05,
  because: 'each order makes one to ten refunds',
  bound: () => ({ usd: 0, settings: 'network_fee of the currencies' }),
  begin: async (world, orders) => {
    world.turnSec = 60;
    const account = await world.account('refund farmer');
    return { actors: [new RefundFarmer(world, account, { orders, perDay: 3_000 })] };
  },
};
