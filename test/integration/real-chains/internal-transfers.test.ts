import { call } from '../../support/chains/anvil.ts';
import {
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

const ether = 10n ** 18n;

withRealChains(() => {
  describe.each(['balances', 'trace'] as const)('coins that a contract sends on, found by %s', (way) => {
    let gateway: RealGateway;
    let forwarder: string;
    beforeAll(async () => {
      gateway = await startRealGateway({ networks: () => ({ ethereum: { internal_transfers: way } }) });
      forwarder = await gateway.chains.anvil.deploy('Forwarder');
    });
    afterAll(() => gateway?.stop());

    async function forward({ depositAddress }: RealOrder, amount: bigint): Promise<string> {
      return gateway.chains.anvil.send(forwarder, amount, { data: call('forward', depositAddress), gas: 200_000 });
    }

    /** Makes an order older than those whose addresses are compared at each look. */
    async function age({ id }: RealOrder): Promise<void> {
      await gateway.query(`update exchange_order set created_at = created_at - interval '3 days' where id = $1`, [id]);
    }

    /** Everything that is worth it is brought to the hot wallet. */
    async function swept(): Promise<void> {
      for (let turn = 0; turn < 3; turn += 1) {
        await gateway.mine('ethereum', 4);
        await gateway.wait(31);
        await gateway.settleAll();
      }
    }

    /** The deposit is found exactly once, also when its blocks are read again. */
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

    it('are exchanged once', async () => {
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

    it('together with an ordinary payment count as a second deposit and are refunded', async () => {
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

    it('after the window are refunded', async () => {
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

    it('long after the order was made are refunded as well', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await gateway.wait(1_801);
      await age(order);
      await forward(order, ether / 10n);
      await gateway.mine('ethereum', 4);
      await gateway.wait(31);
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'refunded' });
      expect(await gateway.balance('ETH', order.refundTo)).toBe('0.0995');
      await isFoundOnce(order, ['0.1']);
    });

    it('to an address that was swept are found, without the swept coins', async () => {
      const orders = [await gateway.order('ETH', 'LTC', 0.5), await gateway.order('USDT', 'LTC', 100)];
      for (const order of orders) await gateway.confirm(order);
      for (const order of orders) await gateway.settle(order);
      await swept();
      for (const order of orders) await age(order);
      for (const [index, order] of orders.entries()) {
        const isToken = order.from === 'USDT';
        expect(await gateway.balance(order.from, order.depositAddress)).toBe('0');
        const left = await gateway.balance('ETH', order.depositAddress);
        expect(left === '0').toBe(!isToken);
        await isFoundOnce(order, [order.amountFrom]);
        await forward(order, ether / 4n + BigInt(index));
        await gateway.mine('ethereum', 4);
        await gateway.wait(31);
        await gateway.mine('ethereum', 4);
        await gateway.wait(31);
        await isFoundOnce(order, [order.amountFrom, isToken ? '0.250000000000000001' : '0.25']);
      }
      await gateway.settleAll();
      await swept();
      for (const { depositAddress } of orders) expect(await gateway.balance('ETH', depositAddress)).toBe('0');
      for (const order of orders) {
        await isFoundOnce(order, [order.amountFrom, order.from === 'USDT' ? '0.250000000000000001' : '0.25']);
      }
    });

    it('of dust do not stop the sweep of the address', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await gateway.confirm(order);
      await age(order);
      await forward(order, 1n);
      await gateway.settle(order);
      await swept();
      expect(await gateway.balance('ETH', order.depositAddress)).toBe('0');
      await isFoundOnce(order, ['0.5', '0.000000000000000001']);
    });

    it('are not credited again when the chain is read again after the sweep', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await forward(order, ether / 2n);
      await gateway.mine('ethereum', 4);
      await gateway.wait(31);
      const [found] = await gateway.query<{ height: string }>('select height from deposit where order_id = $1', [
        order.id,
      ]);
      await gateway.mine('ethereum', 2);
      await gateway.wait(31);
      await gateway.pay(order, { amount: '0.2' });
      await gateway.mine('ethereum', 4);
      await gateway.settle(order);
      await swept();
      expect(await gateway.balance('ETH', order.depositAddress)).toBe('0');
      await gateway.query(
        `update chain_state set rescan_from = $1, fence = fence + 1, lease_owner = null, lease_until = null
          where chain = 'ethereum'`,
        [Number(found?.height) - 6],
      );
      await gateway.wait(31);
      await gateway.wait(31);
      await isFoundOnce(order, ['0.5', '0.2']);
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
      expect(await gateway.payments(order)).toHaveLength(2);
    });

    if (way === 'trace') {
      it('are taken back when their block is reorganised away', async () => {
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
