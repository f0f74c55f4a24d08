// Orders in every shape while workers are killed and chains reorganise; then whether each order ended, nobody was paid
// twice, and the book agrees with the chains. Usage: npm run torture -- --help
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ed25519 } from '@noble/curves/ed25519.js';
import { Pool } from 'pg';
import { startApp } from '../../src/app.ts';
import { addressExample, checkAddress } from '../../src/chains/address.ts';
import { encodeBase58check } from '../../src/chains/addresses/base58check.ts';
import { encodeP2wpkh } from '../../src/chains/addresses/bitcoin-like.ts';
import { encodeSolana } from '../../src/chains/addresses/solana.ts';
import { networkById } from '../../src/chains/networks.ts';
import { busyBlocks } from '../../src/chains/sandbox/sandbox-adapters.ts';
import { SandboxChain } from '../../src/chains/sandbox/sandbox-chain.ts';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config.ts';
import type { Currency } from '../../src/currencies/currency.entity.ts';
import { CurrencyService } from '../../src/currencies/currency-service.ts';
import { startEmbeddedPostgres } from '../../src/db/embedded-postgres.ts';
import { createOrm } from '../../src/db/orm.ts';
import { Big, floorTo, formatDecimal, toUnits } from '../../src/money.ts';
import { Dice } from '../support/dice.ts';

const help = `Usage: npm run torture -- [options]

  --orders <n>         orders to create (1000)
  --workers <n>        worker processes (2)
  --seed <n>           seed of every choice; a random one unless given
  --kill-every-ms <n>  a worker is killed about so often; 0 for never (2500)
  --keep               keep the folder with the database and the workers' logs
`;

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000' },
    workers: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    'kill-every-ms': { type: 'string', default: '2500' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}
const orderCount = wholeNumber(options.orders);
const workerCount = wholeNumber(options.workers);
const seed = wholeNumber(options.seed);
const killEveryMs = wholeNumber(options['kill-every-ms']);

const windowSec = 20;
const createEveryMs = 75;
const minCreateMs = 10_000;
const reorgEveryMs = 600;
const progressEveryMs = 3_000;
/** After the last deposit, before the workers are left in peace. */
const killOnMs = 5_000;
const quietTimeoutMs = 120_000;
/** So long nothing may have been left to do. */
const quietMs = 4_000;
/** The venue has none of it, so that exchanges into it run into their deadline. */
const soldOut = 'LINK';

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`'${text}' is not a whole number; see npm run torture -- --help`);
  return Number.parseInt(text, 10);
}

/** What users do with their deposit. */
const behaviours = {
  exact: 46,
  partial: 8,
  'below minimum': 6,
  dust: 2,
  over: 6,
  'above maximum': 4,
  double: 7,
  'wrong tag': 5,
  'wrong coin': 3,
  'near expiry': 4,
  late: 6,
  replaced: 2,
  never: 7,
} as const;
type Behaviour = keyof typeof behaviours;

type Place = readonly [coin: string, network: string];

/** Coins that orders pay in: derived, shared and pooled addresses, 1 to 64 confirmations. */
const sources: readonly Place[] = [
  ['BTC', 'BTC'],
  ['LTC', 'LTC'],
  ['DOGE', 'DOGE'],
  ['ETH', 'ETH'],
  ['USDT', 'TRC20'],
  ['TRX', 'TRX'],
  ['USDT', 'BEP20'],
  ['BNB', 'BSC'],
  ['SOL', 'SOL'],
  ['USDC', 'SOL'],
  ['XRP', 'XRP'],
  ['XLM', 'XLM'],
  ['USDC', 'XLM'],
  ['TON', 'TON'],
  ['ATOM', 'ATOM'],
  ['AVAX', 'AVAXC'],
];
const destinations: readonly Place[] = [...sources, ['USDT', 'ERC20'], ['DAI', 'ERC20'], [soldOut, 'ERC20']];

interface Recipient {
  readonly address: string;
  readonly tag: string | null;
}

