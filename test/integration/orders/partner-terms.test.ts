import type { KeyOptions, PartnerChanges } from '../../../src/accounts/partners/partner-service.ts';
import type { AppError } from '../../../src/base/errors.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { QuoteResults } from '../../../src/orders/quote-results.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import { query } from '../../support/database/database.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { orderBody } from '../../support/gateway/orders.ts';

// What staff agree on with a partner about its quotes: markups, and how long quotes hold.

const clock = new TestClock(new Date('2026-01-01T00:00:10Z'));
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    settings: { REDIS_URL: 'redis://127.0.0.1:1', PRICE_MAX_AGE_SEC: '3600' },
    outside: { clock, background: false },
  });
});
afterAll(() => gateway?.stop());

const pair = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20' };
const assets = {
  asset_from: 'sandbox:bitcoin/slip44:0',
  asset_to: 'sandbox:tron/trc20:TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
};
const recipient = { recipient_address: addressExample('TRC20') };

const rows = <Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> =>
  query<Row>(gateway.databaseUrl, sql, values);

const post = (path: string, key: string, body: object) => gateway.call('POST', `/partner/${path}`, { key, body });

const quote = (key: string, changes: object = {}) =>
  post('quotes', key, { ...pair, rate_type: 'fixed', amount_from: 0.1, ...changes });

/** Lets time pass, and reads prices again. */
async function later(ms: number): Promise<void> {
  clock.advance(ms);
  await gateway.app.prices.refresh(gateway.app.catalogue.coins());
}

/** A partner with its own terms, and a key of it. */
async function partnerWith(changes: PartnerChanges, key: KeyOptions = {}): Promise<{ id: string; key: string }> {
  const { id } = await gateway.partners.create('A partner with terms');
  if (Object.keys(changes).length > 0) await gateway.partners.change(id, changes);
  return { id, ...(await gateway.partners.issueKey(id, key)) };
}

async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: AppError) => error.kind,
  );
}

const markupOf = async (id: string): Promise<number | null | undefined> =>
  (await rows<{ markup_bps: number | null }>('select markup_bps from order_terms where order_id = $1', [id]))[0]
    ?.markup_bps;

const faultsOf = ({ json }: { json: { errors?: { field: string; code: string }[]; code?: string } }): string[] =>
  json.errors?.map(({ field, code }) => `${field} ${code}`) ?? [json.code ?? ''];

describe('the default markup of a key', () => {
  it('is that of quotes and creates that name none, and of the rates that the key is shown', async () => {
    const plain = await partnerWith({});
    const { id, key } = await partnerWith({}, { defaultMarkupBps: 40 });
    const { key: other } = await gateway.partners.issueKey(id);
    const byDefault = await quote(key);
    const named = await quote(other, { markup_bps: 40 });
    expect(byDefault.json.amount_to).toBe(named.json.amount_to);
    expect(byDefault.json.parts.partner_markup).toBe(named.json.parts.partner_markup);
    expect((await quote(key, { markup_bps: 0 })).json.amount_to).toBe((await quote(plain.key)).json.amount_to);

    const body = orderBody({ amount_from: 0.1, rate_type: 'fixed', ...recipient });
    const order = await post('orders', key, body);
    const withNone = await post('orders', key, { ...body, markup_bps: 0 });
    const without = await post('orders', plain.key, body);
    expect([order.status, withNone.status, without.status]).toEqual([201, 201, 201]);
    expect(order.json.amount_to_expected).toBe(named.json.amount_to);
    expect(withNone.json.amount_to_expected).toBe(without.json.amount_to_expected);
    expect([await markupOf(order.json.id), await markupOf(withNone.json.id)]).toEqual([40, 0]);
    expect(await markupOf(without.json.id)).toBeUndefined();
    expect((await post('orders/validate', key, body)).json.amount_to).toBe(named.json.amount_to);

    const query = '?coin_from=BTC&network_from=BTC&coin_to=USDT&network_to=TRC20&amount=0.1&rate_type=fixed';
    const rate = await gateway.call('GET', `/partner/rates${query}`, { key });
    expect(rate.json.rate).toBe(order.json.rate_quoted);
  });

  it('adds nothing to an order of a quote, which says its markup itself', async () => {
    const { id, key } = await partnerWith({}, { defaultMarkupBps: 40 });
    const { key: other } = await gateway.partners.issueKey(id);
    const { json } = await quote(other);
    const order = await post('orders', key, { ...recipient, quote_id: json.quote_id });
    expect([order.status, order.json.amount_to_expected]).toEqual([201, json.amount_to]);
    expect(await markupOf(order.json.id)).toBe(0);
  });

  it('goes over to the successor of a key, is changed and removed, and zero is none', async () => {
    const { id, key } = await partnerWith({}, { defaultMarkupBps: 40 });
    const keyId = key.split('.')[0] ?? '';
    const rolled = await gateway.partners.rollKey(keyId, 1);
    const of = async (name: string) =>
      (await gateway.partners.keys(id)).find((one) => one.keyId === name)?.defaultMarkupBps;
    expect(await of(rolled.keyId)).toBe(40);
    await gateway.partners.changeKey(rolled.keyId, { defaultMarkupBps: 30 });
    expect(await of(rolled.keyId)).toBe(30);
    await gateway.partners.changeKey(rolled.keyId, { defaultMarkupBps: 0 });
    expect(await of(rolled.keyId)).toBeNull();
  });
});

