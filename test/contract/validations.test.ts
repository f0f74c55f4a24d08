import { addressExample } from '../../src/chains/addresses/address.ts';
import { allNetworks } from '../../src/chains/networks/networks.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody } from '../support/gateway/orders.ts';

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  ({ key } = await gateway.partner());
});
afterAll(() => gateway?.stop());

interface Found {
  readonly valid: boolean;
  readonly canonical: string | null;
  readonly tag: string | null;
  readonly code: string | null;
  readonly looks_like: string[];
  readonly warnings: { field: string; code: string }[];
  readonly errors: { field: string; code: string }[];
}

const checked = async (body: Record<string, unknown>): Promise<Found> => {
  const { status, json } = await gateway.call('POST', '/partner/addresses/validate', { key, body });
  expect(status).toBe(200);
  return json;
};
const codes = (list: readonly { code: string }[]) => list.map(({ code }) => code);

describe('POST /partner/addresses/validate', () => {
  it('accepts the example of each network, in the form in which an order shows it', async () => {
    const rows = (await gateway.call('GET', '/currencies')).json as { coin: string; network: string }[];
    for (const { id } of allNetworks()) {
      const row = rows.find(({ network }) => network === id);
      if (!row) continue;
      const found = await checked({ coin: row.coin, network: id, address: addressExample(id) });
      expect(found).toMatchObject({ valid: true, code: null, detail: null, looks_like: [], errors: [] });
      const again = await checked({ coin: row.coin, network: id, address: found.canonical });
      expect([id, again.canonical]).toEqual([id, found.canonical]);
    }
  });

  it('names the networks that an address of another network looks like', async () => {
    const tron = addressExample('TRX');
    const found = await checked({ coin: 'USDT', network: 'ERC20', address: tron });
    expect(found).toMatchObject({ valid: false, canonical: null, code: 'wrong_network_address' });
    expect(found.looks_like.sort()).toEqual(['TRC20', 'TRX']);
    const evm = await checked({ coin: 'BTC', network: 'BTC', address: addressExample('ETH') });
    expect(evm.looks_like).toEqual(expect.arrayContaining(['ETH', 'ERC20', 'BASE', 'BEP20']));
    // An address of the same form is a good address, and no other network's.
    const base = await checked({ coin: 'USDC', network: 'BASE', address: addressExample('ETH') });
    expect(base).toMatchObject({ valid: true, looks_like: [] });
  });

  it('names no network that is switched off', async () => {
    const change = async (isActive: boolean) => {
      await gateway.app.orm.em.fork().execute(`update currency set is_active = ${isActive} where network = 'TRC20'`);
      await gateway.app.catalogue.refresh();
    };
    await change(false);
    const found = await checked({ coin: 'USDT', network: 'ERC20', address: addressExample('TRX') });
    await change(true);
    expect(found.looks_like).toEqual(['TRX']);
  });

  it.each([
    ['nothing', '', 'invalid_address'],
    ['nonsense', 'nonsense', 'invalid_address'],
    ['text that is longer than any address', 'x'.repeat(1_000), 'invalid_address'],
    ['a typing error', addressExample('ETH').replace('0x9', '0x8'), 'invalid_address'],
    ['a burn address', '0x000000000000000000000000000000000000dEaD', 'invalid_address'],
    ['a space at its end', `${addressExample('ETH')} `, 'invalid_address'],
    ['the contract of the token', '0xdAC17F958D2ee523a2206206994597C13D831ec7', 'invalid_address'],
    ['a secret key', `0x${'1'.repeat(64)}`, 'invalid_address'],
  ])('refuses %s', async (_, address, code) => {
    const found = await checked({ coin: 'USDT', network: 'ERC20', address });
    expect(found).toMatchObject({ valid: false, canonical: null, tag: null, code, looks_like: [], warnings: [] });
    expect(found.errors).toMatchObject([{ field: 'address', code }]);
  });

  it('refuses an address of the gateway, also with a wrong tag', async () => {
    const body = { ...orderBody(), coin_from: 'XRP', network_from: 'XRP', amount_from: 500 };
    const { deposit_address: own } = (await gateway.call('POST', '/partner/orders', { key, body })).json;
    const found = await checked({ coin: 'XRP', network: 'XRP', address: own });
    expect(found).toMatchObject({ valid: false, code: 'own_address' });
    const tagged = await checked({ coin: 'XRP', network: 'XRP', address: own, tag: 'x' });
    expect([tagged.code, codes(tagged.errors)]).toEqual(['validation_failed', ['own_address', 'invalid_tag']]);
  });

  it('reports a wrong address and a wrong tag at once', async () => {
    const found = await checked({ coin: 'XRP', network: 'XRP', address: 'x', tag: 'y' });
    expect(found.code).toBe('validation_failed');
    expect(found.errors).toMatchObject([
      { field: 'address', code: 'invalid_address' },
      { field: 'tag', code: 'invalid_tag' },
    ]);
  });

  it.each([
    ['no tag where none exists', 'BTC', 'BTC', undefined, null, []],
    ['a tag', 'XRP', 'XRP', '7', null, []],
    ['no tag where exchanges need one', 'XRP', 'XRP', undefined, null, ['tag_may_be_needed']],
    ['a tag where none exists', 'BTC', 'BTC', '7', 'tag_not_supported', []],
    ['a tag of no form', 'XRP', 'XRP', 'seven', 'invalid_tag', []],
    ['an empty tag', 'XLM', 'XLM', '', 'invalid_tag', []],
  ])('knows the rules for tags: %s', async (_, coin, network, tag, code, warnings) => {
    const found = await checked({
      coin,
      network,
      address: addressExample(network),
      ...(tag === undefined ? {} : { tag }),
    });
    expect([found.valid, found.code, codes(found.warnings)]).toEqual([code === null, code, warnings]);
    expect(found.tag).toBe(code === null && tag ? tag : null);
  });

  it('takes the tag of an address that carries one, and says so', async () => {
    // https://github.com/XRPLF/XRPL-Standards/tree/master/XLS-0005-tagged-addresses
    const address = 'XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi';
    const found = await checked({ coin: 'XRP', network: 'XRP', address });
    expect(found).toMatchObject({ valid: true, canonical: 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf', tag: '4294967295' });
    expect(codes(found.warnings)).toEqual(['other_form', 'tag_in_address']);
    const other = await checked({ coin: 'XRP', network: 'XRP', address, tag: '5' });
    expect([other.code, other.errors[0]?.field]).toEqual(['conflicting_tag', 'tag']);
  });

  it.each([
    ['an EVM address in one case', 'ETH', 'ETH', addressExample('ETH').toLowerCase(), ['no_checksum']],
    ['an EVM address with its checksum', 'ETH', 'ETH', addressExample('ETH'), []],
    ['a Solana address', 'SOL', 'SOL', addressExample('SOL'), ['no_checksum']],
    ['a cashaddr without its prefix', 'BCH', 'BCH', addressExample('BCH').replace('bitcoincash:', ''), ['other_form']],
  ])('warns: %s', async (_, coin, network, address, expected) => {
    const found = await checked({ coin, network, address });
    expect([found.valid, codes(found.warnings)]).toEqual([true, expected]);
  });

  it.each([
    [{ coin: 'NOPE' }, 422, 'unknown_coin', 'coin'],
    [{ network: 'NOPE' }, 422, 'unknown_network', 'network'],
    [{ coin: 5 }, 400, 'invalid_type', 'coin'],
    [{ tag: null }, 400, 'invalid_type', 'tag'],
    [{ adress: 'x' }, 400, 'unknown_field', 'adress'],
    [{ address: 'x'.repeat(1_001) }, 422, 'invalid_value', 'address'],
  ])('refuses the request %p', async (changes, status, code, field) => {
    const body = { coin: 'BTC', network: 'BTC', address: addressExample('BTC'), ...changes };
    const reply = await gateway.call('POST', '/partner/addresses/validate', { key, body });
    expect([reply.status, reply.json.code, reply.json.errors[0].field]).toEqual([status, code, field]);
  });

  it('reports a fault of the contract and an unknown coin at once', async () => {
    const body = { coin: 'NOPE', network: 'BTC', address: 'x'.repeat(1_001) };
    const { json } = await gateway.call('POST', '/partner/addresses/validate', { key, body });
    expect(json.errors.map(({ field }: { field: string }) => field).sort()).toEqual(['address', 'coin']);
  });
});

describe('POST /partner/orders/validate', () => {
  const validate = (changes: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    gateway.call('POST', '/partner/orders/validate', { key, body: orderBody(changes), headers });

  it('gives the terms of the order that is then created', async () => {
    for (let attempt = 1; ; attempt++) {
      const { status, json } = await validate({ rate_type: 'fixed' });
      expect(status).toBe(200);
      const order = (await gateway.call('POST', '/partner/orders', { key, body: orderBody({ rate_type: 'fixed' }) }))
        .json;
      // A window of fixed prices may end between the two requests.
      if (json.rate !== order.rate_quoted && attempt < 5) continue;
      expect(json).toMatchObject({
        rate: order.rate_quoted,
        amount_from: order.amount_from_expected,
        amount_to: order.amount_to_expected,
        recipient_address: order.recipient_address,
        deposit_confirmations_required: order.deposit_confirmations_required,
        refund_address: null,
      });
      expect(json.expires_in).toEqual(expect.any(Number));
      return;
    }
  });

  it('has limits within which the validation of an order succeeds, and outside of which it fails', async () => {
    const { limits } = (await validate({ rate_type: 'fixed' })).json;
    expect(limits.to.min).toBeLessThan(limits.to.max);
    for (const [amount_from, code] of [
      [limits.from.min, undefined],
      [limits.from.max, undefined],
      [limits.from.min / 2, 'amount_below_min'],
      [limits.from.max * 2, 'amount_above_max'],
    ]) {
      expect((await validate({ rate_type: 'fixed', amount_from: Number(amount_from.toFixed(8)) })).json.code).toBe(
        code,
      );
    }
  });

  it('changes nothing', async () => {
    await changingNothing(gateway, async () => {
      for (const changes of [{}, { rate_type: 'fixed' }, { coin_from: 'NOPE' }, { amount_from: 0.0000001 }]) {
        await validate(changes, { 'Idempotency-Key': 'ignored' });
      }
    });
  });

  it('warns of what is allowed and may be a mistake', async () => {
    const bare = await validate();
    expect(codes(bare.json.warnings)).toEqual(['no_refund_address']);
    const whole = await validate({ refund_address: addressExample('BTC') });
    expect(whole.json).toMatchObject({ warnings: [], refund_address: addressExample('BTC') });
    const ether = { coin_from: 'ETH', network_from: 'ETH', amount_from: 1, coin_to: 'XRP', network_to: 'XRP' };
    const { json } = await validate({
      ...ether,
      recipient_address: addressExample('XRP'),
      refund_address: addressExample('ETH').toLowerCase(),
    });
    expect(json.warnings).toMatchObject([
      { field: 'recipient_address_tag', code: 'tag_may_be_needed' },
      { field: 'refund_address', code: 'no_checksum' },
    ]);
    expect(json.refund_address).toBe(addressExample('ETH'));
  });

  it('tells that a cap is reached, and takes nothing of its room', async () => {
    const small = await startGateway({ settings: { MAX_OPEN_ORDERS: '1', MAX_FIXED_EXPOSURE_USD: '1000' } });
    try {
      const { key: own } = await small.partner();
      const send = (path: string, changes: Record<string, unknown> = {}) =>
        small.call('POST', path, { key: own, body: orderBody(changes) });
      const fixed = { rate_type: 'fixed', amount_from: 0.012 };
      for (let i = 0; i < 3; i++) expect((await send('/partner/orders/validate', fixed)).status).toBe(200);
      const beyond = await send('/partner/orders/validate', { rate_type: 'fixed', amount_from: 0.1 });
      expect([beyond.status, beyond.json.code]).toEqual([422, 'fixed_exposure_limit']);
      const { key: other } = await small.partner();
      expect((await small.call('POST', '/partner/orders', { key: other, body: orderBody(fixed) })).status).toBe(201);
      expect((await send('/partner/orders')).status).toBe(201);
      const [validated, created] = [await send('/partner/orders/validate'), await send('/partner/orders')];
      expect([validated.status, validated.json.code]).toEqual([422, 'open_orders_limit']);
      expect(created.json.detail).toBe(validated.json.detail);
    } finally {
      await small.stop();
    }
  });

  it('counts fixed orders that exist against the cap, as the create does', async () => {
    const small = await startGateway({ settings: { MAX_FIXED_EXPOSURE_USD: '1000' } });
    try {
      const { key: own } = await small.partner();
      const body = orderBody({ rate_type: 'fixed', amount_from: 0.01 });
      expect((await small.call('POST', '/partner/orders', { key: own, body })).status).toBe(201);
      const [validated, created] = [
        await small.call('POST', '/partner/orders/validate', { key: own, body }),
        await small.call('POST', '/partner/orders', { key: own, body }),
      ];
      expect([validated.status, validated.json.code]).toEqual([created.status, created.json.code]);
      expect([validated.json.code, validated.json.detail]).toEqual(['fixed_exposure_limit', created.json.detail]);
    } finally {
      await small.stop();
    }
  });

  it('judges a quote as the create does, and leaves it unused', async () => {
    const quote = (changes: Record<string, unknown> = {}) =>
      gateway.call('POST', '/partner/quotes', {
        key,
        body: { coin_from: 'BTC', coin_to: 'ETH', rate_type: 'fixed', amount_from: 0.1, markup_bps: 40, ...changes },
      });
    const quoted = (await quote()).json;
    const { quote_id } = quoted;
    const body = { quote_id, recipient_address: addressExample('ETH') };
    const send = (path: string, changes: Record<string, unknown> = {}) =>
      gateway.call('POST', path, { key, body: { ...body, ...changes } });
    await changingNothing(gateway, async () => {
      for (let i = 0; i < 3; i++) {
        const { status, json } = await send('/partner/orders/validate');
        expect(status).toBe(200);
        const { amount_from, amount_to, rate, limits, rate_type } = quoted;
        expect(json).toMatchObject({ amount_from, amount_to, rate, limits, rate_type, coin_from: 'BTC' });
        expect(json.expires_in).toBeGreaterThan(0);
      }
      for (const changes of [
        { markup_bps: 41, amount_from: 0.2 },
        { quote_id: 'qt_AAAA' },
        { min_amount_to: 1_000_000 },
        { policy: { on_price_moved: 'ask' } },
        { metadata: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, 'x'.repeat(500)])) },
        { external_id: 'ä' },
        { markup_bps: 9_999 },
      ]) {
        const [validated, created] = [
          await send('/partner/orders/validate', changes),
          await send('/partner/orders', changes),
        ];
        const { request_id: _v, ...found } = validated.json;
        const { request_id: _c, ...expected } = created.json;
        expect([validated.status, found]).toEqual([created.status, expected]);
        expect(validated.status).toBe(422);
      }
    });
    expect((await gateway.call('GET', `/partner/quotes/${quote_id}`, { key })).json.state).toBe('open');
    const order = await send('/partner/orders', { external_id: 'once' });
    expect([order.status, order.json.amount_to_expected]).toEqual([201, quoted.amount_to]);
    const used = await send('/partner/orders/validate');
    expect([used.status, used.json.code, used.json.order_id]).toEqual([409, 'quote_used', order.json.id]);
    const floating = (await quote({ rate_type: 'float' })).json;
    const other = await send('/partner/orders/validate', { quote_id: floating.quote_id });
    expect([other.status, other.json.rate_type, other.json.expires_in]).toEqual([200, 'float', null]);
    const named = await send('/partner/orders/validate', { quote_id: floating.quote_id, external_id: 'once' });
    expect([named.status, named.json.code, named.json.order_id]).toEqual([409, 'external_id_taken', order.json.id]);
    // The order that has the name comes before every fault of a value, as in a create.
    const wrong = { quote_id: floating.quote_id, external_id: 'once', markup_bps: 9_999 };
    for (const path of ['/partner/orders/validate', '/partner/orders']) {
      expect((await send(path, wrong)).json.code).toBe('external_id_taken');
    }
  });

  it('has the limits and the rate at the fee with the markup', async () => {
    for (let attempt = 1; ; attempt++) {
      const terms = { rate_type: 'fixed', markup_bps: 300 };
      const { json } = await validate(terms);
      const { status, json: order } = await gateway.call('POST', '/partner/orders', { key, body: orderBody(terms) });
      expect(status).toBe(201);
      if (json.rate !== order.rate_quoted && attempt < 5) continue;
      expect(json.amount_to).toBe(order.amount_to_expected);
      const least = await validate({ ...terms, amount_from: json.limits.from.min });
      expect([least.status, least.json.amount_to]).toEqual([200, json.limits.to.min]);
      return;
    }
  });

  it('takes no other method', async () => {
    const reply = await gateway.call('GET', '/partner/orders/validate', { key });
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
  });
});
