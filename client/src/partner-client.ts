import { EventWalk } from './event-walk.ts';
import type {
  AddressCheck,
  Asset,
  BindingQuote,
  CommissionBalance,
  CommissionEntry,
  Currency,
  ListedOrder,
  Order,
  OrderCheck,
  OrderDetails,
  OrderEvent,
  OrderStatus,
  Pair,
  PublicStatus,
  RateQuote,
  ReportedOrder,
  Statement,
} from './generated/contract.ts';
import { places } from './generated/operations.ts';
import { List } from './list.ts';
import type { Answer, Body, OperationId, Query } from './operation-types.ts';
import { PartnerError } from './partner-error.ts';
import { pause } from './pause.ts';
import {
  type ClientOptions,
  checkedTime,
  hexadecimal,
  type Incoming,
  type RequestOptions,
  Transport,
} from './transport.ts';

/** A stream does not end with its answer. Clients wait by `listEvents`. */
type Streamed = 'streamEvents';

/** The compiler refuses a client that lacks an operation of the contract. */
type EveryOperation = {
  [Id in Exclude<OperationId, Streamed>]: (...args: never[]) => Promise<Answer<Id>> | List<unknown>;
};

interface CallParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WaitOptions {
  /** The wait ends in one of these: completed, refunded, expired or failed unless given. */
  readonly until?: readonly OrderStatus[];
  /** Milliseconds between two looks: 5,000 unless given, and at least 100. */
  readonly intervalMs?: number;
  /** The longest wait in milliseconds: a day unless given. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called with the order at first, and after each change. */
  readonly onChange?: (order: Order) => void;
}

export type SyncFilters = Omit<Query<'listOrders'>, 'sort' | 'cursor'>;

export interface SyncOptions {
  /** The cursor that was stored last. Without one, the walk begins with the first order. */
  readonly cursor?: string | undefined;
  /** Go on for ever, and ask again after `intervalMs`. Ends with the list unless given. */
  readonly follow?: boolean;
  /** Milliseconds between two looks at the end of the list: 5,000 unless given, at least 100. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
}

export interface SyncPage {
  /** The orders that moved, each in its present state. Store them by `id`. */
  readonly orders: readonly ListedOrder[];
  /** Store it after the orders, and begin with it the next time. */
  readonly cursor: string;
  /** Whether the gateway did not know the cursor before, so that earlier orders come again. */
  readonly restarted: boolean;
}

export type EventFilters = Omit<Query<'listEvents'>, 'cursor'>;

export interface EventOptions {
  /** The cursor that was stored last. Without one, it begins at `since` or the first event. */
  readonly cursor?: string | undefined;
  /** Milliseconds of a pause after a failure or an empty page: 1,000 unless given, at least 100. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
}

const finalStatuses: readonly OrderStatus[] = ['completed', 'refunded', 'expired', 'failed'];
const dayMs = 86_400_000;
/** Seconds that a walk of events asks the gateway to wait for one. */
const usualWaitSec = 25;
/** What an answer may take beyond its wait. */
const answerMs = 15_000;

/**
 * A client of the partner API. Each operation of the contract is a method of its name. Amounts are
 * decimal strings, both ways. A request that fails for the moment is repeated, with the same
 * idempotency key.
 *
 * Methods throw a PartnerError when the gateway refuses or does not answer. They throw a TypeError
 * or a RangeError for arguments that cannot be sent.
 */
export class PartnerClient implements EveryOperation {
  readonly #transport: Transport;

  /** Throws a TypeError or a RangeError for options that cannot work or are not safe. */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
  }

