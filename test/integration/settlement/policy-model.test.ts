import { Big } from '../../../src/base/money.ts';
import type { OrderPolicy } from '../../../src/orders/order-terms.ts';
import { PolicyGateway } from '../../support/gateway/asked-orders.ts';
import { Dice } from '../../support/gateway/dice.ts';
import { endWindow, type MadeOrder } from '../../support/gateway/settled-gateway.ts';

// Random policies, deposits, markets and answers, compared with a model that is written apart.

const seed = Number(process.env.POLICY_SEED ?? '20261123');
const cases = Number(process.env.POLICY_CASES ?? '48');

let world: PolicyGateway;
beforeAll(async () => {
  world = await PolicyGateway.start();
});
afterAll(async () => {
  try {
    expect(await world.gateway.differences()).toEqual([]);
  } finally {
    await world?.gateway.stop();
  }
});

const expected = new Big('0.01');
const minimum = new Big('0.0004');
const maximum = new Big('3');

interface Case {
  readonly policy: OrderPolicy | undefined;
  readonly rateType: 'float' | 'fixed';
  readonly amount: string;
  readonly isLate: boolean;
  /** Dollars of the payout of 0.01 bitcoin at the level 1: about 640. */
  readonly minAmountTo: number | undefined;
  /** The market of bitcoin when the deposit is confirmed. */
  readonly level: string;
  readonly answer: 'exchange' | 'refund' | 'none';
}

function randomCase(dice: Dice): Case {
  const minAmountTo = dice.chance(0.4) ? 600 : undefined;
  const policy: OrderPolicy = {
    ...(dice.chance(0.8) ? { on_late: dice.pick(['refund', 'market', 'market', 'ask', 'ask'] as const) } : {}),
    ...(dice.chance(0.8) ? { on_underpaid: dice.pick(['exchange', 'refund', 'ask', 'ask'] as const) } : {}),
    ...(dice.chance(0.8) ? { on_overpaid: dice.pick(['refund_excess', 'refund_all', 'ask', 'ask'] as const) } : {}),
    ...(minAmountTo && dice.chance(0.7) ? { on_price_moved: dice.pick(['refund', 'ask', 'ask'] as const) } : {}),
  };
  return {
    policy: Object.keys(policy).length > 0 ? policy : undefined,
    rateType: dice.pick(['float', 'fixed'] as const),
    amount: dice.pick(['0.00001', '0.0003', '0.006', '0.0098', '0.01', '0.01', '0.012', '0.02', '4']),
    isLate: dice.chance(0.45),
    minAmountTo,
    level: dice.pick(['0.85', '1', '1', '1.2']),
    answer: dice.pick(['exchange', 'exchange', 'refund', 'none'] as const),
  };
}

type Verdict = 'exchange' | 'refund' | 'ask' | 'nothing';

/** What the order should do with its deposit, from the words of the contract. */
function judged({ policy = {}, rateType, amount, isLate, minAmountTo, level }: Case): Verdict {
  const paid = new Big(amount);
  // A deposit that does not cover its refund's fee stays.
  if (paid.lte('0.00006')) return 'nothing';
  if (paid.lt(minimum)) return 'refund';
  const wishes: (string | undefined)[] = [];
  if (isLate) wishes.push(policy.on_late ?? 'refund');
  if (paid.lt(expected)) wishes.push(policy.on_underpaid);
  const most = rateType === 'fixed' ? expected : maximum;
  if (paid.gt(most)) wishes.push(policy.on_overpaid);
  if (wishes.some((wish) => wish === 'refund' || wish === 'refund_all')) return 'refund';
  if (wishes.includes('ask')) return 'ask';
  if (minAmountTo === undefined) return 'exchange';
  const part = paid.gt(most) ? most : paid;
  const price = rateType === 'fixed' && !isLate ? '64000' : new Big('64000').times(level);
  const pays = part.times(price).times(rateType === 'fixed' ? '0.99' : '0.995');
  if (pays.gte(String(minAmountTo + 10))) return 'exchange';
  return policy.on_price_moved ?? 'refund';
}

it(`${cases} random cases (seed ${seed})`, async () => {
  const { gateway } = world;
  const dice = new Dice(seed);
  const all: { made: MadeOrder; each: Case; verdict: Verdict; shown: string | null }[] = [];
  for (let i = 0; i < cases; i++) {
    const each = randomCase(dice);
    await world.move('1');
    // Until a window has this market too.
    for (let passed = 0; passed < 20; passed += 5) await world.advance(5);
    const { policy, rateType, minAmountTo, amount, isLate } = each;
    const made = await world.order({ policy, rateType, minAmountTo });
    if (isLate) {
      await endWindow(gateway, made);
      await gateway.tick();
      await world.advance(1);
    }
    // The order is made at the level 1, and the market moves before the deposit is confirmed.
    await world.move(each.level);
    await gateway.deposit(made, { amount });
    await world.confirm(made);
    const verdict = judged(each);
    const { action_required: asked } = await world.details(made);
    let shown: string | null = null;
    if (asked) {
      const isOffered = await world.shown(made).catch(() => null);
      const answer = each.answer === 'exchange' && isOffered === null ? 'refund' : each.answer;
      if (answer !== 'none') expect((await world.answer(made, answer)).status).toBe(200);
      if (answer === 'exchange') shown = String(isOffered);
    }
    expect({ ...each, isAsked: asked !== null }).toEqual({ ...each, isAsked: verdict === 'ask' });
    await gateway.tick();
    all.push({ made, each, verdict, shown });
  }
  await world.advance(86_401);
  for (const { made } of all) await gateway.settle(made);
  for (const { made } of all) await gateway.settle(made);
  const counts = new Map<string, number>();
  for (const { made, each, verdict, shown } of all) {
    const { status } = await gateway.show(made);
    const paid = await world.payments(made);
    const isExchanged = verdict === 'exchange' || shown !== null;
    const end = verdict === 'nothing' ? 'expired' : isExchanged ? 'completed' : 'refunded';
    expect({ ...each, status }).toEqual({ ...each, status: end });
    expect(paid.filter((payment) => payment.startsWith('payout'))).toHaveLength(isExchanged ? 1 : 0);
    if (shown !== null) expect(paid).toContain(`payout ${shown}`);
    if (isExchanged && each.minAmountTo && each.policy?.on_price_moved !== 'ask') {
      expect(Number(paid[0]?.split(' ')[1])).toBeGreaterThanOrEqual(each.minAmountTo);
    }
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  }
  // Every verdict was reached.
  expect([...counts.keys()].sort()).toEqual(['ask', 'exchange', 'nothing', 'refund']);
}, 600_000);
