import { SandboxChain } from '../../../src/chains/sandbox/sandbox-chain.ts';
import { MagicOrders } from '../../../src/settlement/sandbox/magic-orders.ts';
import { type MagicOutcome, magicAddress } from '../../../src/settlement/sandbox/magic-values.ts';
import { PartnerSandbox } from '../../../src/settlement/sandbox/partner-sandbox.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { feedCatchesUp } from '../../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

/** Orders whose values ask for what happens to them, by nothing but creates and look-ups. */

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway({ clock: new TestClock() });
});
afterAll(async () => {
  try {
    expect((await gateway.differences()).filter(({ check }) => check !== 'debits')).toEqual([]);
  } finally {
    await gateway?.stop();
  }
});

async function follow(magic: Pick<MagicOrders, 'follow'> | null = gateway.app.magicOrders): Promise<void> {
  await feedCatchesUp(gateway.query);
  await magic?.follow();
}

/** The gateway and its sandbox work for some seconds, with a block a second. */
async function seconds(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    await follow();
    await gateway.tick();
    for (const network of ['BTC', 'TRC20']) await gateway.mine(network);
    gateway.clock.advance(1_000);
  }
  await gateway.tick();
}

const asking = (outcome: MagicOutcome) => ({ recipient_address: magicAddress('TRC20', outcome) });

const rows: readonly [
  name: string,
  body: Record<string, unknown>,
  end: { status: string; deposit?: string },
  refunds: number,
][] = [
  ['the agreed amount is deposited', { amount_from: 0.191001 }, { status: 'completed' }, 0],
  ['a half is deposited', { amount_from: 0.191002 }, { status: 'completed', deposit: '0.095501' }, 0],
  ['one and a half is deposited', { amount_from: 0.191003 }, { status: 'completed', deposit: '0.2865045' }, 0],
  ['the deposit is late', { amount_from: 0.191004 }, { status: 'refunded' }, 1],
  ['two deposits are made', { amount_from: 0.191005 }, { status: 'completed' }, 1],
  ['the payout fails', { amount_from: 0.191001, ...asking('payout_dead') }, { status: 'failed' }, 0],
  ['the payout is lost', { amount_from: 0.191001, ...asking('payout_unknown') }, { status: 'sending' }, 0],
  ['the venue refuses', { amount_from: 0.191001, ...asking('venue_rejects') }, { status: 'exchanging' }, 0],
  ['fees are too high', { amount_from: 0.191001, ...asking('fee_spike') }, { status: 'sending' }, 0],
  ['the order is held', { amount_from: 0.191001, ...asking('hold') }, { status: 'confirming' }, 0],
  ['the return fails', { amount_from: 0.191004, ...asking('refund_dead') }, { status: 'failed' }, 0],
];

it.each(rows)('%s', async (_, body, end, refunds) => {
  const order = await gateway.order(body);
  await seconds(14);
  expect((await gateway.show(order)).status).toBe(end.status);
  if (end.deposit) expect((await details(order)).deposits[0].amount).toBe(end.deposit);
  const [sentBack] = await gateway.query<{ count: number }>(
    "select count(*)::int as count from payment where order_id = $1 and kind = 'refund' and state = 'confirmed'",
    [order.id],
  );
  expect(sentBack?.count).toBe(refunds);
});

async function details({ id }: MadeOrder) {
  const headers = { Amounts: 'string' };
  return (await gateway.call('GET', `/partner/orders/${id}/details`, { key: gateway.key, headers })).json;
}

const depositsTo = async ({ depositAddress }: MadeOrder) =>
  (
    await gateway.query<{ count: number }>('select count(*)::int as count from sandbox_tx where recipient = $1', [
      depositAddress,
    ])
  )[0]?.count;

it('does everything once, although it is killed after each step', async () => {
  const { orm, catalogue } = gateway.app;
  const chain = new SandboxChain({ orm, clock: gateway.clock });
  const sandbox = new PartnerSandbox({ orm, clock: gateway.clock, catalogue, chain });
  const orders: MadeOrder[] = [];
  for (const amount of [0.191001, 0.191005, 0.191004, 0.1]) {
    orders.push(await gateway.order({ amount_from: amount, ...asking('payout_dead') }));
  }
  let kills = 0;
  for (let killAt = 1; killAt <= 6; killAt += 1) {
    let steps = 0;
    const onCrashPoint = () => {
      steps += 1;
      if (steps !== killAt) return;
      kills += 1;
      throw new Error('killed');
    };
    const magic = new MagicOrders({ orm, catalogue, chain, sandbox, onCrashPoint });
    await follow(magic).catch((error) => expect(error.message).toBe('killed'));
  }
  expect(kills).toBe(4);
  await seconds(3);
  expect(await Promise.all(orders.map(depositsTo))).toEqual([1, 2, 1, 0]);
});

it('two processes at the same time do everything once', async () => {
  const orders = await Promise.all(Array.from({ length: 6 }, () => gateway.order({ amount_from: 0.191005 })));
  await Promise.all([follow(), follow(), follow()]);
  await follow();
  expect(await Promise.all(orders.map(depositsTo))).toEqual(orders.map(() => 2));
});

it('sends nothing where the partner has paid already', async () => {
  const paid = await gateway.order({ amount_from: 0.191001 });
  await gateway.deposit(paid);
  await follow();
  expect(await depositsTo(paid)).toBe(1);
});
