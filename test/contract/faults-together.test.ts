import { addressExample } from '../../src/chains/addresses/address.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';

/** Every two members of a request that are wrong at once are told at once. */

let gateway: TestGateway;
let key: string;
let ownAddress: string;

beforeAll(async () => {
  gateway = await startGateway();
  ({ key } = await gateway.partner());
  const first = await gateway.call('POST', '/partner/orders', { key, body: order });
  ownAddress = first.json.deposit_address;
});
afterAll(() => gateway?.stop());

/** Both coins have tags, so that every member of the request can be wrong. */
const order = {
  coin_from: 'XRP',
  network_from: 'XRP',
  coin_to: 'XLM',
  network_to: 'XLM',
  amount_from: 500,
  rate_type: 'float',
  recipient_address: addressExample('XLM'),
  recipient_address_tag: '7',
  refund_address: addressExample('XRP'),
  refund_address_tag: '7',
};
type Member = keyof typeof order;

interface Wrong {
  readonly title: string;
  readonly field: string;
  /** JSON text of the value; null leaves the member out. */
  readonly json: string | null | (() => string);
  /** Members without which this fault cannot be judged. */
  readonly needs?: readonly Member[];
}

const from: Member[] = ['coin_from', 'network_from'];
const to: Member[] = ['coin_to', 'network_to'];
const text = (value: string) => JSON.stringify(value);

const wrongValues: Wrong[] = [
  { title: 'an unknown coin_from', field: 'coin_from', json: text('NOPE') },
  { title: 'an empty coin_from', field: 'coin_from', json: text('') },
  { title: 'an unknown network_from', field: 'network_from', json: text('NOPE') },
  { title: 'a network_from that is too long', field: 'network_from', json: text('N'.repeat(21)) },
  { title: 'an unknown coin_to', field: 'coin_to', json: text('NOPE') },
  { title: 'an unknown network_to', field: 'network_to', json: text('NOPE') },
  { title: 'an amount of zero', field: 'amount_from', json: '0' },
  { title: 'an amount below zero', field: 'amount_from', json: '-1' },
  { title: 'an amount with too many decimals', field: 'amount_from', json: '500.0000001', needs: from },
  { title: 'an amount below the minimum', field: 'amount_from', json: '0.000001', needs: [...from, ...to] },
  { title: 'an amount above the maximum', field: 'amount_from', json: '1e18', needs: [...from, ...to] },
  { title: 'a recipient of no form', field: 'recipient_address', json: text('nonsense'), needs: ['network_to'] },
  { title: 'an empty recipient', field: 'recipient_address', json: text('') },
  { title: 'a recipient that is too long', field: 'recipient_address', json: text('x'.repeat(257)) },
  {
    title: 'a recipient of another network',
    field: 'recipient_address',
    json: text(addressExample('TRX')),
    needs: ['network_to'],
  },
  { title: 'a recipient tag of no form', field: 'recipient_address_tag', json: text('\u0001'), needs: ['network_to'] },
  { title: 'a recipient tag that is too long', field: 'recipient_address_tag', json: text('x'.repeat(257)) },
  { title: 'a refund address of no form', field: 'refund_address', json: text('nonsense'), needs: ['network_from'] },
  {
    title: 'our own address as refund address',
    field: 'refund_address',
    json: () => text(ownAddress),
    needs: ['network_from'],
  },
  { title: 'a refund tag of no form', field: 'refund_address_tag', json: text('x'), needs: ['network_from'] },
  { title: 'an empty refund tag', field: 'refund_address_tag', json: text('') },
];

const wrongShapes: Wrong[] = [
  ...(
    ['coin_from', 'network_from', 'coin_to', 'network_to', 'amount_from', 'rate_type', 'recipient_address'] as const
  ).map((field) => ({ title: `no ${field}`, field, json: null })),
  ...(Object.keys(order) as Member[]).map((field) => ({ title: `a list as ${field}`, field, json: '[]' })),
  { title: 'an unknown rate_type', field: 'rate_type', json: text('best') },
  { title: 'an amount of 41 characters', field: 'amount_from', json: '1'.repeat(41) },
  { title: 'an amount beyond all exponents', field: 'amount_from', json: '1e31' },
  { title: 'an amount that a double takes for zero', field: 'amount_from', json: '1e-400' },
  { title: 'an amount that a double takes for infinite', field: 'amount_from', json: '1e400' },
  { title: 'an unknown member', field: 'refund_adress', json: text('x') },
  { title: 'another unknown member', field: 'status', json: text('x') },
];

function bodyWith(...wrong: readonly Wrong[]): string {
  const members = new Map<string, string>(Object.entries(order).map(([name, value]) => [name, JSON.stringify(value)]));
  for (const { field, json } of wrong) {
    if (json === null) members.delete(field);
    else members.set(field, typeof json === 'string' ? json : json());
  }
  return `{${[...members].map(([name, json]) => `"${name}":${json}`)}}`;
}

