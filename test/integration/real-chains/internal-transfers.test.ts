import { call } from '../../support/anvil.ts';
import { type RealGateway, type RealOrder, startRealGateway, withRealChains } from '../../support/real-gateway.ts';

const ether = 10n ** 18n;

withRealChains(() => {
  describe.each(['balances', 'trace'] as const)('coins that a contract sends on, found by %s', (way) => {
    let gateway: RealGateway;
    let forwarder: string;
    beforeAll(async () => {
      gateway = await startRealGateway({ networks: () => ({ ethereum: { internal_transfers: way } }) });
      forwarder = await gateway.chains.anvil.deploy('Forwarder');
    }, 120_000);
    afterAll(() => gateway?.stop());

    async function forward({ depositAddress }: RealOrder, amount: bigint): Promise<string> {
      return gateway.chains.anvil.send(forwarder, amount, { data: call('forward', depositAddress), gas: 200_000 });
    }

    /** What is found is the deposit once, whatever is looked at afterwards. */
    async function isFoundOnce(order: RealOrder, amounts: readonly string[]): Promise<void> {
      for (let round = 0; round < 3; round += 1) {
        await gateway.mine('ethereum');
        await gateway.wait(31);
      }
      const rows = await gateway.query<{ amount: string }>(
        `select trim_scale(amount)::text as amount from deposit where order_id = $1 order by seen_at, id`,
        [order.id],
      );
      expect(rows.map(({ amount }) => amount)).toEqual(amounts);
      expect(await gateway.differences()).toEqual([]);
    }

    it('are exchanged, once', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      const txid = await forward(order, ether / 2n);
      await gateway.mine('ethereum');
      await gateway.wait(31);
      const seen = await gateway.show(order);
      if (way === 'trace') expect(seen).toMatchObject({ status: 'confirming', deposit_txid: txid });
      else expect(seen).toMatchObject({ status: 'waiting_deposit' });
      await gateway.mine('ethereum', 3);
      await gateway.wait(31);
      await isFoundOnce(order, ['0.5']);
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
      const [payout, ...others] = await gateway.payments(order);
      expect(others).toEqual([]);
      expect(await gateway.balance('LTC', order.recipient)).toBe(payout?.amount);
      await isFoundOnce(order, ['0.5']);
    });

    it('beside an ordinary payment are a second deposit, which is refunded', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await gateway.pay(order, { amount: '0.25' });
      await forward(order, ether / 4n + 1n);
      await gateway.mine('ethereum');
      await gateway.wait(31);
      await gateway.mine('ethereum', 3);
      await gateway.wait(31);
      await gateway.settle(order);
      await isFoundOnce(order, ['0.25', '0.250000000000000001']);
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
      expect(await gateway.balance('ETH', order.refundTo)).toBe('0.249500000000000001');
      expect(await gateway.balance('ETH', order.depositAddress)).toBe('0');
    });

    it('after the order was paid are refunded as well', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await gateway.confirm(order);
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
      await forward(order, ether / 10n);
      await gateway.mine('ethereum', 4);
      await gateway.wait(31);
      await isFoundOnce(order, ['0.5', '0.1']);
      await gateway.settle(order);
      expect(await gateway.balance('ETH', order.refundTo)).toBe('0.0995');
    });

    it('too late are refunded', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await gateway.wait(1_801);
      expect(await gateway.show(order)).toMatchObject({ status: 'expired' });
      await forward(order, ether / 10n);
      await gateway.mine('ethereum', 4);
      await gateway.wait(31);
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'refunded' });
      expect(await gateway.balance('ETH', order.refundTo)).toBe('0.0995');
      await isFoundOnce(order, ['0.1']);
    });

    if (way === 'trace') {
      it('are gone when their block is', async () => {
        const order = await gateway.order('ETH', 'LTC', 0.5);
        await forward(order, ether / 2n);
        await gateway.mine('ethereum');
        await gateway.tick();
        expect(await gateway.show(order)).toMatchObject({ status: 'confirming', deposit_confirmations: 1 });
        await gateway.chains.anvil.reorg(1, 2);
        await gateway.tick();
        expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit' });
        await gateway.mine('ethereum', 2);
        await gateway.tick();
        await gateway.settle(order);
        expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
        await isFoundOnce(order, ['0.5']);
      });
    }
  });
});
