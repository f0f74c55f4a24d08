import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Longer than any reader looks back. */
const keptMs = 2 * dayMs;

/** Requests with one key that were answered with a refusal in the last 24 hours. */
interface KeyRefusals {
  readonly keyId: string;
  /** Answers 400 to 499 but 429. */
  readonly refused: number;
  /** Answers 429. */
  readonly limited: number;
}

interface Count {
  readonly keyId: string;
  /** Start of the hour, in milliseconds. */
  readonly hour: number;
  refused: number;
  limited: number;
}

/**
 * Counts the refused requests of each key in memory, by hour. `flush` adds them to the database in
 * one statement from time to time, so that no request waits for its count. A process that ends
 * without `flush` loses the counts of one interval.
 */
export class RefusalCounter {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  #counts = new Map<string, Count>();

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Counts an answer to a request with a genuine key. Only genuine keys may come here: a stranger
   * must neither raise a partner's counts nor fill the memory.
   */
  count(keyId: string, status: number): void {
    if (status < 400 || status > 499) return;
    const nowMs = this.#clock.now().getTime();
    const hour = nowMs - (nowMs % hourMs);
    const place = `${keyId} ${hour}`;
    let count = this.#counts.get(place);
    if (!count) {
      count = { keyId, hour, refused: 0, limited: 0 };
      this.#counts.set(place, count);
    }
    if (status === 429) count.limited++;
    else count.refused++;
  }

  /**
   * Adds what was counted to the database. Counts that could not be written wait for the next time.
   */
  async flush(): Promise<void> {
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    // In one order, so that two processes do not wait for each other's rows.
    const rows = [...counts.values()]
      .sort((a, b) => a.hour - b.hour || (a.keyId < b.keyId ? -1 : 1))
      .map(({ keyId, hour, refused, limited }) => {
        return { key_id: keyId, hour: new Date(hour).toISOString(), refused, limited };
      });
    try {
      await sql(
        this.#orm.em.fork(),
        `insert into key_refusal as k (key_id, hour, refused, limited)
         select key_id, hour, refused, limited
           from jsonb_to_recordset(?::jsonb) as counted(key_id text, hour timestamptz, refused bigint, limited bigint)
             on conflict (key_id, hour) do update
            set refused = k.refused + excluded.refused, limited = k.limited + excluded.limited`,
        [JSON.stringify(rows)],
      );
    } catch (error) {
      for (const [place, { refused, limited, ...count }] of counts) {
        const later = this.#counts.get(place);
        this.#counts.set(place, {
          ...count,
          refused: refused + (later?.refused ?? 0),
          limited: limited + (later?.limited ?? 0),
        });
      }
      throw error;
    }
  }

  /** Deletes counts that no reader looks at any more. */
  async forgetOld(): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - keptMs);
    await sql(this.#orm.em.fork(), 'delete from key_refusal where hour < ?', [before]);
  }
}

/**
 * The refused requests of keys in the last 24 hours, by one statement. It reads the hours that
 * began within them, so that the oldest hour is left out in parts. Counts are seconds late. A
 * key without refusals has zeros.
 */
export async function keyRefusals(em: EntityManager, now: Date, keyIds: readonly string[]): Promise<KeyRefusals[]> {
  if (keyIds.length === 0) return [];
  const rows = await sql<KeyRefusals>(
    em,
    `select key_id as "keyId", sum(refused)::int as refused, sum(limited)::int as limited from key_refusal
      where key_id in (${keyIds.map(() => '?').join(', ')}) and hour > ? group by key_id`,
    [...keyIds, new Date(now.getTime() - dayMs)],
  );
  const known = new Map(rows.map((row) => [row.keyId, row]));
  return keyIds.map((keyId) => known.get(keyId) ?? { keyId, refused: 0, limited: 0 });
}
