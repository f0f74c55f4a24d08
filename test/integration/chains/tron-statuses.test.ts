import { randomUUID } from 'node:crypto';
import type { SignedTx, TxStatus } from '../../../src/chains/port/chain-adapter.ts';
import { TronAdapter } from '../../../src/chains/tron/tron-adapter.ts';
import { describeWithAnvil } from '../../support/chains/anvil.ts';
import { type TronHarness, tronHarness } from '../../support/chains/tron-harness.ts';
import type { TronFaults } from '../../support/chains/tron-node/faults.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a node, which the lies change.
type Answer = any;

const count = 50;
let bench: TronHarness;

beforeAll(async () => {
  bench = await tronHarness();
});
afterAll(() => bench.stop());
afterEach(() => {
  for (const node of bench.nodes) node.faults = {};
});

/** An adapter that has seen nothing. */
function freshAdapter(): TronAdapter {
  return new TronAdapter({ network: bench.network, hotWallet: bench.hot, addresses: bench.wallet });
}

async function signed(contract: string | null = null): Promise<SignedTx> {
  const base = { id: randomUUID(), attempt: 1, from: null, tag: null, amount: 100_000n, to: bench.address() };
  const intent = { ...base, contract };
  return bench.sign(intent, await bench.adapter.prepare(intent, new Map()));
}

async function signedMany(amount = count): Promise<SignedTx[]> {
  const txs: SignedTx[] = [];
  while (txs.length < amount) txs.push(await signed());
  return txs;
}

async function broadcastAll(adapter: TronAdapter, txs: readonly SignedTx[]): Promise<void> {
  for (const tx of txs) await adapter.broadcast(tx);
}

/** Reads the blocks above a height, as a worker does before it follows payments. */
async function scanAbove(adapter: TronAdapter, height: number): Promise<void> {
  await adapter.scan(await adapter.start(height), 100);
}

/** The statuses, with the number of requests of each node. */
async function asked(
  adapter: TronAdapter,
  txs: readonly SignedTx[],
): Promise<{ readonly statuses: readonly TxStatus[]; readonly requests: readonly number[] }> {
  for (const node of bench.nodes) node.asked.splice(0);
  const statuses = await adapter.statusAll(txs);
  return { statuses, requests: bench.nodes.map((node) => node.asked.length) };
}

const height = (): number => bench.chain.head.header.number;
const inBlock = (final: boolean): object => ({ state: 'mined', success: true, final });

describeWithAnvil('the broadcast of many payments on Tron', () => {
  const broadcasts = (): number[] =>
    bench.nodes.map(({ asked: paths }) => paths.filter((path) => path.endsWith('broadcasthex')).length);

  it('reaches each node once for each of them', async () => {
    const txs = await signedMany(20);
    for (const node of bench.nodes) node.asked.splice(0);
    const answers = await freshAdapter().broadcastAll(txs);
    // The second node to be asked knows it already.
    expect(answers).toEqual(txs.map(() => ({ outcome: 'accepted', code: null })));
    expect(broadcasts()).toEqual([20, 20]);
    expect(txs.every(({ txid }) => bench.chain.pool.has(txid))).toBe(true);
    await bench.mine(1);
  });

  it('stops after the first ones while no node answers', async () => {
    const txs = await signedMany(20);
    const adapter = freshAdapter();
    await adapter.head();
    for (const node of bench.nodes) {
      node.asked.splice(0);
      node.faults = { transport: 503, paths: /broadcasthex$/ };
    }
    const answers = await adapter.broadcastAll(txs);
    expect(answers.map(({ outcome }) => outcome)).toEqual(txs.map(() => 'uncertain'));
    expect(broadcasts()).toEqual([8, 8]);
  });
});

