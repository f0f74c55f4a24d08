import type { MikroORM } from '@mikro-orm/postgresql';

/** What all processes quote alike during one hold window, as decimal strings. */
export interface WindowPrices {
  /** By coin, in US dollars: what fixed quotes are made from. */
  readonly fixed: Readonly<Record<string, string>>;
  /** By coin, in US dollars: what limits are computed from. */
  readonly reference: Readonly<Record<string, string>>;
  /** By pair, as `BTC-USDT`: what staff had set by hand, in units of the second coin. */
  readonly overrides: Readonly<Record<string, string>>;
  /** By coin: what the venue's order books held near the price. Empty where no order book is traded on. */
  readonly depth: Readonly<Record<string, WindowDepth>>;
}

/** What the order books of the venue held of a coin, as decimal strings in US dollars. */
export interface WindowDepth {
  readonly buy: string;
  readonly sell: string;
  /** When it was read, in milliseconds since 1970. */
  readonly atMs: number;
}

/** A window that has begun. */
export interface SharedWindow {
  readonly startsAt: Date;
  readonly prices: WindowPrices;
}

/** Where processes with prices of their own agree on those of a window. */
export interface PriceWindows {
  /** The newest window that has begun by then; null when there is none. Another process may have begun it early. */
  newest(until: Date): Promise<SharedWindow | null>;

  /**
   * The prices of the window that starts then, which the first to ask decides; later ones add coins that have none yet.
   * A window ends the one before it, so that one may begin at any time.
   *
   * @param propose is given the newest window that is known by then, or null.
   */
  decide(startsAt: Date, propose: (last: WindowPrices | null) => WindowPrices): Promise<WindowPrices>;
}

const columns = 'fixed, reference, overrides, depth';
/** As long as the longest window: nobody quotes by an older one. */
const kept = '1 hour';

/** Through the database that all processes share. */
export class SharedPriceWindows implements PriceWindows {
  readonly #orm: MikroORM;

  constructor(orm: MikroORM) {
    this.#orm = orm;
  }

  async newest(until: Date): Promise<SharedWindow | null> {
    const [row] = await this.#orm.em.fork().execute<(WindowPrices & { ms: string | number })[]>(
      `select (extract(epoch from starts_at) * 1000)::bigint as ms, ${columns}
         from price_window where starts_at <= ? order by starts_at desc limit 1`,
      [until],
    );
    if (!row) return null;
    const { ms, ...prices } = row;
    return { startsAt: new Date(Number.parseInt(String(ms), 10)), prices };
  }

  async decide(startsAt: Date, propose: (last: WindowPrices | null) => WindowPrices): Promise<WindowPrices> {
    const em = this.#orm.em.fork();
    const [last] = await em.execute<WindowPrices[]>(
      `select ${columns} from price_window where starts_at <= ? order by starts_at desc limit 1`,
      [startsAt],
    );
    const { fixed, reference, overrides, depth } = propose(last ?? null);
    const [decided] = await em.execute<WindowPrices[]>(
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
