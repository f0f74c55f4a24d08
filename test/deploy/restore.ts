// Rehearses backup, loss of the database and restore. Orders are made and settled while a base
// backup is taken and the log is streamed to another place. The cluster dies, and is restored to
// its last commit and to an earlier point.
// Usage: npm run rehearse -- restore --help
import { chmod, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SignerKeys } from '../../src/signer/signer-keys.ts';
import {
  depositsSettle,
  issueKeyByCommand,
  reconcileByCommand,
  SandboxUsers,
  type Settled,
  sandboxSettings,
} from '../support/chains/sandbox-users.ts';
import { query } from '../support/database/database.ts';
import { makeOwned, PackagedPostgres } from '../support/database/packaged-postgres.ts';
import { readArguments, shown } from '../support/faults/arguments.ts';
import { BuiltProcess, runBuilt } from '../support/gateway/built-process.ts';

const help = `Usage: npm run rehearse -- restore [options]

  --orders <n>  orders to create (300)
  --keep        keep the folder with the backup, the clusters and the logs

Needs PostgreSQL's own programs; on Debian: apt-get install postgresql
`;
const { orders, keep } = readArguments(help, { orders: 300 });

const problems: string[] = [];
const afterEarlierPoint = resolve('deploy/postgres/after-earlier-point.sql');
const began = performance.now();
function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

/** Seconds that something takes, for people. */
async function timed(what: string, action: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await action();
  const seconds = (performance.now() - start) / 1000;
  say(`${what}: ${seconds.toFixed(1)} s`);
  return seconds;
}

interface Running {
  readonly restUrl: string;
  readonly settings: Readonly<Record<string, string>>;
  end(): Promise<void>;
}

/** An api process and a worker on the database, as an operator starts them. */
async function startGateway(server: PackagedPostgres, name: string): Promise<Running> {
  const settings = { ...sandboxSettings, DATABASE_URL: server.url(), DATA_DIR: join(folder, 'data') };
  const launch = (role: 'api' | 'worker'): BuiltProcess =>
    new BuiltProcess({
      script: 'main.js',
      name: `${name}-${role}`,
      folder,
      settings: { ...settings, ROLE: role, LOG_LEVEL: 'info' },
      ready: /^ready .*$/m,
    });
  const [api, worker] = [launch('api'), launch('worker')];
  const [output] = await Promise.all([api.ready(), worker.ready()]);
  return {
    restUrl: /^ready rest=(\S+)/m.exec(output)?.[1] ?? '',
    settings,
    end: async () => void (await Promise.all([api.end('SIGTERM'), worker.end('SIGTERM')])),
  };
}

/**
 * A cluster from the base backup and the archive, up to a moment or to the archive's end, ready to
 * write.
 */
async function restore(name: string, settings: Readonly<Record<string, string>>): Promise<PackagedPostgres> {
  const cluster = await makeOwned(join(folder, name));
  await postgres.program('pg_verifybackup', '--no-parse-wal', backup);
  await cp(backup, cluster, { recursive: true, preserveTimestamps: true });
  const restored = await postgres.restored(cluster);
  await restored.take();
  // The last segment has no full name yet: what it holds counts as well.
  await restored.configure({
    restore_command: `cp ${archive}/%f %p || cp ${archive}/%f.partial %p`,
    recovery_target_action: 'promote',
    synchronous_standby_names: '',
    ...settings,
  });
  await writeFile(join(cluster, 'recovery.signal'), '');
  await restored.start();
  return restored;
}

/**
 * How many addresses of Solana's pool a restored cluster has. Each must follow from the seed, so
 * that its deposits can be swept.
 */
