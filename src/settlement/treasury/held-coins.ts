import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { lastingComparisons } from '../../ledger/ledger.ts';

/** A coin whose trades at an exchange are held, until two members classify the cause. */
interface HeldCoin {
  readonly venue: string;
  readonly coin: string;
  /**
   * - `foreign_withdrawal`: a withdrawal of it is none of ours.
   * - `shortage`: the exchange has less of it than the books.
   */
  readonly cause: 'foreign_withdrawal' | 'shortage';
}

/**
 * The largest shortage that holds no trade: a part of the balance in the books, and a number of
 * coins. Exchanges tell orders and balances with different decimals. Staff see each difference.
 */
const roundedPart = '0.0000001';
const roundedCoins = '0.00000001';

/** SQL: every `HeldCoin`, perhaps more than once. */
const held = `
  select venue, coin, 'foreign_withdrawal' as cause from venue_movement where kind = 'withdrawal' and part = 'foreign'
  union all
  select b.venue, b.coin, 'shortage'
    from venue_balance b join venue_account v on v.venue = b.venue and v.opened_at is not null and v.is_watched
   where b.differing >= ${lastingComparisons}
     and b.booked - (b.compared_total - b.in_flight) > greatest(${roundedCoins}, abs(b.booked) * ${roundedPart})`;

/** Lists the coins whose trades at an exchange are held, and why. */
export function heldCoins(em: EntityManager, venue: string): Promise<HeldCoin[]> {
  return sql<HeldCoin>(
    em,
    `select distinct venue, coin, cause from (${held}) as held where venue = ? order by coin, cause`,
    [venue],
  );
}

/** Whether trades of any of these coins are held at an exchange. */
export async function isVenueHeld(em: EntityManager, venue: string, coins: readonly string[]): Promise<boolean> {
  const [row] = await sql<{ is_held: boolean }>(
    em,
    `with asked as (select jsonb_array_elements_text(?::jsonb) as coin)
     select exists (select from (${held}) as held join asked on asked.coin = held.coin where venue = ?) as is_held`,
    [JSON.stringify(coins), venue],
  );
  return row?.is_held === true;
}
