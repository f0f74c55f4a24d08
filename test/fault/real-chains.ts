// Orders between an Ethereum and a Litecoin node while workers and the signer are killed and both chains reorganise; then
// what the chains say of every recipient. Usage: npm run torture:chains -- --help
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import { startApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { startEmbeddedPostgres } from '../../src/db/embedded-postgres.ts';
import { Big, floorTo, formatDecimal, toUnits } from '../../src/money.ts';
import { BuiltProcess, runBuiltCommand } from '../support/built-process.ts';
import { Dice } from '../support/dice.ts';
import { findLitecoind } from '../support/litecoind.ts';
import { RealChains } from '../support/real-chains.ts';
import { type RoughChain, RoughEthereum, RoughLitecoin } from '../support/rough-chains.ts';

const help = `Usage: npm run torture:chains -- [options]

  --orders <n>         orders each way, from Ethereum to Litecoin and back (100)
  --seed <n>           seed of every choice; a random one unless given
  --kill-every-ms <n>  a worker is killed about so often, and the signer every third time; 0 for never (4000)
  --keep               keep the folder with the database and the logs

Starts anvil, litecoind, PostgreSQL, a signer, two workers and an api process from dist. Needs litecoind (Debian: apt-get
install litecoind). The last line holds the figures. Exit code: 0 when nothing was lost, paid twice or paid wrongly.
`;

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    'kill-every-ms': { type: 'string', default: '4000' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}
const orderCount = 2 * wholeNumber(options.orders);
const seed = wholeNumber(options.seed);
const killEveryMs = wholeNumber(options['kill-every-ms']);
if (findLitecoind() === null) throw new Error('litecoind is needed; on Debian: apt-get install litecoind');

const windowSec = 30;
const createEveryMs = 150;
const blockMs = { ethereum: 500, litecoin: 700 } as const;
const reorgEveryMs = 2_500;
const feeJumpEveryMs = 15_000;
const progressEveryMs = 5_000;
/** After the last deposit, before everything is left in peace. */
const trouble = { afterDepositsMs: 10_000 } as const;
const quietTimeoutMs = 600_000;
/** So long nothing may have been left to do. */
const quietMs = 5_000;
/** A depth of 2 at most never takes back a deposit that was credited, or a payment that is final. */
const confirmations = 3;
const maxReorg = 2;

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text))
    throw new Error(`'${text}' is not a whole number; see npm run torture:chains -- --help`);
  return Number.parseInt(text, 10);
}

/** What users do with their deposit. */
const behaviours = {
  exact: 44,
  partial: 9,
  'below minimum': 8,
  dust: 2,
  over: 7,
  double: 9,
  'wrong coin': 4,
  late: 8,
  'double spent': 5,
  never: 4,
} as const;
type Behaviour = keyof typeof behaviours;

type ChainName = 'ethereum' | 'litecoin';

interface Asset {
  readonly coin: string;
  readonly network: string;
  readonly chain: ChainName;
}

const ether: Asset = { coin: 'ETH', network: 'ETH', chain: 'ethereum' };
const token: Asset = { coin: 'USDT', network: 'ERC20', chain: 'ethereum' };
const litecoin: Asset = { coin: 'LTC', network: 'LTC', chain: 'litecoin' };
const assets = [ether, token, litecoin] as const;

/** An asset as the gateway lists it. Amounts are decimal text in the coin's units. */
interface Terms {
  readonly decimals: number;
  readonly minAmount: string;
  readonly networkFee: string;
  readonly contract: string | null;
}

interface Made {
  readonly id: string;
  readonly behaviour: Behaviour;
  readonly from: Asset;
  readonly to: Asset;
  readonly rateType: 'fixed' | 'float';
  readonly recipient: string;
  readonly refund: string | null;
  readonly depositAddress: string;
  readonly amountFrom: string;
  readonly amountTo: string;
}