/** An address that no other order has, in the form in which the gateway keeps it. */
function newRecipient(network: string, dice: Dice): Recipient {
  const found = networkById(network);
  const random = dice.bytes(20);
  const address =
    found?.family === 'bitcoin'
      ? encodeP2wpkh('bc', random)
      : found?.family === 'litecoin'
        ? encodeP2wpkh('ltc', random)
        : found?.family === 'dogecoin'
          ? encodeBase58check([0x1e], random)
          : found?.family === 'tron'
            ? encodeBase58check([0x41], random)
            : found?.family === 'evm'
              ? `0x${Buffer.from(random).toString('hex')}`
              : found?.family === 'solana'
                ? encodeSolana(ed25519.getPublicKey(dice.bytes(32)))
                : addressExample(network);
  const tag = found?.memo ? String(Math.floor(dice.between(1, 4e9))) : null;
  const check = checkAddress(network, address, tag);
  if (!check.ok) throw new Error(`${address} on ${network} ${check.detail}`);
  return { address: check.address, tag };
}

/** A made order, with what is done to it. */
interface Made {
  readonly id: string;
  readonly behaviour: Behaviour;
  readonly recipient: Recipient;
}

/** A deposit that a user made. */
interface Sent {
  readonly order: Made;
  readonly chain: string;
  readonly txid: string;
}

const began = performance.now();
const dataDir = await mkdtemp(join(tmpdir(), 'gateway-torture-'));
// Root's PostgreSQL runs as another user, who must get through.
await chmod(dataDir, 0o711);
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

say(`seed ${seed}, ${orderCount} orders, ${workerCount} workers, in ${dataDir}`);
const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: true, maxConnections: 200 });
if (decodeURIComponent(postgres.url).includes('@/proc/'))
  throw new Error('the temporary folder is too deep to share a socket: set TMPDIR');
const settings = {
  DATA_DIR: dataDir,
  DATABASE_URL: postgres.url,
  REQUIRE_DURABLE_COMMITS: 'false',
  PORT: '0',
  INTERNAL_PORT: '0',
  DRAIN_GRACE_MS: '0',
  DEPOSIT_WINDOW_SEC: String(windowSec),
  EXCHANGE_DEADLINE_SEC: '10',
  SANDBOX_BLOCK_MS: '50',
  CHAIN_POLL_MS: '50',
  CHAIN_LEASE_MS: '1500',
  RATE_LIMIT_PUBLIC_PER_MIN: '1000000',
  RATE_LIMIT_PARTNER_PER_MIN: '1000000',
  RATE_LIMIT_ORDERS_PER_MIN: '1000000',
};

/** A gateway process from dist, with its log in the folder. */
class Gateway {
  readonly child: ChildProcess;
  readonly #role: string;
  #output = '';
  isReady = false;