  /** Lists all active currencies: one for each coin and network. */
  listCurrencies(options?: RequestOptions): List<Currency> {
    return wholeList(() => this.#call('listCurrencies', {}, options));
  }

  /** Lists all active assets with their CAIP names. */
  listAssets(options?: RequestOptions): List<Asset> {
    return wholeList(async () => (await this.#call('listAssets', {}, options)).data);
  }

  /** Lists what a coin can be exchanged for, with the limits of both sides. */
  listPairs(query: Query<'listPairs'>, options?: RequestOptions): List<Pair> {
    return wholeList(async () => (await this.#call('listPairs', { query }, options)).data);
  }

  /** Quotes a pair. It creates nothing and reserves nothing. */
  getRate(query: Query<'getRate'>, options?: RequestOptions): Promise<RateQuote> {
    return this.#call('getRate', { query }, options);
  }

  /** Quotes a pair bindingly, for exactly one of `amount_from` and `amount_to`. */
  createQuote(quote: Body<'createQuote'>, options?: RequestOptions): Promise<BindingQuote> {
    return this.#call('createQuote', { body: quote }, options);
  }

  /** Reads a binding quote with its present state. */
  getQuote(quoteId: string, options?: RequestOptions): Promise<BindingQuote> {
    return this.#call('getQuote', { path: { quote_id: quoteId } }, options);
  }

  /** Tells whether a create would pay to an address, and in which form. */
  validateAddress(address: Body<'validateAddress'>, options?: RequestOptions): Promise<AddressCheck> {
    return this.#call('validateAddress', { body: address }, options);
  }

  /** Tells the terms that an order would get, or throws what a create would. */
  validateOrder(order: Body<'validateOrder'>, options?: RequestOptions): Promise<OrderCheck> {
    return this.#call('validateOrder', { body: order }, options);
  }

  /**
   * Creates an order. A repetition never makes a second one. When the call fails without an answer,
   * repeat it with the `idempotencyKey` of the error. A quote or an external id that is taken
   * throws a PartnerError with the `orderId` of its order.
   */
  createOrder(order: Body<'createOrder'>, options?: RequestOptions): Promise<Order> {
    return this.#call('createOrder', { body: order }, options);
  }

  /** Reads an order by its UUID or its short id. */
  getOrder(orderId: string, options?: RequestOptions): Promise<Order> {
    return this.#call('getOrder', { path: { order_id: orderId } }, options);
  }

  /** Lists orders, the newest first. `limit` is the size of a page, and not of the list. */
  listOrders(query: Query<'listOrders'> = {}, options?: RequestOptions): List<ListedOrder> {
    return new List((cursor) =>
      this.#call('listOrders', { query: cursor === undefined ? query : { ...query, cursor } }, options),
    );
  }

  /** Reads deposits, terms, payments and holds of an order. */
  getOrderDetails(orderId: string, options?: RequestOptions): Promise<OrderDetails> {
    return this.#call('getOrderDetails', { path: { order_id: orderId } }, options);
  }

  /** Lists every move of an order, oldest first. */
  listOrderEvents(orderId: string, options?: RequestOptions): List<OrderEvent> {
    const path = { order_id: orderId };
    return wholeList(async () => (await this.#call('listOrderEvents', { path }, options)).data);
  }

  /** Merges into the metadata of an order: a text sets a key, null removes it. */
  changeOrder(orderId: string, change: Body<'changeOrder'>, options?: RequestOptions): Promise<OrderDetails> {
    return this.#call('changeOrder', { path: { order_id: orderId }, body: change }, options);
  }

  /** Sets the refund address of an order that has none. No address is ever replaced. */
  setRefundAddress(
    orderId: string,
    address: Body<'setRefundAddress'>,
    options?: RequestOptions,
  ): Promise<OrderDetails> {
    return this.#call('setRefundAddress', { path: { order_id: orderId }, body: address }, options);
  }

  /** Cancels an order before any deposit was seen. A repetition gets the first answer. */
  cancelOrder(orderId: string, options?: RequestOptions): Promise<OrderDetails> {
    return this.#call('cancelOrder', { path: { order_id: orderId } }, options);
  }

  /** Makes a new link to an order's page, and ends the previous one. See `public_url`. */
  renewOrderPage(orderId: string, options?: RequestOptions): Promise<OrderDetails> {
    return this.#call('renewOrderPage', { path: { order_id: orderId } }, options);
  }

  /** Revokes the link to an order's page. */
  revokeOrderPage(orderId: string, options?: RequestOptions): Promise<OrderDetails> {
    return this.#call('revokeOrderPage', { path: { order_id: orderId } }, options);
  }

  /**
   * Reads a page of events of all orders, oldest first. With `wait` the gateway waits for one.
   * Store `next_cursor` after the events, and ask with it again.
   */
  listEvents(query: Query<'listEvents'> = {}, options?: RequestOptions): Promise<Answer<'listEvents'>> {
    return this.#call('listEvents', { query }, options);
  }

  /**
   * Walks the events of all orders as they happen, and misses none. The gateway waits up to `wait`
   * seconds for an event, 25 unless given. The walk goes on after failures that pass. When the
   * gateway no longer knows the cursor, the walk begins again at the time that the gateway names:
   * handle each `event_id` once.
   */
  events(filters: EventFilters = {}, options: EventOptions = {}): EventWalk {
    const { wait = usualWaitSec, ...others } = filters;
    const { cursor, signal } = options;
    const timeoutMs = checkedTime('wait', wait * 1_000) + answerMs;
    return new EventWalk({
      cursor,
      signal,
      intervalMs: checkedInterval(options.intervalMs ?? 1_000),
      read: (place) => {
        const { cursor, since = others.since } = place;
        const query: Query<'listEvents'> = { limit: 100, ...others, wait };
        if (cursor !== undefined) query.cursor = cursor;
        else if (since !== undefined) query.since = since;
        const page = this.#call('listEvents', { query }, signal ? { signal, timeoutMs } : { timeoutMs });
        return pageOrError(page, cursor !== undefined, true);
      },
    });
  }

  /** Lists the webhook endpoints. */
  listWebhookEndpoints(options?: RequestOptions): List<Answer<'getWebhookEndpoint'>> {
    return wholeList(async () => (await this.#call('listWebhookEndpoints', {}, options)).data);
  }

  /** Creates a webhook endpoint. Its secret is in this answer only. */
  createWebhookEndpoint(
    endpoint: Body<'createWebhookEndpoint'>,
    options?: RequestOptions,
  ): Promise<Answer<'createWebhookEndpoint'>> {
    return this.#call('createWebhookEndpoint', { body: endpoint }, options);
  }

  /** Reads a webhook endpoint. */
  getWebhookEndpoint(endpointId: string, options?: RequestOptions): Promise<Answer<'getWebhookEndpoint'>> {
    return this.#call('getWebhookEndpoint', { path: { endpoint_id: endpointId } }, options);
  }

  /** Changes, enables or disables a webhook endpoint. */
  updateWebhookEndpoint(
    endpointId: string,
    change: Body<'updateWebhookEndpoint'>,
    options?: RequestOptions,
  ): Promise<Answer<'updateWebhookEndpoint'>> {
    return this.#call('updateWebhookEndpoint', { path: { endpoint_id: endpointId }, body: change }, options);
  }

  /** Deletes a webhook endpoint. */
  deleteWebhookEndpoint(endpointId: string, options?: RequestOptions): Promise<Answer<'deleteWebhookEndpoint'>> {
    return this.#call('deleteWebhookEndpoint', { path: { endpoint_id: endpointId } }, options);
  }

  /** Makes a new signing secret, which is in this answer only. The old one signs too for a time. */
  rotateWebhookSecret(
    endpointId: string,
    rotation: Partial<Body<'rotateWebhookSecret'>> = {},
    options?: RequestOptions,
  ): Promise<Answer<'rotateWebhookSecret'>> {
    return this.#call('rotateWebhookSecret', { path: { endpoint_id: endpointId }, body: rotation }, options);
  }

  /** Has a test event sent, and tells what happened. */
  testWebhookEndpoint(endpointId: string, options?: RequestOptions): Promise<Answer<'testWebhookEndpoint'>> {
    return this.#call('testWebhookEndpoint', { path: { endpoint_id: endpointId } }, options);
  }

  /** Lists the deliveries of a webhook endpoint, the newest first. */
  listWebhookDeliveries(
    endpointId: string,
    query: Query<'listWebhookDeliveries'> = {},
    options?: RequestOptions,
  ): List<Answer<'listWebhookDeliveries'>['data'][number]> {
    const path = { endpoint_id: endpointId };
    return new List((cursor) =>
      this.#call(
        'listWebhookDeliveries',
        { path, query: cursor === undefined ? query : { ...query, cursor } },
        options,
      ),
    );
  }

  /** Has events sent again: by their ids, or for a range of time. */
  replayWebhookEvents(
    endpointId: string,
    replay: Body<'replayWebhookEvents'>,
    options?: RequestOptions,
  ): Promise<Answer<'replayWebhookEvents'>> {
    return this.#call('replayWebhookEvents', { path: { endpoint_id: endpointId }, body: replay }, options);
  }

  /**
   * Answers the `action_required` of an order's details. A repetition gets the first answer. Throws
   * `action_stale` for an amount that is no longer offered: read the details again.
   */
  actOnOrder(orderId: string, answer: Body<'actOnOrder'>, options?: RequestOptions): Promise<OrderDetails> {
    return this.#call('actOnOrder', { path: { order_id: orderId }, body: answer }, options);
  }

  /** Reads what the account has earned and is not paid yet. */
  getCommissionBalance(options?: RequestOptions): Promise<CommissionBalance> {
    return this.#call('getCommissionBalance', {}, options);
  }

  /** Lists what changed the balance, the newest month and the newest entry first. */
  listCommissionEntries(query: Query<'listCommissionEntries'> = {}, options?: RequestOptions): List<CommissionEntry> {
    return new List((cursor) =>
      this.#call('listCommissionEntries', { query: cursor === undefined ? query : { ...query, cursor } }, options),
    );
  }

  /** Lists the monthly statements, the newest first. */
  listStatements(options?: RequestOptions): List<Statement> {
    return wholeList(async () => (await this.#call('listStatements', {}, options)).data);
  }

  /** Reads the statement of a month such as `2026-11`. */
  async getStatement(month: string, options?: RequestOptions): Promise<Statement> {
    return (await this.#call('getStatement', { path: { month } }, options)) as Statement;
  }

  /**
   * Reads the entries of a month as CSV. Of a closed month, its SHA-256 is in the statement.
   */
  async getStatementCsv(month: string, options?: RequestOptions): Promise<string> {
    return (await this.#call('getStatement', { path: { month }, query: { format: 'csv' } }, options)) as string;
  }

  /**
   * Lists completed orders, the earliest completion first. `pages()` gives the cursor to begin with
   * the next time.
   */
  listOrderReport(query: Query<'listOrderReport'> = {}, options?: RequestOptions): List<ReportedOrder> {
    return new List((cursor) =>
      this.#call('listOrderReport', { query: cursor === undefined ? query : { ...query, cursor } }, options),
    );
  }

  /** Sends deposits of an order in a sandbox, as its user would. */
  makeSandboxDeposits(
    orderId: string,
    deposits: Body<'makeSandboxDeposits'> = {},
    options?: RequestOptions,
  ): Promise<Answer<'makeSandboxDeposits'>> {
    return this.#call('makeSandboxDeposits', { path: { order_id: orderId }, body: deposits }, options);
  }

  /** Ends the window of an order in a sandbox, so that the next deposit is late. */
  expireSandboxOrder(orderId: string, options?: RequestOptions): Promise<Answer<'expireSandboxOrder'>> {
    return this.#call('expireSandboxOrder', { path: { order_id: orderId } }, options);
  }

  /** Drops the deposits of an order by a reorganisation, in a sandbox. */
  reorgSandboxDeposit(orderId: string, options?: RequestOptions): Promise<Answer<'reorgSandboxDeposit'>> {
    return this.#call('reorgSandboxDeposit', { path: { order_id: orderId } }, options);
  }

  /** Forces an outcome on an order in a sandbox. Forced again, it ends the wait it has caused. */
  forceSandboxOutcome(
    orderId: string,
    outcome: Body<'forceSandboxOutcome'>['outcome'],
    options?: RequestOptions,
  ): Promise<Answer<'forceSandboxOutcome'>> {
    return this.#call('forceSandboxOutcome', { path: { order_id: orderId }, body: { outcome } }, options);
  }

  /** Sends a sample of an event to the endpoints that get its type, in a sandbox. */
  emitSandboxEvent(
    type: Body<'emitSandboxEvent'>['type'],
    options?: RequestOptions,
  ): Promise<Answer<'emitSandboxEvent'>> {
    return this.#call('emitSandboxEvent', { body: { type } }, options);
  }

  /** Reads the public status of an order by its UUID. It needs no key. */
  getPublicStatus(orderId: string, options?: RequestOptions): Promise<PublicStatus> {
    return this.#call('getPublicStatus', { path: { order_id: orderId } }, options);
  }

  /** Fetches the icon of a coin as SVG text. The file is its ticker in lower case, and `.svg`. */
  getCoinIcon(file: string, query: Query<'getCoinIcon'> = {}, options?: RequestOptions): Promise<string> {
    return this.#call('getCoinIcon', { path: { file }, query }, options);
  }

  /** Fetches the contract of the gateway. */
  getDocument(options?: RequestOptions): Promise<Answer<'getDocument'>> {
    return this.#call('getDocument', {}, options);
  }

  /**
   * Waits until an order ends, and returns it. An order that expired or failed may still move, when
   * a deposit comes late or support helps. Failures that may pass do not end the wait. Throws a
   * PartnerError `wait_timeout` after `timeoutMs`.
   */
  async waitFor(order: string | { readonly id: string }, options: WaitOptions = {}): Promise<Order> {
    const { until = finalStatuses, timeoutMs = dayMs, signal, onChange } = options;
    const intervalMs = checkedInterval(options.intervalMs);
    const path = { order_id: typeof order === 'string' ? order : order.id };
    const end = Date.now() + checkedTime('timeoutMs', timeoutMs);
    let etag: string | null = null;
    for (;;) {
      const headers = etag === null ? {} : { 'If-None-Match': etag };
      const answer = await passing(this.#send('getOrder', { path, headers }, signal ? { signal } : {}));
      if (!(answer instanceof PartnerError) && answer.status !== 304) {
        const seen = answer.body as Order;
        etag = answer.headers.get('etag');
        onChange?.(seen);
        if (until.includes(seen.status)) return seen;
      }
      const leftMs = end - Date.now();
      if (leftMs <= 0) {
        const cause = answer instanceof PartnerError ? answer : undefined;
        throw new PartnerError('wait_timeout', `The order did not end in ${timeoutMs} ms.`, { cause });
      }
      await pause(Math.min(waitMs(answer, intervalMs), leftMs), signal);
    }
  }

  /**
   * Keeps a copy of all orders: walks them as they move, oldest move first, and misses none. An
   * order that moves again comes again. When the gateway no longer knows the cursor, the walk
   * begins again at the time that the gateway names.
   */
  async *sync(filters: SyncFilters = {}, options: SyncOptions = {}): AsyncGenerator<SyncPage, void, undefined> {
    const { follow = false, signal } = options;
    const intervalMs = checkedInterval(options.intervalMs);
    let query: Query<'listOrders'> = { limit: 100, ...filters, sort: 'updated' };
    if (options.cursor !== undefined) query.cursor = options.cursor;
    let restarted = false;
    for (;;) {
      const page = this.#call('listOrders', { query }, signal ? { signal } : {});
      const answer = await pageOrError(page, query.cursor !== undefined, follow);
      if (answer instanceof PartnerError && answer.code === 'cursor_expired') {
        const { cursor: _, ...others } = query;
        query = { ...others, updated_since: answer.body?.restart_from ?? '' };
        restarted = true;
        continue;
      }
      if (!(answer instanceof PartnerError)) {
        const { data, has_more: hasMore, next_cursor: cursor } = answer;
        if (cursor === null) throw new PartnerError('invalid_answer', 'The page has no next_cursor.');
        const isNew = cursor !== query.cursor;
        query = { ...query, cursor };
        if (isNew || data.length > 0) yield { orders: data, cursor, restarted };
        restarted = false;
        if (!hasMore && !follow) return;
        if (hasMore && isNew) continue;
      }
      await pause(waitMs(answer, intervalMs), signal);
    }
  }

  async #call<Id extends OperationId>(id: Id, parts: CallParts, options?: RequestOptions): Promise<Answer<Id>> {
    return (await this.#send(id, parts, options)).body as Answer<Id>;
  }

  async #send(id: OperationId, parts: CallParts, options: RequestOptions = {}): Promise<Incoming> {
    const { method, path, isRepeatable, hasAmounts, amounts } = places[id];
    const { body, query = {}, headers = {} } = parts;
    for (const name of amounts) {
      const value = body ? (body as Record<string, unknown>)[name] : query[name];
      if (typeof value === 'number') throw new TypeError(`${name} must be a decimal string such as '0.1'.`);
    }
    const request = {
      method,
      target: filled(path, parts.path ?? {}) + search(query),
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      idempotencyKey: method === 'POST' ? (options.idempotencyKey ?? randomKey()) : null,
      isRepeatable,
      hasAmounts,
    };
    return this.#transport.send(request, options);
  }
}

/** A list that the gateway answers in one piece. */
function wholeList<Item>(read: () => Promise<readonly Item[]>): List<Item> {
  return new List(async () => ({ data: await read(), has_more: false, next_cursor: null }));
}

/**
 * A page, or the error after which a walk goes on: a lost cursor, or while it follows, a failure
 * that passes.
 */
async function pageOrError<Of>(page: Promise<Of>, hasCursor: boolean, follow: boolean): Promise<Of | PartnerError> {
  try {
    return await page;
  } catch (error) {
    if (!(error instanceof PartnerError)) throw error;
    const isLost = error.code === 'cursor_expired' && hasCursor && error.body?.restart_from;
    if (isLost || (follow && error.isTemporary)) return error;
    throw error;
  }
}

/** An answer, or the error of one that may come later. */
async function passing(answer: Promise<Incoming>): Promise<Incoming | PartnerError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PartnerError && error.isTemporary) return error;
    throw error;
  }
}

/** The usual interval, or as long as the gateway asks for. */
function waitMs(answer: unknown, intervalMs: number): number {
  return answer instanceof PartnerError ? Math.max(answer.retryAfterMs ?? 0, intervalMs) : intervalMs;
}

function checkedInterval(ms = 5_000): number {
  if (!(ms >= 100)) throw new RangeError('intervalMs must be at least 100.');
  return checkedTime('intervalMs', ms);
}

/** Fills the path of an operation. Throws a TypeError for an id that would make another path. */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} must be a text.`);
    return encodeURIComponent(value);
  });
}

function search(query: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(members.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/** 128 random bits. `crypto.randomUUID` is missing on pages without https. */
function randomKey(): string {
  return hexadecimal(crypto.getRandomValues(new Uint8Array(16)));
}
