import { setTimeout as sleep } from 'node:timers/promises';
import { Big } from '../../src/base/money.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import type { PriceSource } from '../../src/market/rates/price-source.ts';
import { SandboxPriceSource } from '../../src/market/rates/sources/sandbox-price-source.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API6:2023, unrestricted access to sensitive business flows: what the business itself can be
 * made to do by orders that are each allowed. Deposits that are too small, too late, doubled or
 * undone are in deposits, reorganisations and exceptions of test/integration/settlement, and
 * crashes in between in test/fault.
 */

const clock = new TestClock();
const market = new SandboxPriceSource(clock, 'flows', async () => new Map());
/** What the market makes of the price of BTC. */
let factor = 1;
let asked = 0;
const priceSource: PriceSource = {
  name: 'market',
  fetch: async (coins) => {
    asked++;
    const prices = await market.fetch(coins);
    return new Map(
      [...prices].map(([coin, { price, at }]) => [
        coin,
        { price: coin === 'BTC' ? new Big(price).times(String(factor)).toFixed(8) : price, at },
      ]),
    );
  },
};

let gateway: SettledGateway;
let key: string;
let currencies: { coin: string; network: string; min_amount: number }[];

beforeAll(async () => {
  gateway = await startSettledGateway({
    clock,
    outside: { background: false, priceSource },
    settings: { PRICE_REFRESH_SEC: '1', FIXED_RATE_HOLD_SEC: '60' },
  });
  ({ key } = await gateway.partner());
  currencies = (await gateway.call('GET', '/currencies')).json;
});
afterAll(async () => {
  try {
    expect(await gateway.differences()).toEqual([]);
  } finally {
    await gateway?.stop();
  }
});

const create = (body: Record<string, unknown>) =>
  gateway.call('POST', '/partner/orders', { key, body: orderBody(body) });
const payments = (order: MadeOrder, kind: string) =>
  gateway.query<{ amount: string }>('select amount::text from payment where order_id = $1 and kind = $2', [
    order.id,
    kind,
  ]);

describe('a payout or refund to an own deposit address', () => {
  /** An address, spelled so that a check could take it for another one. */
  const spellings: ((address: string) => string)[] = [
    (address) => address,
    (address) => address.toUpperCase(),
    (address) => address.toLowerCase(),
    (address) => ` ${address} `,
    (address) => `${address}\n`,
    (address) => address.replace(/^0x/, '0X'),
    (address) => address.replace(/^0x/, ''),
    (address) => `0x${address.replace(/^0x/, '').toUpperCase()}`,
    (address) => address.replace(/^bitcoincash:/, ''),
    (address) => `bitcoincash:${address.replace(/^bitcoincash:/, '')}`,
    (address) => `bitcoin:${address}`,
    (address) => `ethereum:${address}@1`,
    (address) => address.replaceAll('-', '+').replaceAll('_', '/'),
    (address) => `0:${Buffer.from(address, 'base64url').subarray(2, 34).toString('hex')}`,
    (address) => `${address}?dt=1`,
    (address) => `${address}:1`,
    (address) => `\u200b${address}`,
  ];

  it('is refused on every network and in every spelling of the address', async () => {
    for (const { coin, network, min_amount } of currencies) {
      const other = coin === 'BTC' ? { coin_from: 'ETH', network_from: 'ETH', amount_from: 1 } : { amount_from: 0.02 };
      const quote = await gateway.call(
        'GET',
        `/partner/rates?coin_from=${coin}&network_from=${network}&coin_to=${coin === 'BTC' ? 'ETH' : 'BTC'}`,
      );
      const [to, amount_from] = [coin === 'BTC' ? 'ETH' : 'BTC', Math.max(min_amount, quote.json.min_amount) * 2];
      const order = {
        coin_from: coin,
        network_from: network,
        amount_from,
        coin_to: to,
        network_to: to,
        recipient_address: addressExample(to),
      };
      const made = await create(order);
      expect({ coin, network, status: made.status }).toEqual({ coin, network, status: 201 });
      const { deposit_address, deposit_address_tag } = made.json;
      await changingNothing(gateway, async () => {
        for (const spell of spellings) {
          // Addresses of Solana have no checksum: with other letters they belong to another owner.
          const isAnothers =
            network === 'SOL' && spell(deposit_address) !== deposit_address && /^\w+$/.test(spell(deposit_address));
          if (isAnothers) continue;
          for (const tag of new Set([undefined, deposit_address_tag ?? undefined, '1'])) {
            const recipient = await create({
              ...other,
              coin_to: coin,
              network_to: network,
              recipient_address: spell(deposit_address),
              recipient_address_tag: tag,
            });
            attempt(`${coin} on ${network} to ${spell(deposit_address)} with ${tag}`, recipient.status, 422);
          }
          const refund = await create({ ...order, refund_address: spell(deposit_address) });
          attempt(`${coin} on ${network} back to ${spell(deposit_address)}`, refund.status, 422);
        }
      });
    }
  });
});

