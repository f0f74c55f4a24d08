import type { ScannedBlock } from '../../../../src/chains/port/chain-adapter.ts';
import { type Bench, costsOf, transfersOf } from './bench.ts';

/** Of chains whose scan finds what comes to the hot wallet, and leaves out other blocks. */
export function describeOwnBlocks(bench: Bench): void {
  describe('scanning blocks of ours', () => {
    bench.test('finds each once, in order, and the newest block', ['own blocks only'], async () => {
      const to = await bench.receiver();
      const before = await bench.chain.pay(to, null, null, bench.unit);
      await bench.chain.mine(2);
      const cursor = await bench.startHere();
      const txids: string[] = [];
      for (const blocks of [2, 1, 3]) {
        txids.push(await bench.chain.pay(to, null, null, bench.unit));
        await bench.chain.mine(blocks);
        await bench.chain.pay(bench.chain.address(), null, null, bench.unit);
        await bench.chain.mine(1);
      }
      const first = await bench.adapter.scan(cursor, 2);
      const second = await bench.adapter.scan(first.cursor, 2);
      const third = await bench.adapter.scan(second.cursor, 2);
      expect([first, second, third].map(({ blocks }) => blocks.length)).toEqual([2, 2, 0]);
      const refs = [...first.blocks, ...second.blocks].map(({ ref }) => ref);
      const parents = [cursor.window.at(-1), ...refs.slice(0, -1)];
      expect(refs.map(({ parent }) => parent)).toEqual(parents.map((ref) => ref?.hash));
      for (const [index, { height, timeMs = 0 }] of refs.entries()) {
        expect(height).toBeGreaterThan(parents[index]?.height ?? 0);
        expect(timeMs).toBeGreaterThanOrEqual(parents[index]?.timeMs ?? 0);
      }
      const head = await bench.adapter.head();
      expect(refs.at(-1)).toMatchObject({ height: head.height, hash: head.hash });
      expect([second.head, second.final]).toEqual([head.height, head.height]);
      const found = transfersOf(first, second).map(({ txid }) => txid);
      expect(found).toEqual(txids);
      expect(found).not.toContain(before);
    });

    bench.test('keeps no more of them than its window', ['own blocks only'], async () => {
      const cursor = await bench.startHere();
      for (let made = 0; made < bench.adapter.reorgWindow + 3; made += 1) {
        await bench.chain.pay(await bench.receiver(), null, null, bench.unit);
        await bench.chain.mine(1);
      }
      const { cursor: next, blocks } = await bench.adapter.scan(cursor, bench.adapter.reorgWindow + 10);
      expect(blocks.length).toBeGreaterThanOrEqual(bench.adapter.reorgWindow + 3);
      expect(next.window).toEqual(blocks.slice(-bench.adapter.reorgWindow).map(({ ref }) => ref));
    });

    bench.test('finds the same in all that it reads again, in steps of any size', ['own blocks only'], async () => {
      const cursor = await bench.startHere();
      for (let place = 0; place < 5; place += 1) {
        await bench.chain.pay(await bench.receiver(), null, null, bench.unit);
        await bench.chain.mine(20);
      }
      const read = async (atOnce: number): Promise<readonly ScannedBlock[]> => {
        const blocks: ScannedBlock[] = [];
        for (let at = cursor; ; ) {
          const scanned = await bench.adapter.scan(at, atOnce);
          if (scanned.blocks.length === 0) return blocks;
          blocks.push(...scanned.blocks);
          at = scanned.cursor;
        }
      };
      const first = await read(100);
      expect(first.flatMap(({ transfers }) => transfers)).toHaveLength(5);
      expect(costsOf({ blocks: first })).toBeGreaterThan(0n);
      for (const atOnce of [1, 2, 4]) expect(await read(atOnce)).toEqual(first);
    });
  });
}
