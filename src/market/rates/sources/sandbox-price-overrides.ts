import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../../base/db/sql.ts';
import { formatDecimal } from '../../../base/money.ts';

/** Reads the prices that were set by command, by coin. */
export async function sandboxPriceOverrides(orm: MikroORM): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ coin: string; price: string }>(
    orm.em.fork(),
    'select coin, price::text as price from sandbox_price',
  );
  return new Map(rows.map(({ coin, price }) => [coin, formatDecimal(price)]));
}
