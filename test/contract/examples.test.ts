import { addressExample } from '../../src/chains/addresses/address.ts';
import { readContract } from '../../src/rest/contract.ts';
import { query } from '../support/database/database.ts';
import { askAbout } from '../support/gateway/asked-orders.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody } from '../support/gateway/orders.ts';

/**
 * Each example of a request body in the contract is sent. The client of the tests checks that the
 * answer is as the contract says.
 */

interface Example {
  readonly $ref?: string;
  readonly value?: unknown;
}

interface Part {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly examples?: Readonly<Record<string, Example>>;
}

interface ContractOperation {
  readonly operationId: string;
  readonly parameters?: readonly Part[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Part>> };
}

const document = readContract();
const bodies = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, ContractOperation>).flatMap(([method, { operationId, requestBody }]) =>
    Object.entries(requestBody?.content['application/json']?.examples ?? {}).map(
      ([title, example]) =>
        [operationId, title, { method: method.toUpperCase(), path, body: exampleOf(example) }] as const,
    ),
  ),
);

const queries = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, ContractOperation>).flatMap(([method, { operationId, parameters = [] }]) => {
    const named = parameters.filter((one) => one.in === 'query');
    const search = named.flatMap(({ name, examples }): [string, string][] => {
      const [example] = Object.values(examples ?? {});
      return example ? [[name ?? '', String(exampleOf(example))]] : [];
    });
    return method === 'get' && named.length > 0 && !path.includes('{')
      ? [[operationId, `${path}?${new URLSearchParams(search)}`] as const]
      : [];
  }),
);

function exampleOf(example: Example | undefined): unknown {
  const name = example?.$ref?.split('/').at(-1);
  if (name === undefined) return example?.value;
  return (document.components?.examples?.[name] as Example).value;
}

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  ({ key } = await gateway.partner());
});
afterAll(() => gateway?.stop());

it('each operation with a body has examples', () => {
  const ids = Object.values(document.paths ?? {}).flatMap((item) =>
    Object.values(item as Record<string, ContractOperation>)
      .filter(({ requestBody }) => requestBody)
      .map(({ operationId }) => operationId),
  );
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

it.each(bodies)('%s takes its example %s', async (id, _title, { method, path, body }) => {
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
  ]) {
    const body = exampleOf({ $ref: `/${sent}` });
    const { json } = await gateway.call('POST', '/partner/addresses/validate', { key, body });
    expect(json).toEqual(exampleOf({ $ref: `/${answered}` }));
  }
});
