import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { recordFact } from '../../orders/order-moves.ts';
import type { OrderFact } from '../../orders/order-status.ts';
import type { Payment } from '../rows/payment.entity.ts';
import { type Size, sizeOf } from './match.ts';
import { isExtraRefund } from './payments.ts';
import type { Settling } from './settling.ts';

const sighting = { enough: 'deposit_added', small: 'small_deposit' } as const satisfies Record<Size, OrderFact>;
const ending = {
  confirmed: 'extra_refund_confirmed',
  dead: 'extra_refund_failed',
} as const satisfies Partial<Record<Payment['state'], OrderFact>>;

/**
 * Writes into the histories of orders which deposits were seen besides their main one, and how
 * refunds of such deposits ended. Each is reported once. Strangers can send any number of deposits,
 * so an order reports at most as many of each size as it may refund (ADR 79). The caller holds the
 * orders' locks.
 */
export async function reportExtras(settlings: readonly Pick<Settling, keyof Reporting>[]): Promise<void> {
  const reported = await readReported(settlings);
  for (const settling of settlings) {
    const { em, order, now, tools } = settling;
    const counts = reported.get(order.id);
    if (!counts) continue;
    const record = (fact: OrderFact): void => {
      recordFact(em, order, fact, { at: now });
      counts.set(fact, (counts.get(fact) ?? 0) + 1);
    };
    for (const deposit of unreported(settling)) {
      deposit.isReported = true;
      const fact = sighting[sizeOf(settling, deposit)];
      if ((counts.get(fact) ?? 0) < tools.rules.maxRefunds) record(fact);
    }
    for (const [state, fact] of Object.entries(ending)) {
      const ended = endedRefunds(settling).filter((payment) => payment.state === state).length;
      while ((counts.get(fact) ?? 0) < ended) record(fact);
    }
  }
}

type Reporting = Pick<Settling, 'em' | 'order' | 'deposits' | 'payments' | 'now' | 'tools'>;

function unreported({ deposits }: Pick<Reporting, 'deposits'>): Settling['deposits'] {
  return deposits.filter(({ isReported, state }) => !isReported && state !== 'orphaned');
}

function endedRefunds({ order, payments }: Pick<Reporting, 'order' | 'payments'>): Payment[] {
  return payments.filter((payment) => payment.state in ending && isExtraRefund(order, payment));
}

/** How many events of each cause the orders have, where more may follow. */
async function readReported(settlings: readonly Reporting[]): Promise<ReadonlyMap<string, Map<string, number>>> {
  const open = settlings.filter((one) => unreported(one).length > 0 || endedRefunds(one).length > 0);
  const [first] = open;
  if (!first) return new Map();
  const reported = new Map(open.map(({ order }) => [order.id, new Map<string, number>()]));
  for (const { id, cause, count } of await countReported(first.em, [...reported.keys()]))
    reported.get(id)?.set(cause, count);
  return reported;
}

function countReported(
  em: EntityManager,
  ids: readonly string[],
): Promise<{ id: string; cause: string; count: number }[]> {
  const causes = [...Object.values(sighting), ...Object.values(ending)];
  return sql(
    em,
    `select order_id as id, cause, count(*)::int as count from order_event
      where order_id = any (?::uuid[]) and cause = any (?::text[]) group by order_id, cause`,
    [`{${ids.join(',')}}`, `{${causes.join(',')}}`],
  );
}
