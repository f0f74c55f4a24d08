import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { highestQuery } from './ton-preparation.ts';

/** Ids grow with each payment, so that the newest signed attempts hold the highest one. */
const newest = 500;

/**
 * The highest count of query ids among the signed payments of a chain; -1 without any. An attempt
 * that was never signed has used nothing.
 */
export async function lastSignedQuery(orm: MikroORM, chain: string): Promise<number> {
  const rows = await sql<{ reserves: string[] }>(
    orm.em.fork(),
    `select reserves from payment_attempt
      where chain = ? and signed_at is not null order by signed_at desc limit ${newest}`,
    [chain],
  );
  return highestQuery(rows.flatMap(({ reserves }) => reserves));
}
