import type { EntityManager } from '@mikro-orm/postgresql';
import { span } from '../telemetry/tracing.ts';
import type { Prepared, RowValues, StatementValues } from './prepared.ts';
import { arrayElement } from './text-array.ts';
import { sqlSpan } from './traced-queries.ts';

/** A value of a statement. A list goes as JSON. */
export type SqlValue = string | number | bigint | boolean | Date | Buffer | null;

/**
 * Runs a statement and returns its rows: in the transaction of `em`, or in a separate transaction
 * without one.
 *
 * A text takes the next value for each `?`. A prepared statement takes values by name. Without a
 * transaction it is parsed and planned once for each connection, which suits the path of a
 * partner's request. In a transaction it is planned each time.
 *
 * @throws the driver's error, with `code` and `constraint` as PostgreSQL gave them.
 */
export function sql<Row extends object>(em: EntityManager, text: string, values?: readonly SqlValue[]): Promise<Row[]>;
export function sql<Row extends object>(
  em: EntityManager,
  statement: Prepared,
  values: StatementValues,
): Promise<Row[]>;
export function sql<Row extends object>(
  em: EntityManager,
  statement: string | Prepared,
  values: readonly SqlValue[] | StatementValues = [],
): Promise<Row[]> {
  if (typeof statement === 'string') return em.execute<Row[]>(statement, [...(values as readonly SqlValue[])]);
  const given = statement.parameters.map((name) => (values as StatementValues)[name] ?? null);
  if (em.isInTransaction()) return runIn<Row>(em, statement, given.map(arrayOrValue));
  return span(`postgresql ${statement.name}`, sqlSpan, () => runOnPool<Row>(em, statement, given));
}

/**
 * Runs a prepared statement over given rows, which it reads by `givenRows`, as `sql` does. Outside
 * of a transaction it opens no span: a batch serves many requests, and each caller opens its own.
 */
export function sqlRows<Row extends object>(
  em: EntityManager,
  statement: Prepared,
  rows: readonly RowValues[],
): Promise<Row[]> {
  const given = statement.parameters.map((name) => arrayText(rows, name));
  return em.isInTransaction() ? runIn<Row>(em, statement, given) : runOnPool<Row>(em, statement, given);
}

async function runOnPool<Row extends object>(
  em: EntityManager,
  { name, text, isReplanned }: Prepared,
  values: readonly StatementValues[string][],
): Promise<Row[]> {
  const pool = await em.getConnection().getNativeClient();
  em.config.getLogger().logQuery({ query: text });
  const { rows } = await pool.query<Row>({ ...(isReplanned ? {} : { name }), text, values: [...values] });
  return rows;
}

function runIn<Row extends object>(em: EntityManager, { text }: Prepared, given: readonly SqlValue[]): Promise<Row[]> {
  const values: SqlValue[] = [];
  const marked = text.replace(/\$(\d+)/g, (_, number: string) => {
    values.push(given[Number.parseInt(number, 10) - 1] ?? null);
    return '?';
  });
  return em.execute<Row[]>(marked, values);
}

function arrayOrValue(value: StatementValues[string]): SqlValue {
  return Array.isArray(value) ? `{${value.map(arrayElement).join(',')}}` : (value as SqlValue);
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
