import { readFileSync } from 'node:fs';
import { SandboxPriceSource } from '../../src/rates/sources/sandbox-price-source.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody } from '../support/gateway/orders.ts';
import type { Reply } from '../support/http/contract-client.ts';

/**
 * What the four specified endpoints answer a client that uses nothing of later versions: the bytes,
 * the status and the names of the headers. The answers were recorded at commit d425641. What a
 * gateway draws at random is replaced by a name.
 */

interface Golden {
  readonly status: number;
  readonly headers: readonly string[];
  readonly text: string;
}

const recorded: Record<string, Golden> = JSON.parse(readFileSync('test/contract/golden-bytes.json', 'utf8'));

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  const clock = new TestClock();
  const priceSource = new SandboxPriceSource(clock, 'golden');
  gateway = await startGateway({ outside: { clock, priceSource } });
  ({ key } = await gateway.partner());
});
afterAll(() => gateway?.stop());

const pair = '/partner/rates?coin_from=BTC&coin_to=USDT&network_to=TRC20';
const create = (changes: Record<string, unknown>, headers = {}) =>
  gateway.call('POST', '/partner/orders', { key, headers, body: orderBody(changes) });
const once = { 'Idempotency-Key': 'golden' };
const known = async () => `/partner/orders/${(await create({}, once)).json.id}`;

const requests: Record<string, () => Promise<Reply>> = {
  currencies: () => gateway.call('GET', '/currencies'),
  'a float quote': () => gateway.call('GET', `${pair}&amount=0.1`),
  'a fixed quote': () => gateway.call('GET', `${pair}&amount=1e-2&rate_type=fixed`),
  'a quote of the minimum': () => gateway.call('GET', pair),
  'a quote outside the limits': () => gateway.call('GET', `${pair}&amount=1000`),
  'a quote of a misspelt coin': () => gateway.call('GET', '/partner/rates?coin_from=btc&coin_to=USDT&amounts=string'),
  'a create': () => create({}, once),
  'a repeated create': () => create({}, once),
  'a look-up': async () => gateway.call('GET', await known(), { key }),
  'a create with an amount as a string': () => create({ amount_from: '0.1' }),
  'a create below the minimum': () => create({ amount_from: 0.00001 }),
  'a create with several faults': () => create({ amount_from: 0, coin_from: 'NOPE', recipient_address: 'x' }),
  'a create with unknown members': () => create({ amounts: 'string', refund_adress: 'x' }),
};

/** Headers that answers have got since. */
const added: Record<string, string[]> = { 'a look-up': ['etag'] };

/** Headers of the connection. */
const transport = new Set(['date', 'connection', 'keep-alive']);

function settled({ status, headers, text }: Reply): Golden {
  return {
    status,
    headers: [...headers.keys()].filter((name) => !transport.has(name)).sort(),
    text: text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
      .replaceAll(/"short_id":"XP-[A-Z0-9]{6}"/g, '"short_id":"<short id>"')
      .replaceAll(/"deposit_address":"bc1q[a-z0-9]{38}"/g, '"deposit_address":"<address>"'),
  };
}

describe('without any new header or member, the answer is what it was before', () => {
  it.each(Object.keys(requests))('to %s', async (name) => {
    const golden = recorded[name];
    if (!golden) throw new Error(`nothing was recorded for ${name}`);
    const headers = [...golden.headers, ...(added[name] ?? [])].sort();
    expect(settled((await requests[name]?.()) as Reply)).toEqual({ ...golden, headers });
  });
});
