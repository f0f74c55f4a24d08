import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type Prepared, replanned } from '../../base/db/prepared.ts';
import { sql } from '../../base/db/sql.ts';
import { decimal, isoTime } from '../../orders/order-statements.ts';
import { clusterName, disorderMs, feedStart, partnerFeed, placeOf } from '../../orders/read/feed-place.ts';
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

/**
 * Most events that a page looks at for completions. A page may thus be short although more follow.
 */
const mostSteps = 1_000;

const sideOf = (way: 'from' | 'to'): string => `jsonb_build_object('coin', o.coin_${way}, 'network', o.network_${way},
  'contract', (select c.contract from currency c where c.coin = o.coin_${way} and c.network = o.network_${way}),
  'amount', ${decimal(`t.amount_${way}`)})`;

const completedOrders = replanned(
  'order_report',
  `with ${partnerFeed}, step as (
  select w.*, (e.to_status = 'completed' and e.from_status <> 'completed'
               and (:from::timestamptz is null or e.at >= :from) and (:to::timestamptz is null or e.at < :to)) as fits,
         row_number() over (order by w.xid, w.order_id, w.seq) as n, count(*) over () as scanned
    from walked w
    join order_event e on e.order_id = w.order_id and e.seq = w.seq
), counted as (
  select s.*, count(*) filter (where s.fits) over (order by s.n) as found from step s
), page as (
  select * from counted where fits and found <= :limit::integer or n = scanned
)
select c.cluster, s.xid::text, s.order_id as "orderId", s.seq, (extract(epoch from s.at) * 1000)::bigint::text as ms,
       s.fits, s.found::integer, s.scanned::integer,
       o.id, o.short_id as "shortId", m.external_id as "externalId", ${isoTime('o.created_at')} as "createdAt",
       ${isoTime('s.at')} as "completedAt", ${sideOf('from')} as source, ${sideOf('to')} as destination,
       d.address as "depositAddress", o.recipient_address as "recipientAddress", o.deposit_txid as "depositTxid",
       o.payout_txid as "payoutTxid",
       case when e.id is not null then jsonb_build_object(
         'coin', e.coin, 'network', e.network, 'amount', ${decimal('e.amount')}) end as commission
  from (select ${clusterName} as cluster) c
  left join page s on true
  left join exchange_order o on s.fits and o.id = s.order_id
  left join trade t on t.order_id = o.id
  left join deposit_address d on d.id = o.deposit_address_id
  left join order_terms m on m.order_id = o.id
  left join commission_entry e on e.order_id = o.id and e.kind = 'accrual'
 order by s.n`,
);

/** A row of the statement. All but the cluster is null when no event follows the place. */
interface ReportRow extends ReportedOrder {
  readonly cluster: string;
  readonly xid: string | null;
  readonly orderId: string;
  readonly seq: number;
  readonly ms: string;
  readonly fits: boolean;
  /** How many of the events up to this one are completions of the range. */
  readonly found: number;
  readonly scanned: number;
}

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
   * @throws AppError invalid_cursor for a cursor of another partner or of other times.
   * @throws AppError cursor_expired after a restore, with the time from which to begin again.
   */
  async read(partnerId: string, { from, to, limit, cursor }: ReportRequest): Promise<ReportPage> {
    const bound = `${partnerId} report ${from?.toISOString() ?? '*'} ${to?.toISOString() ?? '*'}`;
    const place = cursor === null ? null : this.#cursors.read(bound, cursor);
    const start = await feedStart(this.#em, place, from);
    const rows = await sql<ReportRow>(this.#em, completedOrders, {
      partner: partnerId,
      ...start.values,
      steps: mostSteps,
      from: from?.toISOString() ?? null,
      to: to?.toISOString() ?? null,
      limit,
    });
    const [first] = rows;
    if (!first) throw new Error('the feed named no cluster');
    start.requireCluster(first.cluster, 'completed_from');
    const passed = rows.filter(({ xid }) => xid !== null);
    const shown = passed.filter(({ fits, found }) => fits && found <= limit);
    const last = passed.at(-1);
    const isFull = last !== undefined && last.found > limit;
    const end = isFull ? shown.at(-1) : last;
    const isOver = to !== null && end !== undefined && Number.parseInt(end.ms, 10) >= to.getTime() + disorderMs;
    return {
      orders: shown,
      hasMore: isFull || (last !== undefined && last.scanned >= mostSteps && !isOver),
      nextCursor: this.#cursors.write(bound, end ? placeOf(end) : start.text(first.cluster)),
    };
  }
}
