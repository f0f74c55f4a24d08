import type { EntityManager } from '@mikro-orm/postgresql';
import type { BlockRef, ChainAdapter, Cursor, Transfer } from '../../chains/port/chain-adapter.ts';

/** Most blocks that one scan reads. */
const maxBlocks = 10_000;

/** The scanner's stored state of a chain. */
export interface ScannerState {
  readonly version: string;
  readonly height: number;
  /** Null where the chain itself has no finality. */
  readonly final: number | null;
  readonly cursor_blocks: BlockRef[];
  /** Hashes of blocks outside the cursor that a scan which has not ended stores or undoes. */
  readonly unsettled: string[];
}

/** Reads the scanner's stored state. Undefined before the first scan. */
export async function readScannerState(em: EntityManager, chain: string): Promise<ScannerState | undefined> {
  const [state] = await em.execute<ScannerState[]>(
    `select version::text as version, height::int as height, final_height::int as final, cursor_blocks,
            unsettled_blocks as unsettled
       from chain_state where chain = ?`,
    [chain],
  );
  return state;
}

/** The part of a chain above the scanner's cursor, up to the chain's head. */
export interface ScanAhead {
  readonly orphaned: ReadonlySet<string>;
  readonly transfers: readonly Transfer[];
  readonly head: string;
}

/**
 * Reads a chain from the scanner's cursor to the head, or from where the scanner would begin.
 *
 * @throws ChainError
 */
export async function scanAhead(adapter: ChainAdapter, state: ScannerState | undefined): Promise<ScanAhead> {
  const orphaned = new Set<string>();
  const blocks = new Map<string, readonly Transfer[]>();
  const isBegun = state !== undefined && state.cursor_blocks.length > 0;
  let cursor: Cursor = isBegun ? { window: state.cursor_blocks } : await adapter.start(adapter.startHeight);
  for (;;) {
    const result = await adapter.scan(cursor, maxBlocks);
    // A block that an earlier turn read may be orphaned in a later one.
    for (const { hash } of result.orphaned) if (!blocks.delete(hash)) orphaned.add(hash);
    for (const { ref, transfers } of result.blocks) blocks.set(ref.hash, transfers);
    cursor = result.cursor;
    const top = cursor.window.at(-1);
    if (!top || top.height >= result.head || result.blocks.length === 0) {
      for (const hash of state?.unsettled ?? []) if (!blocks.has(hash)) orphaned.add(hash);
      return { orphaned, transfers: [...blocks.values()].flat(), head: top?.hash ?? '' };
    }
  }
}
