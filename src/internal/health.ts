import type { MikroORM } from '@mikro-orm/postgresql';
import { Router } from 'express';
import { schemaState } from '../db/database.ts';

/** How long a health check waits for PostgreSQL. */
const pingMs = 500;

/**
 * `/livez` tells that the process answers; `/readyz` that it can take requests: PostgreSQL answers, the schema is
 * current and no drain has begun. Redis is no condition, as limits hold without it.
 */
export function healthRouter(orm: MikroORM, isDraining: () => boolean): Router {
  const router = Router();
  let schemaIsCurrent = false;

  router.get('/livez', (_req, res) => {
    res.json({ status: 'ok' });
  });

  router.get('/readyz', async (_req, res) => {
    const problem = isDraining() ? 'draining' : await databaseProblem();
    if (problem === null) res.json({ status: 'ok' });
    else res.status(503).set('Retry-After', '2').json({ status: 'unavailable', reason: problem });
  });

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
      // Migrations only go forward, so once current is always current for this version of the program.
      if (!schemaIsCurrent) schemaIsCurrent = (await schemaState(orm)) === 'current';
      else await orm.em.fork().execute('select 1');
      return schemaIsCurrent ? null : 'migrations are missing';
    } catch {
      return 'PostgreSQL is away';
    }
  }

  return router;
}
