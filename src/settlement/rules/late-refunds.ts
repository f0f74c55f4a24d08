import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Big, ceilTo } from '../../base/money.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import type { Order } from '../../orders/order.entity.ts';
import type { OrderCause } from '../../orders/order-status.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import { LateRefund } from '../rows/late-refund.entity.ts';
import type { Payment } from '../rows/payment.entity.ts';

/**
 * What bounds the refunds of an order whose refund address its partner set after the create. A
 * stolen key can set such an address, and can make refunds happen: it cancels an order whose user
 * is about to pay. So all such refunds of a partner within 24 hours have one limit together, and
 * staff decide those above it.
 */
export interface LateRefunds {
  /** US dollars that are left of the limit. All orders of a partner in a transaction share it. */
  readonly room: { usd: Big };
  /** The cause of the order's last move. */
  readonly lastMove: OrderCause;
}

const windowMs = 24 * 3_600_000;

/**
 * Reads the bounds of the orders with such an address, by order id. The rows of their partners stay
 * locked until the transaction ends, so that two transactions never spend the same room.
 */
export async function readLateRefunds(
  em: EntityManager,
  orders: readonly Order[],
  { now, limitUsd }: { readonly now: Date; readonly limitUsd: number },
): Promise<ReadonlyMap<string, LateRefunds>> {
  const late = orders.filter(({ refundAddressSetAt }) => refundAddressSetAt !== null);
  const found = new Map<string, LateRefunds>();
  if (late.length === 0) return found;
  const partners = `{${[...new Set(late.map(({ partner }) => partner.id))].join(',')}}`;
  await sql(em, 'select from partner where id = any (?::uuid[]) order by id for no key update', [partners]);
  const spent = await sql<{ partner: string; usd: string }>(
    em,
    `select partner_id as partner, sum(usd)::text as usd from late_refund
      where partner_id = any (?::uuid[]) and at > ? group by partner_id`,
    [partners, new Date(now.getTime() - windowMs)],
  );
  const moves = await sql<{ id: string; cause: OrderCause }>(
    em,
    `select o.id, e.cause from unnest(?::uuid[]) as o (id)
      cross join lateral (select cause from order_event e
                           where e.order_id = o.id and e.from_status is distinct from e.to_status
                           order by e.seq desc limit 1) e`,
    [`{${late.map(({ id }) => id).join(',')}}`],
  );
  const rooms = new Map<string, LateRefunds['room']>();
  for (const { id, partner } of late) {
    const used = spent.find((row) => row.partner === partner.id)?.usd ?? '0';
    const room = rooms.get(partner.id) ?? { usd: new Big(String(limitUsd)).minus(used) };
    rooms.set(partner.id, room);
    found.set(id, { room, lastMove: moves.find((row) => row.id === id)?.cause ?? 'created' });
  }
  return found;
}

/** Whether an amount of a deposit fits the room. An amount without a price does not. */
export function hasLateRoom(
  late: LateRefunds | null,
  prices: Pick<PriceBook, 'live' | 'reference'>,
  deposit: Pick<Deposit, 'coin'>,
  amount: Big,
): boolean {
  const usd = worth(prices, deposit, amount);
  return late !== null && (usd?.lte(late.room.usd) ?? false);
}

/** Counts a refund against the room, in the transaction that decides it. */
export function countLateRefund(
  { em, now, order, late }: { em: EntityManager; now: Date; order: Order; late: LateRefunds | null },
  prices: Pick<PriceBook, 'live' | 'reference'>,
  payment: Payment,
  amount: Big,
): void {
  const usd = worth(prices, payment, amount);
  if (!late || !usd) throw new Error(`the refund ${payment.id} has no room`);
  late.room.usd = late.room.usd.minus(usd);
  em.persist(em.create(LateRefund, { payment, partnerId: order.partner.id, at: now, usd: usd.toFixed(2) }));
}

function worth(
  prices: Pick<PriceBook, 'live' | 'reference'>,
  { coin }: { readonly coin: string },
  amount: Big,
): Big | null {
  const price = prices.live(coin) ?? prices.reference(coin);
  return price && ceilTo(amount.times(price), 2);
}
