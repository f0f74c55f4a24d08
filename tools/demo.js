// Runs one exchange from its order to its payout, on its own gateway. It removes all its data.
// Usage: npm run demo
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const help = `Usage: npm run demo [-- sandbox --help]

Starts a gateway in a temporary folder on free ports, creates an order from BTC to USDT on TRC20, pays it on the
sandbox chain, and tells each change until the payout. Takes some ten seconds, needs nothing, leaves nothing behind.
Exit code: 0 when the order is completed, 1 otherwise.
`;

const root = fileURLToPath(new URL('..', import.meta.url));
const recipient = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH';
const startTimeoutMs = 180_000;
const orderTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;
const pollMs = 150;

/** The meaning of each status for the user who pays. */
const meanings = {
  waiting_deposit: 'the order waits for its deposit',
  confirming: 'the deposit was seen and gathers confirmations',
  exchanging: 'the deposit counts, and the exchange is made',
  sending: 'the exchange is made, and the payout is on its way',
  completed: 'the payout is final',
  expired: 'no deposit came in time',
  refunding: 'the deposit goes back',
  refunded: 'the deposit went back',
  failed: 'it could not be finished; staff look at it',
};
const ends = ['completed', 'expired', 'refunded', 'failed'];

const began = performance.now();
const interrupted = new AbortController();
let gateway = null;
let dataDir = null;

function print(line = '') {
  process.stdout.write(`${line}\n`);
}

function seconds(since = began) {
  return ((performance.now() - since) / 1000).toFixed(1);
}

/** Prints one step: seconds since the start, the event, and its details below. */
function tell(what, ...details) {
  print(`${seconds().padStart(6)} s  ${what}`);
  for (const detail of details) print(`          ${detail}`);
}

/**
 * An environment without the caller's settings, so that the demo never affects another gateway's
 * data.
 */
function environment() {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'USER', 'LOGNAME', 'LANG', 'SHELL'];
  const own = { PORT: '0', INTERNAL_PORT: '0', LOG_LEVEL: 'error' };
  const inherited = Object.fromEntries(
    kept.filter((name) => name in process.env).map((name) => [name, process.env[name]]),
  );
  return { ...inherited, npm_config_loglevel: 'error', npm_config_update_notifier: 'false', ...own, DATA_DIR: dataDir };
}

function start(command, args) {
  const child = spawn(command, args, { cwd: root, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
  const running = { child, output: '', errors: '', code: undefined };
  child.stdout.on('data', (data) => {
    running.output += data;
  });
  child.stderr.on('data', (data) => {
    running.errors += data;
  });
  running.ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      running.code = code ?? signal;
      resolve(running.code);
    });
  });
  // A caller that awaits it gets the error; without one the error is ignored.
  running.ended.catch(() => {});
  return running;
}

