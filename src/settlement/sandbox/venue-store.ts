import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import type { ExchangeName } from '../../exchanges/exchange.ts';
import { type ExchangeState, freshState } from '../../exchanges/sandbox/exchange-state.ts';

/**
 * The state of the sandbox venue in the database, which all processes share. Whoever changes it
 * holds its row, so that changes come one after another.
 */
export class VenueStore {
  /** The exchange that is imitated. */
  readonly name: ExchangeName;
  readonly #orm: MikroORM;

  constructor(orm: MikroORM, name: ExchangeName) {
    this.#orm = orm;
    this.name = name;
  }

  /** Makes the state where there is none. Any number of processes may call it. */
  async open(): Promise<void> {
    await sql(
      this.#orm.em.fork(),
      'insert into sandbox_venue (name, state) values (?, ?::jsonb) on conflict do nothing',
      [this.name, JSON.stringify(freshState())],
    );
  }

  /** The state as it is now; null before a worker has made it. */
  async read(): Promise<ExchangeState | null> {
    const [row] = await this.#rows(this.#orm.em.fork(), '');
    return row ?? null;
  }

  /**
   * Changes the state in a transaction, which the work may join. Order books are not kept.
   *
   * @throws Error before a worker has made it.
   */
  change<T>(work: (state: ExchangeState, em: EntityManager) => T | Promise<T>): Promise<T> {
    return this.#orm.em.fork().transactional(async (em) => {
      const [state] = await this.#rows(em, 'for update');
      if (!state) throw new Error(`the sandbox venue ${this.name} was never opened`);
      const before = JSON.stringify(state);
      const result = await work(state, em);
      state.books = {};
      const after = JSON.stringify(state);
      if (after !== before) {
        await sql(em, 'update sandbox_venue set state = ?::jsonb where name = ?', [after, this.name]);
      }
      return result;
    });
  }

  async #rows(em: EntityManager, lock: '' | 'for update'): Promise<ExchangeState[]> {
    const rows = await sql<{ state: string }>(
      em,
      `select state::text as state from sandbox_venue where name = ? ${lock}`,
      [this.name],
    );
    return rows.map(({ state }) => JSON.parse(state) as ExchangeState);
  }
}
