// What the gateway depends on goes away, hangs, lies or slows down, one thing after another, while
// partners and staff use it. Usage: npm run torture -- faults --help
import { parseArgs } from 'node:util';
import { runDiskFull } from '../support/database/disk-full.ts';
import { FaultGateway } from '../support/faults/fault-gateway.ts';
import { type Fault, faults } from '../support/faults/fault-list.ts';
import { answerBoundMs, type FaultRow, runFault } from '../support/faults/fault-run.ts';
import { endGroup, type RestartReport, restartOneByOne } from '../support/faults/restarts.ts';

/** How often an api process is replaced. */
const restarts = 20;

const help = `Usage: npm run torture -- faults [options]

Runs two api processes, a worker, PostgreSQL and Redis behind proxies that break connections. Prints a row for each
fault. Exits 1 when an acknowledged write is lost, a recipient is paid twice, ledger and chains differ, an answer
breaks the contract or takes longer than ${answerBoundMs / 1000} s, or the gateway does not recover by itself.

  --only <name>   this fault; may be given several times. A beginning of a name stands for all that begin so
  --seed <n>      seed of what clients do (1)
  --keep          keep the folders with the databases and the logs

  disk-full            the disk of an embedded database is full (takes root; skipped elsewhere, which it says)
  restarts             SIGTERM to one api process after another, ${restarts} times, and then to the whole process group

${faults.map(({ name, what }) => `  ${name.padEnd(20)} ${what}`).join('\n')}
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const { only, keep } = values;
const wanted = faults.filter(({ name }) => !only || only.some((beginning) => name.startsWith(beginning)));
const hasRestarts = !only || only.some((beginning) => 'restarts'.startsWith(beginning));
const hasDisk = !only || only.some((beginning) => 'disk-full'.startsWith(beginning));
if (wanted.length === 0 && !hasRestarts && !hasDisk) {
  process.stderr.write(`no fault begins with ${only}; see --help\n`);
  process.exit(2);
}

const rows: FaultRow[] = [];
for (const [needs, group] of Map.groupBy(wanted, (fault) => fault.needs)) await runGroup(needs, group);
if (hasDisk) await runDisk();
if (rows.length > 0) process.stdout.write(table(rows));
const isSmooth = !hasRestarts || (await runRestarts());
process.exit(isSmooth && rows.every(({ problems }) => problems.length === 0) ? 0 : 1);

async function runDisk(): Promise<void> {
  process.stderr.write('disk-full: ...\n');
  const row = await runDiskFull(Number(values.seed), keep);
  if (typeof row === 'string') {
    process.stdout.write(`disk-full: skipped, as ${row}\n`);
    return;
  }
  rows.push(row);
  for (const problem of row.problems.slice(0, 10)) process.stderr.write(`  WRONG: ${problem}\n`);
}

/** Whether no request failed while processes were replaced and, at last, ended. */
async function runRestarts(): Promise<boolean> {
  const gateway = await FaultGateway.start({ name: 'restarts', settings: { DRAIN_GRACE_LOCAL_MS: '1000' } });
  const tell = (what: string, { requests, failures, restarts }: RestartReport, more = ''): void => {
    process.stdout.write(`${what}: requests=${requests} failures=${failures.length} restarts=${restarts}${more}\n`);
    for (const failure of new Set(failures)) process.stderr.write(`  WRONG: ${failure}\n`);
  };
  const replaced = await restartOneByOne(gateway, restarts);
  tell('one by one', replaced);
  const ended = await endGroup(gateway);
  tell('whole group', ended, ` exit_code=${ended.exitCode}`);
  await gateway.end({ keep });
  return replaced.failures.length === 0 && ended.failures.length === 0 && ended.exitCode === 0;
}

/** Runs the faults that happen to the same gateway, without a restart between them. */
async function runGroup(needs: Fault['needs'], group: readonly Fault[]): Promise<void> {
  const gateway = await FaultGateway.start({ name: 'faults', isHooked: needs === 'hooks' });
  for (const fault of group) {
    if (needs === 'standby') await gateway.addStandbys();
    process.stderr.write(`${fault.name}: ${fault.what} ...\n`);
    const row = await runFault(gateway, fault, Number(values.seed) + rows.length * 100);
    rows.push(row);
    process.stderr.write(`  503 for ${(row.refusedMs / 1000).toFixed(1)} s\n`);
    for (const problem of row.problems.slice(0, 10)) process.stderr.write(`  WRONG: ${problem}\n`);
  }
  const isKept = keep || rows.some(({ problems }) => problems.length > 0);
  if (isKept) process.stderr.write(`the logs and the database stay in ${gateway.folder}\n`);
  await gateway.end({ keep: isKept });
}

function table(all: readonly FaultRow[]): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const lines = all.map((row) => [
    row.name,
    Object.entries(row.outcomes)
      .map(([outcome, count]) => `${outcome}: ${count}`)
      .join(', '),
    seconds(row.worstMs),
    `${row.acknowledged} / ${row.paid}`,
    seconds(row.answeredAfterMs),
    seconds(row.settledAfterMs),
    row.problems.length === 0 ? 'none' : `${row.problems.length}: ${row.problems[0]}`,
  ]);
  const head = ['fault', 'answers', 'slowest', 'orders / paid', 'answers after', 'settled after', 'wrong'];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
