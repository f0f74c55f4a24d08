import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';

/** Prices and depth that all processes use during one hold window, as decimal strings. */
export interface WindowPrices {
  /** By coin, in US dollars: the prices of fixed quotes. */
  readonly fixed: Readonly<Record<string, string>>;
  /** By coin, in US dollars: the prices from which limits are computed. */
  readonly reference: Readonly<Record<string, string>>;
  /** Prices set by hand, by pair (`BTC-USDT`), in units of the second coin. */
  readonly overrides: Readonly<Record<string, string>>;
  /** By coin: the order book depth near the price. Empty where trades use no order book. */
  readonly depth: Readonly<Record<string, WindowDepth>>;
}

/** Depth of the venue's order books for a coin, as decimal strings in US dollars. */
export interface WindowDepth {
  readonly buy: string;
  readonly sell: string;
  /** Time of the read, in milliseconds since 1970. */
  readonly atMs: number;
}

/** A window that has begun. */
export interface SharedWindow {
  readonly startsAt: Date;
  readonly prices: WindowPrices;
}

/** Lets processes with their own prices agree on the prices of a window. */
export interface PriceWindows {
  /**
   * Reads the newest window that has begun by `until`. Null without one. Another process may have
   * begun it early.
   */
  newest(until: Date): Promise<SharedWindow | null>;

  /** Reads the window that began at `startsAt`. Null without one. Decided prices never change. */
  at(startsAt: Date): Promise<WindowPrices | null>;

  /** Reads the windows that began from `from` to `until`, newest first. */
  between(from: Date, until: Date): Promise<readonly SharedWindow[]>;

  /**
   * Decides the prices of the window that starts at `startsAt`. The first caller decides; later
   * callers add coins that have no price yet. A window ends the previous one, so that a window may
   * begin at any time.
   *
   * @param propose receives the newest window known by `startsAt`, or null.
   */
  decide(startsAt: Date, propose: (last: WindowPrices | null) => WindowPrices): Promise<WindowPrices>;
}

const columns = 'fixed, reference, overrides, depth';
const rowColumns = `(extract(epoch from starts_at) * 1000)::bigint as ms, ${columns}`;
type WindowRow = WindowPrices & { readonly ms: string | number };
/** Longer than the longest window and the longest hold of a binding quote together. */
const kept = '2 hours';

/** Shares windows through the database. */
export class SharedPriceWindows implements PriceWindows {
  readonly #orm: MikroORM;

  constructor(orm: MikroORM) {
    this.#orm = orm;
  }

  async newest(until: Date): Promise<SharedWindow | null> {
    const [row] = await sql<WindowRow>(
      this.#orm.em.fork(),
      `select ${rowColumns} from price_window where starts_at <= ? order by starts_at desc limit 1`,
      [until],
    );
    return row ? sharedWindow(row) : null;
  }

  async at(startsAt: Date): Promise<WindowPrices | null> {
    const [row] = await sql<WindowPrices>(
      this.#orm.em.fork(),
      `select ${columns} from price_window where starts_at = ?`,
      [startsAt],
    );
    return row ?? null;
  }

  async between(from: Date, until: Date): Promise<readonly SharedWindow[]> {
    const rows = await sql<WindowRow>(
      this.#orm.em.fork(),
      `select ${rowColumns} from price_window where starts_at between ? and ? order by starts_at desc`,
      [from, until],
    );
    return rows.map(sharedWindow);
  }

  async decide(startsAt: Date, propose: (last: WindowPrices | null) => WindowPrices): Promise<WindowPrices> {
    const em = this.#orm.em.fork();
    const [last] = await sql<WindowPrices>(
      em,
      `select ${columns} from price_window where starts_at <= ? order by starts_at desc limit 1`,
      [startsAt],
    );
    const { fixed, reference, overrides, depth } = propose(last ?? null);
    const [decided] = await sql<WindowPrices>(
      em,
      `with forgotten as (delete from price_window where starts_at < ?::timestamptz - interval '${kept}')
       insert into price_window as earlier (starts_at, ${columns}) values (?, ?::jsonb, ?::jsonb, ?::jsonb, ?::jsonb)
       on conflict (starts_at) do update
          set fixed = excluded.fixed || earlier.fixed, reference = excluded.reference || earlier.reference,
              depth = excluded.depth || earlier.depth
       returning ${columns}`,
      [startsAt, startsAt, ...[fixed, reference, overrides, depth].map((part) => JSON.stringify(part))],
    );
    if (!decided) throw new Error('a window was not stored');
    return decided;
  }
}

function sharedWindow({ ms, ...prices }: WindowRow): SharedWindow {
  return { startsAt: new Date(Number.parseInt(String(ms), 10)), prices };
}
