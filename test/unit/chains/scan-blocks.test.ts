import fc from 'fast-check';
import { type BlockSource, type ScanLimits, scanBlocks, startCursor } from '../../../src/chains/nodes/scan-blocks.ts';
import { type BlockRef, ChainError, type Cursor, ReorgTooDeep } from '../../../src/chains/port/chain-adapter.ts';

/** A chain in memory, which may change before any question that it is asked. */
class MemoryChain implements BlockSource {
  refs: BlockRef[] = [{ height: 0, hash: '0', parent: '' }];
  before: () => void = () => {};
  #made = 0;

  extend(blocks: number): void {
    for (let i = 0; i < blocks; i += 1) {
      this.#made += 1;
      this.refs.push({ height: this.refs.length, hash: `h${this.#made}`, parent: this.refs.at(-1)?.hash ?? '' });
    }
  }

  reorg(depth: number, blocks = depth): void {
    this.refs.splice(Math.max(1, this.refs.length - depth));
    this.extend(blocks);
  }

  async headHeight(): Promise<number> {
    this.before();
    return this.refs.length - 1;
  }

  async hashAt(height: number): Promise<string | null> {
    this.before();
    return this.refs[height]?.hash ?? null;
  }

  async block(height: number) {
    this.before();
    const ref = this.refs[height];
    return ref === undefined ? null : { ref, transfers: [] };
  }
}

const limits = { maxBlocks: 100, reorgWindow: 10 };
const scan = (chain: MemoryChain, cursor: Cursor, changes: Partial<ScanLimits> = {}) => {
  return scanBlocks('test', chain, cursor, { ...limits, ...changes });
};

/** Runs `change` when the source has been asked so many questions. */
function after(questions: number, chain: MemoryChain, change: () => void): void {
  let asked = 0;
  chain.before = () => {
    asked += 1;
    if (asked === questions) change();
  };
}

function whenBehind(error: unknown): null {
  if (error instanceof ChainError && error.code === 'node_behind') return null;
  throw error;
}

describe('scanBlocks', () => {
  it('returns the blocks read so far when its time is over', async () => {
    const chain = new MemoryChain();
    const start = await startCursor(chain, 0);
    chain.extend(3);
    const { blocks, cursor, head } = await scan(chain, start, { budgetMs: 0 });
    expect(blocks).toHaveLength(1);
    expect(head).toBe(3);
    expect((await scan(chain, cursor, { budgetMs: 0 })).blocks[0]?.ref.height).toBe(2);
  });

  it('starts at an existing block', async () => {
    const chain = new MemoryChain();
    chain.extend(3);
    expect(await startCursor(chain, 2)).toEqual({ window: [chain.refs[2]] });
    await expect(startCursor(chain, 4)).rejects.toMatchObject({ name: 'ChainError', code: 'no_such_block' });
  });

  it('reports a cursor without blocks as lost', async () => {
    await expect(scan(new MemoryChain(), { window: [] })).rejects.toThrow(ReorgTooDeep);
  });

  it('drops blocks that vanish during the scan', async () => {
    const chain = new MemoryChain();
    chain.extend(2);
    const cursor = await startCursor(chain, 0);
    const { cursor: before } = await scan(chain, cursor);
    chain.extend(4);
    const [first] = chain.refs.slice(3);
    // The head, the top's hash and three new blocks are read; then those three and one old block
    // are replaced.
    after(6, chain, () => chain.reorg(5));
    const result = await scan(chain, before);
    expect(result.orphaned).toEqual(before.window.slice(-1));
    expect(result.blocks.map(({ ref }) => ref)).toEqual(chain.refs.slice(2));
    expect(result.blocks.map(({ ref }) => ref)).not.toContain(first);
    expect(result.cursor.window).toEqual(chain.refs.slice(0));
  });

  it('fails on a node whose blocks do not connect', async () => {
    const chain = new MemoryChain();
    chain.extend(3);
    const cursor = await startCursor(chain, 0);
    chain.refs[2] = { height: 2, hash: 'h2', parent: 'elsewhere' };
    await expect(scan(chain, cursor)).rejects.toMatchObject({ code: 'inconsistent_chain', retryable: true });
  });

  it('treats a chain that ends below the cursor, and agrees so far, as a node that is behind', async () => {
    const chain = new MemoryChain();
    chain.extend(6);
    const { cursor } = await scan(chain, await startCursor(chain, 2));
    chain.reorg(2, 0);
    await expect(scan(chain, cursor)).rejects.toMatchObject({ code: 'node_behind', retryable: true });
    // One other block on top, although still below what was seen, is another chain.
    chain.extend(1);
    const result = await scan(chain, cursor);
    expect(result.orphaned).toEqual(cursor.window.slice(-2).reverse());
    expect(result.cursor.window).toEqual(chain.refs.slice(2));
    // A reorg below the cursor's window cannot be told from a node that is behind.
    chain.reorg(4, 0);
    await expect(scan(chain, cursor)).rejects.toMatchObject({ code: 'node_behind' });
  });

  it('always returns connected blocks, with any change between two requests', async () => {
    const change = fc.record({
      questions: fc.integer({ min: 1, max: 30 }),
      depth: fc.integer({ min: 1, max: 6 }),
      blocks: fc.integer({ min: 0, max: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 12 }),
        fc.integer({ min: 1, max: 12 }),
        async (changes, maxBlocks) => {
          const chain = new MemoryChain();
          let cursor = await startCursor(chain, 0);
          chain.extend(8);
          /** What a reader knows who believes each result. */
          const known: BlockRef[] = [...cursor.window];
          for (const { questions, depth, blocks } of [...changes, { questions: 1, depth: 1, blocks: 1 }]) {
            after(questions, chain, () => chain.reorg(depth, blocks));
            const result = await scan(chain, cursor, { maxBlocks, reorgWindow: 1_000 }).catch(whenBehind);
            if (!result) continue;
            for (const orphan of result.orphaned) expect(known.pop()).toEqual(orphan);
            for (const { ref } of result.blocks) {
              expect(ref.parent).toBe(known.at(-1)?.hash);
              known.push(ref);
            }
            expect(result.cursor.window).toEqual(known);
            expect(result.blocks.length).toBeLessThanOrEqual(maxBlocks);
            cursor = result.cursor;
          }
          chain.before = () => {};
          // It may end below what was seen of it; then only its next blocks tell what became of it.
          chain.extend(8);
          for (let i = 0; i < 100 && known.length < chain.refs.length + 1; i += 1) {
            const result = await scan(chain, cursor, { maxBlocks, reorgWindow: 1_000 });
            known.splice(known.length - result.orphaned.length);
            known.push(...result.blocks.map(({ ref }) => ref));
            cursor = result.cursor;
            if (result.blocks.length === 0) break;
          }
          expect(known).toEqual(chain.refs);
        },
      ),
    );
  });
});
