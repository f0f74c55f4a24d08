import { createHash } from 'node:crypto';
import type { Day } from './day.ts';
import { categories, type OrderLines, type Transcript } from './transcript.ts';

/** Orders that share a digest. */
const blockSize = 100;
const digestLength = 16;

/** What is committed of a day. */
export interface DayRecord {
  readonly counts: Readonly<Record<string, number>>;
  /** By category, and `others` for what belongs to no order. */
  readonly digests: Readonly<Record<string, string>>;
  /** By the number of the first order. */
  readonly blocks: Readonly<Record<string, string>>;
}

function digest(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, digestLength);
}

/** All lines of an order, as the transcript has them. */
function textOf(index: number, lines: OrderLines): string[] {
  const parts = categories.flatMap((category) => [
    `  ${category}`,
    ...lines[category].flatMap((line) => line.split('\n')).map((line) => `    ${line}`),
  ]);
  return [`order ${index}`, ...parts];
}

/** The record of a day. */
export function recordOf({ counts, transcript }: Day): DayRecord {
  const { orders, others } = transcript;
  const digests = Object.fromEntries(
    categories.map((category) => [
      category,
      digest([...orders].map(([index, lines]) => `${index} ${lines[category].join('\n')}`)),
    ]),
  );
  const blocks = Map.groupBy(orders, ([index]) => Math.floor(index / blockSize) * blockSize);
  return {
    counts: Object.fromEntries(Object.entries(counts).sort(([one], [other]) => one.localeCompare(other))),
    digests: { ...digests, others: digest(others) },
    blocks: Object.fromEntries(
      [...blocks].map(([first, its]) => [first, digest(its.flatMap(([index, lines]) => textOf(index, lines)))]),
    ),
  };
}

/** How a record differs from the committed one, a line each. */
export function differences(now: DayRecord, committed: DayRecord): string[] {
  const part = (name: string, one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>) =>
    [...new Set([...Object.keys(one), ...Object.keys(other)])]
      .filter((key) => one[key] !== other[key])
      .map((key) => `${name} ${key}: ${other[key] ?? 'none'} in the record, ${one[key] ?? 'none'} now`);
  const blocks = part('block', now.blocks, committed.blocks).length;
  const first = Object.keys({ ...committed.blocks, ...now.blocks })
    .filter((key) => now.blocks[key] !== committed.blocks[key])
    .slice(0, 10)
    .map((key) => `orders ${key} to ${Number(key) + blockSize - 1} differ`);
  return [
    ...part('count', now.counts, committed.counts),
    ...part('digest of', now.digests, committed.digests),
    ...first,
    ...(blocks > first.length ? [`and ${blocks - first.length} more blocks`] : []),
  ];
}

/** The whole transcript as text. */
export function transcriptText({ orders, others }: Transcript): string {
  return `${[...[...orders].flatMap(([index, lines]) => textOf(index, lines)), 'no order', ...others].join('\n')}\n`;
}

/** The first orders that two transcripts differ in, each with its first differing line. */
export function differingOrders(one: string, other: string, most: number): { lines: string[]; count: number } {
  const [here, there] = [sections(one), sections(other)];
  const differing = [...new Set([...here.keys(), ...there.keys()])].filter(
    (name) => here.get(name)?.join('\n') !== there.get(name)?.join('\n'),
  );
  const lines = differing.slice(0, most).flatMap((name) => {
    const [left, right] = [here.get(name) ?? [], there.get(name) ?? []];
    const at = Array.from({ length: Math.max(left.length, right.length) }).findIndex(
      (_, index) => left[index] !== right[index],
    );
    return [name, `  here:  ${left[at]?.trim() ?? '(nothing)'}`, `  there: ${right[at]?.trim() ?? '(nothing)'}`];
  });
  return { lines, count: differing.length };
}

function sections(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('order ') || line === 'no order') {
      lines = [];
      found.set(line, lines);
    } else lines.push(line);
  }
  return found;
}
