import { attention } from '../../../src/orders/read/attention.ts';
import {
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;

withRealChains(() => {
  beforeAll(async () => {
    // What is swept in a block that is gone has nothing to do with the accounts of orders.
    gateway = await startRealGateway({ networks: () => ({ ethereum: { sweep_from: {} } }) });
  });
  afterAll(() => gateway?.stop());

  /** The blocks from the transaction's on are made again without it. */
  async function lose(txid: string): Promise<void> {
    const { anvil } = gateway.chains;
    const receipt = await anvil.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', txid);
    const depth = (await anvil.height()) - Number(receipt.blockNumber) + 1;
    await anvil.reorg(depth, depth + 1);
    await anvil.drop(txid);
    await gateway.mine('ethereum', 5);
    await gateway.wait(10);
  }

  async function debitsOf({ id }: RealOrder): Promise<string[]> {
    const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
    return items.filter(({ kind, orderId }) => kind === 'client_debit' && orderId === id).map(({ detail }) => detail);
  }

  describe('a deposit that is reorganised away after its order was paid out', () => {
    it('leaves a debit that a larger second deposit settles, and only the excess is refunded', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      const gone = await gateway.confirm(order);
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
      await lose(gone);
      expect(await debitsOf(order)).toEqual(['0.5 ETH on ETH']);
      expect(await gateway.differences()).toMatchObject([{ check: 'debits', difference: '-0.5' }]);
      await gateway.confirm(order, { amount: '0.7' });
      await gateway.settleAll();
      expect((await gateway.payments(order)).map(({ kind, state }) => `${kind} ${state}`)).toEqual([
        'payout confirmed',
        'refund confirmed',
      ]);
      expect(await gateway.balance('ETH', order.refundTo)).toBe('0.1995');
      expect(await debitsOf(order)).toEqual([]);
      expect(await gateway.differences()).toEqual([]);
      expect(
        await gateway.query('select problem from deposit where order_id = $1 order by seen_at', [order.id]),
      ).toEqual([{ problem: null }, { problem: 'netted' }]);
    });
  });
});
