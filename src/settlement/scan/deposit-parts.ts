import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Big, fromUnits } from '../../base/money.ts';
import type { Transfer } from '../../chains/port/chain-adapter.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import { type Arrival, isTraced } from './arrivals.ts';

// A deposit may stand for several transfers.
//
// One transaction may pay an order in several outputs. They are one deposit, and its parts name it.
//
// Coins that a contract sent on are found in two ways. A trace shows each by its transaction. A
// balance comparison may find several as one deposit. The deposit keeps its first form when the
// other way finds it later. Such parts name no deposit.

/** Whether a transfer was found by comparing balances, and so has no transaction. */
export function isFoundByBalance({ key }: Pick<Transfer, 'key'>): boolean {
  return key.startsWith('balance:');
}

/** SQL: deposits of coins that a contract sent on, found in either way. */
export const internalTransferSql = `contract is null and (key like 'balance:%' or key like '%:trace%')`;

interface Found {
  /** Null for an address without such deposits. */
  readonly compared: number | null;
  readonly balances: string;
  readonly parts: string;
}

/**
 * Omits traced transfers that are parts of a balance deposit. These are traces in or below the
 * block of a balance comparison, which already counted the same coins. Each part is stored by its
 * key, so that it stays a part. All parts of an address never exceed its balance deposits; a trace
 * beyond them is a separate deposit.
 */
export async function withoutKnownParts(
  em: EntityManager,
  chain: string,
  arrivals: readonly Arrival[],
): Promise<readonly Arrival[]> {
  const traced = arrivals.filter(({ transfer }) => isTraced(transfer));
  if (traced.length === 0) return arrivals;
  const addresses = [...new Set(traced.map(({ transfer }) => transfer.address))];
  const rows = await sql<Found & { address: string }>(
    em,
    `select a.address, d.compared::int as compared, d.amount::text as balances, p.amount::text as parts
       from jsonb_array_elements_text(?::jsonb) as a (address)
      cross join lateral (select max(compared_height) as compared, coalesce(sum(amount), 0) as amount
                            from deposit where chain = ? and address = a.address and contract is null and key like 'balance:%') as d
      cross join lateral (select coalesce(sum(amount), 0) as amount
                            from deposit_part
                            where chain = ? and address = a.address and deposit_id is null) as p
      where d.compared is not null`,
    [JSON.stringify(addresses), chain, chain],
  );
  if (rows.length === 0) return arrivals;
  const keys = JSON.stringify(traced.map(({ transfer }) => transfer.key));
  const known = await sql<{ key: string; is_part: boolean }>(
    em,
    `select key, false as is_part from deposit where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))
     union all
     select key, deposit_id is null from deposit_part where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))`,
    [chain, keys, chain, keys],
  );
  const isPart = new Map(known.map(({ key, is_part: part }) => [key, part]));
  const room = new Map(rows.map(({ address, balances, parts }) => [address, new Big(balances).minus(parts)]));
  const compared = new Map(rows.map(({ address, compared: height }) => [address, height ?? -1]));
  const parts: { key: string; address: string; amount: string; height: number }[] = [];
  const others = arrivals.filter((arrival) => {
    const { transfer, block, asset } = arrival;
    const { key, address } = transfer;
    if (!isTraced(transfer) || block === null) return true;
    const stored = isPart.get(key);
    if (stored !== undefined) return !stored;
    const left = room.get(address);
    const amount = fromUnits(transfer.amount, asset.decimals);
    if (left === undefined || block.height > (compared.get(address) ?? -1) || left.lt(amount)) return true;
    room.set(address, left.minus(amount));
    parts.push({ key, address, amount, height: block.height });
    return false;
  });
  if (parts.length > 0) {
    await sql(
      em,
      `insert into deposit_part (chain, key, address, amount, height)
       select ?, key, address, amount, height
         from jsonb_to_recordset(?::jsonb) as p (key text, address text, amount numeric, height bigint)`,
      [chain, JSON.stringify(parts)],
    );
  }
  return others;
}

/** The outputs of a payment, and its deposit. */
export interface StoredPayment {
  readonly deposit: Deposit;
  readonly parts: readonly Arrival[];
}

/**
 * Stores the outputs of payments in blocks, each by its key. The deposits are in the database.
 * Storing the same again changes nothing but the heights. After a reorganisation, an output may be
 * a part of another payment.
 */
export async function storeParts(em: EntityManager, payments: readonly StoredPayment[]): Promise<void> {
  const rows = payments.flatMap(({ deposit, parts }) =>
    parts.flatMap(({ transfer: { key, address, amount }, asset, block }) =>
      block === null
        ? []
        : [
            {
              chain: deposit.chain,
              key,
              address,
              amount: fromUnits(amount, asset.decimals),
              height: block.height,
              deposit_id: deposit.id,
            },
          ],
    ),
  );
  if (rows.length === 0) return;
  await sql(
    em,
    `insert into deposit_part (chain, key, address, amount, height, deposit_id)
     select * from jsonb_to_recordset(?::jsonb)
                as p (chain text, key text, address text, amount numeric, height bigint, deposit_id uuid)
     on conflict (chain, key) do update set height = excluded.height, deposit_id = excluded.deposit_id`,
    [JSON.stringify(rows)],
  );
}
