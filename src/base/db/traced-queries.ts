import type { Pool, PoolClient } from 'pg';
import { isTracing, type SpanOptions, span } from '../telemetry/tracing.ts';

/**
 * The attributes of every span of a statement. The text is left out, because it may hold values.
 */
export const sqlSpan: SpanOptions = { kind: 'client', attributes: { 'db.system.name': 'postgresql' } };

/**
 * Makes a span of each statement that is awaited on a connection of the pool, while tracing is on.
 */
export function traceQueries(pool: Pool): void {
  if (!isTracing()) return;
  pool.on('connect', (client: PoolClient) => {
    const query: (...given: unknown[]) => unknown = client.query.bind(client);
    const tracedQuery = (...given: unknown[]): unknown => {
      // A call with a callback is the pool's own; the pool's caller makes the span.
      if (typeof given.at(-1) === 'function') return query(...given);
      const [first] = given;
      const text = typeof first === 'string' ? first : (first as { text?: unknown } | undefined)?.text;
      return span(`postgresql ${summary(String(text))}`, sqlSpan, () => query(...given));
    };
    client.query = tracedQuery as typeof client.query;
  });
}

/** The verb and the table of a statement, as in `update payment`: few words and no values. */
function summary(sql: string): string {
  const [, writes, written] =
    /\b(insert(?= into)|update|delete(?= from))(?: into| from)? "?([a-z_]+)"?/i.exec(sql) ?? [];
  if (writes && written) return `${writes.toLowerCase()} ${written}`;
  const [, verb = 'statement'] = /^[\s(]*([a-z]+)/i.exec(sql) ?? [];
  const [, read] = /\bfrom "?([a-z_]+)"?/i.exec(sql) ?? [];
  return read === undefined ? verb.toLowerCase() : `${verb.toLowerCase()} ${read}`;
}