async function poolOf(server: PackagedPostgres, name: string): Promise<number> {
  const seed = Buffer.from((await readFile(join(folder, 'data', 'signer-seed'), 'utf8')).trim(), 'hex');
  const keys = new SignerKeys(seed);
  const rows = await query<{ index: number; address: string }>(
    server.url(),
    `select index, address from deposit_address where keychain = 'solana'`,
  );
  for (const { index, address } of rows) {
    if (keys.poolAddress('SOL', Number(index)) === address) continue;
    problems.push(`${name}: ${address} is not address ${index} of the seed`);
  }
  if (rows.length === 0) problems.push(`${name}: there is no address of Solana`);
  return rows.length;
}

interface Checked extends Settled {
  readonly poolAddresses: number;
  readonly readySeconds: number;
  readonly differences: number;
}

/**
 * Starts the gateway on a restored cluster. It takes orders with the key, if there is one, and
 * finishes the orders in progress. Then the ledger is compared with the chains.
 */
async function check(server: PackagedPostgres, name: string, key?: string): Promise<Checked> {
  let gateway: Running | undefined;
  const readySeconds = await timed(`${name}: the gateway is ready`, async () => {
    gateway = await startGateway(server, name);
  });
  if (!gateway) throw new Error('the gateway did not start');
  if (key !== undefined) {
    const users = await SandboxUsers.start({ databaseUrl: server.url(), key, restUrls: [gateway.restUrl] });
    await users.until(50);
    await users.stop();
    for (const failure of users.failures.slice(0, 10)) problems.push(`${name}: ${failure}`);
  }
  const settled = await depositsSettle(server.url());
  const { differences, said } = await reconcileByCommand(folder, gateway.settings);
  if (differences !== 0) problems.push(`${name}: reconcile: ${said}`);
  say(`${name}: ${shown(settled.statuses)}; ${settled.refused.length} payments refused; ${differences} differences`);
  await gateway.end();
  return { ...settled, poolAddresses: await poolOf(server, name), readySeconds, differences };
}

const folder = await mkdtemp(join(tmpdir(), 'gateway-restore-'));
await chmod(folder, 0o711);
const [backup, archive] = [await makeOwned(join(folder, 'backup')), await makeOwned(join(folder, 'archive'))];
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const postgres = await PackagedPostgres.create(join(folder, 'cluster'));
await postgres.program('pg_receivewal', '--create-slot', '--slot=archive', '--if-not-exists');
const receiver = postgres.launch(
  'pg_receivewal',
  `--directory=${archive}`,
  '--slot=archive',
  '--synchronous',
  '--dbname=application_name=archive',
);
// From here on a commit is acknowledged when the receiver has it on its disk as well: nothing that
// was answered is lost.
await query(postgres.superuserUrl(), `alter system set synchronous_standby_names = 'archive'`);
await query(postgres.superuserUrl(), 'select pg_reload_conf()');

const migrated = await runBuilt('surfaces/cli/main.js', ['db', 'migrate'], {
  folder,
  settings: { DATABASE_URL: postgres.url(), DATA_DIR: join(folder, 'data') },
});
if (migrated.code !== 0) throw new Error(migrated.errors);

const gateway = await startGateway(postgres, 'before');
const key = await issueKeyByCommand(folder, gateway.settings);
const users = await SandboxUsers.start({ databaseUrl: postgres.url(), key, restUrls: [gateway.restUrl] });
await users.until(orders / 3);
const backupSeconds = await timed('base backup, under load', () =>
  postgres.program('pg_basebackup', `--pgdata=${backup}`, '--wal-method=none', '--checkpoint=fast'),
);
await users.until((orders * 2) / 3);
const [point] = await query<{ at: string; orders: number }>(
  postgres.superuserUrl(),
  'select clock_timestamp()::text as at, (select count(*)::int from exchange_order) as orders',
);
await users.until(orders);
await users.stop();
if (users.failures.length > 0) problems.push(`orders failed before the loss: ${users.failures[0]}`);
say(
  `${users.acknowledged.length} orders are made; the point to go back to is ${point?.at}, with about ${point?.orders} orders`,
);

