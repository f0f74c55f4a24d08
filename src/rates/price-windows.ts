import type { MikroORM } from '@mikro-orm/postgresql';

/** What all processes quote alike during one hold window, as decimal strings. */
export interface WindowPrices {
  /** By coin, in US dollars: what fixed quotes are made from. */
  readonly fixed: Readonly<Record<string, string>>;
  /** By coin, in US dollars: what limits are computed from. */
  readonly reference: Readonly<Record<string, string>>;
  /** By pair, as `BTC-USDT`: what staff had set by hand, in units of the second coin. */
  readonly overrides: Readonly<Record<string, string>>;
}

/** Where processes with prices of their own agree on those of a window. */
export interface PriceWindows {
  /**
   * The prices of the window that starts then, which the first to ask decides; later ones add coins that have none yet.
   *
   * @param propose is given the newest window that is known by then, or null.
   */
  decide(startsAt: Date, propose: (last: WindowPrices | null) => WindowPrices): Promise<WindowPrices>;
}

const columns = 'fixed, reference, overrides';
/** As long as the longest window: nobody quotes by an older one. */
const kept = '1 hour';

/** Through the database that all processes share. */
export class SharedPriceWindows implements PriceWindows {
  readonly #orm: MikroORM;

  constructor(orm: MikroORM) {
    this.#orm = orm;
  }

  async decide(startsAt: Date, propose: (last: WindowPrices | null) => WindowPrices): Promise<WindowPrices> {
    const em = this.#orm.em.fork();
    const [last] = await em.execute<WindowPrices[]>(
      `select ${columns} from price_window where starts_at <= ? order by starts_at desc limit 1`,
      [startsAt],
    );
    const { fixed, reference, overrides } = propose(last ?? null);
    const [decided] = await em.execute<WindowPrices[]>(
      `with forgotten as (delete from price_window where starts_at < ?::timestamptz - interval '${kept}')
       insert into price_window as earlier (starts_at, ${columns}) values (?, ?::jsonb, ?::jsonb, ?::jsonb)
       on conflict (starts_at) do update
          set fixed = excluded.fixed || earlier.fixed, reference = excluded.reference || earlier.reference
       returning ${columns}`,
      [startsAt, startsAt, JSON.stringify(fixed), JSON.stringify(reference), JSON.stringify(overrides)],
    );
    if (!decided) throw new Error('a window was not stored');
    return decided;
  }
}
