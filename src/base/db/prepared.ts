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
 * few batches for the typical size, and plan each batch again.
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
