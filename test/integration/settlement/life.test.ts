import { type SettledGateway, startSettledGateway } from '../../support/settled-gateway.ts';

describe('the life of an order', () => {
  let gateway: SettledGateway;
  beforeAll(async () => {
    gateway = await startSettledGateway();
  });
  afterAll(() => gateway?.stop());

  it('goes from the deposit to the payout', async () => {
    const order = await gateway.order();
    const txid = await gateway.deposit(order);
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({
      status: 'confirming',
      deposit_txid: txid,
      deposit_confirmations: 0,
    });
    await gateway.mine('BTC');
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'confirming', deposit_confirmations: 1 });
    await gateway.mine('BTC');
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'sending', deposit_confirmations: 2, payout_txid: null });
    await gateway.settle(order);
    const done = await gateway.show(order);
    expect(done.status).toBe('completed');
    expect(done.payout_txid).toMatch(/^[0-9a-f]{64}$/);
    expect(await gateway.history(order)).toEqual([
      'created',
      'deposit_seen',
      'deposit_confirmed',
      'liquidity_bought',
      'payout_confirmed',
    ]);
  });
});
