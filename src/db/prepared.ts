import type { MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { span } from '../tracing/tracing.ts';
import { sqlSpan } from './traced-queries.ts';

/** A statement that PostgreSQL parses and plans once for each connection. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
  /** Which value each of $1, $2 and so on is. */
  readonly parameters: readonly string[];
}

/**
 * A statement whose parameters have names: `:amount` in the text becomes `$1`, and so on.
 *
 * @param name unique among all prepared statements, as the connections know it by that.
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
 * Runs prepared statements on the connections of the object-relational mapper, each as a transaction of its own in one
 * round trip. For what partners wait for: building the same SQL anew for every request would cost more than running it.
 */
export class PreparedStatements {
  readonly #orm: MikroORM;
  #pool: Pool | undefined;

  constructor(orm: MikroORM) {
    this.#orm = orm;
  }

  /** @throws the driver's error, with `code` and `constraint` as PostgreSQL gave them. */
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
