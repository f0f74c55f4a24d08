import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { systemClock } from '../../base/clock.ts';
import type { Prepared } from '../../base/db/prepared.ts';
import { AppError } from '../../base/errors.ts';
import { annotate } from '../../base/telemetry/tracing.ts';
import { type EventType, eventTypeOf } from '../event-types.ts';
import { Order } from '../order.entity.ts';
import type { OnBatch } from '../order-batches.ts';
import { orderNotFound } from '../order-errors.ts';
import type { PageLink } from '../order-pages.ts';
import {
  type PageScope,
  type PartnerScope,
  type PublicScope,
  ScopedStatement,
  type StaffScope,
  scopeWhere,
  sqlFor,
  sqlRowsFor,
} from '../order-scope.ts';
import { isoTime, type OrderLookup, type OrderView, orderLookup } from '../order-statements.ts';
import type { OrderCause, OrderStatus } from '../order-status.ts';
import { orderNamed } from '../short-id.ts';
import { eventId } from './event-facts.ts';
import type { ListCursors } from './list-cursor.ts';
import {
  type Destinations,
  type DetailsSources,
  type OrderDetails,
  type OrderDetailsRow,
  orderDetails,
  orderDetailsStatement,
} from './order-details.ts';
import { type ChosenOrders, mostExported, orderCsv } from './order-export.ts';
import { filterText, type OrderFilter } from './order-filter.ts';
import { OrderLookups } from './order-lookups.ts';
import { countMatches, feedPage, keysetPage, newestMatches, type OrderSorting, type Walk } from './order-walk.ts';

/**
 * Forward with `first` and `after`, or backward with `last` and `before`. Cursors come from an
 * earlier page.
 */
type OrderPaging =
  | { readonly first: number; readonly after?: string | null }
  | { readonly last: number; readonly before?: string | null };

/** The parameters of `list` and `listEntities`. */
export interface OrderPageRequest {
  readonly filter: OrderFilter;
  readonly orderBy: OrderSorting;
  readonly page: OrderPaging;
  /** The moment that decides what is overdue. Default: now. */
  readonly now?: Date;
}

/** The parameters of `moved`. */
interface OrderFeedRequest {
  readonly filter: OrderFilter;
  /** Where the list begins without a cursor. */
  readonly since: Date | null;
  readonly limit: number;
  readonly cursor: string | null;
}

/** An order on a page, with the cursors of the places around it. */
interface PagedOrder<Row> {
  readonly row: Row;
  /** Makes the cursor of a page that begins with this order. */
  readonly before: () => string;
  /** Makes the cursor of a page that begins behind this order. */
  readonly behind: () => string;
}

export interface OrderPage<Row> {
  /** In the requested order. */
  readonly orders: readonly PagedOrder<Row>[];
  /** Whether orders lie outside the page. Always true on the side of a given cursor. */
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  /** Null at the end of a list by a time. A list of moves has no end. */
  readonly nextCursor: string | null;
}

/** An order as a list of a partner shows it. */
export interface ListedOrder {
  readonly order: OrderView;
  /** Null unless they were asked for. */
  readonly details: OrderDetails | null;
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

interface OrderHistory {
  /** Oldest first. */
  readonly events: readonly OrderEventView[];
  /** Whether there are older events than these. */
  readonly hasMore: boolean;
}

/** An order as its partner's people see it. */
export interface WholeOrder {
  readonly order: OrderView;
  readonly details: OrderDetails;
  readonly destinations: Destinations;
}

/** What everyone who knows an order's UUID may read. */
interface PublicStatus {
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

interface OrderReadsOptions extends DetailsSources {
  readonly orm: MikroORM;
  readonly cursors: ListCursors;
  readonly onBatch?: OnBatch;
}

/** Most orders of one page. */
const mostOrders = 200;
/** Most orders that a count counts. */
const mostCounted = 10_000;
const withAddress = { populate: ['depositAddress'], strategy: 'joined' } as const;

/** Most events that are shown of one order: the newest. */
const mostEvents = 1_000;

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
  readonly #em: EntityManager;
  readonly #cursors: ListCursors;
  readonly #lookups: OrderLookups;
  readonly #sources: DetailsSources;

