import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { readSecretFile } from '../../src/base/secret-file.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { reconcile } from '../../src/ledger/reconcile.ts';
import type { CrashPoint } from '../../src/settlement/turns/crash-point.ts';
import { openLocalSigner } from '../../src/signer/local-signer.ts';
import { signerSecret } from '../../src/signer/secret.ts';
import { serveSigner } from '../../src/signer/server.ts';
import { query } from '../support/database/database.ts';
import { SettlingChild, type SettlingStart } from '../support/faults/settling-child.ts';
import { quickPairs } from '../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';

jest.setTimeout(180_000);

/** Takes the orders and makes the deposits; settles nothing. */
let gateway: SettledGateway;
let children: SettlingChild[];

beforeEach(async () => {
  children = [];
  gateway = await startSettledGateway({ outside: { clock: systemClock } });
});

afterEach(async () => {
  for (const child of children) {
    if (child.isAlive) child.child.kill('SIGCONT');
    await child.end();
  }
  await gateway.stop();
});

async function worker(changes: Partial<SettlingStart> = {}): Promise<SettlingChild> {
  const child = new SettlingChild({
    databaseUrl: gateway.databaseUrl,
    ...changes,
    settings: { CHAIN_POLL_MS: '25', SANDBOX_BLOCK_MS: '50', ...changes.settings },
  });
  children.push(child);
  await child.ready();
  return child;
}

async function paidOrders(count: number): Promise<MadeOrder[]> {
  const orders: MadeOrder[] = [];
  for (let index = 0; index < count; index++) {
    const [coinFrom, networkFrom, coinTo, networkTo, amount] = quickPairs[index % quickPairs.length] ?? quickPairs[0];
    const order = await gateway.order({
      coin_from: coinFrom,
      network_from: networkFrom,
      coin_to: coinTo,
      network_to: networkTo,
      amount_from: amount,
      recipient_address: addressExample(networkTo),
    });
    await gateway.deposit(order);
    orders.push(order);
  }
  return orders;
}

async function until(holds: () => Promise<boolean> | boolean, what: string, timeoutMs = 60_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await holds()); await sleep(25)) {
    if (Date.now() > deadline) throw new Error(`in ${timeoutMs} ms it did not happen that ${what}`);
  }
}

