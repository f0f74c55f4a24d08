import { Big, formatDecimal } from '../../../src/base/money.ts';
import type { MadeOrder } from '../dealings.ts';
import type { Strategy } from '../strategy.ts';
import type { World } from '../world.ts';
import { HonestUsers, honestPartners, honestPerDay } from './honest.ts';

/**
 * What a stranger sends to an order's address before its user pays: below the minimum, and worth
 * more than its refund's fee.
 */
async function sendDust(world: World, order: MadeOrder): Promise<void> {
  const { networkFee, minAmount } = world.currency(order.from);
  const [fee, least] = [new Big(networkFee), new Big(minAmount)];
  const transfers = 1 + Math.floor(world.dice.between(0, 3));
  for (let count = 0; count < transfers; count++) {
    // At times less than the fee, and mostly just above.
    const amount = world.dice.chance(0.2) ? fee.times('0.5') : fee.plus(least.minus(fee).times('0.1'));
    const places = Math.min(8, world.currency(order.from).decimals);
    await world.pay(order, { amount: formatDecimal(amount.round(places, 0)) });
  }
}

export const dustSender: Strategy = {
  name: 'dust-sender',
  wants: "to end other users' orders, or to make the house pay for refunds",
  share: 0.05,
  because: 'each order is settled in full, with several refunds',
  partners: () => honestPartners,
  bound: () => ({ usd: 0, settings: 'min_amount and network_fee of the currencies' }),
  begin: async (world, orders) => {
    world.turnSec = 60;
    const accounts = await world.accountsOf('victims of dust', honestPartners);
    const users = new HonestUsers(world, accounts, {
      orders,
      perDay: honestPerDay,
      onOrder: (order) => sendDust(world, order),
    });
    return { actors: [users], faults: () => unserved(world, users.made) };
  },
};

/**
 * Orders that were paid as agreed and were not exchanged. A fixed order that the market has left by
 * more than `MAX_SLIPPAGE` is refunded by the rules, and is not counted.
 */
export async function unserved(world: World, made: readonly MadeOrder[]): Promise<string[]> {
  const rows = await world.rows<{ status: string; count: number }>(
    `select o.status, count(*)::int as count from exchange_order o
      where o.id in (select jsonb_array_elements_text(?::jsonb)::uuid) and o.status <> 'completed'
        and not exists (select 1 from order_event e
                         where e.order_id = o.id and e.cause = 'exchange_deadline' and e.detail = 'slippage')
      group by o.status order by o.status`,
    [JSON.stringify(made.map(({ id }) => id))],
  );
  return rows.map(({ status, count }) => `${count} orders that were paid as agreed are ${status}`);
}
