import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Prepared } from '../../base/db/prepared.ts';
import { decimal, isoTime } from '../../orders/order-statements.ts';
import { feedPage, mostSteps, readFeedPage } from '../../orders/read/feed-page.ts';
import type { ListCursors } from '../../orders/read/list-cursor.ts';
import type { CommissionAmount } from './commission-reads.ts';

/** One side of a completed order. */
export interface ReportedSide {
  readonly coin: string;
  readonly network: string;
  /** Null for the chain's own coin. */
  readonly contract: string | null;
  /** Decimal text. */
  readonly amount: string;
}

/** A completed order. Times are ISO 8601. */
export interface ReportedOrder {
  readonly id: string;
  readonly shortId: string;
  readonly externalId: string | null;
  readonly createdAt: string;
  readonly completedAt: string;
  readonly source: ReportedSide;
  readonly destination: ReportedSide;
  readonly depositAddress: string;
  readonly recipientAddress: string;
  readonly depositTxid: string | null;
  readonly payoutTxid: string | null;
  /** Null for an order without a markup. */
  readonly commission: CommissionAmount | null;
}

export interface ReportRequest {
  /** Completions from this moment on. Null begins with the first. */
  readonly from: Date | null;
  /** Completions before this moment. Null goes on for ever. */
  readonly to: Date | null;
  readonly limit: number;
  readonly cursor: string | null;
}

export interface ReportPage {
  readonly orders: readonly ReportedOrder[];
  readonly hasMore: boolean;
  readonly nextCursor: string;
}

const sideOf = (way: 'from' | 'to'): string => `jsonb_build_object('coin', o.coin_${way}, 'network', o.network_${way},
  'contract', (select c.contract from currency c where c.coin = o.coin_${way} and c.network = o.network_${way}),
  'amount', ${decimal(`t.amount_${way}`)})`;

const completedOrders = feedPage('order_report', {
  fits: `e.to_status = 'completed' and e.from_status <> 'completed'
    and (:from::timestamptz is null or e.at >= :from) and (:to::timestamptz is null or e.at < :to)`,
  columns: `s.order_id as "orderId", s.seq, o.id, o.short_id as "shortId", m.external_id as "externalId",
       ${isoTime('o.created_at')} as "createdAt", ${isoTime('s.at')} as "completedAt",
       ${sideOf('from')} as source, ${sideOf('to')} as destination,
       d.address as "depositAddress", o.recipient_address as "recipientAddress", o.deposit_txid as "depositTxid",
       o.payout_txid as "payoutTxid",
       case when e.id is not null then jsonb_build_object(
         'coin', e.coin, 'network', e.network, 'amount', ${decimal('e.amount')}) end as commission`,
  tables: `left join exchange_order o on s.fits and o.id = s.order_id
  left join trade t on t.order_id = o.id
  left join deposit_address d on d.id = o.deposit_address_id
  left join order_terms m on m.order_id = o.id
  left join commission_entry e on e.order_id = o.id and e.kind = 'accrual'`,
});

/**
 * The completed orders of a partner for its accounts. It walks the feed of the partner's events, in
 * which no completion comes late. So a walk has each order once, also while orders complete. An
 * order is found by the time of its completion, however long before it was created.
 */
export class OrderReport {
  readonly #em: EntityManager;
  readonly #cursors: ListCursors;

  constructor(orm: MikroORM, cursors: ListCursors) {
    this.#em = orm.em.fork();
    this.#cursors = cursors;
  }

  /** The statements of this class, for tests of their plans. */
  get statements(): readonly Prepared[] {
    return [completedOrders];
  }

  /**
   * Reads the completions after a place, the earliest first.
   *
   * @throws AppError invalid_cursor, cursor_expired as `readFeedPage` does.
   */
  async read(partnerId: string, { from, to, limit, cursor }: ReportRequest): Promise<ReportPage> {
    const bound = `${partnerId} report ${from?.toISOString() ?? '*'} ${to?.toISOString() ?? '*'}`;
    const { rows, ...page } = await readFeedPage<ReportedOrder>(this.#em, this.#cursors, completedOrders, {
      ...{ partnerId, bound, cursor, since: from, parameter: 'completed_from', until: to, limit, steps: mostSteps },
      values: { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null },
    });
    return { orders: rows, ...page };
  }
}
