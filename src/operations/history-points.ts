import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';
import { keptDays, slotMs } from './history-turns.ts';

/** A range of the history, and which rows of it. A member that is absent names all. */
interface HistoryRange<Key extends string> {
  readonly from: Date;
  readonly to: Date;
  readonly only: { readonly [Name in Key]?: string | null | undefined };
  /** Most series of the answer. */
  readonly first: number;
}

/** The part of the history that a bucket of time shows. */
interface HistoryBucket {
  readonly at: Date;
  /** Minutes with a reading. Zero in a gap: then the figures are null. */
  readonly readings: number;
}

/** Amounts of a bucket, as decimal text. */
export interface AmountBucket extends HistoryBucket {
  readonly lowest: string | null;
  readonly highest: string | null;
  readonly last: string | null;
}

export interface WalletBucket extends AmountBucket {
  readonly low: string | null;
  readonly high: string | null;
}

export interface ChainBucket extends HistoryBucket {
  readonly lagLowest: number | null;
  readonly lagHighest: number | null;
  readonly lagLast: number | null;
  readonly height: number | null;
  readonly head: number | null;
  readonly failures: number;
  readonly failure: string | null;
}

/** One line of the history. Its buckets are read when they are asked for, for all lines at once. */
export type HistorySeries<Key extends string, Bucket> = { readonly [Name in Key]: string } & {
  readonly points: (limit: number) => Promise<Bucket[]>;
};

const mostSeries = 100;
const mostPoints = 400;
const dayMs = 86_400_000;

/** A table of the history: what tells its lines apart, and the figures of a bucket. */
interface HistoryTable<Key extends string, Bucket extends HistoryBucket> {
  readonly name: string;
  readonly keys: readonly Key[];
  /** SQL of the members of a bucket. */
  readonly figures: string;
  /** The members of a bucket without readings. */
  readonly gap: Omit<Bucket, 'at' | 'readings'>;
}

const lastOf = (column: string): string =>
  `(array_agg(${column} order by at desc) filter (where ${column} is not null))[1]`;
const text = (amount: string): string => `trim_scale(${amount})::text`;
const amounts = `${text('min(lowest)')} as lowest, ${text('max(highest)')} as highest, ${text(lastOf('last'))} as last`;

const wallets: HistoryTable<'chain' | 'coin' | 'network', WalletBucket> = {
  name: 'wallet_history',
  keys: ['chain', 'coin', 'network'],
  figures: `${amounts}, ${text('(array_agg(low order by at desc))[1]')} as low,
            ${text('(array_agg(high order by at desc))[1]')} as high`,
  gap: { lowest: null, highest: null, last: null, low: null, high: null },
};

const venue: HistoryTable<'coin' | 'measure', AmountBucket> = {
  name: 'venue_history',
  keys: ['measure', 'coin'],
  figures: amounts,
  gap: { lowest: null, highest: null, last: null },
};

const chains: HistoryTable<'chain', ChainBucket> = {
  name: 'chain_history',
  keys: ['chain'],
  figures: `min(lag_lowest)::int as "lagLowest", max(lag_highest)::int as "lagHighest",
            ${lastOf('lag_last')}::int as "lagLast", ${lastOf('height')}::int as height,
            ${lastOf('head')}::int as head, sum(failures)::int as failures, ${lastOf('failure')} as failure`,
  gap: { lagLowest: null, lagHighest: null, lagLast: null, height: null, head: null, failures: 0, failure: null },
};

/** Reads the history of hot wallets, by chain, coin and network. */
export function walletHistory(em: EntityManager, range: HistoryRange<'chain' | 'coin' | 'network'>) {
  return seriesOf(em, wallets, range);
}

/** Reads the history of the venue, by measure and coin. */
export function venueHistory(em: EntityManager, range: HistoryRange<'coin' | 'measure'>) {
  return seriesOf(em, venue, range);
}

export function chainHistory(em: EntityManager, range: HistoryRange<'chain'>) {
  return seriesOf(em, chains, range);
}

