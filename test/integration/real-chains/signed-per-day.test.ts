import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

// The signer signs 1 ETH a day: 0.25 of refunds, and 0.125 of the refunds of one partner.

let gateway: RealGateway;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({
      settings: { MAX_REFUNDS_PER_ORDER: '100' },
      networks: () => ({ ethereum: { limits: limitsOf('1') } }),
    });
  });
  afterAll(() => gateway?.stop());

  it('refunds of large excess deposits do not use up the daily limit of the signer: payouts go on', async () => {
    const order = await gateway.order('ETH', 'LTC', 0.05);
    await gateway.confirm(order);
    await gateway.settle(order);
    // Twelve times 0.1 ETH come back at the price of a network fee each, more than the signer's
    // whole day.
    for (let made = 0; made < 12; made += 1) await gateway.pay(order, { amount: '0.1' });
    await gateway.mine('ethereum', 2);
    for (let turn = 0; turn < 4; turn += 1) await gateway.tick();
    const refunds = await gateway.query<{ problem: string | null }>(
      `select problem from payment where kind = 'refund' and state = 'ready'`,
    );
    expect(refunds).toHaveLength(11);
    expect(new Set(refunds.map(({ problem }) => problem))).toEqual(new Set(['payout_share']));
    const honest = await gateway.order('LTC', 'ETH', 10);
    await gateway.confirm(honest);
    await gateway.settle(honest);
    expect(await gateway.show(honest)).toMatchObject({ status: 'completed' });
    expect(await gateway.differences()).toEqual([]);
  });
});

function limitsOf(perDay: string): Record<string, { per_payment: string; per_day: string }> {
  const plenty = { per_payment: '1000000', per_day: '100000000' };
  return { ETH: { per_payment: perDay, per_day: perDay }, USDT: plenty };
}
