import type { MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { span } from '../telemetry/tracing.ts';
import { sqlSpan } from './traced-queries.ts';

/** A prepared statement: PostgreSQL parses and plans it once for each connection. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
  /** The names of the values of $1, $2 and so on. */
  readonly parameters: readonly string[];
}

/**
 * Makes a statement with named parameters: the first `:amount` in the text becomes `$1`, and so on.
 *
 * @param name unique among all prepared statements, because each connection finds the statement by
 *   it.
 */
export function prepared(name: string, text: string): Prepared {
  const parameters: string[] = [];
  const numbered = text.replace(/(?<!:):([a-z]\w*)/g, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  return { name, text: numbered, parameters };
}

/**
 * Runs prepared statements on the connections of the mapper, each in one round trip as a
 * transaction of its own. For queries on the path of a partner's request: building the same SQL
 * anew for each request would cost more than running it.
 */
export class PreparedStatements {
  readonly #orm: MikroORM;
  #pool: Pool | undefined;

  constructor(orm: MikroORM) {
    this.#orm = orm;
  }

  /**
   * Runs one statement and returns its rows.
   *
   * @throws the driver's error, with `code` and `constraint` as PostgreSQL gave them.
   */
  async run<Row extends object>(
    { name, text, parameters }: Prepared,
    values: Readonly<Record<string, string | number | Buffer | null>>,
  ): Promise<Row[]> {
    this.#pool ??= await this.#orm.em.getConnection().getNativeClient();
    const pool = this.#pool;
    this.#orm.config.getLogger().logQuery({ query: text });
    const { rows } = await span(`postgresql ${name}`, sqlSpan, () =>
      pool.query<Row>({ name, text, values: parameters.map((each) => values[each]) }),
    );
    return rows;
  }
}
