import type { Strategy } from '../strategy.ts';
import { HonestUsers, honestPartners, honestPerDay } from './honest.ts';
import { LatePayer } from './late-payer.ts';
import { OptionTaker, partnersOf } from './option-taker.ts';
import { RefundFarmer } from './refund-farmer.ts';

/** Of ten orders, nine are honest; the tenth is one of a taker, of a farmer or of a late payer. */
export const mixedFlow: Strategy = {
  name: 'mixed-flow',
  wants: 'nine orders in ten are honest',
  share: 0.1,
  because: 'most orders are settled in full',
  partners: (orders) => honestPartners + 2 * partnersOf(orders) + 1,
  bound: () => ({ usd: 0, isEarning: true, settings: 'FEE_RATE_FLOAT, FEE_RATE_FIXED, MAX_FIXED_EXPOSURE_USD' }),
  begin: async (world, orders) => {
    world.turnSec = 30;
    const tenth = { orders: Math.ceil(orders / 10), perDay: honestPerDay / 9 };
    const part = (share: number) => ({ orders: Math.ceil(tenth.orders * share), perDay: tenth.perDay * share });
    const users = await world.accountsOf('honest', honestPartners);
    const takers = await world.accountsOf('taker', partnersOf(orders));
    const farmer = await world.account('refund farmer');
    const late = await world.accountsOf('late payer', partnersOf(orders));
    return {
      actors: [
        new HonestUsers(world, users, { orders: orders - tenth.orders, perDay: honestPerDay }),
        new OptionTaker(world, { ...part(0.6), accounts: takers }),
        new RefundFarmer(world, farmer, part(0.2)),
        new LatePayer(world, late, { ...part(0.2), hasOutages: false }),
      ],
    };
  },
};
