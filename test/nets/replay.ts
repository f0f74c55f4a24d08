// One seeded day of the sandbox: orders of every kind, reorganisations, holds, refunds, late and
// split deposits, and kills of the settling process. Compares what it left with the record in
// replay.json, or with the same day on another checkout.
// Usage: npm run rehearse -- replay --help
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { wholeNumber } from '../support/command-line.ts';
import { shown } from '../support/faults/arguments.ts';
import { playDay } from './replay/day.ts';
import { type DayRecord, differences, differingOrders, recordOf, transcriptText } from './replay/record.ts';
import { type DayName, days, readRecords, recordName, writeRecord } from './replay/records.ts';
import { startServer } from './replay/server.ts';

const help = `Usage: npm run rehearse -- replay [options]

Plays one seeded day of the sandbox, with two gateways that settle half of it each. Then it compares
order events, ledger lines, payments, deposits and webhook bodies with the committed record.

  --orders <n>          orders of the day (${days.day.orders})
  --seed <n>            seed of every choice (${days.day.seed})
  --out <file>          write the whole transcript
  --against <checkout>  play the same day in another checkout, with its own code, and compare the
                        two transcripts instead of the record
  --renew               write the record of test/nets/replay.json; refused where CI is set

Two days have a record: the usual one, and that of the Jest test (--orders ${days.small.orders}).
Exit code: 0 when all is equal and no invariant is broken, 1 otherwise.
`;
const { values: given } = parseArgs({
  options: {
    orders: { type: 'string', default: String(days.day.orders) },
    seed: { type: 'string', default: String(days.day.seed) },
    out: { type: 'string' },
    against: { type: 'string' },
    renew: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (given.help) {
  process.stdout.write(help);
  process.exit(0);
}
const orders = wholeNumber(given, 'orders');
const seed = wholeNumber(given, 'seed', 0);
const name = recordName(orders, seed);
const refuse = (why: string): never => {
  process.stderr.write(`${why}\n`);
  process.exit(2);
};
if (given.renew && process.env.CI) refuse('the record is not renewed where CI is set');
if (given.renew && name === null) refuse('such a day has no record; see --help');
if (given.against !== undefined && !existsSync(join(given.against, 'test/nets/replay.ts')))
  refuse(`there is no test/nets/replay.ts in ${given.against}`);

const began = performance.now();
function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

const shownDifferences = 40;
const problems: string[] = [];
const stop = await startServer();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().then(() => process.exit(1)));
try {
  say(`${orders} orders, seed ${seed}`);
  const day = await playDay({ orders, seed, onProgress: say });
  problems.push(...day.faults);
  const text = transcriptText(day.transcript);
  if (given.out !== undefined) await writeFile(given.out, text);
  if (Object.keys(day.logged).length > 0) say(`in the logs: ${shown(day.logged)}`);
  const record = recordOf(day);
  for (const [what, count] of Object.entries(record.counts)) process.stdout.write(`${what.padEnd(24)} ${count}\n`);
  for (const [what, digest] of Object.entries(record.digests))
    process.stdout.write(`${`digest of ${what}`.padEnd(24)} ${digest}\n`);
  if (given.against !== undefined) problems.push(...(await compareWith(resolve(given.against), text)));
  else if (given.renew && name && problems.length === 0) await writeRecord(name, record);
  else if (name && !given.renew) problems.push(...(await compareWithRecord(name, record)));
} finally {
  await stop();
}
for (const problem of problems.slice(0, shownDifferences)) process.stderr.write(`WRONG: ${problem}\n`);
if (problems.length > shownDifferences) process.stderr.write(`and ${problems.length - shownDifferences} more\n`);
say(problems.length === 0 ? verdict() : `${problems.length} differences`);
process.exit(problems.length === 0 ? 0 : 1);

/** What was found to be right. */
function verdict(): string {
  if (given.against !== undefined) return 'both checkouts did the same';
  if (name === null) return 'no invariant is broken; such a day has no record';
  return given.renew ? 'the record is written' : 'all is as recorded';
}

async function compareWithRecord(day: DayName, now: DayRecord): Promise<string[]> {
  const committed = (await readRecords())[day];
  return committed ? differences(now, committed) : ['this day has no record yet: --renew writes it'];
}

/** Plays the same day in another checkout, and compares its transcript with this one. */
async function compareWith(checkout: string, text: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'replay-against-'));
  const out = join(folder, 'transcript');
  say(`the same in ${checkout} ...`);
  try {
    const args = ['--import', 'tsx', 'test/nets/replay.ts', '--orders', String(orders), '--seed', String(seed)];
    // It ends with 1 where its own record differs. What counts is its transcript.
    const running = promisify(execFile)(process.execPath, [...args, '--out', out], { cwd: checkout });
    running.child.stderr?.pipe(process.stderr);
    const failed = await running.then(
      () => null,
      (error: Error) => error,
    );
    if (!existsSync(out)) return [`the day could not be played in ${checkout}: ${failed?.message}`];
    const { lines, count } = differingOrders(text, await readFile(out, 'utf8'), 10);
    return count === 0 ? [] : [`${count} orders differ; the first of them:`, ...lines];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
