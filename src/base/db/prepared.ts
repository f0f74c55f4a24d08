import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { span } from '../telemetry/tracing.ts';
import { arrayElement } from './text-array.ts';
import { sqlSpan } from './traced-queries.ts';

/** A prepared statement: PostgreSQL parses and plans it once for each connection. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
  /** The names of the values of $1, $2 and so on. */
  readonly parameters: readonly string[];
  /** Whether PostgreSQL plans each run by its values, instead of keeping a plan. */
  readonly isReplanned: boolean;
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
  return { name, text: numbered, parameters, isReplanned: false };
}

/**
 * Makes a statement like `prepared` whose best plan depends on its values: on absent filters, or on
 * how much of a table belongs to one partner. Planning costs about a millisecond each time.
 */
export function replanned(name: string, text: string): Prepared {
  return { ...prepared(name, text), isReplanned: true };
}

/** A value of a prepared statement, or one column of its rows. */
type Value = string | number | Buffer | null;

/** The values of a statement, by the names of its parameters. */
export type StatementValues = Readonly<Record<string, Value | readonly string[]>>;

/** A given row of a statement, by the names of its columns. */
export type RowValues = Readonly<Record<string, Value>>;

/**
 * A table of given rows for a prepared statement: a named array for each column. The column `n`
 * counts the rows from 1.
 *
 * The arrays are fenced off by a materialized subquery. Otherwise the planner would take the first
 * few batches for the typical size, and plan each batch anew.
 *
 * @param types of the columns by their names, which are also the names of the parameters.
 */
export function givenRows(types: Readonly<Record<string, string>>): string {
  const columns = Object.entries(types).map(([name, type]) => ({ name, column: snakeCase(name), type }));
  return `given as materialized (
  select ${columns.map(({ name, column, type }) => `:${name}::${type}[] as ${column}`).join(', ')}
), asked as materialized (
  select r.* from given, unnest(${columns.map(({ column }) => `given.${column}`).join(', ')})
    with ordinality as r (${columns.map(({ column }) => column).join(', ')}, n)
)`;
}

export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

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
  async run<Row extends object>(statement: Prepared, values: StatementValues): Promise<Row[]> {
    return span(`postgresql ${statement.name}`, sqlSpan, () =>
      this.#query<Row>(
        statement,
        statement.parameters.map((each) => values[each] as Value | readonly string[]),
      ),
    );
  }

  /**
   * Runs one statement over given rows, which it reads by `givenRows`. The span of each request is
   * the caller's, because a batch belongs to many.
   *
   * @throws the driver's error, as `run` does.
   */
  async runRows<Row extends object>(statement: Prepared, rows: readonly RowValues[]): Promise<Row[]> {
    return this.#query<Row>(
      statement,
      statement.parameters.map((each) => arrayText(rows, each)),
    );
  }

  async #query<Row extends object>(
    { name, text, isReplanned }: Prepared,
    values: readonly (Value | readonly Value[])[],
  ): Promise<Row[]> {
    this.#pool ??= await this.#orm.em.getConnection().getNativeClient();
    const pool = this.#pool;
    this.#orm.config.getLogger().logQuery({ query: text });
    const { rows } = await pool.query<Row>({ ...(isReplanned ? {} : { name }), text, values: [...values] });
    return rows;
  }
}

/**
 * A column of rows as the text of a PostgreSQL array. The driver would search each text twice for
 * characters to escape, which hardly any has.
 * https://www.postgresql.org/docs/15/arrays.html#ARRAYS-IO
 */
function arrayText(rows: readonly RowValues[], column: string): string {
  let text = '{';
  for (const [i, row] of rows.entries()) {
    const value = row[column] ?? null;
    if (i > 0) text += ',';
    if (value === null) text += 'NULL';
    else if (typeof value === 'number') text += value;
    else if (typeof value === 'string') text += arrayElement(value);
    else text += `"\\\\x${value.toString('hex')}"`;
  }
  return `${text}}`;
}

/** What runs prepared statements: connections of the mapper, or one transaction. */
export type Statements = Pick<PreparedStatements, 'run'>;

/** Runs statements inside the transaction of `em`. There each is planned anew. */
export function statementsIn(em: EntityManager): Statements {
  return {
    run: <Row extends object>({ text, parameters }: Prepared, values: StatementValues): Promise<Row[]> => {
      const given: unknown[] = [];
      const sql = text.replace(/\$(\d+)/g, (_, number: string) => {
        const value = values[parameters[Number.parseInt(number, 10) - 1] ?? ''] ?? null;
        given.push(Array.isArray(value) ? `{${value.map(arrayElement).join(',')}}` : value);
        return '?';
      });
      return em.execute<Row[]>(sql, given);
    },
  };
}

/**
 * Runs a statement over one given row inside the transaction of `em`. There it is planned anew. The
 * values are texts, as the arrays of a statement over given rows take them.
 */
export async function runRowIn<Row extends object>(
  em: EntityManager,
  { text, parameters }: Prepared,
  row: RowValues,
): Promise<Row[]> {
  const values: string[] = [];
  const sql = text.replace(/\$(\d+)/g, (_, number: string) => {
    values.push(arrayText([row], parameters[Number.parseInt(number, 10) - 1] ?? ''));
    return '?';
  });
  return em.execute<Row[]>(sql, values);
}
