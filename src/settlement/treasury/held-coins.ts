import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { lastingComparisons } from '../../ledger/ledger.ts';

/**
 * Whether trades of these coins are held: a withdrawal of one is none of ours, or the exchange has
 * less of one than the books, until two members classify it.
 */
export async function isVenueHeld(em: EntityManager, venue: string, coins: readonly string[]): Promise<boolean> {
  const [row] = await sql<{ is_held: boolean }>(
    em,
    `with asked as (select jsonb_array_elements_text(?::jsonb) as coin)
     select exists (select from venue_movement m join asked a on a.coin = m.coin
                     where m.venue = ? and m.kind = 'withdrawal' and m.part = 'foreign')
         or exists (select from venue_balance b join asked a on a.coin = b.coin
                      join venue_account v on v.venue = b.venue and v.opened_at is not null and v.is_watched
                     where b.venue = ? and b.differing >= ? and b.compared_total - b.in_flight < b.booked) as is_held`,
    [JSON.stringify(coins), venue, venue, lastingComparisons],
  );
  return row?.is_held === true;
}
