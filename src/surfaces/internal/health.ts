import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MikroORM } from '@mikro-orm/postgresql';
import { schemaState, sqlState } from '../../base/db/database.ts';
import { sql } from '../../base/db/sql.ts';

/** How long a health check waits for PostgreSQL. */
const pingMs = 500;
/** Changes no row, and fails where none may be changed, which ends its session as for a write. */
const writeProbe = 'select from setting limit 0 for update';

/**
 * Answers `/livez` and `/readyz`; returns false for another request. `/livez`: the process answers.
 * `/readyz`: the process can take requests, so PostgreSQL answers and takes writes, the schema is
 * current and no drain has begun. Redis is not a condition, because limits also work without it.
 */
export function healthChecks(orm: MikroORM, isDraining: () => boolean) {
  let schemaIsCurrent = false;

  async function databaseProblem(): Promise<string | null> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('PostgreSQL does not answer'), pingMs);
    });
    try {
      return await Promise.race([checkDatabase(), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  async function checkDatabase(): Promise<string | null> {
    try {
      // Migrations only go forward, so a schema that was current stays current for this program
      // version.
      if (!schemaIsCurrent) schemaIsCurrent = (await schemaState(orm)) === 'current';
      else await sql(orm.em.fork(), writeProbe);
      return schemaIsCurrent ? null : 'migrations are missing';
    } catch (error) {
      return sqlState(error) === '25006' ? 'PostgreSQL takes no writes' : 'PostgreSQL is away';
    }
  }

  return async (req: IncomingMessage, res: ServerResponse): Promise<boolean> => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return false;
    const path = req.url?.split('?', 1)[0];
    if (path === '/livez') {
      answer(res, 200, { status: 'ok' });
      return true;
    }
    if (path !== '/readyz') return false;
    const problem = isDraining() ? 'draining' : await databaseProblem();
    if (problem === null) answer(res, 200, { status: 'ok' });
    else answer(res, 503, { status: 'unavailable', reason: problem });
    return true;
  };
}

function answer(res: ServerResponse, status: 200 | 503, body: object): void {
  const text = JSON.stringify(body);
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 503 ? { 'Retry-After': '2' } : {}),
  });
  res.end(text);
}