/**
 * Finds the lines that have a reading in the range. One statement, and one more for the buckets of
 * all of them.
 *
 * @throws AppError invalid_value for a range that is empty or too long, or too many lines.
 */
async function seriesOf<Key extends string, Bucket extends HistoryBucket>(
  em: EntityManager,
  table: HistoryTable<Key, Bucket>,
  range: HistoryRange<Key>,
): Promise<HistorySeries<Key, Bucket>[]> {
  const { from, to, only, first } = range;
  if (from >= to) throw new AppError('invalid_value', 'from must be before to');
  if (to.getTime() - from.getTime() > keptDays * dayMs) {
    throw new AppError('invalid_value', `a history covers at most ${keptDays} days, as older readings are removed`);
  }
  checkCount('first', first, mostSeries);
  const named = table.keys.flatMap((key) => {
    const value = only[key] ?? null;
    return value === null ? [] : [{ key, value }];
  });
  const keys = table.keys.join(', ');
  const found = await sql<Record<Key, string>>(
    em,
    `select distinct ${keys} from ${table.name} where at >= ? and at < ?
      ${named.map(({ key }) => `and ${key} = ?`).join(' ')} order by ${keys} limit ?`,
    [new Date(floorTo(from.getTime(), slotMs)), to, ...named.map(({ value }) => value), first],
  );
  const asked = new Map<number, Promise<Map<string, Bucket[]>>>();
  const nameOf = (row: Record<Key, string>): string => table.keys.map((key) => row[key]).join(' ');
  const bucketsOf = async (limit: number): Promise<Map<string, Bucket[]>> => {
    checkCount('limit', limit, mostPoints);
    const { startMs, widthMs, count } = bucketsIn(from, to, limit);
    const rows = await sql<Record<Key, string> & Omit<Bucket, 'at'> & { bucket: number }>(
      em,
      `select ${keys}, floor((extract(epoch from at) * 1000 - ?) / ?)::int as bucket, ${table.figures},
              sum(readings)::int as readings
         from ${table.name}
         join jsonb_to_recordset(?::jsonb) as asked (${table.keys.map((key) => `${key} text`).join(', ')})
              using (${keys})
        where at >= ? and at < ? group by ${keys}, bucket`,
      [startMs, widthMs, JSON.stringify(found), new Date(startMs), to],
    );
    const known = new Map(rows.map((row) => [`${nameOf(row)} ${row.bucket}`, row]));
    return new Map(
      found.map((series) => [
        nameOf(series),
        Array.from({ length: count }, (_, index): Bucket => {
          const at = new Date(startMs + index * widthMs);
          const row = known.get(`${nameOf(series)} ${index}`);
          return { ...table.gap, readings: 0, ...row, at } as unknown as Bucket;
        }),
      ]),
    );
  };
  return found.map((series) => ({
    ...series,
    points: async (limit: number) => {
      const reading = asked.get(limit) ?? bucketsOf(limit);
      asked.set(limit, reading);
      return (await reading).get(nameOf(series)) ?? [];
    },
  }));
}

function checkCount(name: string, value: number, most: number): void {
  if (value < 1 || value > most) throw new AppError('invalid_value', `${name} is a whole number from 1 to ${most}`);
}

/**
 * At most `limit` buckets of whole slots that cover the range. A bucket that is cut by an end of
 * the range counts whole at its beginning.
 */
function bucketsIn(from: Date, to: Date, limit: number): { startMs: number; widthMs: number; count: number } {
  const slots = Math.ceil((to.getTime() - from.getTime()) / slotMs);
  for (let width = Math.ceil(slots / limit); ; width++) {
    const widthMs = width * slotMs;
    const startMs = floorTo(from.getTime(), widthMs);
    const count = Math.ceil((to.getTime() - startMs) / widthMs);
    if (count <= limit) return { startMs, widthMs, count };
  }
}

function floorTo(ms: number, step: number): number {
  return ms - (ms % step);
}