  constructor({ orm, cursors, onBatch, ...sources }: OrderReadsOptions) {
    this.#sources = sources;
    this.#em = orm.em.fork();
    this.#cursors = cursors;
    this.#lookups = new OrderLookups(this.#em, onBatch);
  }

  /** The statements of this class, for tests of their plans. */
  get statements(): readonly Prepared[] {
    return [
      ...[orderDetailsStatement, orderEvents, pageLink, orderOfExternalId].map((statement) => statement.of('partner')),
      ...[orderDetailsStatement, orderOfToken].map((statement) => statement.of('page')),
      publicStatus.of('public'),
    ];
  }

  /**
   * Reads a page by a time. Two statements: one finds the orders, one reads them with their
   * details. A cursor is a time and an id, not a count. Thus each order is seen once, even if
   * others are created meanwhile.
   *
   * @throws AppError invalid_cursor for a cursor of another scope, sorting or filter, or for none
   * of ours.
   * @throws AppError invalid_value for a page size outside 1 to 200, and as `filterSql`.
   */
  list(
    scope: PartnerScope | StaffScope,
    request: OrderPageRequest & { readonly withDetails: boolean },
  ): Promise<OrderPage<ListedOrder>> {
    return this.#page(scope, request, (ids) => this.#listed(scope, ids, request.withDetails));
  }

  /** Reads a page as `list` does, of entities with their deposit addresses. */
  listEntities(
    scope: PartnerScope | StaffScope,
    em: EntityManager,
    request: OrderPageRequest,
  ): Promise<OrderPage<Order>> {
    return this.#page(scope, request, async (ids) => byId(await this.entities(scope, em, ids)));
  }

