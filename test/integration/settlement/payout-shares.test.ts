import { addressExample } from '../../../src/chains/addresses/address.ts';
import { Market } from '../../support/exchanges/market.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { orderBody } from '../../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Payouts and refunds of bitcoin have room for 4,000 US dollars an hour: 2,000 of one partner,
// 1,000 of refunds, and 500 of one partner's refunds.
const settings = { PAYOUT_LIMIT_ASSET_USD_PER_HOUR: '1000000,BTC/BTC=4000' };
const toBtc = {
  ...{ coin_from: 'LTC', network_from: 'LTC', amount_from: 7.6, refund_address: addressExample('LTC') },
  ...{ coin_to: 'BTC', network_to: 'BTC', recipient_address: addressExample('BTC') },
};

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway({ settings });
});
afterAll(async () => {
  expect(await gateway?.differences()).toEqual([]);
  await gateway?.stop();
});
beforeEach(() => gateway.clock.advance(3 * 3_600_000));

async function orderOf(key: string, body: Record<string, unknown>): Promise<MadeOrder> {
  const { status, text, json } = await gateway.call('POST', '/partner/orders', {
    key,
    body: { rate_type: 'float', ...body },
  });
  if (status !== 201) throw new Error(text);
  return {
    ...{ id: json.id, depositAddress: json.deposit_address, depositTag: json.deposit_address_tag },
    ...{ amountFrom: String(json.amount_from_expected), amountTo: String(json.amount_to_expected) },
    ...{ networkFrom: json.network_from, networkTo: json.network_to, coinFrom: json.coin_from },
  };
}

async function rounds(count = 6): Promise<void> {
  for (let round = 0; round < count; round++) {
    for (const network of ['BTC', 'LTC']) await gateway.mine(network, 2);
    await gateway.tick();
    gateway.clock.advance(2_000);
  }
}

/** Payments by what they wait for, or that they have begun. */
async function payments(kind: string): Promise<string[]> {
  const rows = await gateway.query<{ state: string; problem: string | null }>(
    'select state, problem from payment where kind = $1 and created_at > $2 order by number',
    [kind, new Date(gateway.clock.now().getTime() - 3_600_000)],
  );
  return rows.map(({ state, problem }) => problem ?? (state === 'ready' ? 'ready' : 'begun'));
}

describe('limits on automatic payouts', () => {
  it('leave room for payouts when a user has large deposits refunded at the price of a network fee', async () => {
    const order = await gateway.order();
    gateway.clock.advance(31 * 60_000);
    await gateway.tick();
    for (let deposit = 0; deposit < 4; deposit++) await gateway.deposit(order, { amount: '0.0078' });
    await rounds();
    const { key } = await gateway.partner();
    const honest = await orderOf(key, toBtc);
    await gateway.deposit(honest);
    await rounds();
    expect(await payments('payout')).toEqual(['begun']);
    expect((await payments('refund')).toSorted()).toEqual(['begun', 'payout_share', 'payout_share', 'payout_share']);
    // A user of another partner is refunded meanwhile.
    const other = await gateway.partner();
    const overpaid = await orderOf(other.key, orderBody({ refund_address: addressExample('BTC') }));
    gateway.clock.advance(31 * 60_000);
    await gateway.tick();
    await gateway.deposit(overpaid, { amount: '0.005' });
    await rounds();
    expect((await payments('refund')).at(-1)).toBe('begun');
    gateway.clock.advance(62 * 60_000);
    await rounds();
  });

  it("leave room for other partners' payouts when one partner has reached its part", async () => {
    const greedy: MadeOrder[] = [];
    const first = await gateway.partner();
    for (let count = 0; count < 6; count++) greedy.push(await orderOf(first.key, toBtc));
    for (const order of greedy) await gateway.deposit(order);
    await rounds();
    const { key } = await gateway.partner();
    const honest = await orderOf(key, toBtc);
    await gateway.deposit(honest);
    await rounds();
    expect((await payments('payout')).at(-1)).toBe('begun');
    expect((await payments('payout')).filter((state) => state === 'payout_share')).toHaveLength(3);
    gateway.clock.advance(62 * 60_000);
    await rounds();
    for (const order of greedy) await gateway.settle(order);
    const [{ done } = { done: 0 }] = await gateway.query<{ done: number }>(
      `select count(*)::int as done from exchange_order where id = any($1) and status = 'completed'`,
      [greedy.map(({ id }) => id)],
    );
    expect(done).toBe(6);
  });

  it('let one payment of a coin without any price begin in an hour', async () => {
    const clock = new TestClock(new Date('2026-01-05T10:00:10Z'));
    const other = await startSettledGateway({ clock, outside: { priceSource: new MarketWithoutUsdc(clock) } });
    try {
      const eth = { coin_from: 'ETH', network_from: 'ETH', amount_from: 0.5 };
      const order = await other.order({ ...eth, refund_address: addressExample('ETH') });
      expect([other.app.prices.live('USDC'), other.app.prices.reference('USDC')]).toEqual([null, null]);
      await other.deposit(order);
      for (let deposit = 0; deposit < 2; deposit++) {
        await other.deposit(order, { coin: 'USDC', network: 'ERC20', amount: '100' });
      }
      for (let round = 0; round < 3; round++) {
        await other.mine('ETH', 40);
        await other.tick();
      }
      const refunds = await other.query<{ problem: string | null }>(
        `select problem from payment where kind = 'refund' order by number`,
      );
      expect(refunds).toEqual([{ problem: null }, { problem: 'payout_share' }]);
    } finally {
      await other.stop();
    }
  });
});

/** A market that tells no price of USDC. */
class MarketWithoutUsdc extends Market {
  override async fetch(coins: readonly string[]) {
    return super.fetch(coins.filter((coin) => coin !== 'USDC'));
  }
}
