import { places } from '../../client/src/generated/operations.ts';
import { type CreateOrder, List, type OperationId, PartnerClient, PartnerError } from '../../client/src/main.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { amountNames } from '../../src/surfaces/rest/api/amounts.ts';
import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { query } from '../support/database/database.ts';
import { askAbout } from '../support/gateway/asked-orders.ts';
import { feedCatchesUp } from '../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { checkedFetch } from '../support/http/contract-client.ts';

/** The client of client/, on a running gateway. Each answer is checked against the contract. */

let gateway: SettledGateway;
let partnerId: string;
let client: PartnerClient;
let made: Awaited<ReturnType<PartnerClient['createOrder']>>;

const order: CreateOrder = {
  coin_from: 'BTC',
  network_from: 'BTC',
  coin_to: 'USDT',
  network_to: 'TRC20',
  amount_from: '0.0123',
  rate_type: 'float',
  recipient_address: addressExample('TRC20'),
};
const quote = { coin_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20', rate_type: 'fixed' } as const;

function clientWith(key: string): PartnerClient {
  const url = gateway.app.restUrl ?? '';
  return new PartnerClient({ url, key, fetch: checkedFetch(url), signRequests: true });
}

beforeAll(async () => {
  gateway = await startSettledGateway();
  const partner = await gateway.partner();
  partnerId = partner.id;
  await gateway.partners.change(partnerId, { publicStatus: true, orderPage: true, displayName: 'Test Wallet' });
  client = clientWith(partner.key);
  made = await client.createOrder(order);
  const earning = await gateway.order({ amount_from: 0.1, markup_bps: 100 }, partner.key);
  await gateway.deposit(earning);
  await gateway.settle(earning);
  await feedCatchesUp(gateway.query);
});
afterAll(() => gateway?.stop());

const hook = { url: 'https://hooks.example.com/gateway' };
/** A webhook endpoint. The ones of earlier calls are deleted, as there are ten at most. */
async function endpointId(): Promise<string> {
  for (const { id } of await client.listWebhookEndpoints().toArray()) await client.deleteWebhookEndpoint(id);
  return (await client.createWebhookEndpoint(hook)).endpoint.id;
}

/** An order whose deposit is in a block. */
async function depositedOrder(): Promise<string> {
  const { id } = await client.createOrder(order);
  await client.makeSandboxDeposits(id);
  await gateway.mine('BTC');
  await gateway.tick();
  return id;
}

/** The month of an order that completed with a markup. */
async function newestMonth(): Promise<string> {
  const [newest] = await client.listStatements().toArray();
  return newest?.month ?? '';
}

type Called = Exclude<OperationId, 'streamEvents'>;
/** The operations that a call without arguments cannot do. */
type NeedsArguments = { [Id in Called]: [] extends Parameters<PartnerClient[Id]> ? never : Id }[Called];
type Calls = Readonly<Record<NeedsArguments, () => Promise<unknown>>> &
  Readonly<Partial<Record<Called, () => Promise<unknown>>>>;

/**
 * Calls of operations that have arguments. The compiler refuses a contract with an operation that
 * needs some and has no call.
 */
const ownCalls: Calls = {
  listPairs: () => client.listPairs({ coin_from: 'BTC' }).toArray(),
  getRate: () => client.getRate({ coin_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20', amount: '0.1' }),
  createQuote: () => client.createQuote({ ...quote, amount_to: '250' }),
  getQuote: async () => client.getQuote((await client.createQuote({ ...quote, amount_from: '0.01' })).quote_id),
  validateAddress: () => client.validateAddress({ coin: 'BTC', network: 'BTC', address: addressExample('BTC') }),
  validateOrder: () => client.validateOrder(order),
  createOrder: () => client.createOrder(order),
  getOrder: () => client.getOrder(made.short_id),
  listOrders: () => client.listOrders({ status: ['waiting_deposit'], include: ['details'] }).toArray(),
  getOrderDetails: () => client.getOrderDetails(made.id),
  listOrderEvents: () => client.listOrderEvents(made.id).toArray(),
  changeOrder: () => client.changeOrder(made.id, { metadata: { cart: 'c_881', coupon: null } }),
  setRefundAddress: () => client.setRefundAddress(made.id, { refund_address: addressExample('BTC') }),
  cancelOrder: async () => client.cancelOrder((await client.createOrder(order)).id),
  renewOrderPage: () => client.renewOrderPage(made.id),
  revokeOrderPage: () => client.revokeOrderPage(made.id),
  listEvents: () => client.listEvents({ limit: 5 }),
  listWebhookEndpoints: async () => {
    await endpointId();
    return client.listWebhookEndpoints().toArray();
  },
  createWebhookEndpoint: async () => {
    const created = await client.createWebhookEndpoint(hook);
    return client.deleteWebhookEndpoint(created.endpoint.id);
  },
  getWebhookEndpoint: async () => client.getWebhookEndpoint(await endpointId()),
  updateWebhookEndpoint: async () => client.updateWebhookEndpoint(await endpointId(), { status: 'disabled' }),
  deleteWebhookEndpoint: async () => client.deleteWebhookEndpoint(await endpointId()),
  rotateWebhookSecret: async () => client.rotateWebhookSecret(await endpointId()),
  // No worker sends here, so the test has no result.
  testWebhookEndpoint: async () => client.testWebhookEndpoint(await endpointId()),
  listWebhookDeliveries: async () => {
    const id = await endpointId();
    await client.replayWebhookEvents(id, {});
    return client.listWebhookDeliveries(id).toArray();
  },
  replayWebhookEvents: async () => client.replayWebhookEvents(await endpointId(), { failed_only: true }),
  actOnOrder: async () => {
    const { id } = await client.createOrder({ ...order, refund_address: addressExample('BTC') });
    await askAbout((sql, values) => query(gateway.databaseUrl, sql, values), id);
    return client.actOnOrder(id, { action_id: 'act_3', action: 'refund' });
  },
  makeSandboxDeposits: async () => client.makeSandboxDeposits((await client.createOrder(order)).id, { amount: '0.05' }),
  expireSandboxOrder: async () => client.expireSandboxOrder((await client.createOrder(order)).id),
  reorgSandboxDeposit: async () => client.reorgSandboxDeposit(await depositedOrder()),
  forceSandboxOutcome: async () => client.forceSandboxOutcome((await client.createOrder(order)).id, 'payout_dead'),
  emitSandboxEvent: async () => {
    await endpointId();
    return client.emitSandboxEvent('order.completed');
  },
  listCommissionEntries: () => client.listCommissionEntries({ limit: 1 }).toArray(),
  getStatement: async () => client.getStatement(await newestMonth()),
  listOrderReport: () => client.listOrderReport({ completed_from: '2026-01-01T00:00:00Z' }).toArray(),
  getPublicStatus: () => client.getPublicStatus(made.id),
  getCoinIcon: () => client.getCoinIcon('btc.svg'),
};

const called = (Object.keys(places) as OperationId[]).filter((id) => id !== 'streamEvents');

/** Calls an operation: as above, or without arguments. */
function callOf(id: Called): Promise<unknown> {
  const own = ownCalls[id];
  if (own) return own();
  const answer = (client[id] as () => Promise<unknown> | List<unknown>).call(client);
  return answer instanceof List ? answer.toArray() : answer;
}

const amounts = amountNames(readContract());

/** Every amount of an answer, wherever it is. */
function amountsIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    amounts.has(name) && member !== null && typeof member !== 'object' ? [member] : amountsIn(member),
  );
}

describe('the client on a gateway', () => {
  it.each(called.filter((id) => id !== 'getDocument'))('%s answers, with amounts as strings', async (id) => {
    const answer = await callOf(id);
    expect(Array.isArray(answer) ? answer.length : answer).toBeTruthy();
    expect(amountsIn(answer).filter((amount) => typeof amount !== 'string')).toEqual([]);
  });

  it('getDocument answers the contract', async () => {
    expect(await client.getDocument()).toEqual(readContract());
  });

  it('keeps 18 digits after the point, both ways', async () => {
    const eth = { coin_from: 'ETH', network_from: 'ETH', coin_to: 'BTC', rate_type: 'float' } as const;
    const { amount_from: amount } = await client.createQuote({ ...eth, amount_from: '1.123456789012345678' });
    expect(amount).toBe('1.123456789012345678');
  });

  it('finds the order of a quote and of an external id that is taken', async () => {
    const { quote_id } = await client.createQuote({ ...quote, amount_from: '0.01' });
    const body = { quote_id, recipient_address: order.recipient_address, external_id: 'inv-881' };
    const { id } = await client.createOrder(body);
    const again = await client.createOrder(body).catch((error: unknown) => error);
    expect(again).toBeInstanceOf(PartnerError);
    expect(again).toMatchObject({ code: 'quote_used', status: 409, orderId: id });
    const taken = await client.createOrder({ ...order, external_id: 'inv-881' }).catch((error: unknown) => error);
    expect(taken).toMatchObject({ code: 'external_id_taken', orderId: id });
  });

  it('makes one order of a repeated create', async () => {
    const options = { idempotencyKey: 'inv-882' };
    const first = await client.createOrder(order, options);
    expect(await client.createOrder(order, options)).toEqual(first);
  });

  it('names every fault of a refused order', async () => {
    const wrong = { ...order, amount_from: '0.00000001', recipient_address: 'nowhere' };
    const error = (await client.createOrder(wrong).catch((thrown: unknown) => thrown)) as PartnerError;
    expect(error).toMatchObject({ code: 'validation_failed', status: 422, requestId: expect.any(String) });
    expect(error.errors.map(({ field }) => field)).toEqual(['amount_from', 'recipient_address']);
    expect(error.body?.min_amount).toMatch(/^0\.000/);
  });

  it('walks a list of several pages, newest first', async () => {
    const { key } = await gateway.partner();
    const own = clientWith(key);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift((await own.createOrder(order)).id);
      gateway.clock.advance(1);
    }
    const walked: string[] = [];
    for await (const { id } of own.listOrders({ limit: 2 })) walked.push(id);
    expect(walked).toEqual(ids);
  });

  it('keeps a copy: syncs from its cursor, and sees an order again that moved', async () => {
    const { key } = await gateway.partner();
    const own = clientWith(key);
    const settled = await gateway.order();
    const ids = [(await own.createOrder(order)).id, (await own.createOrder(order)).id];
    await feedCatchesUp(gateway.query);
    const copy = new Map<string, string>();
    let cursor: string | undefined;
    for await (const page of own.sync({ limit: 1 })) {
      for (const { id, status } of page.orders) copy.set(id, status);
      cursor = page.cursor;
    }
    expect([...copy.keys()].sort()).toEqual(ids.sort());
    expect(copy.has(settled.id)).toBe(false);
    gateway.clock.advance(31 * 60_000);
    await gateway.tick();
    await feedCatchesUp(gateway.query);
    const moved: string[] = [];
    for await (const { orders } of own.sync({}, { cursor })) moved.push(...orders.map(({ status }) => status));
    expect(moved).toEqual(['expired', 'expired']);
  });

  it('walks events: earlier ones, new ones, and from a cursor', async () => {
    const { key } = await gateway.partner();
    const own = clientWith(key);
    const first = await own.createOrder(order);
    let second: ReturnType<typeof own.createOrder> | undefined;
    const walk = own.events({ types: ['order.created'], wait: 20 });
    const seen: string[] = [];
    for await (const { data } of walk) {
      seen.push(data.order_id);
      if (seen.length === 2) break;
      // The client asks for the next event meanwhile.
      second = own.createOrder(order);
    }
    expect(seen).toEqual([first.id, (await second)?.id]);
    const third = await own.createOrder(order);
    for await (const { type, data } of own.events({ types: ['order.created'] }, { cursor: walk.cursor })) {
      expect([type, data.order_id]).toEqual(['order.created', third.id]);
      break;
    }
  });
});