/** A deposit that a user made. */
interface Sent {
  readonly order: Made;
  readonly asset: Asset;
  readonly amount: string;
  readonly txid: string;
  /** Whether it is gone for good in a reorganisation, if one comes in time. */
  isToVanish: boolean;
}

const began = performance.now();
const folder = await mkdtemp(join(tmpdir(), 'gateway-chains-'));
// Root's PostgreSQL runs as another user, who must get through.
await chmod(folder, 0o711);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

say(`seed ${seed}, ${orderCount} orders, in ${folder}`);
const postgres = await startEmbeddedPostgres({ dataDir: folder, ephemeral: true, maxConnections: 200 });
if (decodeURIComponent(postgres.url).includes('@/proc/'))
  throw new Error('the temporary folder is too deep to share a socket: set TMPDIR');
const nodes = await RealChains.start({
  ethereum: { finality: confirmations, replace_after_sec: 10, sweep_from: { ETH: '0.002', USDT: '5' } },
  litecoin: { finality: confirmations, replace_after_sec: 10 },
});
const chains: Readonly<Record<ChainName, RoughChain>> = {
  ethereum: await RoughEthereum.open(nodes.anvil, nodes.token),
  litecoin: await RoughLitecoin.open(nodes.litecoind),
};
const settings = {
  ...nodes.environment,
  DATA_DIR: folder,
  DATABASE_URL: postgres.url,
  REQUIRE_DURABLE_COMMITS: 'false',
  PORT: '0',
  INTERNAL_PORT: '0',
  DRAIN_GRACE_MS: '0',
  DEPOSIT_WINDOW_SEC: String(windowSec),
  CHAIN_POLL_MS: '100',
  CHAIN_LEASE_MS: '1500',
  RATE_LIMIT_PUBLIC_PER_MIN: '1000000',
  RATE_LIMIT_PARTNER_PER_MIN: '1000000',
  RATE_LIMIT_ORDERS_PER_MIN: '1000000',
};

/** Lines of the logs by what they say. */
const events = new Map<string, number>();
function countEvents(text: string): void {
  for (const [, event] of text.matchAll(/"event":"(\w+)"/g)) {
    if (event !== undefined) events.set(event, (events.get(event) ?? 0) + 1);
  }
}

function startSigner(): BuiltProcess {
  return new BuiltProcess({
    script: 'signer-main.js',
    name: 'signer',
    folder,
    settings: { ...settings, SIGNER_SEED: Buffer.from(new Dice(seed).bytes(32)).toString('hex') },
    ready: /^signer ready /m,
    onOutput: countEvents,
  });
}

function startGateway(role: 'api' | 'worker', number: number): BuiltProcess {
  return new BuiltProcess({
    script: 'main.js',
    name: `${role}-${number}`,
    folder,
    settings: { ...settings, ROLE: role, LOG_LEVEL: role === 'worker' ? 'info' : 'warn' },
    ready: /^ready .*$/m,
    onOutput: countEvents,
  });
}

let signer = startSigner();
await signer.ready();
const first = await startApp({
  config: loadConfig({ ...settings, LOG_LEVEL: 'error' }),
  databaseUrl: postgres.url,
  embedded: true,
  surroundings: { background: false },
});
const key = first.demo?.partnerKey ?? '';
const hot = { ethereum: '', litecoin: '' };
for (const chain of ['ethereum', 'litecoin'] as const) {
  hot[chain] = (await first.settlement?.adapters.get(chain)?.hotWallet())?.address ?? '';
}
await first.stop();

const pool = new Pool({ connectionString: postgres.url, max: 3 });
async function rows<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return (await pool.query<Row>(sql, values)).rows;
}

await rows('update currency set min_confirmations = $1', [confirmations]);
const terms = new Map<Asset, Terms>();
for (const asset of assets) {
  const [row] = await rows<Terms>(
    `select decimals, trim_scale(min_amount)::text as "minAmount", trim_scale(network_fee)::text as "networkFee", contract
       from currency where coin = $1 and network = $2`,
    [asset.coin, asset.network],
  );
  if (row) terms.set(asset, row);
}

