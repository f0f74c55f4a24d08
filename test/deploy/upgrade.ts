// Runs the previous version and this one on one database that this one has migrated. Orders are
// made and settled by both at once, then by the old one alone, then by the new one alone.
// Usage: npm run rehearse -- upgrade --help
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import {
  depositsSettle,
  issueKeyByCommand,
  reconcileByCommand,
  SandboxUsers,
  sandboxSettings,
} from '../support/chains/sandbox-users.ts';
import { query } from '../support/database/database.ts';
import { startRedis } from '../support/database/redis.ts';
import { shown } from '../support/faults/arguments.ts';
import { BuiltProcess, runBuilt } from '../support/gateway/built-process.ts';

const help = `Usage: npm run rehearse -- upgrade [options]

  --from <ref>  the old version; the commit before the newest migration unless given
  --orders <n>  orders to create in each of the three parts (50)
  --keep        keep the folder with the logs
`;
const { values: given } = parseArgs({
  options: {
    from: { type: 'string' },
    orders: { type: 'string', default: '50' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});
if (given.help) {
  process.stdout.write(help);
  process.exit(0);
}
if (!/^[1-9]\d{0,5}$/.test(given.orders)) throw new Error(`'${given.orders}' is not a number from 1; see --help`);
const orders = Number(given.orders);

const run = promisify(execFile);
const problems: string[] = [];
const began = performance.now();
function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

async function git(...args: string[]): Promise<string> {
  return (await run('git', args)).stdout.trim();
}

/** The parent of the commit that brought the newest migration. */
async function beforeNewestMigration(): Promise<string> {
  const newest = readdirSync('src/base/db/migrations').sort().at(-1) ?? '';
  const added = await git(
    'log',
    '--follow',
    '--diff-filter=A',
    '--format=%H',
    '-1',
    '--',
    `src/base/db/migrations/${newest}`,
  );
  if (added === '') throw new Error(`${newest} is not committed yet; name the old version with --from`);
  return git('rev-parse', `${added}^`);
}

/** Builds a version in a folder of its own, with the packages of this one. Returns its dist. */
async function buildOld(ref: string): Promise<string> {
  const tree = join(folder, 'old');
  await git('worktree', 'add', '--detach', tree, ref);
  process.once('exit', () => spawnSync('git', ['worktree', 'remove', '--force', tree]));
  await symlink(resolve('node_modules'), join(tree, 'node_modules'));
  await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: tree });
  return join(tree, 'dist');
}

const folder = await mkdtemp(join(tmpdir(), 'gateway-upgrade-'));
await chmod(folder, 0o711);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
const from = await git('rev-parse', `${given.from ?? (await beforeNewestMigration())}^{commit}`).catch(() => {
  process.stderr.write(`'${given.from}' is no version of this repository; see git log\n`);
  process.exit(2);
});
const dist = { old: await buildOld(from), new: resolve('dist') };
say(`built ${from.slice(0, 7)} as the old version`);

const postgres = await startEmbeddedPostgres({ dataDir: folder, ephemeral: true, maxConnections: 200 });
const redis = await startRedis();
const settings = {
  ...sandboxSettings,
  DATABASE_URL: postgres.url,
  REDIS_URL: redis.url,
  DATA_DIR: folder,
  REQUIRE_DURABLE_COMMITS: 'false',
};

type Version = keyof typeof dist;

/** Sets the constants in the environment of a version before they were constants. */
function withSettings(version: Version, all: Readonly<Record<string, string>>): string[] {
  if (existsSync(join(dist[version], 'config/constants.js'))) return [];
  const code = `Object.assign(process.env, ${JSON.stringify(all)})`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}

function launch(version: Version, role: 'api' | 'worker'): BuiltProcess {
  const all = { ...settings, ROLE: role, LOG_LEVEL: 'warn' };
  return new BuiltProcess({
    script: join(dist[version], 'main.js'),
    name: `${version}-${role}`,
    folder,
    settings: all,
    nodeOptions: withSettings(version, all),
    ready: /^ready .*$/m,
  });
}

const restOf = async (api: BuiltProcess): Promise<string> => /^ready rest=(\S+)/m.exec(await api.ready())?.[1] ?? '';

async function migrate(version: Version): Promise<string> {
  // Versions before the tree of today had it at the top.
  const [script = ''] = ['surfaces/cli/main.js', 'cli/main.js']
    .map((path) => join(dist[version], path))
    .filter((path) => existsSync(path));
  const { code, output, errors } = await runBuilt(script, ['db', 'migrate', '--json'], { folder, settings });
  if (code !== 0) throw new Error(errors);
  return (JSON.parse(output) as { applied: string[] }).applied.join(', ');
}

// As an operator upgrades: the old version runs, the database is migrated beside it, the new one
// joins it.
await migrate('old');
const oldApi = launch('old', 'api');
const oldWorker = launch('old', 'worker');
const oldRest = await restOf(oldApi);
await oldWorker.ready();
say(`the old version runs; the new one migrates: ${(await migrate('new')) || 'nothing to do'}`);
const key = await issueKeyByCommand(folder, settings);
const newApi = launch('new', 'api');
const newWorker = launch('new', 'worker');
const newRest = await restOf(newApi);
await newWorker.ready();

let acknowledged = 0;

/** Has users make orders until there are enough, and waits until all are settled. */
async function part(name: string, restUrls: readonly string[]): Promise<void> {
  const users = await SandboxUsers.start({ databaseUrl: postgres.url, key, restUrls });
  await users.until(orders);
  await users.stop();
  for (const failure of users.failures.slice(0, 10)) problems.push(`${name}: ${failure}`);
  acknowledged += users.acknowledged.length;
  const { statuses, refused } = await depositsSettle(postgres.url);
  say(`${name}: ${shown(statuses)}`);
  if (statuses.completed !== acknowledged)
    problems.push(`${name}: ${acknowledged} orders were made, and ${shown(statuses)}`);
  for (const id of refused) problems.push(`${name}: payment ${id} was refused`);
}

await part('both', [oldRest, newRest]);
await newWorker.end('SIGTERM');
// It also starts on the new schema, as it does after a rollback of the release.
await oldWorker.end('SIGTERM');
oldWorker.start();
await oldWorker.ready();
await part('the old worker alone', [oldRest, newRest]);
await oldWorker.end('SIGTERM');
newWorker.start();
await newWorker.ready();
await part('the new worker alone', [oldRest, newRest]);

const ran = [oldApi, oldWorker, newApi, newWorker];
await Promise.all(ran.map((program) => program.end('SIGTERM')));
for (const program of ran)
  if (program.exitCode !== 0 && program.exitCode !== null) problems.push('a process did not end well');
const { differences, said } = await reconcileByCommand(folder, settings);
if (differences !== 0) problems.push(`reconcile: ${said}`);
const [row] = await query<{ count: number }>(postgres.url, 'select count(*)::int as count from exchange_order');
if (row?.count !== acknowledged)
  problems.push(`${row?.count} orders are there, and ${acknowledged} were answered with 201`);

await redis.stop();
await postgres.stop();
for (const problem of problems) process.stderr.write(`  WRONG: ${problem}\n`);
process.stdout.write(
  `from=${from.slice(0, 7)} orders=${acknowledged} problems=${problems.length} differences=${differences}\n`,
);
if (given.keep || problems.length > 0) process.stderr.write(`the logs stay in ${folder}\n`);
else process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.exit(problems.length === 0 ? 0 : 1);