describe('an exchange there and back', () => {
  it('never returns more than the first amount, at any rate type and any pair', async () => {
    const some = currencies.filter(({ network }) =>
      ['BTC', 'ETH', 'LTC', 'XRP', 'SOL', 'TRC20', 'XMR', 'DOGE'].includes(network),
    );
    const { id, key: free } = await gateway.partner();
    await gateway.partners.change(id, { feeRateFloat: '0', feeRateFixed: '0' });
    const quoted = async (from: (typeof some)[number], to: (typeof some)[number], type: string, amount: Big | null) => {
      const path = `/partner/rates?coin_from=${from.coin}&network_from=${from.network}&coin_to=${to.coin}&network_to=${to.network}&rate_type=${type}`;
      const { status, text } = await gateway.call('GET', amount ? `${path}&amount=${amount.toFixed()}` : path, {
        key: free,
      });
      const number = (name: string) => new Big(new RegExp(`"${name}":([0-9.e-]+)[,}]`).exec(text)?.[1] ?? '0');
      return status === 200 ? { rate: number('rate'), min: number('min_amount') } : null;
    };
    let trips = 0;
    for (const from of some) {
      for (const to of some.filter((other) => other !== from)) {
        for (const [there, back] of [
          ['float', 'fixed'],
          ['fixed', 'float'],
          ['float', 'float'],
        ] as const) {
          const least = await quoted(from, to, there, null);
          if (!least) continue;
          const amount = least.min.times('20');
          const one = await quoted(from, to, there, amount);
          const middle = one && amount.times(one.rate).round(6, 0);
          const two = middle && (await quoted(to, from, back, middle));
          if (!middle || !two) continue;
          trips++;
          const end = middle.times(two.rate);
          attempt(`${amount} ${from.coin}, ${there} to ${to.coin} and ${back} back`, end.lt(amount), true);
        }
      }
    }
    expect(trips).toBeGreaterThan(50);
  });
});

describe('dust', () => {
  it('creates no order, and buys nothing when it arrives at an order', async () => {
    await changingNothing(gateway, async () => {
      for (const amount of ['0.00000001', '0.00000546', '0.0001', '1e-8']) {
        for (const rate_type of ['float', 'fixed']) {
          const raw = JSON.stringify(orderBody({ rate_type })).replace('0.01', amount);
          attempt(`an order of ${amount}`, (await gateway.call('POST', '/partner/orders', { key, raw })).status, 422);
        }
      }
    });
    const order = await gateway.order();
    for (let i = 0; i < 30; i++) await gateway.deposit(order, { amount: '0.00000546' });
    await gateway.settle(order);
    attempt('payouts of dust', await payments(order, 'payout'), []);
    // Thirty times nothing is nothing: not even its refund is worth its fee.
    attempt('refunds of dust', await payments(order, 'refund'), []);
  });
});