describeWithAnvil('the statuses of many payments on Tron', () => {
  it('in one block take three requests a poll after a scan, and five of each node when they are final', async () => {
    const adapter = freshAdapter();
    const txs = await signedMany();
    const below = height();
    await broadcastAll(adapter, txs);
    await bench.mine(1);
    await scanAbove(adapter, below);
    for (let poll = 0; poll < 3; poll += 1) {
      const { statuses, requests } = await asked(adapter, txs);
      expect(statuses).toMatchObject(txs.map(() => inBlock(false)));
      expect(requests).toEqual([3, 0]);
      await bench.mine(1);
    }
    await bench.mine(bench.chain.solidLag);
    const final = await asked(adapter, txs);
    expect(final.statuses).toMatchObject(txs.map(() => inBlock(true)));
    expect(final.requests).toEqual([5, 5]);
    // One by one, an adapter that has seen nothing tells the same.
    for (const [index, tx] of txs.entries()) {
      if (index % 10 === 0) expect(await freshAdapter().status(tx)).toEqual(final.statuses[index]);
    }
  });

  it('that no scan has shown take few more requests, once', async () => {
    const txs = await signedMany();
    await broadcastAll(bench.adapter, txs);
    await bench.mine(1);
    const adapter = freshAdapter();
    await adapter.head();
    expect((await asked(adapter, txs)).requests).toEqual([10, 0]);
    expect((await asked(adapter, txs)).requests).toEqual([3, 0]);
  });

  it('in several blocks take one request for each block', async () => {
    const adapter = freshAdapter();
    const txs = await signedMany();
    const below = height();
    for (let start = 0; start < count; start += 10) {
      await broadcastAll(adapter, txs.slice(start, start + 10));
      await bench.mine(1);
    }
    await scanAbove(adapter, below);
    const { statuses, requests } = await asked(adapter, txs);
    expect(statuses.map((status) => 'height' in status && status.height - below)).toEqual(
      txs.map((_tx, index) => 1 + Math.floor(index / 10)),
    );
    expect(requests).toEqual([7, 0]);
  });

  it('that wait take one request each, and one more', async () => {
    const adapter = freshAdapter();
    const txs = await signedMany();
    await broadcastAll(adapter, txs);
    for (const { txid } of txs) bench.chain.held.add(txid);
    await bench.mine(1);
    await adapter.head();
    const { statuses, requests } = await asked(adapter, txs);
    expect(statuses).toMatchObject(txs.map(() => ({ state: 'waiting' })));
    expect(requests).toEqual([count + 1, 0]);
    for (const { txid } of txs) bench.chain.held.delete(txid);
    await bench.mine(1);
  });

  it('follow a reorg: seen in a block that is gone, in none, and in a later one', async () => {
    const adapter = freshAdapter();
    const txs = await signedMany(3);
    const below = height();
    await broadcastAll(adapter, txs);
    await bench.mine(1);
    await scanAbove(adapter, below);
    expect((await asked(adapter, txs)).statuses).toMatchObject(txs.map(() => inBlock(false)));
    await bench.reorg(1);
    expect((await asked(adapter, txs)).statuses).toMatchObject(txs.map(() => ({ state: 'waiting' })));
    await bench.mine(1);
    const later = (await asked(adapter, txs)).statuses;
    expect(later).toMatchObject(txs.map(() => ({ ...inBlock(false), height: below + 2 })));
  });

  describe('with a second node', () => {
    /** Two payments in their own blocks, both final. */
    async function paidTwice(): Promise<readonly [SignedTx, SignedTx]> {
      const txs = [await signed(), await signed()] as const;
      for (const tx of txs) {
        await bench.adapter.broadcast(tx);
        await bench.mine(1);
      }
      await bench.mine(bench.chain.solidLag);
      return txs;
    }

    const lies: readonly (readonly [string, (txid: string) => TronFaults])[] = [
      [
        'lacks its result',
        (txid) => ({
          rewrite: (_path, answer: Answer) =>
            Array.isArray(answer) ? answer.filter(({ id }: Answer) => id !== txid) : answer,
        }),
      ],
      [
        'tells of another failure',
        (txid) => ({
          rewrite: (_path, answer: Answer) =>
            Array.isArray(answer)
              ? answer.map((one: Answer) => (one.id === txid ? { ...one, result: 'FAILED' } : one))
              : answer,
        }),
      ],
    ];
    it.each(lies)('that %s, one payment is not final and the other one is', async (_name, lie) => {
      const [one, other] = await paidTwice();
      bench.nodes[1].faults = lie(one.txid);
      const { statuses } = await asked(freshAdapter(), [one, other]);
      expect(statuses).toMatchObject([inBlock(false), inBlock(true)]);
    });

    it('that lacks an index, an expired payment is not dead for good, and one in a block is final', async () => {
      const { chain } = bench;
      const dead = await signed();
      const expiresAt = dead.expiresAt && 'timeMs' in dead.expiresAt ? dead.expiresAt.timeMs : 0;
      await chain.pay(chain.address(), null, 1n);
      chain.setTime(expiresAt);
      await chain.mine(1 + chain.solidLag);
      const paid = await signed();
      await bench.adapter.broadcast(paid);
      await bench.mine(1 + chain.solidLag);
      const lie: TronFaults = {
        rewrite: (path, answer: Answer) => (/gettransaction(info)?byid$/.test(path) ? {} : answer),
      };
      bench.nodes[1].faults = lie;
      const died = { state: 'dead', why: 'expired' };
      const { statuses } = await asked(freshAdapter(), [dead, paid]);
      expect(statuses).toMatchObject([{ ...died, final: false }, inBlock(true)]);
      bench.nodes[1].faults = {};
      expect((await asked(freshAdapter(), [dead, paid])).statuses).toMatchObject([
        { ...died, final: true },
        inBlock(true),
      ]);
    });
  });

  it('do not rest on what a scan was told when they become final', async () => {
    const adapter = freshAdapter();
    const tx = await signed(bench.token);
    const below = height();
    await adapter.broadcast(tx);
    await bench.mine(1);
    // The node tells another amount while the block is scanned, and the truth later.
    const [node] = bench.nodes;
    node.faults = { log: (log) => ({ ...log, data: `${'0'.repeat(63)}1` }) };
    await scanAbove(adapter, below);
    node.faults = {};
    const seen = { state: 'mined', success: false, problem: 'short_transfer', final: false };
    expect((await asked(adapter, [tx])).statuses).toMatchObject([seen]);
    await bench.mine(bench.chain.solidLag);
    expect((await asked(adapter, [tx])).statuses).toMatchObject([inBlock(true)]);
  });
});
