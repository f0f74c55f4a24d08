import type { MikroORM } from '@mikro-orm/postgresql';
import { formatDecimal } from '../../../base/money.ts';

/** Reads the prices that were set by command, by coin. */
export async function sandboxPriceOverrides(orm: MikroORM): Promise<ReadonlyMap<string, string>> {
  const rows = await orm.em
    .fork()
    .execute<{ coin: string; price: string }[]>('select coin, price::text as price from sandbox_price');
  return new Map(rows.map(({ coin, price }) => [coin, formatDecimal(price)]));
}