function termsOf(asset: Asset): Terms {
  const found = terms.get(asset);
  if (!found) throw new Error(`there is no ${asset.coin} on ${asset.network}`);
  return found;
}

await nodes.fund(hot);
// So many payments can be made between two blocks.
for (let output = 0; output < 15; output += 1) await nodes.litecoind.pay(hot.litecoin, 20n * 10n ** 8n);
for (let block = 0; block < 5; block += 1) await nodes.mine();

const api = startGateway('api', 1);
const workers = [startGateway('worker', 1), startGateway('worker', 2)];
const rest = /^ready rest=(\S+)/m.exec(await api.ready())?.[1] ?? '';
await Promise.all(workers.map((worker) => worker.ready()));
say('the gateway is ready');

// --- orders and deposits

const made: Made[] = [];
const sent: Sent[] = [];
const payments: Promise<void>[] = [];
let waitingPayments = 0;
const faults: string[] = [];

interface Rate {
  readonly min_amount: number;
}
const rates = new Map<string, Promise<Rate>>();

function rateOf(from: Asset, to: Asset, rateType: string): Promise<Rate> {
  const name = [from.coin, to.coin, rateType].join(' ');
  const known = rates.get(name);
  if (known) return known;
  const query = new URLSearchParams({
    coin_from: from.coin,
    network_from: from.network,
    coin_to: to.coin,
    network_to: to.network,
    amount: formatDecimal(new Big(termsOf(from).minAmount).times('3')),
    rate_type: rateType,
  });
  const asked = fetch(`${rest}/partner/rates?${query}`).then(async (reply) => {
    const rate = (await reply.json()) as Rate;
    if (typeof rate.min_amount !== 'number') throw new Error(`no rate of ${name}: ${JSON.stringify(rate)}`);
    return rate;
  });
  rates.set(name, asked);
  return asked;
}

async function createOrder(index: number, dice: Dice): Promise<void> {
  const [from, to] = index % 2 === 0 ? [dice.pick([ether, token]), litecoin] : [litecoin, dice.pick([ether, token])];
  const rateType = dice.chance(0.4) ? 'fixed' : 'float';
  const behaviour = dice.weighted(behaviours);
  const recipient = chains[to.chain].newAddress(dice);
  const refund = dice.chance(0.93) ? chains[from.chain].newAddress(dice) : null;
  const factor = dice.between(1.5, 4).toFixed(3);
  const part = dice.between(0.7, 0.95).toFixed(2);
  const [early, later, place] = [dice.between(0, 8_000), dice.between(500, 12_000), dice.next()];

  const min = new Big(String((await rateOf(from, to, rateType)).min_amount));
  const amount = floorTo(min.times(factor), Math.min(6, termsOf(from).decimals));
  const reply = await postOrder({
    coin_from: from.coin,
    network_from: from.network,
    coin_to: to.coin,
    network_to: to.network,
    amount_from: Number(formatDecimal(amount)),
    rate_type: rateType,
    recipient_address: recipient,
    ...(refund === null ? {} : { refund_address: refund }),
  });
  const order: Made = {
    id: reply.id,
    behaviour,
    from,
    to,
    rateType,
    recipient,
    refund,
    depositAddress: reply.deposit_address,
    amountFrom: reply.amount_from_expected,
    amountTo: reply.amount_to_expected,
  };
  made.push(order);
  const expected = new Big(order.amountFrom);
  const plan = (afterMs: number, value: Big, changes: { asset?: Asset; isToVanish?: boolean } = {}): void =>
    payLater(order, afterMs, value, { asset: from, isToVanish: false, ...changes });
  switch (behaviour) {
    case 'exact':
      return plan(early, expected);
    case 'partial':
      return plan(early, expected.times(part));
    case 'below minimum':
      return plan(early, min.times('0.5'));
    case 'dust':
      return plan(early, new Big(termsOf(from).networkFee).times('0.5'));
    case 'over':
      return plan(early, expected.times('1.5'));
    case 'double':
      plan(early, expected);
      return plan(early + later, expected.times(place < 0.5 ? '1' : part));
    case 'wrong coin': {
      const asset = from === ether ? token : from === token ? ether : litecoin;
      return plan(early, new Big(termsOf(asset).minAmount).times('1.2'), { asset });
    }
    case 'late':
      return plan(windowSec * 1000 + 1_000 + place * 10_000, expected);
    case 'double spent':
      plan(early, expected, { isToVanish: true });
      return place < 0.5 ? plan(early + later, expected) : undefined;
    case 'never':
      return;
  }
}

