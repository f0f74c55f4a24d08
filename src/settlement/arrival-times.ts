import type { BlockRef, ScanResult } from '../chains/chain-adapter.ts';
import type { Order } from '../orders/order.entity.ts';
import type { Deposit } from './deposit.entity.ts';

// When a deposit came. It came when a block included it, or when the scanner first saw it in the mempool, whichever is
// earlier. Neither is known to the second, so a deposit stores the earliest and the latest time that it can have come.
// The rule for partners and staff is in docs/lifecycle.md, "In time or late".

/** Between when something happened at the earliest (null where nothing bounds it) and at the latest. */
export interface TimeBounds {
  readonly after: Date | null;
  readonly by: Date;
}

/** One look of the scanner at a chain, by the clock of the process. */
export interface ChainLook {
  /** Before the node was asked anything. */
  readonly began: Date;
  readonly now: Date;
  /** When an earlier look read the chain to its head: what is found now was in no block then. */
  readonly readAt: Date | null;
  /** By how many seconds the time that a block states may be wrong. */
  readonly toleranceSec: number;
  /** True where the look shows what blocks that were read before have brought: no earlier look says anything of it. */
  readonly isBelated: boolean;
}

/**
 * Gives new blocks, and the cursor, their effective times: the latest time that the block or any block below it states,
 * and no time of the future. A block with a false early time is thereby no earlier than the blocks below it.
 */
export function withEffectiveTimes(window: readonly BlockRef[], result: ScanResult, now: Date): ScanResult {
  const gone = new Set(result.orphaned.map(({ hash }) => hash));
  const nowMs = now.getTime();
  // A time of the future in a cursor is from before the clock was set back, and says nothing.
  const top = window.findLast(({ hash, timeMs = 0 }) => !gone.has(hash) && timeMs <= nowMs);
  let latestMs = top?.timeMs ?? 0;
  const effective = new Map<string, BlockRef>();
  const blocks = result.blocks.map((block) => {
    latestMs = Math.max(latestMs, Math.min(block.ref.timeMs ?? 0, nowMs));
    const ref = { ...block.ref, timeMs: latestMs };
    effective.set(ref.hash, ref);
    return { ...block, ref };
  });
  return {
    ...result,
    blocks,
    cursor: { window: result.cursor.window.map((ref) => effective.get(ref.hash) ?? ref) },
  };
}

/** When what a look found was included in its block, whose time is the effective one; or was seen, without a block. */
export function boundsOf(block: BlockRef | null, look: ChainLook): TimeBounds {
  const { began, now, readAt, toleranceSec, isBelated } = look;
  if (block === null) return { after: began, by: now };
  const toleranceMs = toleranceSec * 1_000;
  const timeMs = block.timeMs ?? null;
  const latestMs = timeMs === null ? now.getTime() : Math.min(now.getTime(), timeMs + toleranceMs);
  if (isBelated) return { after: null, by: new Date(latestMs) };
  const earliest = [readAt?.getTime(), timeMs === null ? undefined : timeMs - toleranceMs];
  const bounds = earliest.filter((ms) => ms !== undefined);
  if (bounds.length === 0) return { after: null, by: new Date(latestMs) };
  const afterMs = Math.min(Math.max(...bounds), now.getTime());
  // What the chain was read without is stronger than what a block states.
  return { after: new Date(afterMs), by: new Date(Math.max(afterMs, latestMs)) };
}

/** Of two bounds on when a deposit came, those that show it earlier. */
export function earlierOf(known: TimeBounds, found: TimeBounds): TimeBounds {
  return found.by < known.by ? found : known;
}

/** uncertain: what is known allows both. */
export type Timeliness = 'in_time' | 'late' | 'uncertain';

/**
 * Whether a deposit came within its order's window: the one rule, which every step obeys. A deposit that came in time is
 * late all the same when it is mined after the window's grace.
 *
 * @param readAt When its chain was last read to the head. What then waited in the mempool is mined later.
 */
export function timelinessOf(
  { expiresAt }: Pick<Order, 'expiresAt'>,
  deposit: Pick<Deposit, 'state' | 'arrivedAfter' | 'arrivedBy' | 'minedAfter'>,
  { graceSec, readAt }: { readonly graceSec: number; readonly readAt: Date | null },
): Timeliness {
  const { state, arrivedAfter, arrivedBy, minedAfter } = deposit;
  const graceEndsMs = expiresAt.getTime() + graceSec * 1_000;
  const minedMs = (state === 'mempool' ? readAt : minedAfter)?.getTime() ?? 0;
  if (minedMs > graceEndsMs) return 'late';
  if (arrivedAfter !== null && arrivedAfter > expiresAt) return 'late';
  return arrivedBy > expiresAt ? 'uncertain' : 'in_time';
}
