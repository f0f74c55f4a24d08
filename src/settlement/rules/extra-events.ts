import type { EntityManager } from '@mikro-orm/postgresql';
import { recordFact } from '../../orders/order-moves.ts';
import type { OrderFact } from '../../orders/order-status.ts';
import type { Payment } from '../rows/payment.entity.ts';
import { type Size, sizeOf } from './match.ts';
import { isExtraRefund } from './payments.ts';
import type { Settling } from './settling.ts';

const sighting = { enough: 'extra_deposit', small: 'small_deposit' } as const satisfies Record<Size, OrderFact>;
const ending = {
  confirmed: 'extra_refund_confirmed',
  dead: 'extra_refund_failed',
} as const satisfies Partial<Record<Payment['state'], OrderFact>>;

/**
 * Writes into the histories of orders which deposits were seen beside their own, and how refunds of
 * such deposits ended. Each is told once. Strangers can send any number of deposits, so an order
 * tells at most as many of each size as it may refund (ADR 79). The caller holds the orders' locks.
 */
export async function tellExtras(settlings: readonly Pick<Settling, keyof Telling>[]): Promise<void> {
  const told = await readTold(settlings);
  for (const settling of settlings) {
    const { em, order, now, tools } = settling;
    const counts = told.get(order.id);
    if (!counts) continue;
    const record = (fact: OrderFact): void => {
      recordFact(em, order, fact, { at: now });
      counts.set(fact, (counts.get(fact) ?? 0) + 1);
    };
    for (const deposit of untold(settling)) {
      deposit.isTold = true;
      const fact = sighting[sizeOf(settling, deposit)];
      if ((counts.get(fact) ?? 0) < tools.rules.maxRefunds) record(fact);
    }
    for (const [state, fact] of Object.entries(ending)) {
      const ended = endedRefunds(settling).filter((payment) => payment.state === state).length;
      while ((counts.get(fact) ?? 0) < ended) record(fact);
    }
  }
}

type Telling = Pick<Settling, 'em' | 'order' | 'deposits' | 'payments' | 'now' | 'tools'>;

function untold({ deposits }: Pick<Telling, 'deposits'>): Settling['deposits'] {
  return deposits.filter(({ isTold, state }) => !isTold && state !== 'orphaned');
}

function endedRefunds({ order, payments }: Pick<Telling, 'order' | 'payments'>): Payment[] {
  return payments.filter((payment) => payment.state in ending && isExtraRefund(order, payment));
}

/** How often the orders that may have more to tell have told of each. */
async function readTold(settlings: readonly Telling[]): Promise<ReadonlyMap<string, Map<string, number>>> {
  const telling = settlings.filter((one) => untold(one).length > 0 || endedRefunds(one).length > 0);
  const [first] = telling;
  if (!first) return new Map();
  const told = new Map(telling.map(({ order }) => [order.id, new Map<string, number>()]));
  for (const { id, cause, count } of await countTold(first.em, [...told.keys()])) told.get(id)?.set(cause, count);
  return told;
}

function countTold(em: EntityManager, ids: readonly string[]): Promise<{ id: string; cause: string; count: number }[]> {
  const causes = [...Object.values(sighting), ...Object.values(ending)];
  return em.execute(
    `select order_id as id, cause, count(*)::int as count from order_event
      where order_id = any (?::uuid[]) and cause = any (?::text[]) group by order_id, cause`,
    [`{${ids.join(',')}}`, `{${causes.join(',')}}`],
  );
}
