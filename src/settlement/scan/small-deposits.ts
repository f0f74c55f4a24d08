import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { sql } from '../../base/db/sql.ts';
import { Big, fromUnits } from '../../base/money.ts';
import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import { accountOfDeposits } from '../../chains/port/deposit-account.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import { type ScanTimes, timeBounds } from '../rules/arrival-times.ts';
import { isWatchedSql } from '../rules/funding.ts';
import type { Arrival } from './arrivals.ts';

// Deposits to a shared address without an order, below the minimum of their coin. A stranger can
// send thousands in a block for the price of the fees. So one statement stores many of them, one
// credits many, and staff see one item for all of a day. Each stays a row, which staff can assign
// or return. Small ones with the tag of funding, which anyone can read on the chain, are stored and
// credited in the same way, as capital.

/** Most of them that one transaction stores, or credits. */
export const mostSmall = 2_000;

/** What a scan does with the arrivals of a chain. */
export interface ArrivalRules extends ScanTimes {
  readonly chain: string;
  readonly catalogue: Pick<CurrencyCatalogue, 'find'>;
}

/**
 * SQL: a deposit `d` without an order that many are credited of at once. It is below the minimum
 * for a separate attention item, or funding of any amount that waits for no exchange's list.
 */
export const isCreditedTogetherSql = `(d.order_id is null and d.problem is null and
  (d.purpose = 'order' or d.purpose = 'funding' and d.transfer_id is null and not ${isWatchedSql}))`;

/** Whether a deposit has no order and is below the minimum for a separate attention item. */
export function isSmallDeposit({
  orderId,
  purpose,
  problem,
}: Pick<Deposit, 'orderId' | 'purpose' | 'problem'>): boolean {
  return orderId === null && purpose === 'order' && problem === null;
}

/** Whether an arrival has no order, or is funding, and is below the minimum of its coin. */
export function isSmallArrival(
  { transfer, target, asset }: Pick<Arrival, 'transfer' | 'target' | 'asset'>,
  catalogue: ArrivalRules['catalogue'],
): boolean {
  if (target.orderId !== null) return false;
  const least = catalogue.find(asset.coin, asset.network)?.minAmount;
  return least !== undefined && new Big(fromUnits(transfer.amount, asset.decimals)).lt(least);
}

/**
 * Divides arrivals into new small ones, which are stored together, and all others. Only a shared
 * address takes transfers without an order.
 */
export async function withoutNewSmall(
  em: EntityManager,
  { chain, traits }: Pick<ChainAdapter, 'chain' | 'traits'>,
  catalogue: ArrivalRules['catalogue'],
  found: readonly Arrival[],
): Promise<{ readonly arrivals: readonly Arrival[]; readonly small: readonly Arrival[] }> {
  const isSmall = (arrival: Arrival): boolean =>
    traits.deposits === 'shared' && arrival.block !== null && isSmallArrival(arrival, catalogue);
  const known = await storedKeys(em, chain, found.filter(isSmall));
  const isNewSmall = (arrival: Arrival): boolean => isSmall(arrival) && !known.has(arrival.transfer.key);
  return { arrivals: found.filter((arrival) => !isNewSmall(arrival)), small: found.filter(isNewSmall) };
}

/** The keys of transfers that are stored as deposits. */
async function storedKeys(
  em: EntityManager,
  chain: string,
  arrivals: readonly Arrival[],
): Promise<ReadonlySet<string>> {
  if (arrivals.length === 0) return new Set();
  const rows = await sql<{ key: string }>(
    em,
    'select key from deposit where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))',
    [chain, JSON.stringify(arrivals.map(({ transfer }) => transfer.key))],
  );
  return new Set(rows.map(({ key }) => key));
}

