import {
  type BlockRef,
  ChainError,
  type Cursor,
  ReorgTooDeep,
  type ScannedBlock,
  type ScanResult,
} from '../port/chain-adapter.ts';
import { NodeFault } from './node-answer.ts';

/** The blocks of a node, for a scan. Between two blocks there may be heights without a block. */
export interface BlockSource {
  /** All blocks are final. One that contradicts an earlier one is a fault of the node. */
  readonly isFinal?: boolean;
  /** Height of the newest block, never of an empty height above it. */
  headHeight(): Promise<number>;
  /** Null for a height without a block, and above the newest block. */
  hashAt(height: number): Promise<string | null>;
  /** The next block above this one, at any distance; null when this one is the newest. */
  blockAfter(ref: BlockRef): Promise<ScannedBlock | null>;
}

export interface ScanLimits {
  readonly maxBlocks: number;
  readonly reorgWindow: number;
  /** A scan that takes longer ends with the blocks it has, so that they are stored. */
  readonly budgetMs?: number;
}

const defaultBudgetMs = 10_000;
/** How often the chain may change during one scan before the node is no longer trusted. */
const maxChanges = 3;

/**
 * Follows a chain from a cursor. It first takes off the blocks that a reorg removed. Then it reads
 * at most `maxBlocks` forward, each on top of the previous one, and at least one if there is one. A
 * chain that has become shorter is handled like any other reorg. Of a source whose blocks are
 * final, no block is ever taken off.
 *
 * @throws ReorgTooDeep when no block of the window is on the chain any more.
 * @throws ChainError when blocks still do not join after the removal, when final blocks do not
 *   join, or when the chain ends below a block that was seen.
 */
export async function scanBlocks(
  chain: string,
  source: BlockSource,
  cursor: Cursor,
  { maxBlocks, reorgWindow, budgetMs = defaultBudgetMs }: ScanLimits,
): Promise<ScanResult> {
  const window = [...cursor.window];
  const orphaned: BlockRef[] = [];
  const blocks: ScannedBlock[] = [];

  /**
   * Takes blocks off until one is on the chain. Blocks of this scan disappear as if they had never
   * been read.
   */
  const unwind = async (): Promise<BlockRef> => {
    for (let top = window.at(-1); top !== undefined; top = window.at(-1)) {
      if ((await source.hashAt(top.height)) === top.hash) return top;
      if (source.isFinal) throw contradiction(top);
      window.pop();
      if (blocks.pop() === undefined) orphaned.push(top);
    }
    throw new ReorgTooDeep(chain, cursor.window.length);
  };

  const began = performance.now();
  const isOver = (): boolean =>
    blocks.length >= maxBlocks || (blocks.length > 0 && performance.now() - began >= budgetMs);
  const head = await source.headHeight();
  await refuseBehind(source, head, window);
  let top = await unwind();
  for (let changes = 0; !isOver(); ) {
    const block = await source.blockAfter(top);
    if (block === null) break;
    if (block.ref.parent === top.hash) {
      top = block.ref;
      window.push(top);
      blocks.push(block);
    } else if (source.isFinal) {
      throw contradiction(top);
    } else {
      changes += 1;
      if (changes > maxChanges) throw new ChainError('inconsistent_chain', `the blocks of ${chain} do not join`);
      top = await unwind();
    }
  }
  return { orphaned, blocks, cursor: { window: window.slice(-reorgWindow) }, head: Math.max(head, top.height) };
}

/** The fault of a node that shows another chain above or instead of a final block. */
function contradiction({ height }: BlockRef): NodeFault {
  return new NodeFault('inconsistent_chain', `contradicts block ${height}, which was final before`);
}

/**
 * Refuses a node that is merely behind. A chain that ends below the cursor, on a block of the
 * cursor, contradicts nothing that was seen. If a shorter chain has won, its next blocks will show
 * it. A newest block where the cursor has an empty height is one of another chain.
 */
async function refuseBehind(source: BlockSource, head: number, window: readonly BlockRef[]): Promise<void> {
  const [bottom, top] = [window.at(0), window.at(-1)];
  if (bottom === undefined || top === undefined || head >= top.height) return;
  const known = window.find(({ height }) => height === head);
  if (head >= bottom.height && (await source.hashAt(head)) !== known?.hash) return;
  throw new ChainError('node_behind', `the node ends at block ${head}, and ${top.height} was seen before`);
}

/**
 * A cursor at a height: its scan begins with the first block above.
 *
 * @param refAt The block at a height, or the nearest one below an empty height. Null above the
 *   newest block.
 * @throws ChainError when the chain is not that high yet.
 */
export async function startCursor(
  refAt: (height: number) => Promise<BlockRef | null>,
  height: number,
): Promise<Cursor> {
  const ref = await refAt(height);
  if (ref === null) throw new ChainError('no_such_block', `there is no block ${height} yet`);
  return { window: [ref] };
}