describe('the largest markup of a partner', () => {
  it('bounds quotes and creates', async () => {
    const { key } = await partnerWith({ maxMarkupBps: 100 });
    expect((await quote(key, { markup_bps: 100 })).status).toBe(201);
    const over = await quote(key, { markup_bps: 101 });
    expect([over.status, over.json.code]).toEqual([422, 'markup_too_high']);
    const create = await post('orders', key, orderBody({ markup_bps: 101 }));
    expect([create.status, create.json.code]).toEqual([422, 'markup_too_high']);
    const both = await quote(key, { markup_bps: 101, amount_from: 1000 });
    expect(faultsOf(both)).toEqual(['markup_bps markup_too_high', 'amount_from amount_above_max']);
  });

  it('is no smaller than a default of a live key, and no default is larger', async () => {
    const { id, key } = await partnerWith({ maxMarkupBps: 100 }, { defaultMarkupBps: 80 });
    const keyId = key.split('.')[0] ?? '';
    const { partners } = gateway;
    expect(await refusal(partners.change(id, { maxMarkupBps: 79 }))).toBe('invalid_value');
    expect(await refusal(partners.issueKey(id, { defaultMarkupBps: 101 }))).toBe('markup_too_high');
    expect(await refusal(partners.changeKey(keyId, { defaultMarkupBps: 101 }))).toBe('markup_too_high');
    for (const wrong of [-1, 501, 1.5]) {
      expect(await refusal(partners.change(id, { maxMarkupBps: wrong }))).toBe('invalid_value');
      expect(await refusal(partners.changeKey(keyId, { defaultMarkupBps: wrong }))).not.toBe('done');
    }
    await partners.revokeKey(keyId);
    expect(await refusal(partners.change(id, { maxMarkupBps: 0 }))).toBe('done');
  });

  it('refuses a default that is above it all the same', async () => {
    const { id, key } = await partnerWith({}, { defaultMarkupBps: 80 });
    // Past the service, as a lower MAX_MARKUP_BPS would be.
    await rows('update partner set max_markup_bps = 50 where id = $1', [id]);
    const refused = await quote(key);
    expect([refused.status, refused.json.code]).toEqual([422, 'markup_too_high']);
    expect((await post('orders', key, orderBody())).json.code).toBe('markup_too_high');
    expect((await quote(key, { markup_bps: 50 })).status).toBe(201);
  });
});

