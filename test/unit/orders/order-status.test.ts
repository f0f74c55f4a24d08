import { type OrderStatus, orderMoves, orderStatuses } from '../../../src/orders/order-status.ts';

const edges = Object.values(orderMoves);

describe('the states of an order', () => {
  it('are all reached from the first', () => {
    const reached = new Set<OrderStatus>(['waiting_deposit']);
    for (let before = 0; before < reached.size; ) {
      before = reached.size;
      for (const { from, to } of edges) if (reached.has(from)) reached.add(to);
    }
    expect([...reached].sort()).toEqual([...orderStatuses].sort());
  });

  it('have two final states: completed and refunded', () => {
    const ends = orderStatuses.filter((status) => !edges.some(({ from }) => from === status));
    expect(ends).toEqual(['completed', 'refunded']);
  });

  it('leave failed by an action of staff, or by a refund address of the partner', () => {
    const causes = Object.entries(orderMoves)
      .filter(([, { from }]) => from === 'failed')
      .map(([cause]) => cause);
    expect(causes).toEqual(['refund_resumed', 'staff_refund', 'staff_retry']);
  });
});
