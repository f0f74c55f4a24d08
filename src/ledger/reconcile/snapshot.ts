import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';

/**
 * Reads the database in one snapshot. The reconciler checks what other code wrote, so it runs its
 * statements by the mapper itself and not by our `sql`. It raises work_mem, because it reads whole
 * tables.
 */
export function inSnapshot<T>(orm: MikroORM, read: (em: EntityManager) => Promise<T>): Promise<T> {
  return orm.em.fork().transactional(
    async (em) => {
      await em.execute(`select set_config('work_mem', '64MB', true), set_config('jit', 'off', true)`);
      return read(em);
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/** Counts rows. `from` is a table and the rest of the statement. */
export async function countRows(em: EntityManager, from: string): Promise<number> {
  const [row] = await em.execute<{ count: number }[]>(`select count(*)::int as count from ${from}`);
  return row?.count ?? 0;
}
