// Puts the faults of mutants.yaml one by one into a copy of a checkout, and runs the tests that are
// expected to notice each.
// Usage: npm run rehearse -- mutants --help
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../support/command-line.ts';
import { areas, type Mutant, mutated, type NamedTest, readMutants } from './mutant-list.ts';

const help = `Usage: npm run rehearse -- mutants [options]

Copies a checkout with its uncommitted changes, puts each fault of test/nets/mutants.yaml into the
copy, and runs the tests that the list names for it, until one fails. First it runs these tests
without a fault. A run that takes too long counts as one that fails.

  --only <ids>         these mutants alone, with commas between them
  --area <area>        ${areas.join(', ')}
  --shard <i>/<n>      every n-th mutant, beginning with the i-th
  --checkout <folder>  put the faults into a copy of this checkout (this one)
  --json <file>        write the results as JSON, to compare two versions of the tests
  --trust              do not run the tests without a fault first
  --check              only find the mutants whose text is not in its file exactly once
  --workers <n>        copies that are worked on at the same time (2)
  --timeout <seconds>  for one run of a test file (600)

Exit code: 0 when every mutant was killed, 1 when one survived or is stale, 2 for a wrong option.
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    area: { type: 'string' },
    shard: { type: 'string' },
    checkout: { type: 'string', default: '.' },
    json: { type: 'string' },
    trust: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    timeout: { type: 'string', default: '600' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}

const checkout = resolve(values.checkout);
const workers = wholeNumber(values, 'workers');
const timeoutMs = wholeNumber(values, 'timeout') * 1000;
const began = performance.now();

/** How a mutant ended. `untested`: its tests did not run, or fail without it as well. */
type Outcome = 'killed' | 'timeout' | 'survived' | 'stale' | 'untested';

interface Result {
  readonly id: string;
  readonly area: Mutant['area'];
  readonly outcome: Outcome;
  /** The test of the list that killed it. `failed` has the full names of the tests that failed. */
  readonly test: string | null;
  readonly failed: readonly string[];
  readonly seconds: number;
}

function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}\n`);
}

function wrongOption(text: string): never {
  process.stderr.write(`${text}; see --help\n`);
  process.exit(2);
}

/** The mutants that the options select. */
function selected(): Mutant[] {
  const { only, area, shard } = values;
  const all = readMutants();
  const ids = only?.split(',');
  const unknown = ids?.find((id) => all.every((mutant) => mutant.id !== id));
  if (unknown !== undefined) wrongOption(`there is no mutant '${unknown}'`);
  if (area !== undefined && !areas.some((known) => known === area)) wrongOption(`there is no area '${area}'`);
  const [, part = '1', parts = '1'] =
    /^([1-9]\d*)\/([1-9]\d*)$/.exec(shard ?? '1/1') ?? wrongOption(`--shard '${shard}'`);
  return all
    .filter((mutant) => (ids?.includes(mutant.id) ?? true) && (area === undefined || mutant.area === area))
    .filter((_, i) => i % Number(parts) === Number(part) - 1);
}