/** Stores small arrivals in blocks that are not stored yet, and counts them. */
export async function storeSmall(em: EntityManager, arrivals: readonly Arrival[], look: ArrivalRules): Promise<void> {
  const rows = arrivals.flatMap(({ transfer, block, target, asset, confirmationsRequired }) => {
    if (block === null) return [];
    const { after, by } = timeBounds(block, look);
    return [
      {
        id: uuidv7(),
        key: transfer.key,
        purpose: target.purpose,
        txid: transfer.txid,
        address: transfer.address,
        tag: transfer.tag,
        contract: transfer.contract,
        coin: asset.coin,
        network: asset.network,
        amount: fromUnits(transfer.amount, asset.decimals),
        height: block.height,
        block_hash: block.hash,
        required: confirmationsRequired,
        after,
        by,
      },
    ];
  });
  if (rows.length === 0) return;
  await sql(
    em,
    `insert into deposit (id, chain, key, purpose, txid, address, tag, contract, coin, network, amount, state, height,
                          block_hash, confirmations_required, seen_at, mined_at, arrived_after, arrived_by, mined_after)
     select id, ?, key, purpose, txid, address, tag, contract, coin, network, amount, 'mined', height,
            block_hash, required, ?::timestamptz, ?::timestamptz, after, by, after
       from jsonb_to_recordset(?::jsonb)
            as d (id uuid, key text, purpose text, txid text, address text, tag text, contract text, coin text, network text,
                  amount numeric, height bigint, block_hash text, required integer, after timestamptz, by timestamptz)`,
    [look.chain, look.now, look.now, JSON.stringify(rows)],
  );
  await countSmall(em, look.chain, rows.filter(({ purpose }) => purpose === 'order').length, look.now);
}

/** Counts small deposits that came into a block for the first time, by day of UTC. */
export async function countSmall(em: EntityManager, chain: string, deposits: number, now: Date): Promise<void> {
  if (deposits === 0) return;
  await sql(
    em,
    `insert into small_deposit_day as d (chain, day, deposits, first_at)
     values (?, (?::timestamptz at time zone 'UTC')::date, ?, ?)
     on conflict (chain, day) do update set deposits = d.deposits + excluded.deposits`,
    [chain, now, deposits, now],
  );
}

/**
 * Credits at most `mostSmall` deposits of `isCreditedTogetherSql` that have their confirmations,
 * with their journal entries. Returns how many. The caller holds the row of the chain's state.
 *
 * @param ripe SQL of a condition on a deposit `d`, and the values that it binds.
 */
export async function creditSmall(
  em: EntityManager,
  { chain, traits }: Pick<ChainAdapter, 'chain' | 'traits'>,
  ripe: { readonly sql: string; readonly values: readonly number[] },
  now: Date,
): Promise<number> {
  const [row] = await sql<{ count: number }>(
    em,
    `with ripe as (
       select d.id from deposit d where d.chain = ? and ${isCreditedTogetherSql} and ${ripe.sql} order by d.height, d.id limit ?
     ), taken as (
       update deposit d set state = 'credited', credits = d.credits + 1, credited_at = ? from ripe where d.id = ripe.id
       returning d.purpose, d.chain || ':' || d.key || ':' || d.credits as reference, d.coin, d.network, d.amount
     ), entry as (
       select gen_random_uuid() as id, reference, coin, network, amount,
              case purpose when 'funding' then 'funding' else 'deposit' end as kind,
              case purpose when 'funding' then 'hot' else ? end as account,
              case purpose when 'funding' then 'opening' else 'suspense' end as owed
         from taken
     ), booked as (
       insert into ledger_transaction (id, kind, reference, order_id, at)
       select id, kind, reference, null, ? from entry
       on conflict (kind, reference) do nothing returning id
     ), written as (
       insert into ledger_line (transaction_id, line, account, coin, network, amount)
       select e.id, l.line, l.account, e.coin, e.network, l.sign * e.amount
         from booked join entry e on e.id = booked.id
        cross join lateral (values (1, e.account, 1), (2, e.owed, -1)) as l (line, account, sign)
     )
     select count(*)::int as count from taken`,
    [chain, ...ripe.values, mostSmall, now, accountOfDeposits(traits), now],
  );
  return row?.count ?? 0;
}
