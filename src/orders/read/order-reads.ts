import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type Prepared, PreparedStatements, type Statements } from '../../base/db/prepared.ts';
import { type EventType, eventTypeOf } from '../event-types.ts';
import { orderNotFound } from '../order-errors.ts';
import type { PageLink } from '../order-pages.ts';
import {
  type OrderScope,
  type PageScope,
  type PartnerScope,
  type PublicScope,
  ScopedStatement,
  ScopedStatements,
  type StaffScope,
} from '../order-scope.ts';
import { isoTime, type OrderLookup, type OrderView, orderLookup } from '../order-statements.ts';
import type { OrderCause, OrderStatus } from '../order-status.ts';
import { orderNamed } from '../short-id.ts';
import { eventId } from './event-facts.ts';
import type { ListCursors } from './list-cursor.ts';
import {
  type DetailsSources,
  type OrderDetails,
  type OrderDetailsRow,
  orderDetails,
  orderDetailsStatement,
} from './order-details.ts';
import { createdPage, filterText, type OrderListFilter, updatedPage, type Walk } from './order-walk.ts';

/** A page of a partner's orders, as it was asked for. */
export interface OrderListRequest {
  readonly filter: OrderListFilter;
  /** `created`: newest first. `updated`: in the order in which orders moved. */
  readonly sort: 'created' | 'updated';
  /** Where a list by `updated` begins without a cursor. */
  readonly updatedSince: Date | null;
  readonly limit: number;
  readonly cursor: string | null;
  readonly withDetails: boolean;
}

export interface ListedOrder {
  readonly order: OrderView;
  /** Null unless they were asked for. */
  readonly details: OrderDetails | null;
  /** Makes the cursor of a page that begins with this order. */
  readonly cursor: () => string;
}

export interface OrderListPage {
  readonly orders: readonly ListedOrder[];
  readonly hasMore: boolean;
  /** Null at the end of a list by `created`. A list by `updated` has no end. */
  readonly nextCursor: string | null;
}

/** A move of an order, or a fact about it, as its partner sees it. */
export interface OrderEventView {
  readonly seq: number;
  readonly eventId: string;
  readonly type: EventType;
  readonly status: OrderStatus;
  readonly previousStatus: OrderStatus | null;
  readonly cause: OrderCause;
  readonly at: string;
}

type EventRow = Omit<OrderEventView, 'eventId' | 'type'> & { readonly orderId: string };

export interface OrderHistory {
  /** Oldest first. */
  readonly events: readonly OrderEventView[];
  /** Whether there are older events than these. */
  readonly hasMore: boolean;
}

/** What everyone who knows an order's UUID may read. */
export interface PublicStatus {
  readonly id: string;
  readonly status: OrderStatus;
  readonly isHeld: boolean;
  /** Whether its partner is asked what to do with a deposit. */
  readonly isAsked: boolean;
  readonly updatedAt: string;
}

/** An order as its user may see it, by the link of its page. */
export interface LinkedOrder {
  readonly order: OrderView;
  readonly details: OrderDetails;
  /** The cause of the order's last move. */
  readonly cause: string;
  /** What the page calls the partner. */
  readonly partnerName: string;
}

export interface OrderReadsOptions extends DetailsSources {
  readonly orm: MikroORM;
  readonly cursors: ListCursors;
  /** How long after the window a deposit that came in time may be mined. */
  readonly depositGraceSec: number;
}

/** Most events that are shown of one order: the newest. */
export const mostEvents = 1_000;

const orderEvents = new ScopedStatement(
  'order_events',
  ({
    orders,
  }) => `select e.order_id as "orderId", e.seq, e.to_status as status, e.from_status as "previousStatus", e.cause,
       ${isoTime('e.at')} as at
  from (select o.id from ${orders} o where o.id = :id::uuid
        union all
        select o.id from ${orders} o where o.short_id = :shortId::text) o
  join order_event e on e.order_id = o.id
 order by e.seq desc limit ${mostEvents + 1}`,
);

