import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

describe('an order of a binding quote with a markup', () => {
  it.each([
    ['fixed', 'amount_from', 0.1],
    ['fixed', 'amount_to', 250],
    ['float', 'amount_from', 0.1],
  ])('that is %s and asked for by %s is paid out, and the book balances', async (rateType, side, amount) => {
    const pair = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20' };
    const body = { ...pair, rate_type: rateType, [side]: amount, markup_bps: 40 };
    const { json: quote } = await gateway.call('POST', '/partner/quotes', { key: gateway.key, body });
    const order = await gateway.order({
      rate_type: rateType,
      amount_from: quote.amount_from,
      quote_id: quote.quote_id,
      external_id: `${rateType}-${side}`,
    });
    await gateway.deposit(order);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    const [paid] = await gateway.query<{ amount: number }>(
      `select trim_scale(amount)::float8 as amount from payment where order_id = $1 and kind = 'payout'`,
      [order.id],
    );
    if (rateType === 'fixed') expect(paid?.amount).toBe(quote.amount_to);
    expect(await gateway.differences()).toEqual([]);
  });
});
