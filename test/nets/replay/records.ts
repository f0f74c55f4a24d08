import { readFile, writeFile } from 'node:fs/promises';
import type { DayRecord } from './record.ts';

/** The days that have a committed record. */
export const days = {
  /** `npm run rehearse -- replay`. */
  day: { orders: 4_000, seed: 20_261_126 },
  /** The Jest test. */
  small: { orders: 200, seed: 20_261_126 },
} as const;

export type DayName = keyof typeof days;

/** The name of the record of a day. Null for a day that has none. */
export function recordName(orders: number, seed: number): DayName | null {
  const names = Object.keys(days) as DayName[];
  return names.find((name) => days[name].orders === orders && days[name].seed === seed) ?? null;
}

const file = new URL('../replay.json', import.meta.url);

/** The committed records. */
export async function readRecords(): Promise<Readonly<Partial<Record<DayName, DayRecord>>>> {
  return JSON.parse(await readFile(file, 'utf8'));
}

/** Replaces one committed record. */
export async function writeRecord(name: DayName, record: DayRecord): Promise<void> {
  const records = await readRecords().catch(() => ({}));
  await writeFile(file, `${JSON.stringify({ ...records, [name]: record }, null, 2)}\n`);
}
