import {
  ChainError,
  ReorgTooDeep,
  type ScannedBlock,
  type Transfer,
} from '../../../../src/chains/port/chain-adapter.ts';
import { type Bench, transfersOf } from './bench.ts';

export function describeScanning(bench: Bench): void {
  describe('scanning', () => {
    bench.test('begins above its start and finds each block once, in order', ['every block'], async () => {
      const before = await bench.chain.pay(await bench.receiver(), null, null, bench.unit);
      await bench.chain.mine(2);
      const cursor = await bench.startHere();
      const start = cursor.window.at(-1);
      const txid = await bench.chain.pay(await bench.receiver(), null, null, bench.unit);
      await bench.chain.mine(3);

      const first = await bench.adapter.scan(cursor, 2);
      const second = await bench.adapter.scan(first.cursor, 2);
      const third = await bench.adapter.scan(second.cursor, 2);
      expect([first, second, third].map(({ blocks }) => blocks.length)).toEqual([2, 1, 0]);
      expect([first, second, third].flatMap(({ orphaned }) => orphaned)).toEqual([]);

      const refs = [...first.blocks, ...second.blocks].map(({ ref }) => ref);
      expect(refs.map(({ parent }) => parent)).toEqual([start, ...refs.slice(0, -1)].map((ref) => ref?.hash));
      expect(refs.at(-1)).toEqual(await bench.adapter.head());
      for (const [index, { timeMs = 0 }] of refs.entries()) {
        expect(timeMs).toBeGreaterThanOrEqual(refs[index - 1]?.timeMs ?? start?.timeMs ?? 0);
        expect(timeMs).toBeGreaterThan(Date.UTC(2009, 0, 3));
        expect(timeMs).toBeLessThanOrEqual(Date.now() + bench.adapter.blockToleranceSec * 1_000);
      }
      expect(first.head).toBe((await bench.adapter.head()).height);
      const txids = transfersOf(first, second).map((transfer) => transfer.txid);
      expect(txids).toContain(txid);
      expect(txids).not.toContain(before);
    });

    bench.test('finds every transfer of a block, with tag and token', [], async () => {
      const cursor = await bench.startHere();
      const to = await bench.receiver();
      const wanted = [
        { tag: null, contract: null, amount: 1n * bench.unit },
        { tag: null, contract: null, amount: 2n * bench.unit },
        ...(bench.chain.tag === null ? [] : [{ tag: bench.chain.tag, contract: null, amount: 3n * bench.unit }]),
        ...(bench.chain.token === null ? [] : [{ tag: null, contract: bench.chain.token, amount: 4n * bench.unit }]),
      ];
      const txids: string[] = [];
      for (const { tag, contract, amount } of wanted) txids.push(await bench.chain.pay(to, tag, contract, amount));
      await bench.chain.mine(1);

      const found = transfersOf(await bench.adapter.scan(cursor, 10)).filter(({ address }) => address === to);
      expect(found.map(({ tag, contract, amount }) => ({ tag, contract, amount })).sort(byAmount)).toEqual(wanted);
      expect(found.map(({ txid }) => txid).sort()).toEqual([...txids].sort());
      expect(new Set(found.map(({ key }) => key)).size).toBe(wanted.length);
    });

    bench.test('keeps no more of the chain than its window', ['every block'], async () => {
      const cursor = await bench.startHere();
      await bench.chain.mine(bench.adapter.reorgWindow + 3);
      const { cursor: next, blocks } = await bench.adapter.scan(cursor, bench.adapter.reorgWindow + 3);
      expect(next.window).toEqual(blocks.slice(-bench.adapter.reorgWindow).map(({ ref }) => ref));
    });

    for (const depth of [1, 4]) {
      bench.test(
        `follows a reorganisation of ${depth} blocks and finds the same transfer again`,
        ['reorgs'],
        async () => {
          const cursor = await bench.startHere();
          await bench.chain.mine(1);
          const to = await bench.receiver();
          await bench.chain.pay(to, null, null, bench.unit);
          await bench.chain.mine(depth);
          const before = await bench.adapter.scan(cursor, 20);
          const [found] = transfersOf(before).filter(({ address }) => address === to);
          expect(found).toBeDefined();

          await bench.chain.reorg(depth);
          const after = await bench.adapter.scan(before.cursor, 20);
          expect(after.orphaned).toEqual(before.cursor.window.slice(-depth).reverse());
          expect(after.blocks).toHaveLength(depth);
          expect(transfersOf(after).filter(({ address }) => address === to)).toEqual([]);
          if (bench.family.traits.mempool) expect(await bench.pendingTo(to)).toEqual([found]);

          await bench.chain.mine(1);
          const again = await bench.adapter.scan(after.cursor, 20);
          expect(again.orphaned).toEqual([]);
          expect(transfersOf(again).filter(({ address }) => address === to)).toEqual([found]);
        },
      );
    }

    bench.test('unwinds when the chain has become shorter', ['reorgs'], async () => {
      const cursor = await bench.startHere();
      await bench.chain.mine(4);
      const before = await bench.adapter.scan(cursor, 20);
      await bench.chain.reorg(3, 1);
      const after = await bench.adapter.scan(before.cursor, 20);
      expect(after.orphaned).toEqual(before.cursor.window.slice(-3).reverse());
      expect(after.blocks).toHaveLength(1);
      expect(after.head).toBe((await bench.adapter.head()).height);
      expect(after.head).toBeLessThan(before.head);
      await bench.chain.mine(5);
      const later = await bench.adapter.scan(after.cursor, 20);
      expect(later.orphaned).toEqual([]);
      expect(later.blocks).toHaveLength(5);
    });

    bench.test('does not go on when nothing of its window is left', ['reorgs'], async () => {
      await bench.chain.mine(2);
      const onlyStart = await bench.startHere();
      await bench.chain.reorg(1);
      await expect(bench.adapter.scan(onlyStart, 10)).rejects.toThrow(ReorgTooDeep);

      const cursor = await bench.startHere();
      await bench.chain.mine(3);
      const { cursor: next } = await bench.adapter.scan(cursor, 10);
      await bench.chain.reorg(4);
      await expect(bench.adapter.scan(next, 10)).rejects.toThrow(ReorgTooDeep);
    });

    bench.test('shows a transfer as pending until it is in a block', ['mempool'], async () => {
      const cursor = await bench.startHere();
      const to = await bench.receiver();
      const txid = await bench.chain.pay(to, null, null, bench.unit);
      const pending = await bench.pendingTo(to);
      expect(pending).toHaveLength(1);
      expect((await bench.waiting([txid])).left).toEqual(new Set());
      expect(transfersOf(await bench.adapter.scan(cursor, 10))).toEqual([]);
      expect(await bench.balance(to)).toBe(0n);
      await bench.chain.mine(1);
      expect(await bench.pendingTo(to)).toEqual([]);
      expect((await bench.waiting([txid])).left).toEqual(new Set([txid]));
      expect(transfersOf(await bench.adapter.scan(cursor, 10)).filter(({ address }) => address === to)).toEqual(
        pending,
      );
      expect(await bench.balance(to)).toBe(bench.unit);
    });

    bench.test('never takes back a block, and calls a node that does so faulty', ['final blocks'], async () => {
      const cursor = await bench.startHere();
      const to = await bench.receiver();
      await bench.chain.pay(to, null, null, bench.unit);
      await bench.chain.mine(3);
      const before = await bench.adapter.scan(cursor, 20);
      expect(transfersOf(before).filter(({ address }) => address === to)).toHaveLength(1);

      for (const depth of [1, 2]) {
        await bench.chain.reorg(depth, depth + 1);
        const fault = await bench.adapter.scan(before.cursor, 20).catch((error: unknown) => error);
        expect(fault).toBeInstanceOf(ChainError);
        expect(fault).not.toBeInstanceOf(ReorgTooDeep);
        expect(fault).toMatchObject({ retryable: true });
      }
    });

    bench.test('finds the same in 100 blocks that it reads again', ['every block'], async () => {
      const cursor = await bench.startHere();
      const to = await bench.receiver();
      for (let place = 0; place < 5; place += 1) {
        await bench.chain.pay(to, null, null, bench.unit);
        await bench.chain.mine(20);
      }
      const read = async (atOnce: number): Promise<readonly ScannedBlock[]> => {
        const blocks: ScannedBlock[] = [];
        for (let at = cursor; ; ) {
          const scanned = await bench.adapter.scan(at, atOnce);
          expect(scanned.orphaned).toEqual([]);
          if (scanned.blocks.length === 0) return blocks;
          blocks.push(...scanned.blocks);
          at = scanned.cursor;
        }
      };
      const first = await read(100);
      expect(first).toHaveLength(100);
      expect(first.flatMap(({ transfers }) => transfers).filter(({ address }) => address === to)).toHaveLength(5);
      expect(await read(37)).toEqual(first);
    });

    bench.test('reads amounts beyond 2^53 to the last unit', ['large amounts'], async () => {
      const cursor = await bench.startHere();
      const to = await bench.receiver();
      const other = bench.chain.address();
      const amount = 2n ** 53n + 1n;
      const contracts = bench.chain.token === null ? [null] : [null, bench.chain.token];
      for (const contract of contracts) {
        for (const address of [to, other]) await bench.chain.pay(address, null, contract, amount);
      }
      await bench.chain.mine(1);
      const found = transfersOf(await bench.adapter.scan(cursor, 10)).filter(({ address }) => address === to);
      expect(found.map((transfer) => transfer.amount)).toEqual(contracts.map(() => amount));
      for (const contract of contracts) expect(await bench.balance(other, contract)).toBe(amount);
    });
  });
}

function byAmount(a: Pick<Transfer, 'amount'>, b: Pick<Transfer, 'amount'>): number {
  return a.amount < b.amount ? -1 : 1;
}
