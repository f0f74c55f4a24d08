// Compares the quotes of this checkout with those of the commit that last renewed quotes.json, or
// with those of another checkout, to the last digit.
// Usage: npm run rehearse -- quotes --help
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../support/command-line.ts';
import { differingBlocks, type StoredDigests, storedDigests, storedDigestsPath } from './quote-digests.ts';
import { digestOf, quotesIn, quotesOfBlock } from './random-quotes.ts';

const help = `Usage: npm run rehearse -- quotes [options]

Asks random quotes of all pairs, of both rate types and from both sides, with markups and refusals,
at prices, fees and amounts up to their bounds. Compares the SHA-256 of each block of ${quotesOfBlock} quotes
with test/nets/quotes.json.

  --quotes <n>          quotes to ask, in whole blocks (1000000)
  --seed <n>            start of the random choices; that of quotes.json unless given
  --against <checkout>  compare with another checkout, which needs its packages installed, and
                        print the first quote that differs with both results
  --block <n>           print the quotes of one block as JSON, one a line, and compare nothing
  --renew               write quotes.json; refused where CI is set
  --digests             print the digests and compare nothing
  --workers <n>         processes (2)

Exit code: 0 when all quotes are equal, 1 when some differ, 2 for a wrong option.
`;

const { values } = parseArgs({
  options: {
    quotes: { type: 'string', default: '1000000' },
    seed: { type: 'string' },
    against: { type: 'string' },
    block: { type: 'string' },
    renew: { type: 'boolean', default: false },
    digests: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}

const stored = existsSync(storedDigestsPath) ? storedDigests() : null;
const seed = values.seed === undefined ? (stored?.seed ?? 1) : wholeNumber({ seed: values.seed }, 'seed', 0);
const blocks = Math.ceil(wholeNumber(values, 'quotes') / quotesOfBlock);
/** Blocks of one process: the start of a process takes as long as half a block. */
const blocksOfProcess = Math.max(1, Math.min(10, Math.ceil(blocks / 2)));
const workers = wholeNumber(values, 'workers');
const began = performance.now();

function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

function wrongOption(text: string): never {
  process.stderr.write(`${text}; see --help\n`);
  process.exit(2);
}

/** Runs this program in a checkout and hands each line of its output to `onLine`. */
async function runIn(checkout: string, args: readonly string[], onLine: (line: string) => void): Promise<void> {
  const program = relative(process.cwd(), fileURLToPath(import.meta.url));
  if (!existsSync(join(checkout, program))) wrongOption(`${checkout} has no ${program}`);
  const words = ['--import', 'tsx', program, '--seed', String(seed), ...args];
  const child = spawn(process.execPath, words, { cwd: checkout, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  for await (const line of createInterface({ input: child.stdout })) onLine(line);
  const code = await ended;
  if (code !== 0) throw new Error(`the quotes of ${checkout} ended with exit code ${code}`);
}

/** The digests of all blocks of this checkout. The processes take one part after another. */
async function digests(): Promise<string[]> {
  const found: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let first = next; first < blocks; first = next) {
      next = Math.min(first + blocksOfProcess, blocks);
      const part: string[] = [];
      await runIn('.', ['--block', `${first}-${next - 1}`, '--digests'], (line) => part.push(line));
      for (const [i, digest] of part.entries()) found[first + i] = digest;
      say(`blocks ${first} to ${first + part.length - 1} of ${blocks}`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return found;
}

async function digestsOf(checkout: string): Promise<string[]> {
  const found: string[] = [];
  const args = ['--digests', '--quotes', String(blocks * quotesOfBlock), '--workers', String(workers)];
  await runIn(checkout, args, (line) => found.push(line));
  return found;
}

async function linesOf(checkout: string, block: number): Promise<string[]> {
  const found: string[] = [];
  await runIn(checkout, ['--block', String(block)], (line) => found.push(line));
  return found;
}

/** Prints the first quote of a block that differs from that of another checkout. */
async function showFirst(other: string, block: number): Promise<void> {
  const [here, there] = [await linesOf('.', block), await linesOf(other, block)];
  const index = here.findIndex((line, i) => line !== there[i]);
  const [own, others] = [here[index], there[index]].map((line) => JSON.parse(line ?? 'null'));
  const { answers, ...inputs } = own;
  const { answers: otherAnswers, ...otherInputs } = others ?? {};
  const shown = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  process.stdout.write(`block ${block}, quote ${index}\nwas asked: ${shown(inputs)}`);
  if (JSON.stringify(inputs) !== JSON.stringify(otherInputs)) {
    // Amounts are chosen by the limits of the pair.
    process.stdout.write(`was asked in ${other}, where its limits differ: ${shown(otherInputs)}`);
  }
  process.stdout.write(`this checkout: ${shown(answers)}${other}: ${shown(otherAnswers)}`);
  process.stdout.write(`they differ in ${differingMembers(answers, otherAnswers).join(', ')}\n`);
}

/** The paths of the members in which two JSON values differ. */
function differingMembers(one: unknown, other: unknown, path = ''): string[] {
  const members = (value: unknown): [string, unknown][] =>
    typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const [own, others] = [new Map(members(one)), new Map(members(other))];
  if (own.size === 0 || others.size === 0) return JSON.stringify(one) === JSON.stringify(other) ? [] : [path];
  return [...new Set([...own.keys(), ...others.keys()])].flatMap((name) =>
    differingMembers(own.get(name), others.get(name), path === '' ? name : `${path}.${name}`),
  );
}

/** Reads '7' as one block, and '0-9' as ten. */
function blocksNamed(text: string): number[] {
  const [first = '', last = first, ...others] = text.split('-');
  if (others.length > 0) wrongOption(`--block '${text}' is neither a block nor two with a '-' between them`);
  const from = wholeNumber({ block: first }, 'block', 0);
  const to = wholeNumber({ block: last }, 'block', from);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

if (values.block !== undefined) {
  for (const block of blocksNamed(values.block)) {
    if (values.digests) process.stdout.write(`${await digestOf(seed, block)}\n`);
    else for await (const { text } of quotesIn(seed, block)) process.stdout.write(`${text}\n`);
  }
} else if (values.digests) {
  for (const digest of await digests()) process.stdout.write(`${digest}\n`);
} else {
  const { against, renew } = values;
  if (renew && process.env.CI) wrongOption('CI is set, and quotes.json is renewed by people only');
  const known = against === undefined && stored?.seed === seed && stored.digests.length >= blocks;
  if (!renew && against === undefined && !known) {
    wrongOption(`quotes.json has no ${blocks} blocks of seed ${seed}: add --against, or --renew`);
  }
  const found = await digests();
  say(`${found.length * quotesOfBlock} quotes asked`);
  if (renew) {
    const content: StoredDigests = { seed, quotesOfBlock, digests: found };
    writeFileSync(storedDigestsPath, `${JSON.stringify(content, null, 2)}\n`);
    process.stdout.write(`seed=${seed} quotes=${found.length * quotesOfBlock} written=${storedDigestsPath}\n`);
  } else {
    const expected = against === undefined ? (stored?.digests ?? []) : await digestsOf(against);
    const differing = differingBlocks(found, expected);
    for (const block of differing.slice(0, 10)) process.stderr.write(`  WRONG: the quotes of block ${block} differ\n`);
    const [first] = differing;
    if (first !== undefined && against !== undefined) await showFirst(against, first);
    else if (first !== undefined) {
      process.stderr.write(`To see the first quote that differs, name a checkout of an earlier commit:
  npm run rehearse -- quotes --quotes ${(first + 1) * quotesOfBlock} --against <checkout>
All quotes of the block:
  npm run -s rehearse -- quotes --block ${first}
`);
    }
    process.stdout.write(`seed=${seed} quotes=${found.length * quotesOfBlock} differing_blocks=${differing.length}\n`);
    process.exitCode = differing.length === 0 ? 0 : 1;
  }
}
