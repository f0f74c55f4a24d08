import { addressExample } from '../../src/chains/addresses/address.ts';
import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { query } from '../support/database/database.ts';
import { askAbout } from '../support/gateway/asked-orders.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { ContractExamples } from '../support/http/contract-examples.ts';

/**
 * Each example of a request body in the contract is sent. The client of the tests checks that the
 * answer is as the contract says.
 */

const examples = new ContractExamples(readContract());
const bodies = examples.bodies().map((example) => [example.id, example.title, example] as const);

const queries = examples.operations.flatMap(({ operationId, method, path, parameters }) => {
  const named = parameters.filter((one) => one.in === 'query');
  const search = named.flatMap((one): [string, string][] => {
    const [example] = examples.examplesOf(one);
    return example === undefined ? [] : [[one.name ?? '', String(example)]];
  });
  return method === 'GET' && named.length > 0 && !path.includes('{')
    ? [[operationId, `${path}?${new URLSearchParams(search)}`] as const]
    : [];
});

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  ({ key } = await gateway.partner());
});
afterAll(() => gateway?.stop());

it('each operation with a body has examples', () => {
  const ids = examples.operations.filter(({ requestBody }) => requestBody).map(({ operationId }) => operationId);
  expect([...new Set(bodies.map(([id]) => id))].sort()).toEqual(ids.sort());
});

/** A path with a webhook endpoint that was just made, where it needs one. */
async function filled(path: string): Promise<string> {
  if (!path.includes('{endpoint_id}')) return path;
  const body = { url: 'https://hooks.example.com/' };
  const { json } = await gateway.call('POST', '/partner/webhook-endpoints', { key, body });
  return path.replace('{endpoint_id}', json.endpoint.id);
}

const refundable = { refund_address: addressExample('BTC') };

it.each(bodies)('%s takes its example %s', async (id, _title, { method, path, value: body }) => {
  const order = path.includes('{order_id}')
    ? await gateway.call('POST', '/partner/orders', { key, body: orderBody(id === 'actOnOrder' ? refundable : {}) })
    : null;
  const target = (await filled(path)).replace('{order_id}', order?.json.id ?? '');
  const sent = id === 'actOnOrder' ? await answerNow(order?.json.id, body as Answer) : body;
  const { status } = await gateway.call(method, target, { key, body: sent });
  expect([200, 201]).toContain(status);
});

interface Answer {
  readonly amount_to?: number;
}

/** An answer with the payout of this moment, to a question that is asked before. */
async function answerNow(orderId: string, body: Answer): Promise<Answer> {
  await askAbout((sql, values) => query(gateway.databaseUrl, sql, values), orderId);
  const { json } = await gateway.call('GET', `/partner/orders/${orderId}/details`, { key });
  const [exchange] = json.action_required.actions;
  return { ...body, ...(body.amount_to === undefined ? {} : { amount_to: exchange.amount_to }) };
}

it.each(queries)('%s takes the examples of its query', async (_, target) => {
  expect((await gateway.call('GET', target, { key })).status).toBe(200);
});

it('the examples of address checks are what is answered', async () => {
  for (const [sent, answered] of [
    ['CheckOtherAddress', 'OtherAddress'],
    ['CheckTaggedAddress', 'TaggedAddress'],
  ] as const) {
    const body = examples.named(sent);
    const { json } = await gateway.call('POST', '/partner/addresses/validate', { key, body });
    expect(json).toEqual(examples.named(answered));
  }
});