  /**
   * Reads a page of orders in the order in which they moved. Statements as for `list`. A list that
   * begins at a time takes a third.
   *
   * @throws AppError invalid_cursor as `list`.
   * @throws AppError cursor_expired after a restore, with the time from which to begin again.
   */
  async moved(
    scope: PartnerScope,
    request: OrderFeedRequest & { readonly withDetails: boolean },
  ): Promise<OrderPage<ListedOrder>> {
    const { limit, cursor, since, withDetails } = request;
    const bound = `${scope.partnerId} updated ${filterText(request.filter)}`;
    const place = cursor === null ? null : this.#cursors.read(bound, cursor);
    const filter = await this.#named(scope, request.filter);
    const start = { scope, filter, limit, place, since, now: systemClock.now() };
    const walk = await feedPage(this.#em, start);
    const rows = await this.#listed(scope, idsOf(walk), withDetails);
    const write = (at: string): string => this.#cursors.write(bound, at);
    return {
      orders: pagedOrders(walk.found, rows, write),
      hasPrevious: place !== null,
      hasNext: walk.isCut,
      nextCursor: write(walk.end),
    };
  }

  /**
   * Counts the orders that match a filter, up to the cap (10,000 at most).
   *
   * @throws AppError invalid_value as `filterSql`.
   */
  async count(scope: StaffScope, asked: OrderFilter, cap = mostCounted, now = systemClock.now()): Promise<number> {
    const filter = await this.#named(scope, asked);
    return countMatches(this.#em, scope, { filter, most: Math.min(cap, mostCounted), now });
  }

  /**
   * Chooses the orders of a file in the transaction of `em`: the newest ones of a filter. The audit
   * log can thus name the number of rows before the file begins. 50,000 ids take about 5 MB.
   *
   * @throws AppError invalid_value as `filterSql`.
   */
  async choose(
    scope: StaffScope,
    em: EntityManager,
    asked: OrderFilter,
    now: Date,
    most = mostExported,
  ): Promise<ChosenOrders> {
    const filter = await this.#named(scope, asked);
    const ids = await newestMatches(em, scope, { filter, most: most + 1, now });
    return { ids: ids.slice(0, most), isCut: ids.length > most };
  }

  /** Writes chosen orders as CSV, in parts, as `orderCsv` does. */
  csv(scope: StaffScope, chosen: ChosenOrders): AsyncGenerator<string> {
    return orderCsv(this.#em, scope, chosen);
  }

  /** @throws AppError order_not_found */
  async entity(scope: PartnerScope | StaffScope, em: EntityManager, text: string): Promise<Order> {
    const where = orderNamed(text);
    const order = where && (await em.findOne(Order, { ...where, ...scopeWhere(scope) }, withAddress));
    if (!order) throw orderNotFound();
    return order;
  }

  /** Reads orders by their UUIDs, in any order, in one statement. */
  async entities(scope: PartnerScope | StaffScope, em: EntityManager, ids: readonly string[]): Promise<Order[]> {
    return ids.length === 0 ? [] : em.find(Order, { id: { $in: [...ids] }, ...scopeWhere(scope) }, withAddress);
  }

  async #page<Row>(
    scope: PartnerScope | StaffScope,
    { filter: asked, orderBy: { field, direction }, page, now = systemClock.now() }: OrderPageRequest,
    read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Row>>,
  ): Promise<OrderPage<Row>> {
    const isForward = 'first' in page;
    const limit = isForward ? page.first : page.last;
    if (!Number.isInteger(limit) || limit < 1 || limit > mostOrders) {
      throw new AppError('invalid_value', `a page has from 1 to ${mostOrders} orders`);
    }
    const cursor = (isForward ? page.after : page.before) ?? null;
    const reader = scope.kind === 'partner' ? scope.partnerId : scope.kind;
    const bound = `${reader} ${sortingText({ field, direction })} ${filterText(asked)}`;
    const place = cursor === null ? null : this.#cursors.read(bound, cursor);
    const filter = await this.#named(scope, asked);
    // A page before a cursor is read backward from it, and then reversed.
    const isAscending = (direction === 'asc') === isForward;
    const walk = await keysetPage(this.#em, { scope, filter, limit, place, now, field, isAscending });
    const write = (at: string): string => this.#cursors.write(bound, at);
    const found = isForward ? walk.found : walk.found.toReversed();
    const hasNext = isForward ? walk.isCut : place !== null;
    const next = isForward ? walk.end : (found.at(-1)?.behind ?? place);
    return {
      orders: pagedOrders(found, await read(found.map(({ id }) => id)), write),
      hasPrevious: isForward ? place !== null : walk.isCut,
      hasNext,
      nextCursor: hasNext && next !== null ? write(next) : null,
    };
  }

  /** Replaces the partner's own id of an order by ours, if the other names admit that order. */
  async #named(scope: PartnerScope | StaffScope, filter: OrderFilter): Promise<OrderFilter> {
    const { externalId, ...others } = filter;
    if (externalId == null) return filter;
    const found = await sqlFor<NamedOrder>(this.#em, scope, orderOfExternalId, { externalId });
    const admitted = found.filter((order) => !filter.names || filter.names.some((name) => isNamed(order, name)));
    return { ...others, names: admitted.map(({ id }) => id) };
  }

  /**
   * Finds the partner's order by UUID or short id, in upper or lower case. Look-ups of the same
   * moment share a statement.
   *
   * @throws AppError order_not_found: the same for an unknown order, another partner's order, and
   * malformed text.
   */
  async find(scope: PartnerScope, text: string): Promise<OrderView> {
    const order = await this.#lookups.find(scope, namesOf(text));
    if (!order) throw orderNotFound();
    annotate({ 'order.id': order.id });
    return order;
  }

  /**
   * Reads an order with its details and all its addresses, in one statement.
   *
   * @throws AppError order_not_found, as `find`.
   */
  async whole(scope: PartnerScope | StaffScope, text: string): Promise<WholeOrder> {
    const [row] = await sqlRowsFor<OrderDetailsRow>(this.#em, scope, orderDetailsStatement, [namesOf(text)]);
    if (!row) throw orderNotFound();
    return { order: row, details: orderDetails(row, this.#sources), destinations: row };
  }

  /** Reads the details of an order inside the transaction that has changed it. */
  async detailsIn(scope: PartnerScope | StaffScope, em: EntityManager, id: string): Promise<OrderDetails> {
    const [row] = await sqlRowsFor<OrderDetailsRow>(em, scope, orderDetailsStatement, [{ id, shortId: null }]);
    if (!row) throw orderNotFound();
    return orderDetails(row, this.#sources);
  }

  /**
   * Reads the newest events of an order, oldest first.
   *
   * @throws AppError order_not_found, as `find`.
   */
  async events(scope: PartnerScope | StaffScope, text: string): Promise<OrderHistory> {
    const rows = await sqlFor<EventRow>(this.#em, scope, orderEvents, namesOf(text));
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
    const [row] = await sqlFor<PublicStatus>(this.#em, scope, publicStatus, { id });
    if (!row) throw orderNotFound();
    return row;
  }

  /**
   * Reads the order of a page. Null for every token that shows no page: an unknown one costs the
   * same as a revoked one.
   */
  async linked(scope: PageScope): Promise<LinkedOrder | null> {
    const [named] = await sqlFor<{ id: string; partnerName: string }>(this.#em, scope, orderOfToken, {});
    if (!named) return null;
    const { id, partnerName } = named;
    const [order] = await sqlRowsFor<OrderDetailsRow>(this.#em, scope, orderDetailsStatement, [{ id, shortId: null }]);
    if (!order) return null;
    return { order, details: orderDetails(order, this.#sources), cause: order.cause, partnerName };
  }

  /** The address of an order's page at this moment. Null without one. */
  async publicUrl(scope: PartnerScope | StaffScope, id: string): Promise<string | null> {
    const [link] = await sqlFor<PageLink>(this.#em, scope, pageLink, { id });
    return link ? this.#sources.pages.urlOf(id, link) : null;
  }

  /** Reads the rows of a list by their ids, in one statement. */
  async #listed(
    scope: PartnerScope | StaffScope,
    ids: readonly string[],
    withDetails: boolean,
  ): Promise<ReadonlyMap<string, ListedOrder>> {
    if (ids.length === 0) return new Map();
    const lookups = ids.map((id) => ({ id, shortId: null }));
    const statement = withDetails ? orderDetailsStatement : orderLookup;
    const rows = await sqlRowsFor<OrderDetailsRow>(this.#em, scope, statement, lookups);
    return new Map(
      rows.map((row) => [row.id, { order: row, details: withDetails ? orderDetails(row, this.#sources) : null }]),
    );
  }
}

const idsOf = ({ found }: Walk): string[] => found.map(({ id }) => id);

const byId = (orders: readonly Order[]): ReadonlyMap<string, Order> =>
  new Map(orders.map((order) => [order.id, order]));

/** Puts the rows of a page in its order, each with its cursors. */
function pagedOrders<Row>(
  found: Walk['found'],
  rows: ReadonlyMap<string, Row>,
  write: (place: string) => string,
): PagedOrder<Row>[] {
  return found.flatMap(({ id, before, behind }) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ row, before: () => write(before), behind: () => write(behind) }];
  });
}

/** What the cursors of a sorting are bound to. A list of moves is `updated`. */
function sortingText({ field, direction }: OrderSorting): string {
  const name = field === 'created' ? 'created' : 'changed';
  return direction === 'desc' ? name : `${name} ascending`;
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
