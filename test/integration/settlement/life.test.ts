import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import { Faults } from '../../support/faults/faults.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

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

describe('a chain whose scan takes long', () => {
  it('keeps no other chain waiting', async () => {
    const faults = new Faults();
    const outside = { ...faults.outside(), clock: systemClock, background: true };
    const gateway = await startSettledGateway({ outside });
    const release = Promise.withResolvers<void>();
    try {
      const reading = Promise.withResolvers<void>();
      faults.scan = async (chain) => {
        if (chain !== 'ethereum') return;
        reading.resolve();
        await release.promise;
      };
      await reading.promise;
      const order = await gateway.order();
      await gateway.deposit(order);
      while ((await gateway.show(order)).status !== 'completed') {
        for (const network of ['BTC', 'TRC20']) await gateway.mine(network);
        await sleep(200);
      }
    } finally {
      release.resolve();
      await gateway.stop();
    }
  });
});
