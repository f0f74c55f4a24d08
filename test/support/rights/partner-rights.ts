import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Document } from 'openapi-backend';
import { parse } from 'yaml';
import { askAbout } from '../gateway/asked-orders.ts';
import { openMonth } from '../gateway/commission-months.ts';
import { orderBody } from '../gateway/orders.ts';
import { ContractExamples, type ContractOperation } from '../http/contract-examples.ts';
import { type Answer, cellOf, isAllowed, isDone, send } from './rights-answer.ts';
import type { Cell } from './rights-record.ts';
import type { Surface, Table } from './rights-surface.ts';
import { type Account, addressExample, keyScopes, memberCookie, type RightsWorld } from './rights-world.ts';

/** What a request of an operation names and has, made so that its partner may do it. */
interface Prepared {
  /** Values of the path's parameters, in their order. */
  readonly path?: readonly string[];
  readonly query?: string;
  readonly body?: unknown;
  /** What the answer has when it is about the partner that the request was made for. */
  readonly shows?: string;
}

type Prepare = (world: RightsWorld, of: Account) => Promise<Prepared>;

const { operations } = new ContractExamples(parse(readFileSync('openapi.yaml', 'utf8')) as Document);

async function ok(world: RightsWorld, of: Account, method: string, path: string, body?: unknown) {
  const answer = await world.gateway.call(method, path, { key: of.key, ...(body === undefined ? {} : { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.json;
}

const order = (world: RightsWorld, of: Account, changes: Record<string, unknown> = {}) =>
  world.gateway.order(changes, of.key);

/** A request about an order that waits for its deposit. */
const onOrder =
  (body?: unknown): Prepare =>
  async (world, of) => {
    const { id } = await order(world, of);
    return { path: [id], ...(body === undefined ? {} : { body }) };
  };

/** The id of a new endpoint. Others of the partner are removed, as it has at most a few. */
async function endpointId(world: RightsWorld, of: Account): Promise<string> {
  await removeEndpoints(world, of);
  return (await ok(world, of, 'POST', '/partner/webhook-endpoints', endpoint)).endpoint.id;
}

const removeEndpoints = (world: RightsWorld, of: Account) =>
  world.gateway.query(
    `update webhook_endpoint set status = 'deleted', disabled_reason = null, disabled_at = null where partner_id = $1`,
    [of.id],
  );

const onEndpoint =
  (body?: unknown): Prepare =>
  async (world, of) => ({ path: [await endpointId(world, of)], ...(body === undefined ? {} : { body }) });

const endpoint = { url: 'https://hooks.example.com/' };
const quote = {
  coin_from: 'BTC',
  network_from: 'BTC',
  coin_to: 'USDT',
  network_to: 'TRC20',
  rate_type: 'fixed',
  amount_from: 0.01,
};
const quoteId = async (world: RightsWorld, of: Account): Promise<string> =>
  (await ok(world, of, 'POST', '/partner/quotes', quote)).quote_id;
const cursor = async (world: RightsWorld, of: Account) => ({
  query: `cursor=${(await ok(world, of, 'GET', '/partner/events')).next_cursor}`,
});
const nothing: Prepare = async () => ({});

/**
 * Requests of operations of the contract that a key of all scopes may do. An operation that reads
 * at a path without parameters has a request without any.
 */
const requests: Readonly<Record<string, Prepare>> = {
  listPairs: async () => ({ query: 'coin_from=BTC' }),
  // Prices follow the clock, and would else change between two callers.
  getRate: async ({ gateway: { app } }) => {
    await app.prices.refresh(app.catalogue.coins());
    return { query: 'coin_from=BTC&coin_to=ETH&amount=1' };
  },
  createQuote: async () => ({ body: quote }),
  getQuote: async (world, of) => ({ path: [await quoteId(world, of)] }),
  validateAddress: async () => ({ body: { coin: 'BTC', network: 'BTC', address: addressExample('BTC') } }),
  validateOrder: async () => ({ body: orderBody() }),
  listOrders: async (world, of) => {
    const { id } = await order(world, of);
    return { query: `ids=${id}`, shows: id };
  },
  createOrder: async () => ({ body: orderBody() }),
  'createOrder (by a quote)': async (world, of) => ({
    body: orderBody({ rate_type: 'fixed', quote_id: await quoteId(world, of) }),
  }),
  getOrder: onOrder(),
  changeOrder: onOrder({ metadata: { a: 'b' } }),
  setRefundAddress: async (world, of) => ({
    path: [(await order(world, of, { refund_address: undefined })).id],
    body: { refund_address: addressExample('BTC') },
  }),
  cancelOrder: onOrder(),
  renewOrderPage: onOrder(),
  revokeOrderPage: onOrder(),
  actOnOrder: async (world, of) => {
    const { id } = await order(world, of);
    await askAbout(world.gateway.query, id, world.gateway.clock.now());
    return { path: [id], body: { action_id: 'act_3', action: 'refund' } };
  },
  getOrderDetails: onOrder(),
  listOrderEvents: onOrder(),
  listEvents: cursor,
  streamEvents: cursor,
  listWebhookEndpoints: async (world, of) => ({ shows: await endpointId(world, of) }),
  createWebhookEndpoint: async (world, of) => {
    await removeEndpoints(world, of);
    return { body: endpoint };
  },
  getWebhookEndpoint: onEndpoint(),
  deleteWebhookEndpoint: onEndpoint(),
  updateWebhookEndpoint: onEndpoint({ status: 'disabled' }),
  rotateWebhookSecret: onEndpoint({ old_secret_hours: 1 }),
  testWebhookEndpoint: onEndpoint(),
  listWebhookDeliveries: onEndpoint(),
  replayWebhookEvents: onEndpoint({ failed_only: true }),
  makeSandboxDeposits: onOrder({}),
  expireSandboxOrder: onOrder(),
  reorgSandboxDeposit: async (world, of) => {
    const { gateway } = world;
    const made = await order(world, of);
    await gateway.deposit(made);
    await gateway.mine(made.networkFrom);
    await gateway.tick();
    return { path: [made.id] };
  },
  forceSandboxOutcome: onOrder({ outcome: 'hold' }),
  emitSandboxEvent: async (world, of) => ({
    body: { type: 'order.created' },
    shows: await endpointId(world, of),
  }),
  getStatement: async (world, of) => ({
    path: [await openMonth(world.gateway.query, of.id, world.gateway.clock.now())],
  }),
  getPublicStatus: onOrder(),
  getCoinIcon: async () => ({ path: ['btc.svg'] }),
};

/** Who sends a request. */
interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The partner whose objects it asks for. */
  readonly of: Account;
  /** Puts the partner into the state that the cell is about, and out of it. */
  readonly during?: (isOn: boolean) => Promise<unknown>;
}

const callers = {
  none: 'no credentials',
  memberCookie: 'cookie of a member',
  staffCookie: 'cookie of staff',
  unknown: 'unknown key',
  revoked: 'revoked key',
  expired: 'expired key',
  staff: 'token of an admin',
  inactive: 'inactive partner',
  unsigned: 'unsigned where signatures are required',
  outside: 'outside the networks of the key',
  other: 'another partner',
  inside: 'inside the networks of the key',
  header: 'all scopes, by X-API-Key',
  all: 'all scopes',
  allAndCookie: 'all scopes, and cookie of a member',
} as const;
const scopeCaller = (scope: string): string => `scope ${scope}`;
const scopeCallers = keyScopes.map(scopeCaller);

/** Issues keys beyond the number that a partner may have at the same time. */
class ManyKeys {
  readonly #gateway: RightsWorld['gateway'];
  readonly #set: string[] = [];

  constructor({ gateway }: RightsWorld) {
    this.#gateway = gateway;
  }

  /** The key is not live before `free`. */
  async issue({ id }: Account, options: Parameters<RightsWorld['gateway']['partners']['issueKey']>[1] = {}) {
    const { keyId, key } = await this.#gateway.partners.issueKey(id, { scopes: keyScopes, ...options });
    await this.#gateway.query('update api_key set revoked_at = $2 where key_id = $1', [keyId, new Date(0)]);
    this.#set.push(keyId);
    return { keyId, key };
  }

  async free(): Promise<void> {
    await this.#gateway.query('update api_key set revoked_at = null where key_id = any($1)', [this.#set]);
  }
}

/** Those who come first may do nothing, so that what is prepared for one serves the next. */
async function callersOf(world: RightsWorld): Promise<Caller[]> {
  const { other, staff, adminCookie } = world;
  const { partners, clock } = world.gateway;
  const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
  const [main, idle, signing] = [
    await world.account('Shop'),
    await world.account('Idle shop'),
    await world.account('Signing shop'),
  ];
  const keys = new ManyKeys(world);
  const cookie = { Cookie: memberCookie(main.owner) };
  const ended = await keys.issue(main);
  const short = await keys.issue(main, { expiresAt: new Date(clock.now().getTime() + 1_000) });
  const outside = await keys.issue(main, { allowedCidrs: ['203.0.113.0/24'] });
  const inside = await keys.issue(main, { allowedCidrs: ['127.0.0.0/8'] });
  // The gateway knows a key for some seconds, with its partner. So one key is used in each state.
  const [idleKey, signingKey] = [await keys.issue(idle), await keys.issue(signing)];
  const scoped: Caller[] = [];
  for (const scope of keyScopes) {
    const { key } = await keys.issue(main, { scopes: [scope] });
    scoped.push({ name: scopeCaller(scope), headers: bearer(key), of: main });
  }
  await keys.free();
  await partners.revokeKey(ended.keyId);
  clock.advance(1_000);
  return [
    { name: callers.none, headers: {}, of: main },
    { name: callers.memberCookie, headers: cookie, of: main },
    { name: callers.staffCookie, headers: { Cookie: adminCookie }, of: main },
    { name: callers.unknown, headers: bearer(unknownKey(main.key, other.key)), of: main },
    { name: callers.revoked, headers: bearer(ended.key), of: main },
    { name: callers.expired, headers: bearer(short.key), of: main },
    { name: callers.staff, headers: bearer(staff.admin.token), of: main },
    { name: callers.outside, headers: bearer(outside.key), of: main },
    { name: callers.other, headers: bearer(other.key), of: main },
    ...scoped,
    { name: callers.inside, headers: bearer(inside.key), of: main },
    { name: callers.header, headers: { 'X-API-Key': main.key }, of: main },
    { name: callers.all, headers: bearer(main.key), of: main },
    { name: callers.allAndCookie, headers: { ...bearer(main.key), ...cookie }, of: main },
    {
      name: callers.inactive,
      headers: bearer(idleKey.key),
      of: idle,
      during: (isOn) => partners.change(idle.id, { status: isOn ? 'inactive' : 'active' }),
    },
    {
      name: callers.unsigned,
      headers: bearer(signingKey.key),
      of: signing,
      during: (isOn) => partners.change(signing.id, { requireSignature: isOn }),
    },
  ];
}

/** The id of one key with the secret of another. */
function unknownKey(key: string, other: string): string {
  return `${key.split('.')[0]}.${other.split('.')[1]}`;
}

/** Whether an operation reads, and its path names no object. */
const namesNothing = ({ method, path }: ContractOperation): boolean => method === 'GET' && !path.includes('{');

/** Operations whose request names no object, and whose answer is the caller's own. */
const ownOperations = new Set([
  'createQuote',
  'validateAddress',
  'validateOrder',
  'createOrder',
  'createWebhookEndpoint',
  // The requests of the other ones show an object of the partner.
  ...operations.filter((one) => namesNothing(one) && !(one.operationId in requests)).map((one) => one.operationId),
]);

/** Operations that need no key. */
export const publicOperations = [
  'getCoinIcon',
  'getDocument',
  'getPublicStatus',
  'getRate',
  'listAssets',
  'listCurrencies',
  'listPairs',
];

async function open(world: RightsWorld): Promise<(operation: string) => Promise<Cell[]>> {
  const all = await callersOf(world);
  return async (operation) => {
    const found = operations.find(({ operationId }) => operationId === operation.split(' ')[0]);
    const prepare = requests[operation] ?? (found && namesNothing(found) ? nothing : undefined);
    if (!prepare || !found) throw new Error(`there is no request of ${operation} in partner-rights.ts`);
    const cells: Cell[] = [];
    const prepared: { request: Prepared | null; of: Account | null } = { request: null, of: null };
    let anonymous: Answer | null = null;
    for (const { name, headers, of, during } of all) {
      if (prepared.of !== of) prepared.request = null;
      prepared.request ??= await prepare(world, of);
      prepared.of = of;
      const { path = [], query, body, shows } = prepared.request;
      const places = [...path];
      const target = found.path.replace(/\{\w+\}/g, () => places.shift() ?? '');
      const url = `${world.restUrl}/api/v1${target}${query === undefined ? '' : `?${query}`}`;
      await during?.(true);
      const sent = send({ method: found.method, url, headers, body });
      // The answer to a test waits for its delivery, which a worker would send.
      const answer = await (operation === 'testWebhookEndpoint' ? sendingWebhooks(world, sent) : sent);
      await during?.(false);
      anonymous ??= answer;
      cells.push({ operation, caller: name, got: withDetail(answer, anonymous, shows) });
      if (isDone(answer) && found.method !== 'GET') prepared.request = null;
    }
    return cells;
  };
}

/** Sends webhooks that are due until an answer has come. */
export async function sendingWebhooks<T>({ gateway }: RightsWorld, answer: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const over = answer.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    await gateway.app.webhooks?.sender.begin();
    await gateway.app.webhooks?.sender.idle();
    await Promise.race([over, sleep(20)]);
  }
  return over;
}

/** The cell of an answer, and whether it is about the object or differs from the public answer. */
function withDetail(answer: Answer, anonymous: Answer, shows: string | undefined): string {
  const got = cellOf(answer);
  if (!isDone(answer)) return got;
  if (shows !== undefined && !answer.text.includes(shows)) return `${got} without the object`;
  return isDone(anonymous) && answer.text !== anonymous.text ? `${got} with own terms` : got;
}

const isReading = (operation: string): boolean =>
  operations.find(({ operationId }) => operationId === operation.split(' ')[0])?.method === 'GET';
const isPublic = ({ operation }: Cell): boolean => publicOperations.includes(operation);
const isOpen = ({ got }: Cell): boolean => got.startsWith('2');

/** The operations of openapi.yaml. */
export const partnerRights: Surface = {
  name: 'partner',
  operations: [
    ...operations.map(({ operationId }) => operationId),
    ...Object.keys(requests).filter((name) => name.includes(' (')),
  ],
  strangers: Object.keys(requests).filter(
    (name) => !operations.some(({ operationId }) => operationId === name.split(' ')[0]),
  ),
  open,
  invariants: {
    'without a key that holds only the public operations are done': (table) =>
      table
        .of(
          callers.none,
          callers.memberCookie,
          callers.staffCookie,
          callers.unknown,
          callers.revoked,
          callers.expired,
          callers.staff,
          callers.inactive,
          callers.outside,
        )
        .filter((cell) => isOpen(cell) !== isPublic(cell)),
    'a request that is not signed as its partner requires does only public operations': (table) =>
      table.of(callers.unsigned).filter((cell) => isOpen(cell) !== isPublic(cell)),
    'a cookie changes nothing': (table: Table) => [
      ...table.unlike(callers.memberCookie, callers.none),
      ...table.unlike(callers.staffCookie, callers.none),
      ...table.unlike(callers.allAndCookie, callers.all),
    ],
    'another partner does nothing to an object': (table) =>
      table
        .of(callers.other)
        .filter((cell) => !isPublic(cell) && !ownOperations.has(cell.operation) && isAllowed(cell.got)),
    'a key of all scopes does every operation, in either header and from its networks': (table) =>
      table.of(callers.all, callers.header, callers.inside).filter((cell) => !isOpen(cell)),
    'a key that may only read orders changes nothing': (table) =>
      table.of(scopeCaller('orders:read')).filter((cell) => isOpen(cell) && !isReading(cell.operation)),
    'a key that may only read prices makes quotes, and nothing else': (table) =>
      table
        .of(scopeCaller('rates:read'))
        .filter((cell) => isOpen(cell) && !isReading(cell.operation) && cell.operation !== 'createQuote'),
    'each operation that needs a key is closed to most scopes, and open to one': (table) =>
      table.of(callers.all).filter((cell) => {
        const open = scopeCallers.filter((caller) => table.got(cell.operation, caller)?.startsWith('2'));
        return !isPublic(cell) && (open.length < 1 || open.length > 2);
      }),
  },
};
