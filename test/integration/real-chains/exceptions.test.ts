import { Big } from '../../../src/base/money.ts';
import {
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway();
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    expect(await gateway.differences()).toEqual([]);
  });

  /** What a chain says of the address that refunds go to. */
  const refunded = (order: RealOrder, coin = order.from): Promise<string> => gateway.balance(coin, order.refundTo);
  const status = async (order: RealOrder): Promise<string> => (await gateway.show(order)).status;

  describe('an unusual deposit on a real chain', () => {
    it('below the expected amount is exchanged for less', async () => {
      const order = await gateway.order('ETH', 'USDT', 0.5);
      const { amount_to_expected: expected } = await gateway.show(order);
      await gateway.confirm(order, { amount: '0.2' });
      await gateway.settle(order);
      expect(await status(order)).toBe('completed');
      const paid = new Big(await gateway.balance('USDT', order.recipient));
      expect(paid.gt('0') && paid.lt(new Big(String(expected)).div('2'))).toBe(true);
    });

    it('above the amount of a fixed order is exchanged up to that amount, and the rest is refunded', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5, { rate_type: 'fixed' });
      const { amount_to_expected: expected } = await gateway.show(order);
      await gateway.confirm(order, { amount: '0.7000000000000001' });
      await gateway.settle(order);
      expect(await status(order)).toBe('completed');
      expect(await gateway.balance('LTC', order.recipient)).toBe(String(expected));
      expect(await refunded(order)).toBe('0.1995000000000001');
    });

    it.each([
      ['LTC', '0.1', '0.099'],
      ['ETH', '0.003', '0.0025'],
      ['USDT', '10.5', '8.5'],
    ] as const)('of %s below the minimum is refunded after the window, less the fee of its network', async (from, amount, back) => {
      const order = await gateway.order(from, from === 'LTC' ? 'ETH' : 'LTC', from === 'USDT' ? 100 : 1);
      await gateway.confirm(order, { amount });
      expect(await status(order)).toBe('waiting_deposit');
      await gateway.wait(1_801);
      expect(await status(order)).toBe('refunding');
      await gateway.settle(order);
      expect(await status(order)).toBe('refunded');
      expect(await refunded(order)).toBe(back);
    });

    it.each([
      ['LTC', 'USDT', '1.5', '1.499'],
      ['ETH', 'LTC', '0.25', '0.2495'],
    ] as const)('in %s to an order with another deposit is refunded separately', async (from, to, amount, back) => {
      const order = await gateway.order(from, to, 2);
      await gateway.confirm(order);
      await gateway.settle(order);
      await gateway.confirm(order, { amount });
      await gateway.settle(order);
      expect(await status(order)).toBe('completed');
      expect((await gateway.payments(order)).map(({ kind }) => kind)).toEqual(['payout', 'refund']);
      expect(await refunded(order)).toBe(back);
    });

    it('of a token at the address of an ETH order is refunded as that token', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.4);
      await gateway.confirm(order, { coin: 'USDT', amount: '50' });
      expect(await status(order)).toBe('waiting_deposit');
      await gateway.confirm(order);
      await gateway.settle(order);
      expect(await status(order)).toBe('completed');
      expect(await refunded(order, 'USDT')).toBe('48');
      expect(await refunded(order, 'ETH')).toBe('0');
    });

    it.each([
      ['LTC', 'ETH', 2, '1.999'],
      ['ETH', 'LTC', 0.3, '0.2995'],
      ['USDT', 'LTC', 80, '78'],
    ] as const)('in %s after the window is refunded', async (from, to, amount, back) => {
      const order = await gateway.order(from, to, amount);
      await gateway.wait(1_801);
      expect(await status(order)).toBe('expired');
      await gateway.confirm(order);
      expect(await status(order)).toBe('refunding');
      await gateway.settle(order);
      expect(await status(order)).toBe('refunded');
      expect(await refunded(order)).toBe(back);
    });
  });

  describe('staff', () => {
    it('refund a failed order to an address that a second member approves', async () => {
      const first = (await gateway.staff.create('first@example.com', 'operator')).member.id;
      const second = (await gateway.staff.create('second@example.com', 'operator')).member.id;
      const order = await gateway.order('LTC', 'USDT', 1, { refund_address: undefined });
      await gateway.wait(1_801);
      await gateway.confirm(order);
      expect(await gateway.history(order)).toEqual(['created', 'window_passed', 'late_deposit', 'no_refund_address']);
      const { staffActions } = gateway.settlement;
      const proposal = await staffActions.propose({
        action: 'refund',
        staffId: first,
        orderId: order.id,
        recipient: { address: order.refundTo, tag: null },
        reason: 'the user asked',
      });
      await expect(staffActions.approve(proposal.id, first)).rejects.toMatchObject({ kind: 'second_member_needed' });
      await gateway.tick();
      expect(await gateway.payments(order)).toEqual([]);
      await staffActions.approve(proposal.id, second);
      await gateway.settle(order);
      expect(await status(order)).toBe('refunded');
      expect(await refunded(order)).toBe('0.999');
    });
  });
});