/** Numbers are as they were written. */
interface OrderReply {
  readonly id: string;
  readonly deposit_address: string;
  readonly amount_from_expected: string;
  readonly amount_to_expected: string;
}

/** Numbers become text: a double has not the digits of an amount. */
function parseExactly(text: string): unknown {
  const reviver = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === 'number' ? source : value;
  return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]);
}

/** Creates an order exactly once, whatever the first answer is. */
async function postOrder(body: object): Promise<OrderReply> {
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),
  };
  for (let tries = 1; ; tries += 1) {
    const reply = await fetch(`${rest}/partner/orders`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await reply.text();
    if (reply.status === 201) return parseExactly(text) as OrderReply;
    if (reply.status < 500 || tries === 10) throw new Error(`an order was refused: ${reply.status} ${text}`);
    await sleep(tries * 200);
  }
}

function payLater(
  order: Made,
  afterMs: number,
  value: Big,
  { asset, isToVanish }: { asset: Asset; isToVanish: boolean },
): void {
  const { decimals, contract } = termsOf(asset);
  const amount = formatDecimal(floorTo(value, decimals));
  const pay = async (): Promise<void> => {
    await sleep(afterMs);
    const txid = await chains[asset.chain].pay(order.depositAddress, toUnits(amount, decimals), contract);
    sent.push({ order, asset, amount, txid, isToVanish });
  };
  waitingPayments += 1;
  payments.push(
    pay()
      .catch((error: Error) => void faults.push(`a deposit could not be made: ${error.message}`))
      .finally(() => {
        waitingPayments -= 1;
      }),
  );
}

