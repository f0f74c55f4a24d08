import { Big, formatDecimal } from '../../../src/base/money.ts';
import type { Account, MadeOrder } from '../dealings.ts';
import type { Ethereum } from '../ethereum.ts';
import { type Actor, Arrivals, type Strategy } from '../strategy.ts';
import type { World } from '../world.ts';
import { unserved } from './dust-sender.ts';

/** What its orders do. */
const kinds = { 'burnt payout': 3, 'burnt refunds': 3, 'reverted payout': 2, honest: 2 } as const;
/** Deposits whose refunds burn, in addition to the one that is exchanged. */
const smallDeposits = 5;

/**
 * Gives contracts as addresses: some burn all the gas they get, some take nothing. Next to it
 * honest users are paid in the same coin, and must not wait behind it.
 */
class GasBurner implements Actor {
  readonly honest: MadeOrder[] = [];
  readonly #world: World;
  readonly #ethereum: Ethereum;
  readonly #account: Account;
  readonly #arrivals: Arrivals;

  constructor(world: World, ethereum: Ethereum, account: Account, orders: number) {
    this.#world = world;
    this.#ethereum = ethereum;
    this.#account = account;
    this.#arrivals = new Arrivals(world, orders, 2_000);
  }

  get isDone(): boolean {
    return this.#arrivals.left === 0;
  }

  async act(): Promise<void> {
    for (let count = this.#arrivals.next(); count > 0; count--) await this.#create();
  }

  async #create(): Promise<void> {
    const world = this.#world;
    const kind = world.dice.weighted(kinds);
    const contract = world.recipient('ETH');
    if (kind !== 'honest') {
      await this.#ethereum.setCode(contract.address, kind === 'reverted payout' ? 'reverter' : 'burner');
    }
    const usd = world.dice.between(30, 300);
    if (kind === 'burnt refunds') {
      const order = await world.create(this.#account, {
        from: 'ETH',
        to: 'XRP',
        usd,
        rateType: 'float',
        refund: contract,
      });
      if (!order) return;
      await world.pay(order);
      const small = formatDecimal(new Big(world.currency('ETH').networkFee).times('1.5'));
      for (let count = 0; count < smallDeposits; count++) await world.pay(order, { amount: small });
      return;
    }
    const order = await world.create(this.#account, {
      from: 'XRP',
      to: 'ETH',
      usd,
      rateType: 'float',
      recipient: contract,
    });
    if (!order) return;
    if (kind === 'honest') this.honest.push(order);
    await world.pay(order);
  }
}

export const gasBurner: Strategy = {
  name: 'gas-burner',
  wants: "to burn the house's gas, or to keep honest payouts waiting",
  share: 0.002,
  because: 'its chain is a real node (anvil)',
  needs: 'anvil',
  bound: () => ({ usd: 0, settings: 'max_payment_gas of the network, network_fee of ETH' }),
  begin: async (world, orders) => {
    const { ethereum } = world;
    if (!ethereum) throw new Error('the gas burner needs anvil');
    const account = await world.account('gas burner');
    const burner = new GasBurner(world, ethereum, account, orders);
    return { actors: [burner], faults: () => unserved(world, burner.honest) };
  },
};