  constructor(role: 'api' | 'worker', number: number) {
    this.#role = `${role} ${number}`;
    this.child = spawn(process.execPath, ['--enable-source-maps', 'dist/main.js'], {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        NODE_ENV: 'production',
        ...settings,
        ROLE: role,
        LOG_LEVEL: role === 'worker' ? 'info' : 'warn',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(this.child);
    const log = createWriteStream(join(dataDir, `${role}-${number}.log`), { flags: 'a' });
    const read = (data: Buffer): void => {
      log.write(data);
      if (!this.isReady) this.#output += data;
      this.isReady ||= /^ready /m.test(this.#output);
      countEvents(String(data));
    };
    this.child.stdout?.on('data', read);
    this.child.stderr?.on('data', read);
    this.child.once('close', () => {
      children.delete(this.child);
      log.end();
    });
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async ready(): Promise<string> {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline && this.isRunning; await sleep(50)) {
      if (this.isReady) return /^ready rest=(\S+)/m.exec(this.#output)?.[1] ?? '';
    }
    throw new Error(`the ${this.#role} did not start:\n${this.#output}`);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (!this.isRunning) return;
    const closed = once(this.child, 'close');
    this.child.kill(signal);
    await closed;
  }
}

/** Lines of the gateways' logs by what they say. */
const events = new Map<string, number>();
function countEvents(text: string): void {
  for (const [, event] of text.matchAll(/"event":"(\w+)"/g)) {
    if (event !== undefined) events.set(event, (events.get(event) ?? 0) + 1);
  }
}

const first = await startApp({
  config: loadConfig({ ...settings, LOG_LEVEL: 'error' }),
  databaseUrl: postgres.url,
  embedded: true,
  surroundings: { background: false },
});
const key = first.demo?.partnerKey ?? '';
await first.stop();

const orm = await createOrm({ url: postgres.url, poolSize: 10 });
const pool = new Pool({ connectionString: postgres.url, max: 3 });
const sandbox = new SandboxChain({ orm, clock: systemClock });
const currencies = await new CurrencyService(orm, systemClock).list();
await pool.query('insert into sandbox_inventory (coin, amount) values ($1, 0)', [soldOut]);

async function rows<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return (await pool.query<Row>(sql, values)).rows;
}

// Reorganisations must not take what the hot wallet began with.
for (const chain of (await sandbox.heads()).keys()) await sandbox.mine(chain, 3);

function currencyOf([coin, network]: Place): Currency {
  const found = currencies.find((row) => row.coin === coin && row.network === network);
  if (!found) throw new Error(`there is no ${coin} on ${network}`);
  return found;
}

function chainOf(network: string): string {
  return networkById(network)?.chain ?? '';
}

const api = new Gateway('api', 1);
const rest = await api.ready();
const workers = Array.from({ length: workerCount }, (_, index) => new Gateway('worker', index + 1));
await Promise.all(workers.map((worker) => worker.ready()));
say('the gateway is ready');

// --- orders and deposits

const made: Made[] = [];
const sent: Sent[] = [];
const injections: Promise<void>[] = [];
let waitingInjections = 0;
const faults: string[] = [];

interface Limits {
  readonly min: Big;
  readonly max: Big | null;
}
const limits = new Map<string, Promise<Limits>>();

function limitsOf(from: Place, to: Place, rateType: string): Promise<Limits> {
  const name = [...from, ...to, rateType].join(' ');
  const known = limits.get(name);
  if (known) return known;
  const amount = formatDecimal(new Big(currencyOf(from).minAmount).times('3'));
  const query = new URLSearchParams({
    coin_from: from[0],
    network_from: from[1],
    coin_to: to[0],
    network_to: to[1],
    amount,
    rate_type: rateType,
  });
  const asked = fetch(`${rest}/partner/rates?${query}`).then(async (reply) => {
    const { min_amount: min, max_amount: max, detail } = (await reply.json()) as Record<string, unknown>;
    if (typeof min !== 'number') throw new Error(`no rate of ${name}: ${reply.status} ${detail}`);
    return { min: new Big(String(min)), max: typeof max === 'number' ? new Big(String(max)) : null };
  });
  limits.set(name, asked);
  return asked;
}

/** Creates an order and plans its deposits. */
async function createOrder(dice: Dice): Promise<void> {
  const from = dice.pick(sources);
  const to = dice.pick(destinations.filter(([coin]) => coin !== from[0]));
  const rateType = dice.chance(0.4) ? 'fixed' : 'float';
  const hasRefund = dice.chance(0.8);
  const refusesPayout = dice.chance(0.03);
  const refusesRefund = dice.chance(0.03);
  const recipient = newRecipient(to[1], dice);
  const refund = newRecipient(from[1], dice);
  const behaviour = dice.weighted(behaviours);
  const factor = dice.between(2, 6);
  const moments = [dice.between(0, 6_000), dice.between(500, 15_000), dice.next()] as const;
  const parts = dice.between(0.6, 0.95);

  const { min, max } = await limitsOf(from, to, rateType);
  const amount = floorTo(min.times(factor.toFixed(3)), Math.min(6, currencyOf(from).decimals));
  if (refusesPayout && networkById(to[1])?.memo === null) await sandbox.refuse(chainOf(to[1]), recipient.address);
  if (refusesRefund && networkById(from[1])?.memo === null) await sandbox.refuse(chainOf(from[1]), refund.address);
  const body = {
    coin_from: from[0],
    network_from: from[1],
    coin_to: to[0],
    network_to: to[1],
    amount_from: Number(formatDecimal(amount)),
    rate_type: rateType,
    recipient_address: recipient.address,
    ...(recipient.tag === null ? {} : { recipient_address_tag: recipient.tag }),
    ...(hasRefund ? { refund_address: refund.address } : {}),
    ...(hasRefund && refund.tag !== null ? { refund_address_tag: refund.tag } : {}),
  };
  const reply = await postOrder(body);
  const order: Made = { id: reply.id, behaviour, recipient };
  made.push(order);

  const expected = new Big(String(reply.amount_from_expected));
  const target = { from, to: reply.deposit_address, tag: reply.deposit_address_tag };
  const [early, later, place] = moments;
  const part = (share: string | number): Big => expected.times(String(share));
  const plan = (afterMs: number, value: Big, changes: Partial<Injection> = {}): void =>
    inject(order, { ...target, amount: value, afterMs, isDropped: false, ...changes });
  switch (behaviour) {
    case 'exact':
      return plan(early, expected);
    case 'partial':
      return plan(early, part(parts.toFixed(2)));
    case 'below minimum':
      return plan(early, min.times('0.5'));
    case 'dust':
      return plan(early, new Big(currencyOf(from).networkFee).times('0.5'));
    case 'over':
      return plan(early, part((1 + parts).toFixed(2)));
    case 'above maximum':
      return plan(early, (max ?? part(10)).times('1.5'));
    case 'double':
      plan(early, expected);
      return plan(early + later, part(place < 0.5 ? 1 : parts.toFixed(2)));
    case 'wrong tag':
      // An address without tags takes the transfer all the same.
      if (target.tag !== null) return plan(early, expected, { tag: place < 0.5 ? null : '4294967295' });
      return plan(early, expected, { tag: '7' });
    case 'wrong coin': {
      const other = currencies.filter(({ network, coin }) => chainOf(network) === chainOf(from[1]) && coin !== from[0]);
      if (other.length === 0) return plan(early, expected);
      const currency = dice.pick(other);
      return plan(early, new Big(currency.minAmount), { from: [currency.coin, currency.network] });
    }
    case 'near expiry':
      return plan(windowSec * 1000 - 1500 + place * 2500, expected);
    case 'late':
      return plan(windowSec * 1000 + 1000 + place * 14_000, expected);
    case 'replaced':
      plan(early, expected, { isDropped: true });
      return place < 0.5 ? plan(early + later, expected) : undefined;
    case 'never':
      return;
  }
}

interface OrderReply {
  readonly id: string;
  readonly deposit_address: string;
  readonly deposit_address_tag: string | null;
  readonly amount_from_expected: number;
}

/** Creates an order exactly once, whatever the first answer is. */
async function postOrder(body: object): Promise<OrderReply> {
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),
  };
  for (let tries = 1; ; tries++) {
    const reply = await fetch(`${rest}/partner/orders`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await reply.text();
    if (reply.status === 201) return JSON.parse(text) as OrderReply;
    if (reply.status < 500 || tries === 10) throw new Error(`an order was refused: ${reply.status} ${text}`);
    await sleep(tries * 200);
  }
}

interface Injection {
  readonly from: Place;
  readonly to: string;
  readonly tag: string | null;
  readonly amount: Big;
  readonly afterMs: number;
  /** Forgotten by the chain before it is in a block, if that succeeds. */
  readonly isDropped: boolean;
}

function inject(order: Made, { from, to, tag, amount, afterMs, isDropped }: Injection): void {
  const { contract, decimals, network } = currencyOf(from);
  const chain = chainOf(network);
  const send = async (): Promise<void> => {
    await sleep(afterMs);
    const txid = await sandbox.pay(chain, {
      to,
      tag,
      contract,
      amount: toUnits(floorTo(amount, decimals), decimals),
      busyBlocks: busyBlocks(chain, currencies),
    });
    sent.push({ order, chain, txid });
    if (isDropped) await sandbox.drop(chain, txid);
  };
  waitingInjections += 1;
  injections.push(
    send()
      .catch((error: Error) => void faults.push(`a deposit could not be made: ${error.message}`))
      .finally(() => {
        waitingInjections -= 1;
      }),
  );
}

async function createOrders(): Promise<void> {
  const dice = new Dice(seed);
  const everyMs = Math.max(createEveryMs, minCreateMs / orderCount);
  const start = performance.now();
  const left = Array.from({ length: orderCount }, (_, index) => ({
    index,
    dice: new Dice(Math.floor(dice.next() * 2 ** 32)),
  })).values();
  const lane = async (): Promise<void> => {
    for (const order of left) {
      await sleep(Math.max(0, start + order.index * everyMs - performance.now()));
      await createOrder(order.dice).catch((error: Error) => void faults.push(error.message));
    }
  };
  await Promise.all(Array.from({ length: 6 }, lane));
}

// --- what goes wrong meanwhile

let kills = 0;
let reorgs = 0;
let isPeaceful = false;

async function killWorkers(): Promise<void> {
  if (killEveryMs === 0) return;
  const dice = new Dice(seed + 1);
  while (!isPeaceful) {
    await sleep(killEveryMs * dice.between(0.5, 1.5));
    if (isPeaceful) return;
    // Mostly one that works, so that there is something to interrupt; at times one that starts.
    const candidates = workers.filter(({ isReady, isRunning }) => isRunning && (isReady || dice.chance(0.15)));
    if (candidates.length === 0) continue;
    const victim = dice.pick(candidates);
    const index = workers.indexOf(victim);
    await victim.end('SIGKILL');
    kills += 1;
    workers[index] = new Gateway('worker', index + 1);
  }
}

/**
 * Payments count as final in the second block, so that a chain either loses what was in its newest block, for good, or
 * goes back further and keeps everything. Where one confirmation is enough for a deposit, nothing is lost.
 */
async function reorganise(): Promise<void> {
  const dice = new Dice(seed + 2);
  const chains = [...new Set(destinations.map(([, network]) => chainOf(network)))];
  const careful = chains.filter((chain) =>
    currencies.every(({ network, minConfirmations }) => chainOf(network) !== chain || minConfirmations > 1),
  );
  const lossy = new Set(careful.filter((_, index) => index % 2 === 0));
  while (!isPeaceful) {
    await sleep(reorgEveryMs * dice.between(0.5, 1.5));
    if (isPeaceful) return;
    const chain = dice.pick(chains);
    const isLossy = lossy.has(chain);
    const depth = isLossy || dice.chance(0.5) ? 1 : 2;
    await sandbox.reorg(chain, depth, { keep: !(isLossy && dice.chance(0.1)) });
    reorgs += 1;
  }
}

// --- watching

interface Overview {
  readonly orders: Record<string, number>;
  /** Orders, deposits and payments that have something to do. */
  readonly open: number;
}

async function overview(): Promise<Overview> {
  const orders = await rows<{ name: string; count: number }>(
    `select case when held_at is null then status else 'held' end as name, count(*)::int as count
       from exchange_order group by 1 order by 1`,
  );
  const [open] = await rows<{ count: number }>(
    `select ((select count(*) from exchange_order
               where held_at is null and status in ('waiting_deposit', 'confirming', 'exchanging', 'sending', 'refunding'))
           + (select count(*) from deposit where state in ('mempool', 'mined'))
           + (select count(*) from payment p left join exchange_order o on o.id = p.order_id
               where p.state in ('signed', 'sent') or (p.state in ('ready', 'prepared') and o.held_at is null))
           + (select count(*) from sandbox_tx where state = 'mempool'))::int as count`,
  );
  return { orders: Object.fromEntries(orders.map(({ name, count }) => [name, count])), open: open?.count ?? 0 };
}

function shown(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

let isWatching = true;
async function watch(): Promise<void> {
  while (isWatching) {
    await sleep(progressEveryMs);
    if (!isWatching) return;
    const { orders, open } = await overview();
    const running = workers.filter(({ isReady, isRunning }) => isReady && isRunning).length;
    say(
      `${shown(orders)}; open ${open}, deposits to come ${waitingInjections}, workers ${running}, kills ${kills}, reorgs ${reorgs}`,
    );
    for (const worker of workers) {
      if (!worker.isRunning && worker.child.exitCode !== null)
        faults.push(`a worker ended with ${worker.child.exitCode}`);
    }
  }
}

async function waitUntilQuiet(): Promise<boolean> {
  let quietSince: number | null = null;
  for (const deadline = Date.now() + quietTimeoutMs; Date.now() < deadline; await sleep(250)) {
    const { open } = await overview();
    quietSince = open === 0 ? (quietSince ?? Date.now()) : null;
    if (quietSince !== null && Date.now() - quietSince >= quietMs) return true;
  }
  return false;
}

// --- what must hold at the end

/** Each line is an order, or a deposit of one, that came to no end. */
async function findLost(): Promise<string[]> {
  const lost: string[] = [];
  const stored = new Set((await rows<{ id: string }>('select id from exchange_order')).map(({ id }) => id));
  for (const { id } of made) if (!stored.has(id)) lost.push(`order ${id} was answered with 201 and is not there`);
  if (stored.size !== made.length) lost.push(`${stored.size} orders are there, and ${made.length} were made`);
  const stuck = await rows<{ id: string; status: string }>(
    `select id, status from exchange_order
      where held_at is null and status not in ('completed', 'refunded', 'expired', 'failed') order by id`,
  );
  for (const { id, status } of stuck) lost.push(`order ${id} stays ${status}`);
  const held = await rows<{ id: string; hold_reason: string }>(
    `select o.id, o.hold_reason from exchange_order o join deposit d on d.id = o.deposit_id
      where o.held_at is not null and d.state = 'credited'`,
  );
  for (const { id, hold_reason } of held) lost.push(`order ${id} is held (${hold_reason}) and its deposit is there`);
  const payments = await rows<{ id: string; state: string; problem: string | null }>(
    `select p.id, p.state, p.problem from payment p left join exchange_order o on o.id = p.order_id
      where p.state not in ('confirmed', 'dead') and (o.held_at is null or p.state in ('signed', 'sent'))
        and o.status is distinct from 'failed'`,
  );
  for (const { id, state, problem } of payments) lost.push(`payment ${id} stays ${state} (${problem})`);
  // From the chain: what users sent, and what became of it.
  const deposits = await rows<{ txid: string; fault: string }>(
    `select t.txid, case when d.id is null then 'was never seen'
                         when d.state <> 'credited' then 'is in a block and stays ' || d.state
                         when d.problem = 'reversed' then 'is back and still counts as reversed'
                         when d.order_id is null and d.problem is null then 'is nobody''s and nobody is told'
                         when d.order_id is not null and main.state is null and d.problem is null
                              and o.status <> 'failed' and o.held_at is null then 'was credited and nothing followed'
                         when o.deposit_id = d.id and trade.amount_from < d.amount and excess.state is null
                              and d.problem is null and unclaimed.id is null then 'has a rest that is gone'
                    end as fault
       from jsonb_to_recordset($1::jsonb) as s (chain text, txid text)
       join sandbox_tx t on t.chain = s.chain and t.txid = s.txid and t.state = 'mined' and t.success
       left join deposit d on d.chain = t.chain and d.txid = t.txid
       left join exchange_order o on o.id = d.order_id
       left join trade on trade.order_id = o.id and trade.state = 'filled'
       left join ledger_transaction unclaimed on unclaimed.kind = 'unclaimed' and unclaimed.reference = d.id::text
       left join lateral (select min(state) as state from payment where deposit_id = d.id and leg = 'main') main on true
       left join lateral (select min(state) as state from payment where deposit_id = d.id and leg = 'excess') excess on true`,
    [JSON.stringify(sent.map(({ chain, txid }) => ({ chain, txid })))],
  );
  const orderOf = new Map(sent.map(({ txid, order }) => [txid, order]));
  for (const { txid, fault } of deposits) {
    const order = orderOf.get(txid);
    if (fault) lost.push(`deposit ${txid} of order ${order?.id} (${order?.behaviour}) ${fault}`);
  }
  return lost;
}

/** Reads from the chains what the hot wallet paid, and to whom. */
async function findPaidWrongly(): Promise<{ twice: string[]; wrong: string[] }> {
  const paid = `select t.chain, t.txid, t.recipient, t.tag, t.contract, t.amount, a.payment_id
      from sandbox_tx t left join payment_attempt a on a.chain = t.chain and a.txid = t.txid
     where t.sender is not null and t.state = 'mined' and t.success`;
  const twice = await rows<{ what: string }>(
    `with paid as (${paid})
     select 'payment ' || payment_id || ' succeeded ' || count(*) || ' times' as what
       from paid group by payment_id having count(*) > 1
     union all
     select 'leg ' || p.leg || ' of deposit ' || p.deposit_id || ' was paid ' || count(*) || ' times'
       from paid join payment p on p.id = paid.payment_id group by p.deposit_id, p.leg having count(*) > 1
     union all
     select 'recipient ' || s.address || ' of order ' || s.id || ' was paid ' || count(*) || ' times'
       from jsonb_to_recordset($1::jsonb) as s (id text, address text, tag text)
       join paid on paid.recipient = s.address and paid.tag is not distinct from s.tag
      group by s.id, s.address, s.tag having count(*) > 1`,
    [JSON.stringify(made.map(({ id, recipient }) => ({ id, ...recipient })))],
  );
  const wrong = await rows<{ what: string }>(
    `with paid as (${paid})
     select 'transaction ' || txid || ' belongs to no payment' as what from paid where payment_id is null
     union all
     select 'payment ' || p.id || ' is ' || p.state || ' and succeeded ' || count(paid.txid) || ' times on its chain'
       from payment p left join paid on paid.payment_id = p.id
      where p.state in ('confirmed', 'dead') group by p.id having count(paid.txid) <> case p.state when 'confirmed' then 1 else 0 end
     union all
     select 'payment ' || p.id || ' went elsewhere, or with another amount'
       from paid join payment p on p.id = paid.payment_id
       join currency c on c.coin = p.coin and c.network = p.network
      where paid.recipient <> p.address or paid.tag is distinct from p.tag or paid.contract is distinct from p.contract
         or paid.amount <> p.amount * power(10::numeric, c.decimals)
     union all
     select 'order ' || o.id || ' is ' || o.status || ' without a ' || k.kind
       from exchange_order o join (values ('completed', 'payout'), ('refunded', 'refund')) as k (status, kind) using (status)
      where not exists (select 1 from paid join payment p on p.id = paid.payment_id
                         where p.order_id = o.id and p.kind = k.kind and p.deposit_id = o.deposit_id)
     union all
     select coin || ' on ' || network || ' sums to ' || sum(amount)
       from ledger_line group by coin, network having sum(amount) <> 0
     union all
     select 'order ' || o.id || ' is ' || o.status || ' and still owed ' || sum(l.amount) || ' ' || l.coin || ' on ' || l.network
       from exchange_order o
       join ledger_transaction x on x.order_id = o.id
       join ledger_line l on l.transaction_id = x.id and l.account = 'client'
      where o.status in ('completed', 'refunded')
        and not exists (select 1 from deposit d where d.order_id = o.id and (d.problem is not null or d.state = 'orphaned'))
        and not exists (select 1 from payment p where p.order_id = o.id and p.state = 'dead')
      group by o.id, l.coin, l.network having sum(l.amount) <> 0`,
  );
  return { twice: twice.map(({ what }) => what), wrong: wrong.map(({ what }) => what) };
}

/** The gateway's own verdict, as an operator asks for it. Null when this version has no such command. */
async function reconcile(): Promise<{ differences: number; lines: string[] } | null> {
  const args = ['run', '-s', 'cli', '--', 'ledger', 'reconcile', '--json'];
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...settings };
  const { code, output, errors } = await new Promise<{ code: number; output: string; errors: string }>((resolve) => {
    execFile('npm', args, { env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout, errors: stderr }),
    );
  });
  if (/unknown command/.test(errors)) return null;
  if (!output.startsWith('{')) return { differences: Number.NaN, lines: [`reconcile ended with ${code}: ${errors}`] };
  const report = JSON.parse(output) as { differences: number; rows: Record<string, string>[] };
  const lines = report.rows.filter(({ difference }) => difference !== '0').map((row) => Object.values(row).join(' | '));
  if (code !== 0 && report.differences === 0) lines.push(`reconcile ended with ${code} and no difference: ${errors}`);
  return { differences: report.differences, lines };
}

/** How many orders of each behaviour ended how. */
async function outcomes(): Promise<string[]> {
  const ended = await rows<{ id: string; name: string }>(
    `select id, case when held_at is null then status else 'held' end as name from exchange_order`,
  );
  const nameOf = new Map(ended.map(({ id, name }) => [id, name]));
  return Object.keys(behaviours).map((behaviour) => {
    const counts: Record<string, number> = {};
    for (const order of made.filter((each) => each.behaviour === behaviour)) {
      const name = nameOf.get(order.id) ?? 'gone';
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return `${behaviour.padEnd(14)} ${shown(counts)}`;
  });
}

const watching = watch();
const trouble = [killWorkers(), reorganise()];
await createOrders();
say(`${made.length} orders are made`);
for (let known = -1; known !== injections.length; await Promise.all(injections)) known = injections.length;
say(`${sent.length} deposits are made`);
await sleep(killOnMs);
isPeaceful = true;
await Promise.all(trouble);
say('no more kills and reorganisations');
await Promise.all(workers.map((worker) => worker.ready()));
const isQuiet = await waitUntilQuiet();
isWatching = false;
await watching;
await Promise.all([...workers, api].map((each) => each.end('SIGTERM')));

const { orders: counts } = await overview();
const lost = await findLost();
const { twice, wrong } = await findPaidWrongly();
const verdict = await reconcile();
for (const line of await outcomes()) process.stderr.write(`  ${line}\n`);
if (events.size > 0) process.stderr.write(`  in the logs: ${shown(Object.fromEntries([...events].sort()))}\n`);
if (!isQuiet) faults.push(`the gateway did not come to rest within ${quietTimeoutMs / 1000} s`);
const problems = [...faults, ...lost, ...twice, ...wrong, ...(verdict?.lines ?? [])];
const listed = 40;
for (const problem of problems.slice(0, listed)) process.stderr.write(`  WRONG: ${problem}\n`);
if (problems.length > listed) process.stderr.write(`  and ${problems.length - listed} more\n`);

const isRight = problems.length === 0;
if (verdict === null) process.stdout.write('reconcile: not available\n');
const figures = {
  orders: made.length,
  ...Object.fromEntries(
    ['completed', 'refunded', 'expired', 'failed', 'held'].map((name) => [name, counts[name] ?? 0]),
  ),
  lost: lost.length,
  paid_twice: twice.length,
  wrong: wrong.length + faults.length,
  kills,
  reorgs,
  reconcile_differences: verdict?.differences ?? 'none asked',
  seconds: Math.round((performance.now() - began) / 1000),
  seed,
};
process.stdout.write(
  `${Object.entries(figures)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}\n`,
);

await pool.end();
await orm.close(true);
await postgres.stop();
if (options.keep || !isRight)
  process.stderr.write(`seed ${seed}; the workers' logs and the database stay in ${dataDir}\n`);
else await rm(dataDir, { recursive: true, force: true });
process.exit(isRight ? 0 : 1);
