import { TestClock } from '../../support/gateway/clock.ts';
import { feedCatchesUp } from '../../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import type { Reply } from '../../support/http/contract-client.ts';
import { isVerified, Receivers } from '../../support/webhooks/receiver.ts';

/** The exceptions of docs/lifecycle.md, reached by the sandbox's API alone, and their webhooks. */

let receivers: Receivers;
let gateway: SettledGateway;
let secret: string;
beforeAll(async () => {
  receivers = await Receivers.start();
  gateway = await startSettledGateway({
    clock: new TestClock(),
    settings: receivers.settings,
    outside: { receivers: receivers.outside },
  });
  const body = { url: receivers.url('partner') };
  const { json } = await gateway.call('POST', '/partner/webhook-endpoints', { key: gateway.key, body });
  secret = json.secret;
});
afterAll(async () => {
  try {
    expect((await gateway.differences()).filter(({ check }) => check !== 'debits')).toEqual([]);
  } finally {
    await gateway?.stop();
    await receivers?.stop();
  }
});

function call(path: string, body?: object, key = gateway.key): Promise<Reply> {
  return gateway.call('POST', `/partner/sandbox/${path}`, { key, ...(body ? { body } : {}) });
}

async function done(path: string, body?: object): Promise<Reply['json']> {
  const { status, text, json } = await call(path, body);
  if (status !== 200) throw new Error(`${path}: ${text}`);
  return json;
}

type Step = (order: MadeOrder) => Promise<unknown>;
const deposit =
  (body: object = {}): Step =>
  ({ id }) =>
    done(`orders/${id}/deposits`, body);
const expire: Step = ({ id }) => done(`orders/${id}/expire`);
const reorg: Step = ({ id }) => done(`orders/${id}/reorg`);
const force =
  (outcome: string): Step =>
  ({ id }) =>
    done(`orders/${id}/force`, { outcome });
/** The gateway works for some seconds, and each chain of the order gets a block a second. */
const seconds =
  (count: number): Step =>
  async ({ networkFrom, networkTo }) => {
    for (let i = 0; i < count; i += 1) {
      await gateway.tick();
      for (const network of new Set([networkFrom, networkTo])) await gateway.mine(network);
      gateway.clock.advance(1_000);
    }
    await gateway.tick();
  };
const seen: Step = () => gateway.tick();

/** Sends all events, and returns the types that the receiver got of an order, in their order. */
async function webhooksOf({ id }: MadeOrder): Promise<string[]> {
  const { webhooks } = gateway.app;
  await feedCatchesUp(gateway.query);
  await webhooks?.dispatcher.dispatch();
  for (;;) {
    const begun = await webhooks?.sender.begin();
    await webhooks?.sender.idle();
    if (begun === 0) break;
  }
  const own = receivers.of('partner').filter(({ event }) => event.data.order_id === id);
  expect(own.every((received) => isVerified(received, secret, gateway.clock.now()))).toBe(true);
  own.sort((one, other) => one.event.data.seq - other.event.data.seq);
  return own.map(({ event }) => event.type.replace('order.', ''));
}

const completed = ['created', 'deposit_detected', 'confirmed', 'exchanged', 'completed'];
const late = ['created', 'expired', 'refunding'];
const xrp = { coin_from: 'XRP', network_from: 'XRP', amount_from: 100 };
const ether = { coin_from: 'ETH', network_from: 'ETH', amount_from: 1 };

interface Row {
  readonly order?: Record<string, unknown>;
  readonly steps: readonly Step[];
  readonly webhooks: readonly string[];
  /** `status_group` of the details at the end. */
  readonly group: string;
  /** Payments that were sent back to the user. */
  readonly refunds?: number;
}