describe('the hold of a partner', () => {
  const heldSec = ({ json }: { json: { issued_at: string; expires_at: string } }): number =>
    (Date.parse(json.expires_at) - Date.parse(json.issued_at)) / 1000;

  it('lasts as agreed, and costs a higher fixed fee', async () => {
    const { partners } = gateway;
    const { id, key } = await partnerWith({ feeRateFixed: '0.02', quoteHoldSec: 300 });
    const { json, ...reply } = await quote(key);
    expect(heldSec({ json, ...reply })).toBe(300);
    await later(290_000);
    const order = await post('orders', key, { ...recipient, quote_id: json.quote_id });
    expect([order.status, order.json.amount_to_expected]).toEqual([201, json.amount_to]);
    expect(await refusal(partners.change(id, { feeRateFixed: null }))).toBe('invalid_value');
    expect(await refusal(partners.change(id, { feeRateFixed: '0.0001' }))).toBe('invalid_value');
    expect(await refusal(partners.change(id, { feeRateFixed: null, quoteHoldSec: null }))).toBe('done');
    expect(await refusal(partners.change(id, { quoteHoldSec: 61 }))).toBe('invalid_value');
    expect(await refusal(partners.change(id, { quoteHoldSec: 30 }))).toBe('done');
    for (const wrong of [14, 301, 20.5]) {
      expect(await refusal(partners.change(id, { quoteHoldSec: wrong }))).toBe('invalid_value');
    }
  });

  it('ends with its time, and when staff shorten it', async () => {
    const { id, key } = await partnerWith({ feeRateFixed: '0.02', quoteHoldSec: 300 });
    const { json: first } = await quote(key);
    const { json: second } = await quote(key);
    await later(300_001);
    expect((await post('orders', key, { ...recipient, quote_id: first.quote_id })).json.code).toBe('quote_expired');
    const { json: third } = await quote(key);
    await gateway.partners.change(id, { quoteHoldSec: null });
    // Another key, so that the partner is read again.
    const { key: fresh } = await gateway.partners.issueKey(id);
    for (const { quote_id } of [second, third]) {
      expect((await post('orders', fresh, { ...recipient, quote_id })).json.code).toBe('quote_expired');
    }
  });

  it('falls to 15 seconds while used quotes exceed the market by more than the fee, and returns', async () => {
    const { id, key } = await partnerWith({ feeRateFixed: '0.02', quoteHoldSec: 300 });
    const changes: object[] = [];
    const { orm, prices } = gateway.app;
    const results = new QuoteResults({ orm, clock, feeRateFixed: '0.005', onChange: (change) => changes.push(change) });
    for (let i = 0; i < 5; i++) {
      const { json } = await quote(key, { amount_from: 0.001 });
      const order = await post('orders', key, { ...recipient, quote_id: json.quote_id });
      expect(order.status).toBe(201);
      const [used] = await rows<{ adverse: number; usd: number }>(
        `select quote_adverse_bps::float8 as adverse, quote_usd::float8 as usd from order_terms where order_id = $1`,
        [order.json.id],
      );
      expect(Math.abs(used?.adverse ?? 1000)).toBeLessThan(100);
      expect(used?.usd).toBeCloseTo(0.001 * Number(prices.reference('BTC')?.toFixed()), 0);
    }
    await results.rollUp();
    expect(changes).toEqual([]);
    // As if the market had fallen by 2.5 percent in each hold.
    await rows('update order_terms set quote_adverse_bps = 250 where partner_id = $1', [id]);
    await results.rollUp();
    expect(changes).toEqual([{ partnerId: id, adverseBps: '250.0', isCut: true }]);
    await results.rollUp();
    expect(changes).toHaveLength(1);
    const { key: fresh } = await gateway.partners.issueKey(id);
    expect(heldSec(await quote(fresh))).toBe(15);
    expect(heldSec(await quote(fresh, { rate_type: 'float' }))).toBe(300);
    const items = await attention(orm.em.fork(), 100, clock.now());
    expect(items.find(({ kind }) => kind === 'adverse_quotes')).toMatchObject({ subjectId: id });

    // Unpaid orders do not hide the paid ones.
    const paid = `(select order_id from order_terms where partner_id = '${id}' order by order_id limit 3)`;
    const set = `update order_terms set quote_adverse_bps`;
    await rows(`set session_replication_role = replica;
                update exchange_order set deposit_id = id where id in ${paid};
                ${set} = -400 where partner_id = '${id}' and order_id not in ${paid}`);
    await results.rollUp();
    const [{ bps } = { bps: null }] = await rows<{ bps: number }>(
      'select quote_adverse_bps::float8 as bps from partner where id = $1',
      [id],
    );
    expect([bps, changes.length]).toEqual([250, 1]);

    await later(25 * 3_600_000);
    await results.rollUp();
    expect(changes.at(-1)).toEqual({ partnerId: id, adverseBps: '0', isCut: false });
    const { key: fresher } = await gateway.partners.issueKey(id);
    expect(heldSec(await quote(fresher))).toBe(300);
  });
});