// In the middle of settling them.
await postgres.destroy();
receiver.kill('SIGTERM');
await gateway.end();
const segments = await readdir(archive);
say(`the cluster is gone; the archive has ${segments.length} segments`);

let whole: PackagedPostgres | undefined;
const restoreSeconds = await timed('restore to the last commit', async () => {
  whole = await restore('whole', {});
});
if (!whole) throw new Error('nothing was restored');
const found = await query<{ id: string }>(whole.url(), 'select id from exchange_order');
const there = new Set(found.map(({ id }) => id));
const lost = users.acknowledged.filter((id) => !there.has(id));
for (const id of lost) problems.push(`order ${id} was answered with 201 and is lost`);
const last = await check(whole, 'last-commit');
for (const id of last.refused) problems.push(`payment ${id} was refused though nothing of it was lost`);
const given = await query<{ id: string; address: string }>(
  whole.url(),
  'select o.id, a.address from exchange_order o join deposit_address a on a.id = o.deposit_address_id',
);
const signedAfter = `select payment_id || ' ' || txid as payment from payment_attempt where signed_at > $1::timestamptz`;
const signed = (await query<{ payment: string }>(whole.url(), signedAfter, [point?.at])).map(({ payment }) => payment);
await whole.stop();

let earlier: PackagedPostgres | undefined;
const pointSeconds = await timed('restore to the earlier point', async () => {
  earlier = await restore('earlier', { recovery_target_time: point?.at ?? '' });
});
if (!earlier) throw new Error('nothing was restored');
const [kept] = await query<{ count: number; newest: boolean }>(
  earlier.url(),
  'select count(*)::int as count, bool_and(created_at <= $1::timestamptz) as newest from exchange_order',
  [point?.at],
);
if (kept?.newest !== true) problems.push('orders that are younger than the earlier point are there');
await postgres.program('psql', '--set=ON_ERROR_STOP=1', '--quiet', `--file=${afterEarlierPoint}`, earlier.url());
const back = await check(earlier, 'earlier-point', key);
const reused = await query<{ id: string }>(
  earlier.url(),
  `select o.id from exchange_order o join deposit_address a on a.id = o.deposit_address_id
    where a.address = any ($1::text[]) and not o.id = any ($2::uuid[])`,
  [given.map(({ address }) => address), given.map(({ id }) => id)],
);
for (const { id } of reused) problems.push(`order ${id} has an address that another order was given before the loss`);
// What was signed after that point may have gone out: the signer remembers it, and signs nothing
// else for that payment.
const signedIds = new Set(signed.map((payment) => payment.split(' ')[0]));
for (const id of back.refused) {
  if (!signedIds.has(id)) problems.push(`payment ${id} was refused though it was not signed after the earlier point`);
}
for (const { payment } of await query<{ payment: string }>(earlier.url(), signedAfter, [point?.at])) {
  const [id] = payment.split(' ');
  if (signedIds.has(id) && !signed.includes(payment)) problems.push(`payment ${id} was signed a second time`);
}
await earlier.stop();

for (const problem of problems) process.stderr.write(`  WRONG: ${problem}\n`);
const figures = {
  orders: users.acknowledged.length,
  completed: last.statuses.completed ?? 0,
  lost: lost.length,
  differences: last.differences,
  backup_seconds: backupSeconds.toFixed(1),
  restore_seconds: restoreSeconds.toFixed(1),
  pool_addresses: last.poolAddresses,
  gateway_ready_seconds: last.readySeconds.toFixed(1),
  earlier_orders: kept?.count ?? Number.NaN,
  earlier_payments_for_people: back.refused.length,
  earlier_differences: back.differences,
  earlier_restore_seconds: pointSeconds.toFixed(1),
};
process.stdout.write(
  `${Object.entries(figures)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}\n`,
);
if (keep || problems.length > 0) process.stderr.write(`the backup, the clusters and the logs stay in ${folder}\n`);
else await rm(folder, { recursive: true, force: true });
process.exit(problems.length === 0 ? 0 : 1);
