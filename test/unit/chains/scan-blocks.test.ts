import fc from 'fast-check';
import { type BlockSource, type ScanLimits, scanBlocks, startCursor } from '../../../src/chains/nodes/scan-blocks.ts';
import { type BlockRef, ChainError, type Cursor, ReorgTooDeep } from '../../../src/chains/port/chain-adapter.ts';

/** A chain in memory, which may change before any question that it is asked. */
class MemoryChain implements BlockSource {
  refs: BlockRef[] = [{ height: 0, hash: '0', parent: '' }];
  before: () => void = () => {};
  readonly isFinal: boolean;
  readonly #gap: (block: number) => number;
  #made = 0;

  /** @param gap The empty heights below each block, by the number of the block. */
  constructor(gap: (block: number) => number = () => 0, isFinal = false) {
    this.#gap = gap;
    this.isFinal = isFinal;
  }

  get top(): BlockRef {
    return this.refs.at(-1) as BlockRef;
  }

  extend(blocks: number): void {
    for (let i = 0; i < blocks; i += 1) {
      this.#made += 1;
      const { height, hash } = this.top;
      this.refs.push({ height: height + 1 + this.#gap(this.#made), hash: `h${this.#made}`, parent: hash });
    }
  }

  reorg(depth: number, blocks = depth): void {
    this.refs.splice(Math.max(1, this.refs.length - depth));
    this.extend(blocks);
  }

  async headHeight(): Promise<number> {
    this.before();
    return this.top.height;
  }

  async hashAt(height: number): Promise<string | null> {
    this.before();
    return this.refs.find((ref) => ref.height === height)?.hash ?? null;
  }

  async blockAfter({ height }: BlockRef) {
    this.before();
    const ref = this.refs.find((each) => each.height > height);
    return ref === undefined ? null : { ref, transfers: [] };
  }

  /** A cursor at a height. */
  start(height: number): Promise<Cursor> {
    const refAt = async (at: number) => this.refs.findLast((ref) => ref.height <= at) ?? null;
    return startCursor(async (at) => (at > this.top.height ? null : refAt(at)), height);
  }
}

const limits = { maxBlocks: 100, reorgWindow: 10 };
const scan = (chain: MemoryChain, cursor: Cursor, changes: Partial<ScanLimits> = {}) => {
  return scanBlocks('test', chain, cursor, { ...limits, ...changes });
};

/** Runs `change` when the source has been asked this many questions. */
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
    const start = await chain.start(0);
    chain.extend(3);
    const { blocks, cursor, head } = await scan(chain, start, { budgetMs: 0 });
    expect(blocks).toHaveLength(1);
    expect(head).toBe(3);
    expect((await scan(chain, cursor, { budgetMs: 0 })).blocks[0]?.ref.height).toBe(2);
  });

  it('starts at an existing block', async () => {
    const chain = new MemoryChain();
    chain.extend(3);
    expect(await chain.start(2)).toEqual({ window: [chain.refs[2]] });
    await expect(chain.start(4)).rejects.toMatchObject({ name: 'ChainError', code: 'no_such_block' });
  });

  it('reports a cursor without blocks as lost', async () => {
    await expect(scan(new MemoryChain(), { window: [] })).rejects.toThrow(ReorgTooDeep);
  });

  it('drops blocks that vanish during the scan', async () => {
    const chain = new MemoryChain();
    chain.extend(2);
    const cursor = await chain.start(0);
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
    const cursor = await chain.start(0);
    chain.refs[2] = { height: 2, hash: 'h2', parent: 'elsewhere' };
    await expect(scan(chain, cursor)).rejects.toMatchObject({ code: 'inconsistent_chain', retryable: true });
  });

  it('treats a chain that ends below the cursor, and agrees so far, as a node that is behind', async () => {
    const chain = new MemoryChain();
    chain.extend(6);
    const { cursor } = await scan(chain, await chain.start(2));
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

  it('always returns connected blocks, with any gaps, and any change between two requests', async () => {
    const change = fc.record({
      questions: fc.integer({ min: 1, max: 30 }),
      depth: fc.integer({ min: 1, max: 6 }),
      blocks: fc.integer({ min: 0, max: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.constantFrom(0, 1, 2, 1_000), { minLength: 1, maxLength: 5 }),
        async (changes, maxBlocks, gaps) => {
          const chain = new MemoryChain((block) => gaps[block % gaps.length] ?? 0);
          let cursor = await chain.start(0);
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

  describe.each([1, 1_000])('on a chain with gaps of %d empty heights', (gap) => {
    const open = (isFinal = false): MemoryChain => new MemoryChain(() => gap, isFinal);

    it('reads each block once, in order', async () => {
      const chain = open();
      chain.extend(7);
      const { blocks, cursor, head } = await scan(chain, await chain.start(0), { maxBlocks: 5 });
      expect(blocks.map(({ ref }) => ref)).toEqual(chain.refs.slice(1, 6));
      expect(head).toBe(7 * (gap + 1));
      const rest = await scan(chain, cursor, { maxBlocks: 5 });
      expect(rest.blocks.map(({ ref }) => ref)).toEqual(chain.refs.slice(6));
      expect((await scan(chain, rest.cursor)).blocks).toEqual([]);
    });

    it('starts at the nearest block below an empty height, and reads the block above it first', async () => {
      const chain = open();
      chain.extend(3);
      const height = 2 * (gap + 1);
      expect(await chain.start(height + gap)).toEqual({ window: [chain.refs[2]] });
      const cursor = await chain.start(height - 1);
      expect(cursor).toEqual({ window: [chain.refs[1]] });
      expect((await scan(chain, cursor)).blocks[0]?.ref).toEqual(chain.refs[2]);
      await expect(chain.start(chain.top.height + 1)).rejects.toMatchObject({ code: 'no_such_block' });
    });

    it('follows a reorg to blocks of other heights, also to a shorter chain', async () => {
      let shift = 0;
      const chain = new MemoryChain(() => gap - shift);
      chain.extend(6);
      const { cursor } = await scan(chain, await chain.start(0));
      shift = 1;
      chain.reorg(2, 1);
      expect(chain.top.height).toBeLessThan(cursor.window.at(-2)?.height ?? 0);
      const result = await scan(chain, cursor);
      expect(result.orphaned).toEqual(cursor.window.slice(-2).reverse());
      expect(result.cursor.window).toEqual(chain.refs);
    });

    it('takes a node that ends on a known block for one that is behind', async () => {
      const chain = open();
      chain.extend(6);
      const { cursor } = await scan(chain, await chain.start(0));
      chain.reorg(2, 0);
      await expect(scan(chain, cursor)).rejects.toMatchObject({ code: 'node_behind' });
    });
  });

  describe('on a source whose blocks are final', () => {
    const contradicts = (height: number) => ({
      name: 'ChainError',
      code: 'inconsistent_chain',
      retryable: true,
      isOfChain: false,
      message: `the node contradicts block ${height}, which was final before`,
    });

    it.each([0, 1_000])('reads blocks with gaps of %d', async (gap) => {
      const chain = new MemoryChain(() => gap, true);
      chain.extend(4);
      const { blocks, orphaned, cursor } = await scan(chain, await chain.start(0));
      expect([blocks.map(({ ref }) => ref), orphaned]).toEqual([chain.refs.slice(1), []]);
      chain.extend(1);
      expect((await scan(chain, cursor)).blocks.map(({ ref }) => ref)).toEqual([chain.top]);
    });

    it('never takes a block back: a node that contradicts an earlier one is at fault', async () => {
      const chain = new MemoryChain(() => 2, true);
      chain.extend(4);
      const { cursor } = await scan(chain, await chain.start(0));
      chain.reorg(2, 3);
      await expect(scan(chain, cursor)).rejects.toMatchObject(contradicts(12));
      // A shorter chain that differs is no better than a longer one.
      chain.reorg(3, 1);
      await expect(scan(chain, cursor)).rejects.toMatchObject(contradicts(12));
    });

    it('refuses a block that does not join the one below', async () => {
      const chain = new MemoryChain(() => 0, true);
      chain.extend(3);
      const cursor = await chain.start(0);
      chain.refs[2] = { height: 2, hash: 'h2', parent: 'elsewhere' };
      await expect(scan(chain, cursor)).rejects.toMatchObject(contradicts(1));
    });

    it('takes a node that ends below what was seen for one that is behind', async () => {
      const chain = new MemoryChain(() => 2, true);
      chain.extend(4);
      const { cursor } = await scan(chain, await chain.start(0));
      chain.reorg(2, 0);
      await expect(scan(chain, cursor)).rejects.toMatchObject({ code: 'node_behind' });
    });
  });
});
