import type { EntityManager } from '@mikro-orm/postgresql';
import type { BlockRef, ChainAdapter, Cursor, ScanResult } from '../../chains/chain-adapter.ts';
import type { ChainLease } from '../chain-lease.ts';
import type { ScannedTo } from '../settling.ts';
import type { ScanTimes } from './arrival-times.ts';

/** The stored position of a chain's scan. */
export interface ScanPosition {
  readonly version: bigint;
  readonly cursor: Cursor;
  /** Height of the newest final block, on chains that tell it. */
  readonly final: number | null;
}

/** A stored deposit, and its order. */
export interface KnownDeposit {
  readonly id: string;
  readonly orderId: string | null;
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
}

/** The step from a chain's stored position to the result of a scan. */
export function stepOf(
  { chain }: ChainAdapter,
  { fence }: ChainLease,
  position: ScanPosition,
  { cursor, head, final = null }: ScanResult,
  { began, readAt, isBelated }: Pick<ScanTimes, 'began' | 'readAt' | 'isBelated'>,
  now: Date,
): ScanStep {
  const height = heightOf(cursor);
  const isAtHead = height >= head;
  return {
    chain,
    fence,
    version: position.version,
    cursor,
    head,
    from: { height: heightOf(position.cursor), final: position.final },
    to: { height, final, isAtHead, readAt: isAtHead && !isBelated ? began : readAt },
    now,
  };
}

/** SQL: a deposit `d` that is in a block and has its confirmations, as `isConfirmed` says. */
const ripeSql = `d.state = 'mined' and d.height <= ? and d.height + d.confirmations_required - 1 <= ?`;

function ripeValues({ height, final }: Pick<ScannedTo, 'height' | 'final'>): number[] {
  return [Math.min(height, final ?? height), height];
}

/**
 * SQL: an order `o` that an earlier scan made due, because its deposit `d` was ripe then. The
 * settler takes it. Another lock on its row would only keep the settler from its group.
 */
const isDueSql = `(coalesce(o.next_action_at <= ?, false) and ${ripeSql})`;

/**
 * SQL: the deposits that a step affects by itself: deposits in the mempool, and deposits that reach
 * their confirmations. At the head it adds orphaned deposits that an order still counts on.
 */
const affectedSql = `
  select id, order_id from deposit where chain = ? and state = 'mempool'
  union
  select d.id, d.order_id from deposit d left join exchange_order o on o.id = d.order_id
   where d.chain = ? and ${ripeSql} and not ${isDueSql}
  union
  select d.id, d.order_id from deposit d join exchange_order o on o.id = d.order_id and o.deposit_id = d.id
   where ? and d.chain = ? and d.state = 'orphaned' and o.status = 'confirming'`;

function affectedValues({ chain, from, to, now }: ScanStep): (string | number | boolean | Date)[] {
  return [chain, chain, ...ripeValues(to), now, ...ripeValues(from), to.isAtHead, chain];
}

/**
 * Reads the deposits that a step affects, with their orders: deposits with these keys, deposits in
 * the orphaned blocks, and deposits that the step affects by itself.
 */
export async function affectedDeposits(
  em: EntityManager,
  step: ScanStep,
  orphaned: readonly BlockRef[],
  keys: readonly string[],
): Promise<KnownDeposit[]> {
  const { chain } = step;
  const hashes = orphaned.map(({ hash }) => hash);
  return em.execute<KnownDeposit[]>(
    `select id, order_id as "orderId" from deposit
      where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))
     union
     select id, order_id from deposit where chain = ? and block_hash in (select jsonb_array_elements_text(?::jsonb))
     union ${affectedSql}`,
    [chain, JSON.stringify(keys), chain, JSON.stringify(hashes), ...affectedValues(step)],
  );
}

/**
 * Moves the stored position of a chain and updates the confirmations of its orders, in one
 * statement. Returns false without a change when another process has moved it: the fencing token
 * stops a process that slept past its lease, and the version stops a concurrent scan. With
 * `ifQuiet` it also returns false when the step affects a deposit.
 */
export async function advance(em: EntityManager, step: ScanStep, ifQuiet: boolean): Promise<boolean> {
  const { chain, fence, version, cursor, head, from, to, now } = step;
  const rows = await em.execute<{ chain: string }[]>(
    `with moved as (
       update chain_state
          set version = version + 1, cursor_blocks = ?::jsonb, height = ?, head = ?, final_height = ?, scanned_at = ?,
              read_at = ?, rescan_from = null, problem = null
        where chain = ? and fence = ? and version = ? ${ifQuiet ? `and not exists (${affectedSql})` : ''}
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
      chain,
      fence,
      version.toString(),
      ...(ifQuiet ? affectedValues(step) : []),
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
