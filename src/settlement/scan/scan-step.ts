import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import type { ChainAdapter, Cursor, ScanResult } from '../../chains/port/chain-adapter.ts';
import type { ScanTimes } from '../rules/arrival-times.ts';
import { isWatchedSql } from '../rules/funding.ts';
import type { ScannedTo } from '../rules/settling.ts';
import type { ChainLease } from '../turns/chain-lease.ts';
import { isCreditedTogetherSql } from './small-deposits.ts';

/** The stored position of a chain's scan. */
export interface ScanPosition {
  readonly version: bigint;
  readonly cursor: Cursor;
  /** Height of the newest final block, on chains that tell it. */
  readonly final: number | null;
}

/** Most deposits of one cause that a transaction of a scan takes. */
export const mostDeposits = 500;

/** A stored deposit, and its order. */
interface KnownDeposit {
  readonly id: string;
  readonly orderId: string | null;
}

/** Why a step affects a deposit that did not arrive in it. */
export type StepCause = 'undone' | 'gone' | 'ripe' | 'lost';

/** What concerns deposits in a step. */
interface StepCauses {
  /** Hashes of blocks that are on the chain no more. */
  readonly undone: readonly string[];
  /** Transactions that are in neither the mempool nor a block any more. */
  readonly gone: readonly string[];
  /** Keys of the transfers that arrived. */
  readonly keys: readonly string[];
}

export interface ScanPart {
  /** Hashes of blocks outside the cursor whose transfers may be stored. */
  readonly unsettled: readonly string[];
}

/** How a scan moves the stored position of its chain. */
export interface ScanStep {
  readonly chain: string;
  readonly fence: string;
  readonly version: bigint;
  readonly cursor: Cursor;
  readonly head: number;
  /** How far the chain was read when the state was stored, and how far it is read now. */
  readonly from: Pick<ScannedTo, 'height' | 'final'>;
  readonly to: ScannedTo;
  readonly now: Date;
  /** Whether small deposits without an order are credited by a separate statement. */
  readonly creditsSmall: boolean;
  /** The step stores a part of a scan, and another one ends it. Null in that one. */
  readonly part: ScanPart | null;
}

/** The step from a chain's stored position to the result of a scan. */
export function stepOf(
  { chain, traits }: ChainAdapter,
  { fence }: ChainLease,
  position: ScanPosition,
  { cursor, head, final = null }: ScanResult,
  { began, readAt, isBelated }: Pick<ScanTimes, 'began' | 'readAt' | 'isBelated'>,
  now: Date,
  part: ScanPart | null = null,
): ScanStep {
  const height = heightOf(cursor);
  const isAtHead = height >= head && part === null;
  return {
    chain,
    fence,
    version: position.version,
    cursor,
    head,
    from: { height: heightOf(position.cursor), final: position.final },
    to: { height, final, isAtHead, readAt: isAtHead && !isBelated ? began : readAt },
    now,
    creditsSmall: traits.deposits === 'shared',
    part,
  };
}

/** SQL: a deposit `d` that is in a block and has its confirmations, as `isConfirmed` says. */
export const ripeSql = `d.state = 'mined' and d.height <= ? and d.height + d.confirmations_required - 1 <= ?`;

/** The values that `ripeSql` binds. */
export function ripeValues({ height, final }: Pick<ScannedTo, 'height' | 'final'>): number[] {
  return [Math.min(height, final ?? height), height];
}

/**
 * SQL: an order `o` that an earlier scan made due, because its deposit `d` was ripe then. The
 * settler takes it. Another lock on its row would only keep the settler from its group.
 */
const isDueSql = `((coalesce(o.next_action_at <= ?, false) or o.failing_since is not null) and ${ripeSql})`;

/**
 * SQL: the deposits that a step affects automatically: deposits that reach their confirmations. At
 * the head it adds orphaned deposits that an order still counts on. Of both it takes a bounded
 * number, and the next step takes the others.
 */
const affectedSql = `
  (select 'ripe' as cause, d.id, d.order_id as "orderId" from deposit d left join exchange_order o on o.id = d.order_id
    where d.chain = ? and ${ripeSql} and not ${isDueSql} and not (? and ${isCreditedTogetherSql})
      and (d.purpose <> 'funding' or not ${isWatchedSql}) limit ${mostDeposits})
  union all
  (select 'lost', d.id, d.order_id from deposit d join exchange_order o on o.id = d.order_id and o.deposit_id = d.id
    where ? and d.chain = ? and d.state = 'orphaned' and o.status = 'confirming' limit ${mostDeposits})`;