const table: Readonly<Record<string, Row>> = {
  'what is agreed arrives': { steps: [deposit(), seconds(12)], webhooks: completed, group: 'completed' },
  "less than the pair's minimum arrives": {
    steps: [deposit({ amount: 0.0003 }), seconds(4), expire, seconds(12)],
    webhooks: ['created', 'refunding', 'refunded'],
    group: 'refunded',
    refunds: 1,
  },
  'less than expected arrives, but not below the minimum': {
    steps: [deposit({ amount: 0.05 }), seconds(12)],
    webhooks: completed,
    group: 'completed',
  },
  'a fixed order gets more than expected': {
    order: { rate_type: 'fixed' },
    steps: [deposit({ amount: 0.15 }), seconds(12)],
    webhooks: completed,
    group: 'completed',
    refunds: 1,
  },
  'a second deposit to the same address': {
    steps: [deposit({ count: 2 }), seconds(12)],
    webhooks: completed,
    group: 'completed',
    refunds: 1,
  },
  'another coin of the same chain': {
    order: ether,
    steps: [deposit({ coin: 'USDT', network: 'ERC20', amount: 500, blocks: 64 }), seconds(6)],
    webhooks: ['created'],
    group: 'waiting',
    refunds: 1,
  },
  'a deposit to a shared address without a tag': {
    order: xrp,
    steps: [deposit({ tag: 'omit' }), seconds(6)],
    webhooks: ['created'],
    group: 'waiting',
  },
  'a deposit with a tag that no order has': {
    order: xrp,
    steps: [deposit({ tag: 'wrong' }), seconds(6)],
    webhooks: ['created'],
    group: 'waiting',
  },
  'no deposit within the window': {
    steps: [expire, seconds(2)],
    webhooks: ['created', 'expired'],
    group: 'expired',
  },
  'a deposit after the window': {
    steps: [expire, seconds(2), deposit(), seconds(12)],
    webhooks: [...late, 'refunded'],
    group: 'refunded',
    refunds: 1,
  },
  'no refund address': {
    order: { refund_address: undefined },
    steps: [expire, seconds(2), deposit(), seconds(12)],
    webhooks: [...late, 'failed'],
    group: 'failed',
  },
  'only less than the network fee of a refund arrives': {
    steps: [deposit({ amount: 0.00001 }), seconds(4), expire, seconds(12)],
    webhooks: ['created', 'expired'],
    group: 'expired',
  },
  'a transaction that waits in the mempool is dropped': {
    steps: [deposit(), seen, reorg, seconds(4)],
    webhooks: ['created', 'deposit_detected', 'deposit_lost'],
    group: 'waiting',
  },
  'the deposit is reorganised away before it was credited': {
    steps: [deposit(), seconds(1), reorg, seconds(4), deposit(), seconds(12)],
    webhooks: ['created', 'deposit_detected', 'deposit_lost', ...completed.slice(1)],
    group: 'completed',
  },
  'the deposit is reorganised away after it was credited': {
    steps: [force('venue_rejects'), deposit(), seconds(6), reorg, seconds(4)],
    webhooks: ['created', 'deposit_detected', 'confirmed'],
    group: 'on_hold',
  },
  'the venue rejects until the deadline': {
    steps: [force('venue_rejects'), deposit(), seconds(6), force('venue_rejects'), seconds(12)],
    webhooks: ['created', 'deposit_detected', 'confirmed', 'refunding', 'refunded'],
    group: 'refunded',
    refunds: 1,
  },
  "the payout's fee is far above its chain's usual one": {
    steps: [force('fee_spike'), deposit(), seconds(12)],
    webhooks: completed.slice(0, 4),
    group: 'processing',
  },
  'the fee falls again': {
    steps: [force('fee_spike'), deposit(), seconds(12), force('none'), seconds(6)],
    webhooks: completed,
    group: 'completed',
  },
  'the chain executes the payout and it moves no coins': {
    steps: [force('payout_dead'), deposit(), seconds(12)],
    webhooks: [...completed.slice(0, 4), 'failed'],
    group: 'failed',
  },
  'no node finds the payout': {
    steps: [force('payout_unknown'), deposit(), seconds(12), force('payout_unknown'), seconds(3)],
    webhooks: [...completed.slice(0, 4), 'failed'],
    group: 'failed',
  },
  'the chain executes the refund and it moves no coins': {
    steps: [force('refund_dead'), expire, seconds(2), deposit(), seconds(12)],
    webhooks: [...late, 'failed'],
    group: 'failed',
  },
  'the order is held': {
    steps: [force('hold'), deposit(), seconds(12)],
    webhooks: ['created', 'deposit_detected'],
    group: 'on_hold',
  },
  'the hold ends': {
    steps: [force('hold'), deposit(), seconds(6), force('none'), seconds(12)],
    webhooks: completed,
    group: 'completed',
  },
};

