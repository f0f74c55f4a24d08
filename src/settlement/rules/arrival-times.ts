import type { BlockRef, ScanResult } from '../../chains/port/chain-adapter.ts';

// Bounds on the time of a deposit. A deposit came when a block included it, or when the scanner
// first saw it in the mempool, whichever is earlier. Neither time is known to the second, so a
// deposit stores the earliest and the latest possible time. The rule for partners and staff is in
// docs/lifecycle.md, "In time or late".

/** The earliest and the latest possible time of an event. `after` is null without a lower bound. */
interface TimeBounds {
  readonly after: Date | null;
  readonly by: Date;
}

/** The times of one scan of a chain, by the clock of the process. */
export interface ScanTimes {
  /** Before the first request to the node. */
  readonly began: Date;
  readonly now: Date;
  /** When an earlier scan read the chain to its head. Transfers found now were in no block then. */
  readonly readAt: Date | null;
  /** Largest error of a block's stated time, in seconds. */
  readonly toleranceSec: number;
  /**
   * True for transfers in blocks that were read before without finding them. No earlier scan bounds
   * their time.
   */
  readonly isBelated: boolean;
}

/**
 * Gives new blocks and the cursor their effective times: the latest time stated by the block or any
 * block below it, never in the future. A block with a false early time is thus no earlier than the
 * blocks below it.
 */
export function withEffectiveTimes(window: readonly BlockRef[], result: ScanResult, now: Date): ScanResult {
  const gone = new Set(result.orphaned.map(({ hash }) => hash));
  const nowMs = now.getTime();
  // A future time in a cursor predates a clock correction, and is ignored.
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

/**
 * Bounds the time at which a found transfer was included in its block, by the block's effective
 * time. Without a block it bounds the time of the sighting.
 */
export function timeBounds(block: BlockRef | null, look: ScanTimes): TimeBounds {
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
  // Having read the chain without the transfer is stronger evidence than the block's stated time.
  return { after: new Date(afterMs), by: new Date(Math.max(afterMs, latestMs)) };
}

/** Returns the bounds that show an earlier arrival. */
export function earlierBounds(known: TimeBounds, found: TimeBounds): TimeBounds {
  return found.by < known.by ? found : known;
}
