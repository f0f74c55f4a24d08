import { currencySeed } from '../../src/market/currencies/seed.ts';
import { query } from '../support/database/database.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway?.stop());

interface Asset {
  readonly asset: string;
  readonly chain: string;
  readonly stands_for: string | null;
  readonly coin: string;
  readonly network: string;
  readonly contract: string | null;
  readonly is_deposit_enabled: boolean;
  readonly tag: { name: string; is_usual: boolean } | null;
}

interface Limits {
  readonly from: { readonly min: number; readonly max: number };
  readonly to: { readonly min: number; readonly max: number };
}

interface Pair {
  readonly coin_to: string;
  readonly network_to: string;
  readonly asset_from: string;
  readonly asset_to: string;
  readonly float: { readonly limits: Limits } | null;
  readonly fixed: { readonly limits: Limits } | null;
}

const assets = async (): Promise<Asset[]> => (await gateway.call('GET', '/partner/assets')).json.data;
const pairs = async (search: string, key?: string): Promise<Pair[]> =>
  (await gateway.call('GET', `/partner/pairs?${search}`, key === undefined ? {} : { key })).json.data;

/** Changes a currency and lets the gateway see it at once. */
async function change(column: string, value: boolean): Promise<void> {
  await query(gateway.databaseUrl, `update currency set ${column} = ${value} where coin = 'DOGE'`);
  await gateway.app.catalogue.refresh();
}

describe('GET /partner/assets', () => {
  it('lists the rows of the currencies, in their order, each with a separate name', async () => {
    const rows = (await gateway.call('GET', '/currencies')).json as { coin: string; network: string }[];
    const listed = await assets();
    const named = ({ coin, network }: { coin: string; network: string }) => `${coin} ${network}`;
    expect(listed.map(named)).toEqual(rows.map(named));
    expect(listed).toHaveLength(currencySeed.length);
    expect(new Set(listed.map(({ asset }) => asset)).size).toBe(listed.length);
    expect(new Set(listed.map(({ stands_for }) => stands_for)).size).toBe(listed.length);
  });

  it('has the same facts as the currencies', async () => {
    const rows = (await gateway.call('GET', '/currencies')).json as Record<string, unknown>[];
    for (const [i, asset] of (await assets()).entries()) {
      const { id: _id, icon_url: _icon, is_active: _active, is_memo, ...facts } = rows[i] ?? {};
      expect(asset).toMatchObject(facts);
      expect(asset.tag !== null).toBe(is_memo);
    }
  });

  it('names the assets of a sandbox so that no wallet takes them for real ones', async () => {
    const listed = await assets();
    const found = (coin: string, network: string) => listed.find((one) => one.coin === coin && one.network === network);
    expect(found('BTC', 'BTC')).toMatchObject({
      asset: 'sandbox:bitcoin/slip44:0',
      chain: 'sandbox:bitcoin',
      stands_for: 'bip122:000000000019d6689c085ae165831e93/slip44:0',
      contract: null,
      tag: null,
    });
    expect(found('USDT', 'ERC20')).toMatchObject({
      chain: 'sandbox:ethereum',
      stands_for: 'eip155:1/erc20:0xdAC17F958D2ee523a2206206994597C13D831ec7',
      contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    });
    expect(found('XRP', 'XRP')?.tag).toMatchObject({ name: 'destination tag', is_usual: true });
    for (const { chain, asset } of listed)
      expect([chain.slice(0, 8), asset.split('/')[0]]).toEqual(['sandbox:', chain]);
  });

  it('shows within a refresh what is switched off', async () => {
    const before = await gateway.call('GET', '/partner/assets');
    await change('is_deposit_enabled', false);
    const doge = (await assets()).find(({ coin }) => coin === 'DOGE');
    expect(doge?.is_deposit_enabled).toBe(false);
    await change('is_active', false);
    expect((await assets()).some(({ coin }) => coin === 'DOGE')).toBe(false);
    await change('is_active', true);
    await change('is_deposit_enabled', true);
    const after = await gateway.call('GET', '/partner/assets');
    expect(after.text === before.text).toBe(true);
    expect(after.headers.get('cache-control')).toBe('public, max-age=5');
  });
});

