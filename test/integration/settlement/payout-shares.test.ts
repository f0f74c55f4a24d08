import { addressExample } from '../../../src/chains/address.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/settled-gateway.ts';

// Payouts and refunds of bitcoin have room for 4,000 US dollars an hour: 2,000 of one partner, and 1,000 of refunds.
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
    for (let deposit = 0; deposit < 4; deposit++) await gateway.deposit(order, { amount: '0.0156' });
    await rounds();
    const { key } = await gateway.partner();
    const honest = await orderOf(key, toBtc);
    await gateway.deposit(honest);
    await rounds();
    expect(await payments('payout')).toEqual(['begun']);
    expect((await payments('refund')).toSorted()).toEqual(['begun', 'payout_share', 'payout_share', 'payout_share']);
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
});