function affectedValues({ chain, from, to, now, creditsSmall }: ScanStep): (string | number | boolean | Date)[] {
  return [chain, ...ripeValues(to), now, ...ripeValues(from), creditsSmall, to.isAtHead, chain];
}

/** SQL: whether small deposits without an order become ripe, which a step then credits. */
const hasRipeSmallSql = `(? and exists (select from deposit d where d.chain = ? and ${ripeSql} and ${isCreditedTogetherSql}))`;

function hasRipeSmallValues({ chain, to, creditsSmall }: ScanStep): (string | number | boolean)[] {
  return [creditsSmall, chain, ...ripeValues(to)];
}

/**
 * Reads the deposits that a step affects, with their orders: deposits with these keys, and at most
 * `mostDeposits` of each other cause.
 *
 * @returns them, and the causes that may have more.
 */
export async function affectedDeposits(
  em: EntityManager,
  step: ScanStep,
  { undone, gone, keys }: StepCauses,
): Promise<{ readonly known: readonly KnownDeposit[]; readonly more: ReadonlySet<StepCause> }> {
  const { chain } = step;
  const rows = await sql<KnownDeposit & { cause: StepCause | 'key' }>(
    em,
    `select 'key' as cause, id, order_id as "orderId" from deposit
      where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))
     union all
     (select 'undone', id, order_id from deposit
       where chain = ? and block_hash in (select jsonb_array_elements_text(?::jsonb)) limit ${mostDeposits})
     union all
     (select 'gone', id, order_id from deposit
       where chain = ? and state = 'mempool' and txid in (select jsonb_array_elements_text(?::jsonb)) limit ${mostDeposits})
     union all ${affectedSql}`,
    [chain, JSON.stringify(keys), chain, JSON.stringify(undone), chain, JSON.stringify(gone), ...affectedValues(step)],
  );
  const more = new Set<StepCause>();
  for (const [cause, its] of Map.groupBy(rows, (row) => row.cause)) {
    if (cause !== 'key' && its.length >= mostDeposits) more.add(cause);
  }
  return { known: [...new Map(rows.map(({ id, orderId }) => [id, { id, orderId }])).values()], more };
}

/**
 * Moves the stored position of a chain and updates the confirmations of its orders, in one
 * statement. Returns false without a change when another process has moved it: the fencing token
 * stops a process that slept past its lease, and the version stops a concurrent scan. With
 * `ifQuiet` it also returns false when the step affects a deposit.
 */
export async function advance(em: EntityManager, step: ScanStep, ifQuiet: boolean): Promise<boolean> {
  const { chain, fence, version, cursor, head, from, to, now, part } = step;
  const rows = await sql<{ chain: string }>(
    em,
    `with moved as (
       update chain_state
          set version = version + 1, cursor_blocks = ?::jsonb, height = ?, head = ?, final_height = ?, scanned_at = ?,
              read_at = ?, rescan_from = case when ? then rescan_from end, problem = case when ? then problem end,
              unsettled_blocks = ?::jsonb
        where chain = ? and fence = ? and version = ? ${ifQuiet ? `and not exists (${affectedSql}) and not ${hasRipeSmallSql}` : ''}
       returning chain, height
     ), counted as (
       update exchange_order o set deposit_confirmations = moved.height - d.height + 1
         from deposit d, moved
        where d.chain = moved.chain and d.state = 'mined' and d.height <= moved.height
          and o.id = d.order_id and o.deposit_id = d.id and o.status = 'confirming'
          and o.deposit_confirmations is distinct from moved.height - d.height + 1 and not ${isDueSql}
     )
     select chain from moved`,
    [
      JSON.stringify(cursor.window),
      to.height,
      head,
      to.final,
      now,
      to.readAt,
      part !== null,
      part !== null,
      JSON.stringify(part?.unsettled ?? []),
      chain,
      fence,
      version.toString(),
      ...(ifQuiet ? [...affectedValues(step), ...hasRipeSmallValues(step)] : []),
      now,
      ...ripeValues(from),
    ],
  );
  return rows.length > 0;
}

/** Height of the cursor's newest block, 0 before the first one. */
export function heightOf({ window }: Cursor): number {
  return window.at(-1)?.height ?? 0;
}
