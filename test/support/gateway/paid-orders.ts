import type { RealCoin, RealGateway, RealOrder } from './real-gateway.ts';

/** Whole orders on the chains of a gateway, which is there once the tests run. */
export interface PaidOrders {
  status(order: RealOrder): Promise<string>;
  /** The order was paid once, with the amount of its only payment. */
  expectPaid(order: RealOrder): Promise<void>;
  /** An order from its deposit to its payout. */
  exchanges(from: RealCoin, to: RealCoin, amount: number): Promise<RealOrder>;
}

export function paidOrders(gateway: () => RealGateway): PaidOrders {
  const status = async (order: RealOrder): Promise<string> => (await gateway().show(order)).status;

  async function expectPaid(order: RealOrder): Promise<void> {
    expect(await status(order)).toBe('completed');
    const [payout, ...others] = await gateway().payments(order);
    expect(others).toEqual([]);
    expect(payout).toMatchObject({ kind: 'payout', state: 'confirmed' });
    expect(payout?.address.toLowerCase()).toBe(order.recipient.toLowerCase());
    expect(await gateway().balance(order.to, order.recipient)).toBe(payout?.amount);
  }

  return {
    status,
    expectPaid,
    async exchanges(from, to, amount) {
      const order = await gateway().order(from, to, amount);
      await gateway().confirm(order);
      await gateway().settle(order);
      await expectPaid(order);
      return order;
    },
  };
}