const orderOfExternalId = new ScopedStatement(
  'order_of_external_id',
  ({ orders }) => `select o.id, o.short_id as "shortId"
     from order_terms t join ${orders} o on o.id = t.order_id and o.partner_id = t.partner_id
    where t.external_id = :externalId::text`,
);

const publicStatus = new ScopedStatement(
  'status',
  ({ orders }) => `select o.id, o.status, o.held_at is not null as "isHeld",
       exists (select from order_action a where a.order_id = o.id and a.outcome is null) as "isAsked",
       ${isoTime('o.updated_at')} as "updatedAt"
  from ${orders} o
 where o.id = :id::uuid`,
);

/** One statement and one plan for each token: unknown, revoked, or of a partner without pages. */
const orderOfToken = new ScopedStatement(
  'order_of_token',
  ({ orders }) => `select o.id, p.display_name as "partnerName" from ${orders} o join partner p on p.id = o.partner_id`,
);

const pageLink = new ScopedStatement(
  'order_page_link',
  ({ orders }) => `select l.nonce, l.key_version as "keyVersion"
  from ${orders} o join order_page l on l.order_id = o.id join partner p on p.id = o.partner_id
 where o.id = :id::uuid and p.order_page`,
);

/**
 * Reads orders for REST, the cabinet, the pages of orders and staff. Each method takes the scope
 * first: for whom it reads. The scope decides which orders exist for the method.
 */
export class OrderReads {
  /** Of places in the feed, which belong to no order. */
  readonly #places: Statements;
  readonly #statements: ScopedStatements;
  readonly #cursors: ListCursors;
  readonly #details: ScopedStatement;
  readonly #sources: DetailsSources;

  constructor({ orm, cursors, depositGraceSec, ...sources }: OrderReadsOptions) {
    this.#sources = sources;
    const statements = new PreparedStatements(orm);
    this.#places = statements;
    this.#statements = new ScopedStatements(statements);
    this.#cursors = cursors;
    this.#details = orderDetailsStatement(depositGraceSec);
  }