async function createOrders(): Promise<void> {
  const dice = new Dice(seed);
  const left = Array.from({ length: orderCount }, (_, index) => ({
    index,
    dice: new Dice(Math.floor(dice.next() * 2 ** 32)),
  })).values();
  const start = performance.now();
  const lane = async (): Promise<void> => {
    for (const order of left) {
      await sleep(Math.max(0, start + order.index * createEveryMs - performance.now()));
      await createOrder(order.index, order.dice).catch((error: Error) => void faults.push(error.message));
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
}

// --- what goes wrong meanwhile

let kills = 0;
let signerKills = 0;
let reorgs = 0;
let vanished = 0;
let isPeaceful = false;
let isMining = true;

async function killProcesses(): Promise<void> {
  if (killEveryMs === 0) return;
  const dice = new Dice(seed + 1);
  for (let turn = 1; !isPeaceful; turn += 1) {
    await sleep(killEveryMs * dice.between(0.5, 1.5));
    if (isPeaceful) return;
    if (turn % 3 === 0) {
      await signer.end('SIGKILL');
      signerKills += 1;
      // Some time without anybody who signs.
      await sleep(dice.between(0, 1_500));
      signer = startSigner();
      continue;
    }
    // Mostly when both work, so that there is something to interrupt however slow the machine is; at times one that starts.
    while (!isPeaceful && !workers.every(({ isReady, isRunning }) => isReady && isRunning) && !dice.chance(0.02)) {
      await sleep(100);
    }
    const victim = dice.pick(workers);
    const index = workers.indexOf(victim);
    await victim.end('SIGKILL');
    kills += 1;
    workers[index] = startGateway('worker', index + 1);
  }
}

async function reorganise(): Promise<void> {
  const dice = new Dice(seed + 2);
  while (!isPeaceful) {
    await sleep(reorgEveryMs * dice.between(0.5, 1.5));
    if (isPeaceful) return;
    const name = dice.pick(['ethereum', 'litecoin'] as const);
    const depth = dice.chance(0.5) ? 1 : maxReorg;
    // What the hot wallet sent may be gone from the node, so that it must be sent again.
    const forgets = name === 'ethereum' && dice.chance(0.4) ? hot.ethereum : null;
    await chains[name].reorganise({ depth, forgets });
    reorgs += 1;
  }
}

/** Takes deposits back for good that were made a moment ago, seen or not. */
async function spendTwice(): Promise<void> {
  const dice = new Dice(seed + 3);
  while (!isPeaceful || sent.some(({ isToVanish }) => isToVanish)) {
    await sleep(100);
    const victim = sent.find(({ isToVanish }) => isToVanish);
    if (!victim) continue;
    await sleep(dice.between(0, 1_200));
    victim.isToVanish = false;
    if (await chains[victim.asset.chain].reorganise({ depth: maxReorg, doubleSpends: victim.txid })) vanished += 1;
    reorgs += 1;
  }
}

/** Gas becomes so dear for a moment that what waits is not taken unless it is replaced. */
async function raiseFees(): Promise<void> {
  const dice = new Dice(seed + 4);
  while (!isPeaceful) {
    await sleep(feeJumpEveryMs * dice.between(0.5, 1.5));
    if (isPeaceful) return;
    await nodes.anvil.setBaseFee(BigInt(Math.floor(dice.between(4, 12))) * 10n ** 9n);
  }
}

async function mine(name: ChainName): Promise<void> {
  while (isMining) {
    await chains[name].mine();
    await sleep(blockMs[name]);
  }
}

// --- watching

async function overview(): Promise<{ orders: Record<string, number>; open: number }> {
  const orders = await rows<{ name: string; count: number }>(
    `select case when held_at is null then status else 'held' end as name, count(*)::int as count
       from exchange_order group by 1 order by 1`,
  );
  const [open] = await rows<{ count: number }>(
    `select ((select count(*) from exchange_order
               where held_at is null and status in ('waiting_deposit', 'confirming', 'exchanging', 'sending', 'refunding'))
           + (select count(*) from deposit where state in ('mempool', 'mined'))
           + (select count(*) from payment where state not in ('confirmed', 'dead')))::int as count`,
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
      `${shown(orders)}; open ${open}, deposits to come ${waitingPayments}, workers ${running}, kills ${kills} and ${signerKills}, reorgs ${reorgs}`,
    );
    for (const { exitCode } of [...workers, signer, api]) {
      if (exitCode !== null) faults.push(`a process ended with ${exitCode}`);
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

// --- the judge: what the chains hold

interface Stored {
  readonly id: string;
  readonly status: string;
  readonly isHeld: boolean;
  readonly depositTxid: string | null;
  readonly exchanged: string | null;
  readonly bought: string | null;
}

interface Verdict {
  readonly lost: string[];
  readonly paidTwice: string[];
  readonly wrong: string[];
}

/** What an address must have of an asset, and what for. */
interface Due {
  readonly order: Made;
  readonly what: string;
  readonly asset: Asset;
  readonly address: string;
  readonly units: bigint;
}

/** Deposits that are on their chain. */
const arrived: Sent[] = [];

/** What users are owed, from what the chains hold of their deposits and, of exchanges, from what the orders tell. */
async function judge(): Promise<Verdict> {
  const verdict: Verdict = { lost: [], paidTwice: [], wrong: [] };
  const stored = new Map(
    (
      await rows<Stored>(
        `select id, status, held_at is not null as "isHeld", deposit_txid as "depositTxid",
                trim_scale(amount_from_actual)::text as exchanged, trim_scale(amount_to_actual)::text as bought
           from exchange_order`,
      )
    ).map((row) => [row.id, row]),
  );
  if (stored.size !== made.length) verdict.wrong.push(`${stored.size} orders are there, and ${made.length} were made`);
  for (const deposit of sent) {
    if (await chains[deposit.asset.chain].isMined(deposit.txid)) arrived.push(deposit);
  }
  const dues: Due[] = [];
  for (const order of made) {
    const row = stored.get(order.id);
    if (row)
      dues.push(
        ...duesOf(
          order,
          row,
          arrived.filter((deposit) => deposit.order === order),
          verdict,
        ),
      );
    else verdict.lost.push(`order ${order.id} was answered with 201 and is not there`);
  }
  for (const asset of assets) {
    const own = dues.filter((due) => due.asset === asset);
    const addresses = own.map(({ address }) => address);
    const balances = await chains[asset.chain].balances(addresses, termsOf(asset).contract);
    for (const due of own) compare(due, balances.get(due.address) ?? -1n, verdict);
  }
  return verdict;
}

function duesOf(order: Made, row: Stored, arrived: readonly Sent[], verdict: Verdict): Due[] {
  const { from, to, refund } = order;
  const name = `order ${order.id} (${order.behaviour}, ${order.rateType}, ${from.coin} to ${to.coin}, ${row.status})`;
  if (row.isHeld) verdict.lost.push(`${name} is held`);
  if (!['completed', 'refunded', 'expired', 'failed'].includes(row.status)) verdict.lost.push(`${name} has not ended`);
  const isCompleted = row.status === 'completed';
  const main = arrived.find(({ txid, asset }) => txid === row.depositTxid && asset === from);
  if (isCompleted && !main) verdict.wrong.push(`${name} exchanged a deposit that is not on its chain`);
  const isExact = isCompleted && order.rateType === 'fixed' && main?.amount === order.amountFrom;
  if (isExact && !new Big(row.bought ?? '0').eq(order.amountTo)) {
    verdict.wrong.push(`${name} was promised ${order.amountTo} and gets ${row.bought}`);
  }
  const refundable = (amount: Big, asset: Asset): Big => {
    const rest = amount.minus(termsOf(asset).networkFee);
    return rest.gt('0') ? rest : new Big('0');
  };
  const sumOf = (asset: Asset): Big =>
    arrived
      .filter((deposit) => deposit.asset === asset)
      .map((deposit) => {
        const isExchanged = isCompleted && deposit === main;
        const back = new Big(deposit.amount).minus(isExchanged ? (row.exchanged ?? '0') : '0');
        return back.lt('0') ? new Big('0') : refundable(back, asset);
      })
      .reduce((sum, amount) => sum.plus(amount), new Big('0'));
  if (row.status === 'failed' && refund !== null && !sumOf(from).eq('0')) verdict.lost.push(`${name} failed`);
  const own = assets.filter(({ chain }) => chain === from.chain);
  return [
    ...assets
      .filter(({ chain }) => chain === to.chain)
      .map((asset) => {
        const bought = asset === to && isCompleted ? (row.bought ?? '0') : '0';
        return { order, what: `${name}, payout`, asset, address: order.recipient, units: unitsOf(bought, asset) };
      }),
    ...own.flatMap((asset) => {
      const units = unitsOf(formatDecimal(sumOf(asset)), asset);
      return refund === null ? [] : [{ order, what: `${name}, refund`, asset, address: refund, units }];
    }),
  ];
}

function unitsOf(amount: string, asset: Asset): bigint {
  return toUnits(amount, termsOf(asset).decimals);
}

function compare({ what, asset, address, units }: Due, has: bigint, { lost, paidTwice, wrong }: Verdict): void {
  if (has === units) return;
  const line = `${what}: ${address} has ${has} of the smallest unit of ${asset.coin} and must have ${units}`;
  if (has === 0n) lost.push(line);
  else if (has > units) paidTwice.push(line);
  else wrong.push(line);
}

/** The gateway's own verdict, as an operator asks for it. */
async function reconcile(): Promise<{ differences: number; lines: string[] }> {
  const { code, output, errors } = await runBuiltCommand(['ledger', 'reconcile', '--json'], { folder, settings });
  if (!output.startsWith('{')) return { differences: Number.NaN, lines: [`reconcile ended with ${code}: ${errors}`] };
  const report = JSON.parse(output) as { differences: number; rows: Record<string, string>[] };
  const lines = report.rows
    .filter(({ difference }) => difference !== '0')
    .map((row) => `reconcile: ${Object.values(row).join(' | ')}`);
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

/** What cannot be read from balances: payments that have not ended, and how many of which kind did. */
async function paymentsMade(): Promise<Record<string, number>> {
  const counts = await rows<{ name: string; count: number }>(
    `select kind || case state when 'confirmed' then '' else ' ' || state end as name, count(*)::int as count
       from payment group by 1
     union all
     select 'attempt ' || dead_why, count(*)::int from payment_attempt where dead_at is not null group by 1 order by 1`,
  );
  return Object.fromEntries(counts.map(({ name, count }) => [name, count]));
}

const mining = [mine('ethereum'), mine('litecoin')];
const watching = watch();
const troubles = [killProcesses(), reorganise(), spendTwice(), raiseFees()];
await createOrders();
say(`${made.length} orders are made`);
for (let known = -1; known !== payments.length; await Promise.all(payments)) known = payments.length;
say(`${sent.length} deposits are made`);
await sleep(trouble.afterDepositsMs);
isPeaceful = true;
await Promise.all(troubles);
say('no more kills and reorganisations');
await Promise.all([...workers, signer].map((each) => each.ready()));
const isQuiet = await waitUntilQuiet();
isWatching = false;
await watching;
await Promise.all([...workers, api, signer].map((each) => each.end('SIGTERM')));
isMining = false;
await Promise.all(mining);
if (!isQuiet) faults.push(`the gateway did not come to rest within ${quietTimeoutMs / 1000} s`);

const { orders: counts } = await overview();
const { lost, paidTwice, wrong } = await judge();
const { differences, lines } = await reconcile();
const kinds = await paymentsMade();
for (const line of await outcomes()) process.stderr.write(`  ${line}\n`);
process.stderr.write(
  `  payments: ${shown(kinds)}; deposits ${sent.length}, on their chain ${arrived.length}, spent twice ${vanished}\n`,
);
if (events.size > 0) process.stderr.write(`  in the logs: ${shown(Object.fromEntries([...events].sort()))}\n`);
const problems = [...faults, ...lost, ...paidTwice, ...wrong, ...lines];
const listed = 40;
for (const problem of problems.slice(0, listed)) process.stderr.write(`  WRONG: ${problem}\n`);
if (problems.length > listed) process.stderr.write(`  and ${problems.length - listed} more\n`);

const isRight = problems.length === 0 && differences === 0;
const figures = {
  orders: made.length,
  ...Object.fromEntries(['completed', 'refunded', 'expired', 'failed'].map((name) => [name, counts[name] ?? 0])),
  lost: lost.length,
  paid_twice: paidTwice.length,
  wrong: wrong.length + faults.length,
  kills,
  signer_kills: signerKills,
  reorgs,
  sweeps: kinds.sweep ?? 0,
  reconcile_differences: differences,
  seconds: Math.round((performance.now() - began) / 1000),
  seed,
};
process.stdout.write(
  `${Object.entries(figures)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}\n`,
);

await pool.end();
await nodes.stop();
await postgres.stop();
if (options.keep || !isRight) process.stderr.write(`seed ${seed}; the logs and the database stay in ${folder}\n`);
else await rm(folder, { recursive: true, force: true });
process.exit(isRight ? 0 : 1);
