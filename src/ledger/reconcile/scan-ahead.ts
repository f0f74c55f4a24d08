import type { EntityManager } from '@mikro-orm/postgresql';
import type { ChainAdapter, Cursor, ScannedBlock, Transfer } from '../../chains/port/chain-adapter.ts';
import { ChainState } from '../../chains/port/chain-state.entity.ts';

/** Most blocks that one scan reads. */
const maxBlocks = 10_000;

const members = ['version', 'height', 'finalHeight', 'cursorBlocks', 'unsettledBlocks'] as const;

/** The scanner's stored state of a chain. */
type ScannerState = Readonly<Pick<ChainState, (typeof members)[number]>>;

/** Reads the scanner's stored state. Null before the first scan. */
export function readScannerState(em: EntityManager, chain: string): Promise<ScannerState | null> {
  return em.findOne(ChainState, { chain }, { fields: members, disableIdentityMap: true });
}

/** The part of a chain above the scanner's cursor, up to the chain's head. */
export interface ScanAhead {
  readonly orphaned: ReadonlySet<string>;
  readonly transfers: readonly Transfer[];
  /** What receiving takes from the hot wallet, in the smallest unit of the chain's own coin. */
  readonly costs: bigint;
  readonly head: string;
}

/**
 * Reads a chain from the scanner's cursor to the head, or from where the scanner would begin.
 *
 * @throws ChainError
 */
export async function scanAhead(adapter: ChainAdapter, state: ScannerState | null): Promise<ScanAhead> {
  const orphaned = new Set<string>();
  const blocks = new Map<string, ScannedBlock>();
  const isBegun = state !== null && state.cursorBlocks.length > 0;
  let cursor: Cursor = isBegun ? { window: state.cursorBlocks } : await adapter.start(adapter.startHeight);
  for (;;) {
    const result = await adapter.scan(cursor, maxBlocks);
    // A block that an earlier turn read may be orphaned in a later one.
    for (const { hash } of result.orphaned) if (!blocks.delete(hash)) orphaned.add(hash);
    for (const block of result.blocks) blocks.set(block.ref.hash, block);
    cursor = result.cursor;
    const top = cursor.window.at(-1);
    if (!top || top.height >= result.head || result.blocks.length === 0) {
      for (const hash of state?.unsettledBlocks ?? []) if (!blocks.has(hash)) orphaned.add(hash);
      const read = [...blocks.values()];
      return {
        orphaned,
        transfers: read.flatMap(({ transfers }) => transfers),
        costs: read.reduce((sum, { receiveCost = 0n }) => sum + receiveCost, 0n),
        head: top?.hash ?? '',
      };
    }
  }
}