/** How many orders stand where. */
async function statuses(): Promise<Record<string, number>> {
  const rows = await gateway.query<{ status: string; count: number }>(
    'select status, count(*)::int as count from exchange_order group by status',
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

async function allComplete(orders: readonly MadeOrder[], timeoutMs?: number): Promise<void> {
  try {
    await until(async () => (await statuses()).completed === orders.length, 'all orders complete', timeoutMs);
  } catch (error) {
    const stuck = await gateway.query(
      `select o.id, o.status, o.next_action_at, o.held_at, p.state, p.problem, p.next_action_at as payment_at
         from exchange_order o left join payment p on p.order_id = o.id where o.status <> 'completed'`,
    );
    const logs = children.map((child) => child.lines.flatMap(({ log }) => (log ? [log] : [])).slice(-20));
    throw new Error(`${error}: ${JSON.stringify(stuck)} ${JSON.stringify(logs)}`);
  }
}

/**
 * Every order has one payment, that is its only transaction on a chain, and the book agrees with
 * the chains.
 */
async function expectPaidOnce(orders: readonly MadeOrder[]): Promise<void> {
  const payments = await gateway.query<Record<string, unknown>>(
    `select p.order_id, count(distinct p.id)::int as payments, count(*)::int as attempts,
            count(*) filter (where t.state = 'mined' and t.success and t.raw = a.raw and t.recipient = p.address
                               and t.amount = p.amount * 10::numeric ^ c.decimals)::int as mined
       from payment p
       join currency c using (coin, network)
       join payment_attempt a on a.payment_id = p.id
       left join sandbox_tx t on t.chain = a.chain and t.txid = a.txid
      group by p.order_id order by p.order_id`,
  );
  expect(payments).toEqual(
    orders.map(({ id }) => ({ order_id: id, payments: 1, attempts: 1, mined: 1 })).sort(byOrder),
  );
  const [outside] = await gateway.query<{ sent: number; fills: number; held: number }>(
    `select (select count(*)::int from sandbox_tx where sender is not null) as sent,
            (select count(*)::int from sandbox_fill) as fills,
            (select count(*)::int from payment_reservation where released_at is null) as held`,
  );
  expect(outside).toEqual({ sent: orders.length, fills: orders.length, held: 0 });
  const { rows } = await reconcile({ orm: gateway.app.orm, adapters: gateway.settlement.adapters });
  expect(rows.filter(({ difference }) => difference !== '0')).toEqual([]);
}

function byOrder(a: { order_id: string }, b: { order_id: string }): number {
  return a.order_id < b.order_id ? -1 : 1;
}

/** Digests of everything that says what became of orders and money. */
async function snapshot(): Promise<Record<string, string>> {
  const tables = [
    'exchange_order',
    'order_event',
    'deposit',
    'trade',
    'payment',
    'payment_attempt',
    'payment_reservation',
    'ledger_transaction',
    'ledger_line',
    'sandbox_tx',
    'sandbox_fill',
  ];
  const columns = tables.map(
    (table) => `(select md5(string_agg(t::text, ';' order by t::text)) from ${table} t) as ${table}`,
  );
  const [row] = await gateway.query<Record<string, string>>(`select ${columns.join(', ')}`);
  return row ?? {};
}

/** Until nothing changes any more. */
async function rested(): Promise<Record<string, string>> {
  let last = await snapshot();
  await until(async () => {
    await sleep(500);
    const now = await snapshot();
    const isSame = JSON.stringify(now) === JSON.stringify(last);
    last = now;
    return isSame;
  }, 'the database rests');
  return last;
}

describe('two workers on one database', () => {
  it('share the work and pay every order once', async () => {
    const [first, second] = await Promise.all([worker(), worker()]);
    const orders = await paidOrders(30);
    await allComplete(orders);
    await expectPaidOnce(orders);
    for (const child of [first, second]) {
      expect(child?.passings('deposit.recorded')).toBeGreaterThan(0);
      expect(child?.passings('payment.sent')).toBeGreaterThan(0);
      await child?.stop();
    }
  });
});

describe('a worker that sleeps past its lease', () => {
  /** At these it holds nothing but the right to go on, which another one has when it wakes. */
  const points: [CrashPoint, { losesLease: boolean }][] = [
    ['deposit.scanned', { losesLease: true }],
    ['trade.answered', { losesLease: false }],
    ['payment.built', { losesLease: true }],
    ['payment.signature', { losesLease: true }],
    ['payment.signed', { losesLease: true }],
    ['payment.observed', { losesLease: true }],
  ];

  it.each(points)('at %s changes nothing when it wakes', async (crashPoint, { losesLease }) => {
    await gateway.query('update chain_state set read_at = null');
    const sleeper = await worker({ settings: { SANDBOX_BLOCK_MS: '0' } });
    await until(async () => {
      const unread = await gateway.query('select chain from chain_state where read_at is null');
      return unread.length === 0;
    }, 'the first look at the chains is over');
    await sleeper.ask(`fail ${JSON.stringify({ crashPoint, passing: 1, signal: 'SIGSTOP' })}`);
    const orders = await paidOrders(1);
    await until(async () => {
      if (sleeper.lines.some(({ at }) => at === crashPoint)) return true;
      for (const network of ['BTC', 'TRC20']) await gateway.mine(network);
      await sleep(100);
      return false;
    }, `the worker stops at ${crashPoint}`);

    const other = await worker();
    await allComplete(orders);
    await expectPaidOnce(orders);
    const before = await rested();
    const logged = sleeper.lines.length;
    sleeper.child.kill('SIGCONT');
    await until(() => sleeper.lines.length > logged || !losesLease, 'the worker wakes');
    if (losesLease) await until(() => sleeper.logged('lease_lost') > 0, 'the worker notices that it lost its lease');
    await sleep(1_000);
    expect(await snapshot()).toEqual(before);
    const raws = [sleeper, other].flatMap(({ lines }) =>
      lines.flatMap(({ signed, broadcast }) => [signed?.raw, broadcast?.raw]),
    );
    expect(new Set(raws.filter((raw) => raw !== undefined)).size).toBe(1);

    await other.stop();
    expect(sleeper.isAlive).toBe(true);
    const more = await paidOrders(1);
    const mining = new AbortController();
    const mined = (async () => {
      while (!mining.signal.aborted) {
        for (const network of ['BTC', 'TRC20']) await gateway.mine(network);
        await sleep(100);
      }
    })();
    await allComplete([...orders, ...more]).finally(() => mining.abort());
    await mined;
    await expectPaidOnce([...orders, ...more]);
    await sleeper.stop();
  });
});

describe('connections that are cut while they commit', () => {
  const name = 'cut worker';

  /**
   * While this is on, a commit of the worker is on disk and waits for an answer that does not come.
   */
  async function withholdAnswers(on: boolean): Promise<void> {
    await query(gateway.databaseUrl, `alter system set synchronous_standby_names = '${on ? 'absent' : ''}'`);
    await query(gateway.databaseUrl, 'select pg_reload_conf()');
  }

  afterEach(async () => {
    await query(gateway.databaseUrl, 'alter system reset synchronous_standby_names');
    await query(gateway.databaseUrl, 'select pg_reload_conf()');
  });

  it('lose no order and pay none twice, whether or not the commit was done', async () => {
    // Only sessions that commit synchronously wait for the standby that is not there: no other
    // session on this server does.
    const options = new URLSearchParams({ application_name: name, options: '-c synchronous_commit=on' });
    const child = await worker({
      databaseUrl: `${gateway.databaseUrl}?${options.toString().replaceAll('+', '%20')}`,
    });
    const orders = await paidOrders(20);
    const cuts = { committed: 0, open: 0 };
    const began = Date.now();
    for (let turn = 0; Date.now() - began < 8_000; turn++) {
      if (turn % 10 === 0) await withholdAnswers(turn % 20 === 0);
      const cut = await gateway.query<{ committed: boolean }>(
        `select wait_event is not distinct from 'SyncRep' as committed, pg_terminate_backend(pid)
           from (select pid, wait_event from pg_stat_activity
                  where application_name = $1 and datname = current_database() and state <> 'idle'
                  order by wait_event = 'SyncRep' desc nulls last, random() limit 3) busy`,
        [name],
      );
      for (const { committed } of cut) cuts[committed ? 'committed' : 'open'] += 1;
      await sleep(30);
    }
    await withholdAnswers(false);
    expect(cuts.committed).toBeGreaterThan(10);
    expect(cuts.open).toBeGreaterThan(0);
    await allComplete(orders);
    await expectPaidOnce(orders);
    expect(child.isAlive).toBe(true);
    await child.stop();
  });
});

describe('a signer that is away', () => {
  it('lets payments wait, and they go out once when it is back', async () => {
    const dataDir = process.env.TEST_DATA_DIR ?? '';
    const folder = await mkdtemp(join(tmpdir(), 'away-signer-'));
    const socketPath = join(folder, 'signer.sock');
    try {
      const child = await worker({ settings: { SIGNER_SOCKET: socketPath } });
      const orders = await paidOrders(6);
      const waiting = () =>
        gateway.query<{ state: string; problem: string | null; raw: string | null }>(
          'select state, problem, raw from payment p join payment_attempt a on a.payment_id = p.id',
        );
      await until(
        async () =>
          (await waiting()).filter(({ problem }) => problem === 'signer_unavailable').length === orders.length,
        'all payments wait for the signer',
      );
      await sleep(2_500);
      expect(await waiting()).toEqual(
        orders.map(() => ({ state: 'prepared', problem: 'signer_unavailable', raw: null })),
      );
      expect(await statuses()).toEqual({ sending: orders.length });

      const seed = readSecretFile(join(dataDir, 'signer-seed')) ?? '';
      const signer = await openLocalSigner({ entropy: Buffer.from(seed, 'hex'), dataDir });
      const secret = signerSecret(loadConfig({ DATA_DIR: dataDir }));
      const server = await serveSigner({ signer, socketPath, secret, log: createLog('silent') });
      try {
        await allComplete(orders);
      } finally {
        await server.close();
      }
      await expectPaidOnce(orders);
      expect(await gateway.query('select from payment where problem is not null')).toEqual([]);
      await child.stop();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