describe('GET /partner/pairs', () => {
  it('lists what the coin can be exchanged for, with limits that hold on both sides', async () => {
    const listed = await pairs('coin_from=BTC');
    expect(listed.length).toBeGreaterThan(40);
    const ids = new Map((await assets()).map(({ asset, coin, network }) => [`${coin} ${network}`, asset]));
    for (const { coin_to, network_to, asset_from, asset_to, float, fixed } of listed) {
      expect([asset_from, asset_to]).toEqual(['sandbox:bitcoin/slip44:0', ids.get(`${coin_to} ${network_to}`)]);
      for (const { limits } of [float, fixed].filter((one) => one !== null)) {
        expect(limits.from.min).toBeLessThan(limits.from.max);
        expect(limits.to.min).toBeLessThan(limits.to.max);
      }
    }
    expect(listed.some(({ coin_to }) => coin_to === 'BTC')).toBe(false);
  });

  it('has the limits of the quotes', async () => {
    const listed = await pairs('coin_from=BTC&network_from=BTC');
    const ether = listed.find(({ coin_to }) => coin_to === 'ETH');
    for (const rate_type of ['float', 'fixed'] as const) {
      const search = new URLSearchParams({ coin_from: 'BTC', coin_to: 'ETH', network_to: 'ETH', rate_type });
      const quote = (await gateway.call('GET', `/partner/rates?${search}`)).json;
      const limits = ether?.[rate_type]?.limits;
      expect(limits?.from).toEqual({ min: quote.min_amount, max: quote.max_amount });
      // Prices may move between the two requests.
      const ratio = (limits?.to.min ?? 0) / (quote.min_amount * quote.rate);
      expect(ratio).toBeGreaterThan(0.98);
      expect(ratio).toBeLessThan(1.02);
    }
  });

  it("has the partner's own limits for a key that may read its rates", async () => {
    const fees = { feeRateFloat: '0.05', feeRateFixed: '0.05' };
    const own = await gateway.partner({ scopes: ['rates:read'] });
    const other = await gateway.partner({ scopes: ['orders:read'] });
    for (const { id } of [own, other]) await gateway.partners.change(id, fees);
    const least = (list: Pair[]) => list.find(({ coin_to }) => coin_to === 'DAI')?.float?.limits.from.min ?? 0;
    const anyones = least(await pairs('coin_from=BTC'));
    expect(least(await pairs('coin_from=BTC', own.key))).toBeGreaterThan(anyones);
    expect(least(await pairs('coin_from=BTC', other.key))).toBe(anyones);
    expect(least(await pairs('coin_from=BTC'))).toBe(anyones);
  });

  it('is not for shared caches, and has an entity tag', async () => {
    // A list stays for five seconds. The second request may meet the next one.
    for (let attempt = 1; ; attempt++) {
      const first = await gateway.call('GET', '/partner/pairs?coin_from=LTC');
      expect(first.headers.get('cache-control')).toBe('private, max-age=5');
      const headers = { 'If-None-Match': first.headers.get('etag') ?? '' };
      const { status } = await gateway.call('GET', '/partner/pairs?coin_from=LTC', { headers });
      if (status === 304 || attempt === 5) return expect(status).toBe(304);
    }
  });

  it('follows the catalogue at once', async () => {
    await change('is_withdraw_enabled', false);
    expect((await pairs('coin_from=BTC')).some(({ coin_to }) => coin_to === 'DOGE')).toBe(false);
    await change('is_withdraw_enabled', true);
    expect((await pairs('coin_from=BTC')).some(({ coin_to }) => coin_to === 'DOGE')).toBe(true);
  });

  it.each([
    ['', 400, 'missing_field', 'coin_from'],
    ['coin_from=NOPE', 422, 'unknown_coin', 'coin_from'],
    ['coin_from=USDT', 422, 'network_required', 'network_from'],
    ['coin_from=BTC&network_from=TRC20', 422, 'unknown_network', 'network_from'],
    ['coin_from=BTC&coin_from=ETH', 400, 'invalid_type', 'coin_from'],
  ])('refuses %p', async (search, status, code, field) => {
    const reply = await gateway.call('GET', `/partner/pairs?${search}`);
    expect([reply.status, reply.json.code, reply.json.errors[0].field]).toEqual([status, code, field]);
  });

  it('reports two faults at once', async () => {
    const reply = await gateway.call('GET', `/partner/pairs?coin_from=NOPE&network_from=${'N'.repeat(21)}`);
    const fields = reply.json.errors.map(({ field }: { field: string }) => field).sort();
    expect([reply.status, fields]).toEqual([422, ['coin_from', 'network_from']]);
  });

  it('refuses a coin whose deposits are switched off', async () => {
    await change('is_deposit_enabled', false);
    const { status, json } = await gateway.call('GET', '/partner/pairs?coin_from=DOGE');
    await change('is_deposit_enabled', true);
    expect([status, json.code]).toEqual([422, 'deposit_disabled']);
  });
});
