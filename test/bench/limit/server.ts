// What the machine allows: the benchmarked requests answered by hand for the same work as the
// gateway's, without a framework. Keys are proven, requests counted, bodies checked, money exact,
// orders durable; what the benchmark does not ask for is refused. It listens on 127.0.0.1, and
// serves a database that a gateway has made.
import { createHash, hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse as parseQuery } from 'node:querystring';
import { Pool } from 'pg';
import { KeyHasher, parseKey } from '../../../src/accounts/partners/secret-key.ts';
import { readSecretFile } from '../../../src/base/secret-file.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { coinIconPath } from '../../../src/market/currencies/icons.ts';
import { AddressQueue } from './addresses.ts';
import { batched } from './batches.ts';
import { type Bucket, countInMemory, countInRedis, type Verdict } from './counters.ts';
import { destination, readBody, unfit } from './create-body.ts';
import * as decimals from './decimals.ts';
import { shortId, uuidv7 } from './ids.ts';
import { type OrderText, orderJson } from './order-json.ts';
import { type Coin, type Limits, limits, terms } from './quote.ts';
import { Refusal } from './refusal.ts';
import { statements } from './statements.ts';

const { DATABASE_URL = '', DATA_DIR = '', REDIS_URL, FEE_RATE_FLOAT = '0.005' } = process.env;
const publicLimit = Number(process.env.RATE_LIMIT_PUBLIC_PER_MIN ?? '60');
const partnerLimit = Number(process.env.RATE_LIMIT_PARTNER_PER_MIN ?? '600');
const ordersLimit = Number(process.env.RATE_LIMIT_ORDERS_PER_MIN ?? '120');

/** As many as a process of the gateway has for requests. */
const poolSize = 10;
const root = '/api/v1';
const ordersPath = `${root}/partner/orders`;
const bodyLimit = 16_384;
const depositWindowMs = 1_800_000;
const keyKnownForMs = 10_000;
const noSuchOrder = 'there is no such order';

const pool = new Pool({
  connectionString: DATABASE_URL,
  max: poolSize,
  statement_timeout: 15_000,
  lock_timeout: 2_000,
  keepAlive: true,
  options: '-c random_page_cost=1.1 -c jit=off -c max_parallel_workers_per_gather=0 -c work_mem=16MB',
});
const count = REDIS_URL ? await countInRedis(REDIS_URL) : countInMemory();
const hasher = new KeyHasher([{ version: 1, secret: readSecretFile(join(DATA_DIR, 'key-pepper')) ?? '' }]);
const coins = await readCoins();
const currencies = await readCurrencies();
const queues = await makeQueues();

// --- what is read once ---

async function readCoins(): Promise<ReadonlyMap<string, readonly Coin[]>> {
  const { rows: windows } = await pool.query<{ fixed: Record<string, string>; reference: Record<string, string> }>(
    'select fixed, reference from price_window order by starts_at desc limit 1',
  );
  const [window] = windows;
  const { rows } = await pool.query<{
    coin: string;
    network: string;
    decimals: number;
    min: string;
    max: string;
    fee: string;
    confirmations: number;
    contract: string | null;
  }>(
    `select coin, network, decimals, min_amount::text as min, max_amount::text as max, network_fee::text as fee,
            min_confirmations as confirmations, contract
       from currency where is_active and is_deposit_enabled and is_withdraw_enabled`,
  );
  const amount = (text: string | undefined): bigint => decimals.parse(text ?? '0') ?? 0n;
  const read = rows.map(
    (row): Coin => ({
      coin: row.coin,
      network: row.network,
      decimals: row.decimals,
      minAmount: amount(row.min),
      maxAmount: amount(row.max),
      networkFee: amount(row.fee),
      minConfirmations: row.confirmations,
      contract: row.contract,
      price: amount(window?.fixed[row.coin]),
      reference: amount(window?.reference[row.coin]),
    }),
  );
  return Map.groupBy(read, ({ coin }) => coin);
}

