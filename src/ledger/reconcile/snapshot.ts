import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';

/** Reads the database as it is at one moment. Whole tables are read, for which a request's memory is too small. */
export function inSnapshot<T>(orm: MikroORM, read: (em: EntityManager) => Promise<T>): Promise<T> {
  return orm.em.fork().transactional(
    async (em) => {
      await em.execute(`select set_config('work_mem', '64MB', true), set_config('jit', 'off', true)`);
      return read(em);
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/** Counts rows: of a table, with what follows it in the statement. */
export async function countRows(em: EntityManager, from: string): Promise<number> {
  const [row] = await em.execute<{ count: number }[]>(`select count(*)::int as count from ${from}`);
  return row?.count ?? 0;
}