describe('one deposit transaction', () => {
  it('to an address that several orders share pays the order with its tag', async () => {
    const shared = { coin_from: 'XRP', network_from: 'XRP', amount_from: 100, refund_address: addressExample('XRP') };
    const orders: MadeOrder[] = [];
    for (let i = 0; i < 4; i++) orders.push(await gateway.order(shared));
    const [paid, ...others] = orders;
    if (!paid) throw new Error('no orders');
    expect(new Set(orders.map(({ depositAddress }) => depositAddress)).size).toBe(1);
    await gateway.deposit(paid);
    await gateway.settle(paid);
    for (const other of others) await gateway.settle(other);
    expect((await gateway.show(paid)).status).toBe('completed');
    for (const other of others) {
      attempt('an order that shares the address', (await gateway.show(other)).status, 'waiting_deposit');
      attempt('its payouts', await payments(other, 'payout'), []);
    }
    attempt('payouts of the one transaction', (await payments(paid, 'payout')).length, 1);
  });

  it('is paid out once although its chain is reorganised again and again', async () => {
    const order = await gateway.order();
    const txid = await gateway.deposit(order);
    for (let i = 0; i < 4; i++) {
      await gateway.mine('BTC', i + 1);
      await gateway.tick();
      await gateway.reorg('BTC', i + 1);
      await gateway.tick();
    }
    await gateway.settle(order);
    const rows = await gateway.query<{ state: string }>('select state from deposit where txid = $1', [txid]);
    attempt('deposits of one transaction', rows.length, 1);
    attempt('payouts of one transaction', (await payments(order, 'payout')).length, 1);
    expect((await gateway.show(order)).status).toBe('completed');
  });

  it('of ten times the expected amount gets no more than the fixed payout, once', async () => {
    const order = await gateway.order({ rate_type: 'fixed' });
    const { amountTo } = order;
    await gateway.deposit(order, { amount: new Big(order.amountFrom).times('10').toFixed() });
    await gateway.settle(order);
    const [payout] = await payments(order, 'payout');
    attempt('ten times the deposit at a fixed rate', new Big(payout?.amount ?? '0').lte(amountTo), true);
    attempt('payouts of it', (await payments(order, 'payout')).length, 1);
  });
});

describe('a fixed rate', () => {
  const refreshed = async (): Promise<void> => {
    const seen = asked;
    for (const deadline = Date.now() + 30_000; asked < seen + 2 && Date.now() < deadline; ) await sleep(20);
  };
  const fixed = async () =>
    (await gateway.call('GET', '/partner/rates?coin_from=BTC&coin_to=ETH&rate_type=fixed', { key })).json;

  it('is not granted after its window, although the user read it in time', async () => {
    const before = await fixed();
    expect(before.expires_in).toBeGreaterThan(0);
    const pair = { coin_from: 'BTC', coin_to: 'ETH', rate_type: 'fixed', amount_from: 1 };
    const { json: quote } = await gateway.call('POST', '/partner/quotes', { key, body: pair });
    // The market falls, and an order at the price before it would be a gift.
    factor = 0.8;
    clock.advance(60_000);
    await refreshed();
    const made = await create({
      coin_to: 'ETH',
      network_to: 'ETH',
      recipient_address: addressExample('ETH'),
      rate_type: 'fixed',
    });
    expect(made.status).toBe(201);
    attempt('the rate of the window before', made.json.rate_quoted < before.rate * 0.9, true);
    for (const [more, status] of [
      [{ rate: before.rate }, 400],
      [{ rate_quoted: before.rate }, 400],
      [{ quote_id: 'x' }, 422],
      // The quote still holds, but the market is far from it.
      [{ quote_id: quote.quote_id, amount_from: 1 }, 422],
      [{ created_at: '2026-01-01T00:00:00Z' }, 400],
    ] as const) {
      const body = {
        coin_to: 'ETH',
        network_to: 'ETH',
        recipient_address: addressExample('ETH'),
        rate_type: 'fixed',
        ...more,
      };
      attempt(`asking for it by ${Object.keys(more)}`, (await create(body)).status, status);
    }
    factor = 1;
    clock.advance(60_000);
    await refreshed();
  });

  it('is not granted to a deposit after the window of its order', async () => {
    const order = await gateway.order({ rate_type: 'fixed' });
    factor = 0.8;
    clock.advance(31 * 60_000);
    await refreshed();
    await gateway.mine('BTC');
    await gateway.tick();
    await gateway.deposit(order);
    await gateway.mine('BTC', 2);
    await gateway.tick();
    await gateway.settle(order);
    attempt('a payout at the rate of an order that is over', await payments(order, 'payout'), []);
    expect((await gateway.show(order)).status).toBe('refunded');
    factor = 1;
    clock.advance(60_000);
    await refreshed();
  });
});