async function readCurrencies(): Promise<{ body: Buffer; etag: string }> {
  const { rows } = await pool.query<Record<string, unknown> & { coin: string }>(
    `select id, coin, network, name, is_active, is_deposit_enabled, is_withdraw_enabled,
            trim_scale(min_amount)::text as min_amount, trim_scale(max_amount)::text as max_amount,
            min_confirmations, decimals, is_memo, explorer_tx_url, explorer_address_url
       from currency where is_active order by coin, network`,
  );
  const numbers = new Set(['min_amount', 'max_amount']);
  const written = rows.map((row) => {
    const members = Object.entries({ ...row, icon_url: coinIconPath(row.coin) });
    const texts = members.map(([name, value]) => `"${name}":${numbers.has(name) ? value : JSON.stringify(value)}`);
    return `{${texts.join()}}`;
  });
  const body = Buffer.from(`[${written.join()}]`);
  return { body, etag: `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"` };
}

async function makeQueues(): Promise<ReadonlyMap<string, AddressQueue>> {
  const { rows } = await pool.query<{ keychain: string; xpub: string }>(
    'select keychain, xpub from deposit_account where xpub is not null',
  );
  const xpubs = new Map(rows.map(({ keychain, xpub }) => [keychain, xpub]));
  const made = new Map<string, AddressQueue>();
  for (const { network } of [...coins.values()].flat()) {
    const { deposit, keychain = '' } = networkById(network) ?? {};
    const xpub = xpubs.get(keychain);
    if (deposit === 'derived' && xpub !== undefined) made.set(network, new AddressQueue(pool, network, xpub));
  }
  return made;
}

// --- keys and limits ---

interface Caller {
  readonly keyId: string;
  readonly partnerId: string;
  readonly scopes: readonly string[];
  readonly feeText: string;
  readonly partner: Bucket;
  readonly orders: Bucket;
}

interface KnownKey {
  readonly readAtMs: number;
  readonly stored: { readonly mac: Buffer; readonly pepperVersion: number };
  readonly expiresAtMs: number;
  readonly isUsable: boolean;
  readonly caller: Caller;
}

const knownKeys = new Map<string, KnownKey>();

async function readKey(keyId: string): Promise<KnownKey | undefined> {
  const { rows } = await pool.query({ name: 'key', text: statements.key, values: [keyId] });
  const [row] = rows;
  if (!row) return undefined;
  const known: KnownKey = {
    readAtMs: Date.now(),
    stored: { mac: row.mac, pepperVersion: row.pepper_version },
    expiresAtMs: row.revoked_at ? 0 : (row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY),
    isUsable: row.status === 'active' && row.allowed_cidrs.length === 0,
    caller: {
      keyId,
      partnerId: row.partner_id,
      scopes: row.scopes,
      feeText: row.fee_rate_float ?? FEE_RATE_FLOAT,
      partner: { name: 'partner', caller: row.partner_id, limit: partnerLimit },
      orders: { name: 'orders', caller: row.partner_id, limit: ordersLimit },
    },
  };
  knownKeys.set(keyId, known);
  return known;
}

async function prove(header: string | undefined, scope: string): Promise<Caller> {
  const key = header?.startsWith('Bearer ') ? parseKey(header.slice(7)) : null;
  if (!key) throw new Refusal(401, 'unauthorized', 'the API key is not valid');
  let known = knownKeys.get(key.keyId);
  if (!known || known.readAtMs + keyKnownForMs < Date.now()) known = await readKey(key.keyId);
  if (!hasher.matches(key, known?.stored ?? null) || !known || known.expiresAtMs <= Date.now())
    throw new Refusal(401, 'unauthorized', 'the API key is not valid');
  if (!known.isUsable || !known.caller.scopes.includes(scope))
    throw new Refusal(403, 'insufficient_scope', 'this API key may not do that');
  return known.caller;
}

/** The tightest of the buckets. */
async function admit(buckets: readonly Bucket[]): Promise<Verdict> {
  const verdicts = await count(buckets);
  const tightest = verdicts.reduce((a, b) => (b.remaining < a.remaining ? b : a));
  if (tightest.remaining < 0) throw new Refusal(429, 'rate_limited', 'rate limit exceeded');
  return tightest;
}

// --- answers ---

