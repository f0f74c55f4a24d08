import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Deposit } from './deposit.entity.ts';

/** Which deposits without an order to list. */
interface UnassignedFilter {
  /** Hash of their transaction, in any capitals. Null for all. */
  readonly txid: string | null;
  /** Whether deposits below the minimum are listed too. */
  readonly withSmall: boolean;
}

/** A part of the list: at most `limit` rows after a deposit, the newest first unless backwards. */
interface UnassignedPart {
  readonly backwards: boolean;
  readonly limit: number;
  /** Id of that deposit. Null for the beginning of the list. */
  readonly cursor: string | null;
}

/** Deposits in blocks that belong to no order and are not on their way back. */
export async function unassignedDeposits(
  em: EntityManager,
  { txid, withSmall }: UnassignedFilter,
  { backwards, limit, cursor }: UnassignedPart,
): Promise<Deposit[]> {
  const direction = backwards ? 'asc' : 'desc';
  const beyond = backwards ? '>' : '<';
  const rows = await sql<{ id: string }>(
    em,
    `select d.id from deposit d
      where d.order_id is null and d.purpose = 'order' and d.state in ('mined', 'credited')
        and (?::boolean or d.problem is not null)
        and (?::text is null or lower(d.txid) = lower(?))
        and (?::uuid is null or d.id ${beyond} ?::uuid)
        and not exists (select from payment p where p.deposit_id = d.id and p.state <> 'dead')
      order by d.id ${direction} limit ?`,
    [withSmall, txid, txid, cursor, cursor, limit],
  );
  return em.find(Deposit, { id: { $in: rows.map(({ id }) => id) } }, { orderBy: { id: direction } });
}