/** Runs a program to its end and returns its output. Null when there is no such program. */
async function run(command, args) {
  const running = start(command, args);
  try {
    await running.ended;
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
  if (running.code !== 0) throw new Error(`${command} ended with ${running.code}: ${running.errors.trim()}`);
  return running.output.trim();
}

function shellLine(command, args) {
  const quoted = args.map((arg) => (/^[\w./:@=-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`));
  return [command, ...quoted].join(' ');
}

function pause(ms) {
  return sleep(ms, undefined, { signal: interrupted.signal });
}

async function startGateway() {
  dataDir = await mkdtemp(join(tmpdir(), 'gateway-demo-'));
  const args = ['start'];
  tell(`starting a gateway in ${dataDir}`, `$ ${shellLine('npm', args)}`);
  gateway = start('npm', args);
  gateway.ended.catch(() => {});
  for (const deadline = Date.now() + startTimeoutMs; Date.now() < deadline; await pause(50)) {
    const ready = /^ready rest=(\S+) internal=(\S+)$/m.exec(gateway.output);
    if (ready) {
      const key = /^demo partner key, shown this once: (\S+)$/m.exec(gateway.output)?.[1];
      if (!key) throw new Error(`the gateway printed no partner key:\n${gateway.output}`);
      tell(`the gateway is ready at ${ready[1]}`);
      return { rest: ready[1], key };
    }
    if (gateway.code !== undefined) break;
  }
  throw new Error(`the gateway did not start:\n${gateway.output}${gateway.errors}`);
}

async function createOrder({ rest, key }) {
  const body = JSON.stringify({
    coin_from: 'BTC',
    network_from: 'BTC',
    coin_to: 'USDT',
    network_to: 'TRC20',
    amount_from: 0.01,
    rate_type: 'float',
    recipient_address: recipient,
  });
  const url = `${rest}/partner/orders`;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const args = [
    '-sS',
    '-X',
    'POST',
    url,
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
  ];
  args.push('-d', body);
  print();
  tell('creating an order: 0.01 BTC to USDT on TRC20', `$ ${shellLine('curl', args)}`);
  const answer =
    (await run('curl', args)) ??
    (await fetch(url, { method: 'POST', headers, body, signal: interrupted.signal }).then((reply) => reply.text()));
  const order = JSON.parse(answer);
  if (!order.id) throw new Error(`the order was refused: ${answer}`);
  print();
  tell(
    `order ${order.short_id}: ${order.amount_from_expected} BTC give about ${order.amount_to_expected} USDT`,
    `pay to     ${order.deposit_address}`,
    `receive at ${order.recipient_address}`,
  );
  tellChange({}, order);
  return order;
}

async function pay(order) {
  const args = ['run', '-s', 'cli', '--', 'sandbox', 'deposit', '--order', order.id];
  print();
  tell('paying it on the sandbox chain', `$ ${shellLine('npm', args)}`);
  const printed = await run('npm', args);
  for (const line of printed.split('\n')) print(`          ${line}`);
  print();
}

/** Prints each change of the order until it ends. Returns the last state. */
async function follow({ rest, key }, created) {
  let before = created;
  for (const deadline = Date.now() + orderTimeoutMs; Date.now() < deadline; await pause(pollMs)) {
    const reply = await fetch(`${rest}/partner/orders/${created.id}`, {
      headers: { Authorization: `Bearer ${key}` },
      signal: interrupted.signal,
    });
    if (reply.status === 429) continue;
    const order = await reply.json();
    if (!reply.ok) throw new Error(`the order cannot be read: ${JSON.stringify(order)}`);
    tellChange(before, order);
    if (ends.includes(order.status)) return order;
    before = order;
  }
  throw new Error(`the order was ${before.status} for too long`);
}

function tellChange(before, order) {
  const details = [];
  if (order.deposit_txid !== null && order.deposit_txid !== before.deposit_txid)
    details.push(`deposit ${order.deposit_txid}`);
  const confirmed = order.deposit_confirmations;
  if (confirmed !== null && confirmed !== before.deposit_confirmations)
    details.push(`confirmations ${confirmed} of ${order.deposit_confirmations_required}`);
  if (order.payout_txid !== null && order.payout_txid !== before.payout_txid)
    details.push(`payout ${order.payout_txid}`);
  if (order.status !== before.status || details.length > 0)
    tell(`${order.status.padEnd(15)}  ${meanings[order.status] ?? ''}`, ...details);
}

async function cleanUp() {
  const running = gateway;
  gateway = null;
  if (running && running.code === undefined && running.child.pid !== undefined) {
    process.kill(running.child.pid, 'SIGTERM');
    const timer = new AbortController();
    const late = sleep(stopTimeoutMs, 'late', { signal: timer.signal }).catch(() => {});
    if ((await Promise.race([running.ended.catch(() => {}), late])) === 'late') {
      process.stderr.write(`the gateway (process ${running.child.pid}) does not end; its folder ${dataDir} stays\n`);
      return;
    }
    timer.abort();
  }
  if (dataDir !== null) await rm(dataDir, { recursive: true, force: true });
  dataDir = null;
}

async function demo() {
  const access = await startGateway();
  const order = await createOrder(access);
  const paidAt = performance.now();
  await pay(order);
  const ended = await follow(access, order);
  print();
  if (ended.status !== 'completed') throw new Error(`the order ended as ${ended.status}: ${meanings[ended.status]}`);
  tell(
    `completed: about ${ended.amount_to_expected} USDT went to ${ended.recipient_address}`,
    `payout ${ended.payout_txid}`,
    `${seconds(paidAt)} s after the payment began, ${seconds()} s in all`,
  );
}

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(help);
} else {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupted.abort(signal));
  try {
    await demo();
  } catch (error) {
    process.exitCode = 1;
    const reason = interrupted.signal.aborted ? `stopped by ${interrupted.signal.reason}` : error.message;
    process.stderr.write(`the demo failed: ${reason}\n`);
  } finally {
    await cleanUp();
  }
}
