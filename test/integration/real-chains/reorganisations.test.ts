import { attention } from '../../../src/orders/read/attention.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway();
  });
  afterAll(() => gateway?.stop());
  /** Accounts that stay in debit, because their deposits are gone for good. */
  let lost = 0;
  afterEach(async () => {
    const differences = await gateway.differences();
    expect(differences.filter(({ check }) => check !== 'debits')).toEqual([]);
    expect(differences).toHaveLength(lost);
  });

  async function paidOnce(order: Parameters<RealGateway['show']>[0]): Promise<void> {
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    const payments = await gateway.payments(order);
    expect(payments).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
    expect(await gateway.balance(order.to, order.recipient)).toBe(payments[0]?.amount);
  }

  describe('a deposit that is reorganised away', () => {
    it.each([
      ['ETH', 'LTC', 'ethereum', 0.2],
      ['LTC', 'ETH', 'litecoin', 2],
    ] as const)('before it counted, and comes back, is exchanged once: %s to %s', async (from, to, chain, amount) => {
      const node = chain === 'ethereum' ? gateway.chains.anvil : gateway.chains.litecoind;
      const order = await gateway.order(from, to, amount);
      const txid = await gateway.pay(order);
      await gateway.mine(chain);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'confirming', deposit_confirmations: 1 });
      await node.reorg(1, 2);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({
        status: 'confirming',
        deposit_txid: txid,
        deposit_confirmations: 0,
      });
      expect(await gateway.payments(order)).toEqual([]);
      await paidOnce(order);
    });

    it('of a token lets its order wait again, because nodes show no token transfer in the mempool', async () => {
      const order = await gateway.order('USDT', 'LTC', 100);
      await gateway.pay(order);
      await gateway.mine('ethereum');
      await gateway.tick();
      await gateway.chains.anvil.reorg(1, 2);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({
        status: 'waiting_deposit',
        deposit_txid: null,
        deposit_confirmations: null,
      });
      await gateway.mine('ethereum');
      await gateway.tick();
      await paidOnce(order);
      expect(await gateway.history(order)).toEqual([
        'created',
        'deposit_seen',
        'deposit_lost',
        'deposit_seen',
        'deposit_confirmed',
        'liquidity_bought',
        'payout_confirmed',
      ]);
    });

    it('after it counted holds an unsigned payout until the deposit is mined again', async () => {
      await gateway.signer.stop();
      const order = await gateway.order('LTC', 'USDT', 4);
      await gateway.confirm(order);
      expect(await gateway.payments(order)).toMatchObject([{ state: 'prepared', problem: 'signer_unavailable' }]);
      await gateway.chains.litecoind.reorg(2, 3);
      await gateway.tick();
      const held = () => gateway.query('select hold_reason from exchange_order where id = $1', [order.id]);
      expect(await held()).toEqual([{ hold_reason: 'deposit_reorganised' }]);
      expect(await gateway.differences()).toMatchObject([{ check: 'debits', difference: '-4' }]);
      await gateway.signer.start();
      await gateway.wait(10);
      await gateway.wait(10);
      const [payout] = await gateway.payments(order);
      expect(payout).toMatchObject({ state: 'ready' });
      expect((await gateway.attempts(payout?.id ?? '')).filter(({ dead_why: why }) => why === null)).toEqual([]);
      await gateway.mine('litecoin', 2);
      await gateway.tick();
      expect(await held()).toEqual([{ hold_reason: null }]);
      await paidOnce(order);
    });

    it('after its payout was sent holds the order until the deposit is mined again', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.3);
      await gateway.confirm(order);
      expect(await gateway.payments(order)).toMatchObject([{ state: 'sent' }]);
      await gateway.chains.anvil.reorg(2, 3);
      await gateway.tick();
      await gateway.mine('litecoin', 3);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'sending' });
      expect(await gateway.differences()).toMatchObject([{ check: 'debits', difference: '-0.3' }]);
      await gateway.mine('ethereum', 2);
      await gateway.tick();
      await paidOnce(order);
    });
  });

  describe('a deposit whose coins are double-spent', () => {
    it('lets its order wait for another deposit', async () => {
      const order = await gateway.order('LTC', 'ETH', 3);
      const txid = await gateway.pay(order);
      await gateway.mine('litecoin');
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'confirming', deposit_txid: txid });
      await gateway.chains.litecoind.doubleSpend(txid, 1);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit', deposit_txid: null });
      const other = await gateway.pay(order);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'confirming', deposit_txid: other });
      await paidOnce(order);
    });

    it('after the window lets its order expire', async () => {
      const order = await gateway.order('LTC', 'ETH', 3);
      const txid = await gateway.pay(order);
      await gateway.mine('litecoin');
      await gateway.tick();
      await gateway.wait(1_900);
      expect(await gateway.show(order)).toMatchObject({ status: 'confirming' });
      await gateway.chains.litecoind.doubleSpend(txid, 1);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'expired', deposit_txid: null });
      expect(await gateway.history(order)).toEqual(['created', 'deposit_seen', 'deposit_lost_late']);
    });

    it('after its payout is in the attention list, and reconciliation shows the loss', async () => {
      const order = await gateway.order('LTC', 'ETH', 5);
      const txid = await gateway.confirm(order);
      await gateway.chains.litecoind.doubleSpend(txid, 2);
      await gateway.tick();
      await gateway.mine('ethereum', 4);
      await gateway.tick();
      const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
      const found = items.filter(({ orderId }) => orderId === order.id);
      expect(found.map(({ kind, detail }) => `${kind}: ${detail}`).sort()).toEqual([
        'client_debit: 5 LTC on LTC',
        'held_order: deposit_reorganised',
      ]);
      lost += 1;
      expect(await gateway.payments(order)).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
    });
  });

  describe('a payout that is reorganised away', () => {
    it.each([
      ['ETH', 'LTC', 'litecoin', 0.25],
      ['LTC', 'ETH', 'ethereum', 4],
    ] as const)('is paid once: %s to %s', async (from, to, chain, amount) => {
      const node = chain === 'ethereum' ? gateway.chains.anvil : gateway.chains.litecoind;
      const order = await gateway.order(from, to, amount);
      await gateway.confirm(order);
      await gateway.mine(chain, 2);
      await gateway.tick();
      const { payout_txid: txid, status } = await gateway.show(order);
      expect([status, typeof txid]).toEqual(['sending', 'string']);
      await node.reorg(2, 3);
      await gateway.tick();
      expect(await gateway.balance(to, order.recipient)).toBe('0');
      expect(await gateway.show(order)).toMatchObject({ status: 'sending' });
      await paidOnce(order);
      expect(await gateway.show(order)).toMatchObject({ payout_txid: txid });
    });

    it.each([
      ['ETH', 'LTC', 'litecoin', 0.25],
      ['LTC', 'USDT', 'ethereum', 4],
    ] as const)('and dropped from the mempool is broadcast again: %s to %s', async (from, to, chain, amount) => {
      const { anvil, litecoind } = gateway.chains;
      const order = await gateway.order(from, to, amount);
      await gateway.confirm(order);
      await gateway.mine(chain);
      await gateway.tick();
      const { payout_txid: txid } = await gateway.show(order);
      if (chain === 'ethereum') {
        await anvil.reorg(1, 2);
        await anvil.drop(txid);
      } else {
        await litecoind.reorg(1, 2);
        await litecoind.restart();
      }
      await gateway.tick();
      await gateway.wait(6);
      await paidOnce(order);
      expect(await gateway.show(order)).toMatchObject({ payout_txid: txid });
    });
  });
});