function pairs(all: readonly Wrong[]): [Wrong, Wrong][] {
  return all.flatMap((one, i) =>
    all
      .slice(i + 1)
      .filter((other) => one.field !== other.field)
      .filter((other) => !one.needs?.some((name) => name === other.field))
      .filter((other) => !other.needs?.some((name) => name === one.field))
      .map((other): [Wrong, Wrong] => [one, other]),
  );
}

const told = (json: { errors?: { field: string }[] }) => (json.errors ?? []).map(({ field }) => field).sort();

/** Sends each request, and says which were not answered as they should be. */
async function untold(
  cases: readonly [Wrong, Wrong][],
  status: number,
  code: string,
  send: (pair: [Wrong, Wrong]) => ReturnType<TestGateway['call']>,
): Promise<string[]> {
  const missed: string[] = [];
  for (const pair of cases) {
    const reply = await send(pair);
    const expected = pair.map(({ field }) => field).sort();
    const isReported = reply.status === status && reply.json.code === code;
    if (!isReported || told(reply.json).join() !== expected.join()) {
      missed.push(`${pair.map(({ title }) => title).join(' and ')}: ${reply.status} ${told(reply.json)}`);
    }
  }
  return missed;
}

describe('two wrong members are reported in one answer', () => {
  const post = (raw: string, headers = {}) => gateway.call('POST', '/partner/orders', { key, raw, headers });
  const validate = (raw: string, headers = {}) =>
    gateway.call('POST', '/partner/orders/validate', { key, raw, headers });
  const both = [
    ['a create', post],
    ['the validation of a create', validate],
  ] as const;

  it.each(both)('in %s with refused values', async (_, send) => {
    const cases = pairs(wrongValues);
    expect(cases.length).toBeGreaterThan(150);
    expect(await untold(cases, 422, 'validation_failed', (pair) => send(bodyWith(...pair)))).toEqual([]);
  });

  it.each(both)('in %s outside the schema of the contract', async (_, send) => {
    const cases = pairs(wrongShapes);
    expect(cases.length).toBeGreaterThan(150);
    expect(await untold(cases, 400, 'invalid_request', (pair) => send(bodyWith(...pair)))).toEqual([]);
  });

  it('in a create with another form of amounts', async () => {
    for (const wrong of wrongShapes) {
      const { status, json } = await post(bodyWith(wrong), { Amounts: 'text' });
      expect([wrong.title, status, told(json)]).toEqual([wrong.title, 400, ['Amounts', wrong.field].sort()]);
    }
  });

  it('as the very text that the create would answer', async () => {
    for (const wrong of [...wrongValues, ...wrongShapes]) {
      const [created, validated] = [await post(bodyWith(wrong)), await validate(bodyWith(wrong))];
      const { request_id: _a, ...first } = created.json;
      const { request_id: _b, ...second } = validated.json;
      expect([wrong.title, validated.status, second]).toEqual([wrong.title, created.status, first]);
    }
  });

  it('in a create with a malformed Idempotency-Key', async () => {
    for (const wrong of wrongShapes) {
      const { status, json } = await post(bodyWith(wrong), { 'Idempotency-Key': 'a b' });
      expect([wrong.title, status, told(json)]).toEqual([wrong.title, 400, ['Idempotency-Key', wrong.field].sort()]);
    }
  });

  it('in a quote with refused values', async () => {
    const names = new Set(['coin_from', 'network_from', 'coin_to', 'network_to', 'amount_from']);
    const cases = pairs(wrongValues.filter(({ field }) => names.has(field)));
    const values = ({ field, json }: Wrong): [string, string] => [
      field === 'amount_from' ? 'amount' : field,
      field === 'amount_from' ? String(json) : JSON.parse(String(json)),
    ];
    const base = { coin_from: 'XRP', network_from: 'XRP', coin_to: 'XLM', network_to: 'XLM', amount: '500' };
    const missed = await untold(
      cases.map((pair) => pair.map((wrong) => ({ ...wrong, field: values(wrong)[0] })) as [Wrong, Wrong]),
      422,
      'validation_failed',
      (pair) =>
        gateway.call(
          'GET',
          `/partner/rates?${new URLSearchParams({ ...base, ...Object.fromEntries(pair.map(values)) })}`,
        ),
    );
    expect(missed).toEqual([]);
  });

  it('with an amount outside the limits, the answer has the limits of the pair as well', async () => {
    const wrong = wrongValues.filter(({ title }) => /below the minimum|recipient of no form/.test(title));
    const { json } = await post(bodyWith(...wrong));
    expect(json).toMatchObject({ code: 'validation_failed', min_amount: expect.any(Number) });
  });
});