describe('by the API of the sandbox alone', () => {
  it.each(Object.entries(table))('%s', async (_, { order: changes, steps, webhooks, group, refunds = 0 }) => {
    const order = await gateway.order(changes);
    for (const step of steps) await step(order);
    expect(await webhooksOf(order)).toEqual(webhooks);
    const { json } = await gateway.call('GET', `/partner/orders/${order.id}/details`, { key: gateway.key });
    expect(json.status_group).toBe(group);
    const sent = await gateway.query(
      "select 1 from payment where order_id = $1 and kind = 'refund' and state = 'confirmed'",
      [order.id],
    );
    expect(sent).toHaveLength(refunds);
  });

  it('a reorganisation drops no transaction of another order', async () => {
    const [mine, other] = [await gateway.order(), await gateway.order()] as const;
    await deposit()(mine);
    await deposit()(other);
    await seconds(1)(mine);
    const { dropped } = await done(`orders/${mine.id}/reorg`);
    expect(dropped).toHaveLength(1);
    await seconds(12)(mine);
    expect(await webhooksOf(other)).toEqual(completed);
    expect(await webhooksOf(mine)).toEqual(['created', 'deposit_detected', 'deposit_lost']);
  });

  it('a sample of an event reaches the endpoint, signed, and is no event of an order', async () => {
    const { data } = await done('webhooks/emit', { type: 'order.refunded' });
    expect(data).toHaveLength(1);
    await gateway.app.webhooks?.sender.begin();
    await gateway.app.webhooks?.sender.idle();
    const sample = receivers.of('partner').find(({ id }) => id === data[0].event_id);
    if (!sample) throw new Error('the sample did not come');
    expect(isVerified(sample, secret, gateway.clock.now())).toBe(true);
    expect(sample.event).toMatchObject({
      type: 'order.refunded',
      data: { event_id: data[0].event_id, status: 'refunded', refund_amount: '0.0999' },
    });
    const path = `/partner/orders/${sample.event.data.order_id}`;
    expect((await gateway.call('GET', path, { key: gateway.key })).status).toBe(404);
  });
});

describe('the API of the sandbox', () => {
  it('answers alike for an unknown order and for one of another partner', async () => {
    const { id } = await gateway.order();
    const { key } = await gateway.partner();
    for (const [path, body] of [
      ['deposits', {}],
      ['expire', undefined],
      ['reorg', undefined],
      ['force', { outcome: 'hold' }],
    ] as const) {
      const foreign = await call(`orders/${id}/${path}`, body, key);
      const unknown = await call(`orders/0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90/${path}`, body, key);
      expect([foreign.status, unknown.status]).toEqual([404, 404]);
      expect(foreign.json).toEqual({ ...unknown.json, request_id: foreign.json.request_id });
    }
  });

  it.each([
    ['deposits', { amount: 0.000000001 }, 422, 'invalid_amount'],
    ['deposits', { coin: 'NOPE' }, 422, 'unknown_coin'],
    ['deposits', { tag: 'omit' }, 422, 'invalid_value'],
    ['deposits', { count: 11 }, 422, 'invalid_value'],
    ['force', { outcome: 'riches' }, 400, 'unknown_value'],
    ['reorg', undefined, 409, 'action_not_available'],
  ] as const)('refuses %s with %j', async (path, body, status, code) => {
    const { id } = await gateway.order();
    const refused = await call(`orders/${id}/${path}`, body);
    expect(refused).toMatchObject({ status, json: { code } });
  });

  it('refuses to end a window that no order waits in', async () => {
    const order = await gateway.order();
    await expire(order);
    await seconds(2)(order);
    expect(await call(`orders/${order.id}/expire`)).toMatchObject({ status: 409 });
    expect(await call(`orders/${order.id}/force`, { outcome: 'hold' })).toMatchObject({ status: 409 });
  });
});
