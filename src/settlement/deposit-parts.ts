import type { EntityManager } from '@mikro-orm/postgresql';
import type { Transfer } from '../chains/chain-adapter.ts';
import { Big, fromUnits } from '../money.ts';
import type { Arrival } from './arrivals.ts';

// Coins that a contract sent on are found by traces, each by its transaction, or by balances, where one deposit may stand
// for several. Whatever finds them later, they stay what they were first.

/** Whether a transfer was found by comparing balances, so that no transaction names it. */
export function isOfBalance({ key }: Pick<Transfer, 'key'>): boolean {
  return key.startsWith('balance:');
}

/** SQL: deposits of coins that a contract sent on, however they were found. */
export const isSentOn = `contract is null and (key like 'balance:%' or key like '%:trace%')`;

interface Found {
  /** Null for an address without such deposits. */
  readonly compared: number | null;
  readonly balances: string;
  readonly parts: string;
}

/**
 * Leaves out transfers that are parts of deposits: a trace shows them, and a balance that was compared in their block or
 * above has shown the same coins before. Stores each part by its key, so that it stays one. All parts of an address are
 * together never more than what balances showed of it; what is beyond is a deposit of its own.
 */
export async function withoutParts(
  em: EntityManager,
  chain: string,
  arrivals: readonly Arrival[],
): Promise<readonly Arrival[]> {
  const traced = arrivals.filter(isTraced);
  if (traced.length === 0) return arrivals;
  const addresses = [...new Set(traced.map(({ transfer }) => transfer.address))];
  const rows = await em.execute<(Found & { address: string })[]>(
    `select a.address, d.compared::int as compared, d.amount::text as balances, p.amount::text as parts
       from jsonb_array_elements_text(?::jsonb) as a (address)
      cross join lateral (select max(compared_height) as compared, coalesce(sum(amount), 0) as amount
                            from deposit where chain = ? and address = a.address and contract is null and key like 'balance:%') as d
      cross join lateral (select coalesce(sum(amount), 0) as amount
                            from deposit_part where chain = ? and address = a.address) as p
      where d.compared is not null`,
    [JSON.stringify(addresses), chain, chain],
  );
  if (rows.length === 0) return arrivals;
  const keys = JSON.stringify(traced.map(({ transfer }) => transfer.key));
  const known = await em.execute<{ key: string; is_part: boolean }[]>(
    `select key, false as is_part from deposit where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))
     union all
     select key, true from deposit_part where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))`,
    [chain, keys, chain, keys],
  );
  const isPart = new Map(known.map(({ key, is_part: part }) => [key, part]));
  const room = new Map(rows.map(({ address, balances, parts }) => [address, new Big(balances).minus(parts)]));
  const compared = new Map(rows.map(({ address, compared: height }) => [address, height ?? -1]));
  const parts: { key: string; address: string; amount: string; height: number }[] = [];
  const others = arrivals.filter((arrival) => {
    const { transfer, block, asset } = arrival;
    const { key, address } = transfer;
    if (!isTraced(arrival) || block === null) return true;
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
    await em.execute(
      `insert into deposit_part (chain, key, address, amount, height)
       select ?, key, address, amount, height
         from jsonb_to_recordset(?::jsonb) as p (key text, address text, amount numeric, height bigint)`,
      [chain, JSON.stringify(parts)],
    );
  }
  return others;
}

function isTraced({ transfer: { key, contract } }: Arrival): boolean {
  return contract === null && /:trace\d+:/.test(key);
}