function send(
  res: ServerResponse,
  status: number,
  { bucket, remaining, resetMs }: Verdict,
  body: string | Buffer | null,
  cacheControl: string,
  ...more: string[]
): void {
  const headers = [
    'X-Request-Id',
    uuidv7(),
    'X-Content-Type-Options',
    'nosniff',
    'Cache-Control',
    cacheControl,
    'RateLimit-Policy',
    `"${bucket.name}";q=${bucket.limit};w=60`,
    'RateLimit',
    `"${bucket.name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
    'X-RateLimit-Limit',
    String(bucket.limit),
    'X-RateLimit-Remaining',
    String(remaining),
    'X-RateLimit-Reset',
    String(Math.ceil((Date.now() + resetMs) / 1000)),
    ...more,
  ];
  if (body === null) {
    res.writeHead(status, headers).end();
    return;
  }
  headers.push('Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(Buffer.byteLength(body)));
  res.writeHead(status, headers).end(body);
}

function refuse(res: ServerResponse, error: unknown): void {
  const { status, code, message } =
    error instanceof Refusal ? error : new Refusal(500, 'internal', 'something went wrong');
  if (status === 500) process.stderr.write(`${String(error)}\n`);
  const body = JSON.stringify({ detail: message, code, request_id: uuidv7() });
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
  res.writeHead(status, headers).end(body);
}

const anonymous = (req: IncomingMessage): readonly Bucket[] => [
  { name: 'anon', caller: req.socket.remoteAddress ?? '', limit: publicLimit },
];

async function listCurrencies(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const verdict = await admit(anonymous(req));
  const { body, etag } = currencies;
  if (req.headers['if-none-match'] === etag)
    send(res, 304, verdict, null, 'public, max-age=5', 'ETag', etag, 'Vary', 'Accept-Encoding');
  else send(res, 200, verdict, body, 'public, max-age=5', 'ETag', etag, 'Vary', 'Accept-Encoding');
}

const pairLimits = new Map<string, Limits>();

function quote(from: Coin, to: Coin, amount: bigint, feeText: string) {
  const fee = (decimals.parse(feeText) ?? 0n) / 10n ** 12n;
  const pair = `${from.coin}/${from.network}-${to.coin}/${to.network}-${feeText}`;
  let bounds = pairLimits.get(pair);
  if (!bounds) {
    if (from.price === 0n || to.price === 0n) throw new Refusal(422, 'pair_unavailable', 'the pair is unavailable');
    bounds = limits(from, to, fee);
    pairLimits.set(pair, bounds);
  }
  if (amount < bounds.min) throw new Refusal(422, 'amount_below_min', 'the amount is below the minimum');
  if (amount > bounds.max) throw new Refusal(422, 'amount_above_max', 'the amount is above the maximum');
  if (decimals.floorTo(amount, from.decimals) !== amount)
    throw new Refusal(422, 'too_many_decimals', 'the amount has too many decimals');
  const quoted = terms(amount, from, to, fee);
  if (quoted.rate <= 0n || quoted.amountTo <= 0n) throw new Refusal(422, 'pair_unavailable', 'the pair is unavailable');
  return { ...bounds, ...quoted };
}

function coin(name: unknown, network: unknown): Coin {
  const found = coins.get(String(name));
  const one = network === undefined && found?.length === 1 ? found[0] : found?.find((row) => row.network === network);
  if (!one) throw new Refusal(422, found ? 'unknown_network' : 'unknown_coin', 'there is no such currency');
  return one;
}

async function getRate(req: IncomingMessage, res: ServerResponse, search: string): Promise<void> {
  const verdict = await admit(anonymous(req));
  const query = parseQuery(search);
  const from = coin(query.coin_from, query.network_from);
  const to = coin(query.coin_to, query.network_to);
  const amount = typeof query.amount === 'string' ? decimals.parse(query.amount) : null;
  if (amount === null || amount === 0n || from === to || (query.rate_type ?? 'float') !== 'float')
    throw unfit('the query');
  const { rate, min, max } = quote(from, to, amount, FEE_RATE_FLOAT);
  const body =
    `{"coin_from":"${from.coin}","coin_to":"${to.coin}","rate_type":"float","rate":${decimals.format(rate)},` +
    `"min_amount":${decimals.format(min)},"max_amount":${decimals.format(max)},"expires_in":null}`;
  send(res, 200, verdict, body, 'no-store');
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const shortIdForm = /^[A-Z][A-Z0-9]{0,7}-[A-Z0-9]{6}$/i;

async function getOrder(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
  const caller = await prove(req.headers.authorization, 'orders:read');
  const verdict = await admit([caller.partner]);
  const isUuid = uuidForm.test(id);
  if (!isUuid && !shortIdForm.test(id)) throw new Refusal(404, 'order_not_found', noSuchOrder);
  const row = await (isUuid ? findById([id, caller.partnerId]) : findByShortId([id.toUpperCase(), caller.partnerId]));
  if (!row) throw new Refusal(404, 'order_not_found', noSuchOrder);
  const body = orderJson({
    id: row[1],
    shortId: row[2],
    status: row[3],
    createdAt: row[4],
    expiresAt: row[5],
    coinFrom: row[6],
    networkFrom: row[7],
    coinTo: row[8],
    networkTo: row[9],
    amountFrom: row[10],
    amountTo: row[11],
    rateType: row[12],
    rate: row[13],
    depositAddress: row[14],
    depositTag: row[15],
    recipient: row[16],
    depositTxid: row[17],
    confirmations: row[18],
    confirmationsRequired: row[19],
    payoutTxid: row[20],
  });
  const etag = `"${hash('sha256', body).slice(0, 32)}"`;
  if (req.headers['if-none-match'] === etag) send(res, 304, verdict, null, 'no-store', 'ETag', etag);
  else send(res, 200, verdict, body, 'no-store', 'ETag', etag);
}

function collect(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > bodyLimit) reject(new Refusal(413, 'payload_too_large', 'the body is too large'));
    });
    req.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    req.on('error', reject);
  });
}

async function createOrder(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const caller = await prove(req.headers.authorization, 'orders:create');
  const verdict = await admit([caller.partner, caller.orders]);
  if (!req.headers['content-type']?.startsWith('application/json'))
    throw new Refusal(415, 'unsupported_media_type', 'the body must be JSON');
  const raw = await collect(req);
  const { texts, amount } = readBody(raw);
  const from = coin(texts.coin_from, texts.network_from);
  const to = coin(texts.coin_to, texts.network_to);
  if (from === to) throw new Refusal(422, 'same_currency', 'an exchange needs two currencies');
  const quoted = quote(from, to, amount, caller.feeText);
  const recipient = destination(to, texts.recipient_address ?? '', texts.recipient_address_tag ?? null);
  const refund =
    texts.refund_address === undefined
      ? null
      : destination(from, texts.refund_address, texts.refund_address_tag ?? null);
  const queue = queues.get(from.network);
  if (!queue) throw new Refusal(503, 'unavailable', 'no deposit address is ready');
  const deposit = await queue.take();
  const write = async (drawn: string): Promise<void> => {
    const createdAt = new Date();
    const order: OrderText = {
      id: uuidv7(),
      shortId: drawn,
      status: 'waiting_deposit',
      createdAt,
      expiresAt: new Date(createdAt.getTime() + depositWindowMs),
      coinFrom: from.coin,
      networkFrom: from.network,
      coinTo: to.coin,
      networkTo: to.network,
      amountFrom: decimals.format(amount),
      amountTo: decimals.format(quoted.amountTo),
      rateType: 'float',
      rate: decimals.format(quoted.rate),
      depositAddress: deposit.address,
      depositTag: null,
      recipient: recipient.address,
      depositTxid: null,
      confirmations: null,
      confirmationsRequired: from.minConfirmations,
      payoutTxid: null,
    };
    const body = orderJson(order);
    const values = [
      caller.keyId,
      order.id,
      uuidv7(),
      networkById(from.network)?.keychain,
      createdAt.toISOString(),
      order.expiresAt.toISOString(),
      from.coin,
      from.network,
      to.coin,
      to.network,
      order.amountFrom,
      order.amountTo,
      order.rate,
      recipient.address,
      recipient.tag,
      refund?.address ?? null,
      refund?.tag ?? null,
      deposit.index,
      deposit.address,
      order.shortId,
      caller.partnerId,
      caller.feeText,
      decimals.format(quoted.serviceFee),
      decimals.format(to.networkFee),
      from.minConfirmations,
      decimals.format(quoted.min),
      decimals.format(quoted.max),
    ];
    const once = req.headers['idempotency-key'];
    if (once === undefined) {
      judge(await create(values));
      send(res, 201, verdict, body, 'no-store', 'Location', `${ordersPath}/${order.id}`);
      return;
    }
    if (typeof once !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(once))
      throw new Refusal(400, 'invalid_idempotency_key', 'Idempotency-Key is not acceptable');
    const fingerprint = createHash('sha256').update(`POST ${ordersPath}\n`).update(raw).digest();
    try {
      judge(await createOnce([...values, once, fingerprint, body]));
      send(res, 201, verdict, body, 'no-store', 'Location', `${ordersPath}/${order.id}`);
    } catch (error) {
      if (brokenConstraint(error) !== 'idempotency_key_pkey') throw error;
      const { rows } = await pool.query({ name: 'stored', text: statements.stored, values: [caller.partnerId, once] });
      const [stored] = rows;
      if (!stored?.fingerprint.equals(fingerprint))
        throw new Refusal(422, 'idempotency_key_reused', 'this Idempotency-Key was used with another request');
      const location = `${ordersPath}/${stored.order_id}`;
      send(res, 201, verdict, stored.body, 'no-store', 'Location', location, 'Idempotent-Replayed', 'true');
    }
  };
  for (;;) {
    try {
      return await write(shortId());
    } catch (error) {
      if (brokenConstraint(error) !== 'exchange_order_short_id_key') throw error;
    }
  }
}

/** Runs a statement over the rows of a batch. The answers have their row's number first. */
function overRows<Answer>(name: string, text: string, numberOf: (answer: Answer) => number, rowMode?: 'array') {
  return batched<readonly unknown[], Answer | undefined>(async (items) => {
    const columns = (items[0] ?? []).map((_, column) => items.map((item) => item[column]));
    const { rows } = await pool.query({ name, text, values: columns, ...(rowMode ? { rowMode } : {}) });
    const answers: (Answer | undefined)[] = items.map(() => undefined);
    for (const row of rows as Answer[]) answers[numberOf(row) - 1] = row;
    return answers;
  });
}

interface JudgedCreate {
  readonly n: number;
  readonly live: boolean;
  readonly active: boolean;
  readonly own_recipient: boolean;
  readonly own_refund: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: a row is read by the place of its columns
type FoundOrder = any[];

const findById = overRows<FoundOrder>('order', statements.orderById, ([n]) => n, 'array');
const findByShortId = overRows<FoundOrder>('short', statements.orderByShortId, ([n]) => n, 'array');
const create = overRows<JudgedCreate>('create', statements.create, ({ n }) => n);
const createOnce = overRows<JudgedCreate>('once', statements.createOnce, ({ n }) => n);

const brokenConstraint = (error: unknown): unknown => (error as { constraint?: string }).constraint;

function judge(row: JudgedCreate | undefined): void {
  if (!row?.live) throw new Refusal(401, 'unauthorized', 'this API key has been revoked or has expired');
  if (!row.active) throw new Refusal(403, 'partner_inactive', 'this partner account is not active');
  if (row.own_recipient || row.own_refund) throw new Refusal(422, 'own_address', 'the address is one of this service');
}

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { method, url = '' } = req;
  if (method === 'GET' && url === `${root}/currencies`) return listCurrencies(req, res);
  if (method === 'GET' && url.startsWith(`${root}/partner/rates?`))
    return getRate(req, res, url.slice(`${root}/partner/rates?`.length));
  if (method === 'GET' && url.startsWith(`${ordersPath}/`)) return getOrder(req, res, url.slice(ordersPath.length + 1));
  if (method === 'POST' && url === ordersPath) return createOrder(req, res);
  throw new Refusal(404, 'not_found', 'there is nothing at this path');
}

const server = createServer({ keepAliveTimeout: 65_000 }, (req, res) => {
  answer(req, res).catch((error) => refuse(res, error));
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0));
for (const network of ['BTC']) queues.get(network)?.refill();
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready rest=http://127.0.0.1:${(server.address() as AddressInfo).port}${root}\n`);
});
