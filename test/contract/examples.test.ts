import { readContract } from '../../src/rest/contract.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';

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

it.each(bodies)('%s takes its example %s', async (_id, _title, { method, path, body }) => {
  const { status } = await gateway.call(method, path, { key, body });
  expect([200, 201]).toContain(status);
});

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
