// Runs the previous version and this one on one database that this one has migrated. Orders are
// made and settled by the old one before the migration, by both at once, then by the old one alone,
// then by the new one alone. While the newest migration is the baseline, the old version is this
// one, and the new one is this one with `rehearsal-migration.ts`.
// Usage: npm run rehearse -- upgrade --help
import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { chmod, copyFile, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
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

  --from <ref>  the old version; the commit before the newest migration unless given. While that is
                the baseline: this version, upgraded by a migration of the test tree
  --orders <n>  orders to create in each of the four parts (50)
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

/** The parent of the commit that brought the newest migration. Null when that is the baseline. */
async function beforeNewestMigration(): Promise<string | null> {
  const [baseline, ...others] = readdirSync('src/base/db/migrations').sort();
  if (baseline === undefined) throw new Error('src/base/db/migrations is empty');
  const newest = others.at(-1);
  if (newest === undefined) return null;
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

/**
 * Builds a version in a separate folder, with the packages of this one. Returns its dist.
 *
 * @param change of its sources before it is built.
 */
async function build(name: Version, ref: string, change?: (tree: string) => Promise<void>): Promise<string> {
  const tree = join(folder, name);
  await git('worktree', 'add', '--detach', tree, ref);
  process.once('exit', () => spawnSync('git', ['worktree', 'remove', '--force', tree]));
  await symlink(resolve('node_modules'), join(tree, 'node_modules'));
  await change?.(tree);
  await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: tree });
  return join(tree, 'dist');
}

/** Makes a tree the present version with the migration of the rehearsal. */
async function addMigration(tree: string): Promise<void> {
  await rm(join(tree, 'src'), { recursive: true });
  await cp('src', join(tree, 'src'), { recursive: true });
  const db = join(tree, 'src/base/db');
  await copyFile('test/deploy/rehearsal-migration.ts', join(db, 'migrations/9999-rehearsal.ts'));
  await replaceIn(join(db, 'migration-names.ts'), /,?\s*\] as const;/, `, '9999-rehearsal'] as const;`);
  await replaceIn(
    join(db, 'migrator.ts'),
    /(const classes: [^=]*= \{)/,
    `import { Migration9999Rehearsal } from './migrations/9999-rehearsal.ts';\n$1 '9999-rehearsal': Migration9999Rehearsal,`,
  );
}

async function replaceIn(path: string, pattern: RegExp, text: string): Promise<void> {
  const source = await readFile(path, 'utf8');
  if (!pattern.test(source)) throw new Error(`${path} has no place for the migration of the rehearsal`);
  await writeFile(path, source.replace(pattern, text));
}

type Version = 'old' | 'new';

const folder = await mkdtemp(join(tmpdir(), 'gateway-upgrade-'));
await chmod(folder, 0o711);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
const before = given.from ?? (await beforeNewestMigration());
const from = await git('rev-parse', `${before ?? 'HEAD'}^{commit}`).catch(() => {
  process.stderr.write(`'${given.from}' is no version of this repository; see git log\n`);
  process.exit(2);
});
const dist: Readonly<Record<Version, string>> =
  before === null
    ? { old: resolve('dist'), new: await build('new', from, addMigration) }
    : { old: await build('old', from), new: resolve('dist') };
say(
  before === null
    ? 'built this version with the migration of the rehearsal'
    : `built ${from.slice(0, 7)} as the old version`,
);

const postgres = await startEmbeddedPostgres({ dataDir: folder, ephemeral: true, maxConnections: 200 });
const redis = await startRedis();
const settings = {
  ...sandboxSettings,
  DATABASE_URL: postgres.url,
  REDIS_URL: redis.url,
  DATA_DIR: folder,
  REQUIRE_DURABLE_COMMITS: 'false',
};

function launch(version: Version, role: 'api' | 'worker'): BuiltProcess {
  return new BuiltProcess({
    script: join(dist[version], 'main.js'),
    name: `${version}-${role}`,
    folder,
    settings: { ...settings, ROLE: role, LOG_LEVEL: 'warn' },
    ready: /^ready .*$/m,
  });
}

const restOf = async (api: BuiltProcess): Promise<string> => /^ready rest=(\S+)/m.exec(await api.ready())?.[1] ?? '';

async function migrate(version: Version): Promise<string> {
  const { code, output, errors } = await runBuilt(cli(version), ['db', 'migrate', '--json'], { folder, settings });
  if (code !== 0) throw new Error(errors);
  return (JSON.parse(output) as { applied: string[] }).applied.join(', ');
}

const cli = (version: Version): string => join(dist[version], 'surfaces/cli/main.js');

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

// As an operator upgrades: the old version runs and has orders, the database is migrated
// concurrently, the new version joins.
await migrate('old');
const oldApi = launch('old', 'api');
const oldWorker = launch('old', 'worker');
const oldRest = await restOf(oldApi);
await oldWorker.ready();
const key = await issueKeyByCommand(folder, settings, cli('old'));
await part('the old version before the migration', [oldRest]);
const applied = await migrate('new');
if (applied === '') problems.push('the new version has no migration that the old one lacks');
say(`the old version runs; the new one migrates: ${applied || 'nothing to do'}`);
const newApi = launch('new', 'api');
const newWorker = launch('new', 'worker');
const newRest = await restOf(newApi);
await newWorker.ready();

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
const { differences, said } = await reconcileByCommand(folder, settings, cli('new'));
if (differences !== 0) problems.push(`reconcile: ${said}`);
const [row] = await query<{ count: number }>(postgres.url, 'select count(*)::int as count from exchange_order');
if (before === null) {
  const [rehearsed] = await query<{ count: number }>(
    postgres.url,
    'select count(*)::int as count from rehearsed_order',
  );
  if (rehearsed?.count !== acknowledged) problems.push(`the migration of the rehearsal saw ${rehearsed?.count} orders`);
}
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