/** Copies the files that git knows, as they are now. Packages and what was built are shared. */
function copyOf(source: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'gateway-mutants-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', args, { cwd: source, encoding: 'utf8', maxBuffer: 2 ** 26 });
  for (const file of new Set(files.split('\0'))) {
    if (file === '' || !existsSync(join(source, file))) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(source, file), join(copy, file));
  }
  symlinkSync(join(source, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

interface TestRun {
  /** `none`: no test has such a name, or a server that the tests need is missing. */
  readonly outcome: 'passed' | 'failed' | 'timeout' | 'none';
  /** Full names of the tests that failed. Empty when their file could not be run. */
  readonly failed: readonly string[];
  /** Whether the run may have failed for another reason than the mutant, on a busy machine. */
  readonly isDoubtful: boolean;
}

const running = new Set<number>();
function endRunning(): void {
  for (const pid of running) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  }
}
process.once('exit', endRunning);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** The command of `npm test` in a copy, for files of all projects. */
function jestOf(copy: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as { scripts: { test: string } };
  return scripts.test.replace(/ --selectProjects(?: \w+)+/, '').split(' ');
}

/** Runs one test file in a copy. With --bail, Jest would write no report. */
async function run(copy: string, { path, title }: NamedTest): Promise<TestRun> {
  const report = join(copy, '.mutant-report.json');
  rmSync(report, { force: true });
  const [file = '', ...words] = [...jestOf(copy), '--json', `--outputFile=${report}`, '--runTestsByPath', path];
  const child = spawn(
    file,
    [...words, ...(title === null ? [] : ['-t', title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')])],
    {
      cwd: copy,
      // A group of its own, which can be ended together.
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore'],
      env: { ...process.env, CI: 'true', PATH: `${join(copy, 'node_modules/.bin')}${delimiter}${process.env.PATH}` },
    },
  );
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} could not be started`);
  running.add(pid);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    process.kill(-pid, 'SIGKILL');
  }, timeoutMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(timer);
  running.delete(pid);
  if (isLate) return { outcome: 'timeout', failed: [], isDoubtful: false };
  const found = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as JestReport) : null;
  const results = found?.testResults.flatMap(({ assertionResults }) => assertionResults) ?? [];
  const failures = results.filter(({ status }) => status === 'failed');
  const failed = failures.map(({ fullName }) => fullName);
  if (code !== 0) return { outcome: 'failed', failed, isDoubtful: isDoubtful(failures) };
  if (results.some(({ status }) => status === 'passed')) return { outcome: 'passed', failed, isDoubtful: false };
  say(`${nameOf({ path, title })} ran no test`);
  return { outcome: 'none', failed, isDoubtful: false };
}

interface AssertionResult {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages: readonly string[];
}

interface JestReport {
  readonly testResults: readonly { readonly assertionResults: readonly AssertionResult[] }[];
}

/**
 * Whether failures look like those of a hook, which fails every test of its file, or of a bound in
 * time.
 */
function isDoubtful(failures: readonly AssertionResult[]): boolean {
  const messages = failures.map(({ failureMessages: [first = ''] }) => first);
  if (messages.some((message) => message.includes('Exceeded timeout'))) return true;
  return messages.length === 0 || (messages.length > 1 && messages.every((message) => message === messages[0]));
}

function nameOf({ path, title }: NamedTest): string {
  return title === null ? path : `${path} > ${title}`;
}

/** Runs a task on each item, with as many copies at the same time as there are workers. */
async function onCopies<T>(
  items: readonly T[],
  copies: readonly string[],
  task: (copy: string, item: T) => Promise<void>,
) {
  const left = [...items];
  await Promise.all(
    copies.map(async (copy) => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await task(copy, item);
    }),
  );
}

/** The tests that fail without any fault. */
async function failing(mutants: readonly Mutant[], copies: readonly string[]): Promise<ReadonlySet<string>> {
  const tests = new Map(mutants.flatMap(({ tests }) => tests).map((test) => [nameOf(test), test]));
  const found = new Set<string>();
  await onCopies([...tests], copies, async (copy, [name, test]) => {
    if (!existsSync(join(copy, test.path))) return say(`${test.path} is not there`);
    const { outcome, failed } = await run(copy, test);
    if (outcome === 'passed') return;
    found.add(name);
    say(`${name} fails without a mutant: ${failed.join('; ') || outcome}`);
  });
  say(`${tests.size} tests ran without a mutant, and ${found.size} of them failed`);
  return found;
}

/** Puts a mutant into the copy, runs its tests, and takes it back. */
async function judge(copy: string, mutant: Mutant, broken: ReadonlySet<string>): Promise<Omit<Result, 'id' | 'area'>> {
  const startedAt = performance.now();
  const seconds = (): number => Math.round((performance.now() - startedAt) / 100) / 10;
  const content = mutated(copy, mutant);
  if (content === null) return { outcome: 'stale', test: null, failed: [], seconds: 0 };
  const path = join(copy, mutant.file);
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, content);
  try {
    let hasPassed = false;
    for (const test of mutant.tests) {
      if (broken.has(nameOf(test)) || !existsSync(join(copy, test.path))) continue;
      let { outcome, failed, isDoubtful } = await run(copy, test);
      for (let repetition = 1; isDoubtful && repetition <= 2; repetition++) {
        say(`${mutant.id}: ${nameOf(test)} fails in a way that needs no mutant, and is run again`);
        ({ outcome, failed, isDoubtful } = await run(copy, test));
      }
      if (outcome === 'passed') hasPassed = true;
      if (outcome === 'passed' || outcome === 'none') continue;
      return { outcome: outcome === 'timeout' ? 'timeout' : 'killed', test: nameOf(test), failed, seconds: seconds() };
    }
    return { outcome: hasPassed ? 'survived' : 'untested', test: null, failed: [], seconds: seconds() };
  } finally {
    writeFileSync(path, before);
  }
}

const mutants = selected();
const stale = mutants.filter((mutant) => mutated(checkout, mutant) === null);
for (const { id, file } of stale) process.stderr.write(`  STALE: ${file} does not have the text of ${id} once\n`);
if (values.check) {
  process.stdout.write(`mutants=${mutants.length} stale=${stale.length}\n`);
  process.exit(stale.length === 0 ? 0 : 1);
}

const copies = Array.from({ length: Math.min(workers, mutants.length) }, () => copyOf(checkout));
say(`copied ${checkout}; ${mutants.length} mutants`);
const broken = values.trust ? new Set<string>() : await failing(mutants, copies);
const results: Result[] = [];
await onCopies(mutants, copies, async (copy, mutant) => {
  const { id, area } = mutant;
  const result = { id, area, ...(await judge(copy, mutant, broken)) };
  results.push(result);
  const by = result.test === null ? mutant.wrong : `by ${result.test}`;
  say(`${results.length}/${mutants.length} ${id} ${result.outcome} ${by} (${result.seconds} s)`);
  if (values.json) writeFileSync(values.json, `${JSON.stringify(inOrder(), null, 2)}\n`);
});

/** The results in the order of the list. */
function inOrder(): Result[] {
  return mutants.flatMap(({ id }) => results.filter((result) => result.id === id));
}

const width = Math.max(...mutants.map(({ id }) => id.length));
for (const { id, outcome, test, seconds } of inOrder()) {
  process.stdout.write(
    `${id.padEnd(width)}  ${outcome.padEnd(8)}  ${seconds.toFixed(1).padStart(6)} s  ${test ?? ''}\n`,
  );
}
const isKilled = ({ outcome }: Result): boolean => outcome === 'killed' || outcome === 'timeout';
for (const area of areas) {
  const its = results.filter((result) => result.area === area);
  if (its.length > 0) process.stdout.write(`${area}: ${its.filter(isKilled).length} of ${its.length} killed\n`);
}
const left = results.filter((result) => !isKilled(result));
process.stdout.write(`mutants=${results.length} killed=${results.length - left.length} not_killed=${left.length}\n`);
process.exit(left.length === 0 ? 0 : 1);