  /** The statements of this class, for tests of their plans. */
  get statements(): readonly Prepared[] {
    return [
      ...[this.#details, orderEvents, pageLink, orderOfExternalId].map((statement) => statement.of('partner')),
      ...[this.#details, orderOfToken].map((statement) => statement.of('page')),
      publicStatus.of('public'),
    ];
  }

  /**
   * Reads a page. Two statements: one finds the orders, one reads them with their details. A list
   * that begins at a time takes a third.
   *
   * @throws AppError invalid_cursor for a cursor of another partner or of other filters, or for
   * none of ours.
   * @throws AppError cursor_expired after a restore, with the time from which to begin again.
   */
  async list(scope: PartnerScope, request: OrderListRequest): Promise<OrderListPage> {
    const { sort, limit, cursor, updatedSince, withDetails } = request;
    const bound = `${scope.partnerId} ${sort} ${filterText(request.filter)}`;
    const place = cursor === null ? null : this.#cursors.read(bound, cursor);
    const filter = await this.#named(scope, request.filter);
    const start = { scope, filter, limit, place };
    const walk =
      sort === 'created'
        ? await createdPage(this.#statements, start)
        : await updatedPage(this.#statements, this.#places, { ...start, since: updatedSince });
    const write = (at: string): string => this.#cursors.write(bound, at);
    return {
      orders: await this.#read(scope, walk, withDetails, write),
      hasMore: walk.isCut,
      nextCursor: walk.isCut || sort === 'updated' ? write(walk.end) : null,
    };
  }

  /** Replaces the partner's own id of an order by ours, if the other names admit that order. */
  async #named(scope: PartnerScope, filter: OrderListFilter): Promise<OrderListFilter> {
    const { externalId, names } = filter;
    if (externalId === null) return filter;
    const found = await this.#statements.run<NamedOrder>(scope, orderOfExternalId, { externalId });
    const admitted = found.filter((order) => names === null || names.some((name) => isNamed(order, name)));
    return { ...filter, names: admitted.map(({ id }) => id) };
  }

  /** @throws AppError order_not_found, as `OrderService.find` does. */
  async details(scope: PartnerScope | StaffScope, text: string): Promise<OrderDetails> {
    const [row] = await this.#statements.runRows<OrderDetailsRow>(scope, this.#details, [namesOf(text)]);
    if (!row) throw orderNotFound();
    return orderDetails(row, this.#sources);
  }

  /** Reads the details of an order inside the transaction that has changed it. */
  async detailsIn(scope: PartnerScope | StaffScope, em: EntityManager, id: string): Promise<OrderDetails> {
    const names = { id, shortId: null };
    const [row] = await this.#statements.runRowIn<OrderDetailsRow>(em, scope, this.#details, names);
    if (!row) throw orderNotFound();
    return orderDetails(row, this.#sources);
  }

  /**
   * Reads the newest events of an order, oldest first.
   *
   * @throws AppError order_not_found, as `OrderService.find` does.
   */
  async events(scope: PartnerScope | StaffScope, text: string): Promise<OrderHistory> {
    const rows = await this.#statements.run<EventRow>(scope, orderEvents, namesOf(text));
    // Every order has the event of its creation.
    if (rows.length === 0) throw orderNotFound();
    const events = rows.slice(0, mostEvents).toReversed();
    return {
      events: events.map(({ orderId, ...event }) => ({
        ...event,
        eventId: eventId({ orderId, seq: event.seq }),
        type: eventTypeOf(event.cause),
      })),
      hasMore: rows.length > mostEvents,
    };
  }

  /**
   * Reads the public status of an order by its UUID.
   *
   * @throws AppError order_not_found, also when its partner has not switched public status on.
   */
  async publicStatus(scope: PublicScope, text: string): Promise<PublicStatus> {
    const { id } = namesOf(text);
    if (id === null) throw orderNotFound();
    const [row] = await this.#statements.run<PublicStatus>(scope, publicStatus, { id });
    if (!row) throw orderNotFound();
    return row;
  }

  /**
   * Reads the order of a page. Null for every token that shows no page: an unknown one costs the
   * same as a revoked one.
   */
  async linked(scope: PageScope): Promise<LinkedOrder | null> {
    const [named] = await this.#statements.run<{ id: string; partnerName: string }>(scope, orderOfToken, {});
    if (!named) return null;
    const { id, partnerName } = named;
    const [order] = await this.#statements.runRows<OrderDetailsRow>(scope, this.#details, [{ id, shortId: null }]);
    if (!order) return null;
    return { order, details: orderDetails(order, this.#sources), cause: order.cause, partnerName };
  }

  /** The address of an order's page at this moment. Null without one. */
  async publicUrl(scope: PartnerScope | StaffScope, id: string): Promise<string | null> {
    const [link] = await this.#statements.run<PageLink>(scope, pageLink, { id });
    return link ? this.#sources.pages.urlOf(id, link) : null;
  }

  async #read(
    scope: OrderScope,
    { found }: Walk,
    withDetails: boolean,
    write: (place: string) => string,
  ): Promise<ListedOrder[]> {
    if (found.length === 0) return [];
    const lookups = found.map(({ id }) => ({ id, shortId: null }));
    const statement = withDetails ? this.#details : orderLookup;
    const rows = await this.#statements.runRows<OrderDetailsRow>(scope, statement, lookups);
    const byPlace = new Map(rows.map((row) => [row.n, row]));
    return found.flatMap(({ before }, i) => {
      const row = byPlace.get(i + 1);
      if (!row) return [];
      return [
        { order: row, details: withDetails ? orderDetails(row, this.#sources) : null, cursor: () => write(before) },
      ];
    });
  }
}

/** @throws AppError order_not_found for text that names no order. */
function namesOf(text: string): OrderLookup {
  const named = orderNamed(text);
  if (!named) throw orderNotFound();
  return { id: null, shortId: null, ...named };
}

interface NamedOrder {
  readonly id: string;
  readonly shortId: string;
}

function isNamed(order: NamedOrder, text: string): boolean {
  const name = orderNamed(text);
  return name !== null && ('id' in name ? name.id === order.id : name.shortId === order.shortId);
}