describe('a pair that is named by assets', () => {
  const byAsset = { ...assets, rate_type: 'fixed', amount_from: 0.1 };

  it('is quoted, created and validated as by coin and network', async () => {
    const { key } = await partnerWith({});
    const named = await post('quotes', key, byAsset);
    expect([named.status, named.json]).toMatchObject([201, { ...pair, amount_to: (await quote(key)).json.amount_to }]);
    const order = await post('orders', key, { ...byAsset, ...recipient });
    expect([order.status, order.json]).toMatchObject([201, { ...pair, amount_to_expected: named.json.amount_to }]);
    expect(await markupOf(order.json.id)).toBeUndefined();
    const half = { asset_from: assets.asset_from, coin_to: 'USDT', network_to: 'TRC20' };
    const mixed = await post('orders', key, { ...half, rate_type: 'float', amount_from: 0.1, ...recipient });
    expect([mixed.status, mixed.json]).toMatchObject([201, pair]);
    expect((await post('orders/validate', key, { ...byAsset, ...recipient })).json).toMatchObject(pair);
    const ofQuote = await post('orders', key, { ...assets, ...recipient, quote_id: named.json.quote_id });
    expect([ofQuote.status, ofQuote.json.amount_to_expected]).toEqual([201, named.json.amount_to]);
  });

  it('is every asset of the list, and EVM contracts in either case', async () => {
    const { key } = await partnerWith({});
    const list = await gateway.call('GET', '/partner/assets', { key });
    for (const { asset, coin, network } of list.json.data) {
      const to = coin === 'BTC' ? { coin_to: 'ETH', network_to: 'ETH' } : { coin_to: 'BTC', network_to: 'BTC' };
      const body = { asset_from: asset, ...to, rate_type: 'float', amount_from: 1_000_000_000, clamp: true };
      const { status, json } = await post('quotes', key, body);
      expect([asset, status, json.coin_from, json.network_from]).toEqual([asset, 201, coin, network]);
      if (!asset.includes('/erc20:')) continue;
      const lower = await post('quotes', key, { ...body, asset_from: asset.toLowerCase() });
      expect([lower.status, lower.json.network_from]).toEqual([201, network]);
    }
  });

  it.each<[object, string[]]>([
    [{ asset_from: 'sandbox:nowhere/slip44:0' }, ['asset_from unknown_coin']],
    [
      { asset_from: 'sandbox:nowhere/slip44:0', asset_to: 'x', recipient_address: 'nonsense' },
      ['asset_from unknown_coin', 'asset_to unknown_coin'],
    ],
    [{ asset_from: assets.asset_to, amount_from: 10 }, ['asset_to same_currency']],
    [
      { asset_from: 'x', recipient_address: 'nonsense', amount_from: 0.1, markup_bps: 501 },
      ['markup_bps markup_too_high', 'asset_from unknown_coin', 'recipient_address invalid_address'],
    ],
  ])('is refused with every fault at once: %j', async (changes, faults) => {
    const { key } = await partnerWith({});
    const reply = await post('orders', key, { ...byAsset, ...recipient, ...changes });
    expect([reply.status, faultsOf(reply).length === 1 ? [reply.json.code] : faultsOf(reply)]).toEqual([
      422,
      faults.length === 1 ? [faults[0]?.split(' ')[1]] : faults,
    ]);
  });

  it('is not named by both forms, nor by none', async () => {
    const { key } = await partnerWith({});
    const both = await post('orders', key, { ...byAsset, ...pair, ...recipient });
    expect([both.status, faultsOf(both).sort()]).toEqual([
      400,
      Object.keys(pair)
        .sort()
        .map((name) => `${name} invalid_request`),
    ]);
    const network = await post('quotes', key, { ...byAsset, network_to: 'TRC20' });
    expect([network.status, network.json.code]).toEqual([400, 'invalid_request']);
    const none = await post('quotes', key, { rate_type: 'fixed', amount_from: 1 });
    expect([none.status, faultsOf(none)]).toEqual([400, ['coin_from missing_field', 'coin_to missing_field']]);
    const half = await post('orders', key, { asset_from: assets.asset_from, ...recipient });
    expect([half.status, faultsOf(half)]).toEqual([
      400,
      ['coin_to missing_field', 'network_to missing_field', 'amount_from missing_field', 'rate_type missing_field'],
    ]);
  });

  it('that differs from the quote is a mismatch', async () => {
    const { key } = await partnerWith({});
    const { json } = await post('quotes', key, byAsset);
    const swapped = { asset_from: assets.asset_to, asset_to: assets.asset_from };
    const reply = await post('orders', key, { ...swapped, ...recipient, quote_id: json.quote_id });
    expect([reply.status, faultsOf(reply)]).toMatchObject([
      422,
      expect.arrayContaining(['asset_from quote_mismatch', 'asset_to quote_mismatch']),
    ]);
  });
});
