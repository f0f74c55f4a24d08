import type { EntityManager } from '@mikro-orm/postgresql';
import { Order } from '../../../src/orders/order.entity.ts';
import { moveOrder } from '../../../src/orders/order-moves.ts';
import { type OrderMove, type OrderStatus, orderMoves, orderStatuses } from '../../../src/orders/order-status.ts';

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

describe('a move of an order', () => {
  it.each(Object.keys(orderMoves) as OrderMove[])('by %s begins at the start of its edge only', (cause) => {
    for (const status of orderStatuses) {
      const written: object[] = [];
      const em = { create: (_entity: unknown, row: object) => written.push(row) } as unknown as EntityManager;
      const order = Object.assign(new Order(), { id: 'o', status, eventSeq: 1, partner: { id: 'p' } });
      const move = () => moveOrder(em, order, cause, { at: new Date(0) });
      const { from, to } = orderMoves[cause];
      if (status === from) {
        move();
        expect(order).toMatchObject({ status: to, eventSeq: 2 });
        expect(written).toMatchObject([{ fromStatus: from, toStatus: to, cause, seq: 2 }]);
      } else {
        expect(move).toThrow(`${cause} needs status ${from}`);
        expect(order).toMatchObject({ status, eventSeq: 1 });
        expect(written).toEqual([]);
      }
    }
  });
});
