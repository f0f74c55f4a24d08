import { randomUUID } from 'node:crypto';
import {
  ChainError,
  type PaymentIntent,
  type SignedTx,
  type TxStatus,
} from '../../../src/chains/port/chain-adapter.ts';
import { TronAdapter } from '../../../src/chains/tron/tron-adapter.ts';
import { describeWithAnvil } from '../../support/chains/anvil.ts';
import { type TronHarness, tronHarness } from '../../support/chains/tron-harness.ts';
import type { TronFaults } from '../../support/chains/tron-node/faults.ts';
import { startTron, type TronNode } from '../../support/chains/tron-node.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a node, which the lies change.
type Answer = any;
type Rewrite = NonNullable<TronFaults['rewrite']>;
/** What a node tells of a payment, besides the truth. */
type Lie = (tx: SignedTx) => TronFaults | Promise<TronFaults>;

let bench: TronHarness;

beforeAll(async () => {
  bench = await tronHarness();
});
afterAll(() => bench.stop());
afterEach(() => {
  for (const node of bench.nodes) node.faults = {};
});

function adapterOf(nodes: readonly TronNode[], changes: object = {}): TronAdapter {
  const network = { ...bench.network, nodes: nodes.map(({ config }) => config), ...changes };
  return new TronAdapter({ network, hotWallet: bench.hot, addresses: bench.wallet, rpc: { timeoutMs: 60_000 } });
}

function intent(contract: string | null = null, changes: Partial<PaymentIntent> = {}): PaymentIntent {
  const base = { id: randomUUID(), attempt: 1, from: null, tag: null, amount: 100_000n, to: bench.address() };
  return { ...base, contract, ...changes };
}

async function signed(contract: string | null = null): Promise<SignedTx> {
  const payment = intent(contract);
  return bench.sign(payment, await bench.adapter.prepare(payment, new Map()));
}

function expiryMs({ expiresAt }: SignedTx): number {
  if (expiresAt === null || !('timeMs' in expiresAt)) throw new Error('it has no time');
  return expiresAt.timeMs;
}

/** The newest final block has this time. */
async function makeFinal(timeMs: number): Promise<void> {
  const { chain } = bench;
  // A block before it holds a transaction, so that the index of a node can be tried.
  await chain.pay(chain.address(), null, 1n);
  await chain.mine();
  chain.setTime(timeMs);
  await chain.mine(1 + chain.solidLag);
}

/** A payment that is final in a block, that waits, or that expired for good. */
const truths: Readonly<Record<'paid' | 'waiting' | 'expired', () => Promise<SignedTx>>> = {
  paid: async () => {
    const tx = await signed(bench.token);
    await bench.adapter.broadcast(tx);
    await bench.mine(1 + bench.chain.solidLag);
    return tx;
  },
  waiting: () => signed(bench.token),
  expired: async () => {
    const tx = await signed(bench.token);
    await makeFinal(expiryMs(tx));
    return tx;
  },
};

const ofTx = (path: string): boolean => /gettransaction(info)?byid$/.test(path);
const ofResults = (path: string): boolean => /gettransactioninfobyblocknum$/.test(path);

/** The answers about one transaction, changed, also among the results of a block. */
function about(txid: string, change: (answer: Answer) => unknown): Rewrite {
  const changed = (answer: Answer): unknown => (answer.id === txid || answer.txID === txid ? change(answer) : answer);
  return (path, answer) => {
    if (ofResults(path) && Array.isArray(answer)) return answer.map(changed);
    return ofTx(path) ? changed(answer) : answer;
  };
}

/** Tells of the transaction as of one in a final block, against the truth. */
function invented(tx: SignedTx, { isSuccess, inBlock }: { isSuccess: boolean; inBlock: boolean }): TronFaults {
  const at = bench.chain.blocks[bench.chain.solidNumber - 2];
  if (!at) throw new Error('the chain is too short');
  const { number, timestamp } = at.header;
  const raw_data_hex = rawOf(tx);
  const info = {
    ...{ id: tx.txid, fee: 5n, blockNumber: number, blockTimeStamp: timestamp },
    receipt: { result: isSuccess ? 'SUCCESS' : 'OUT_OF_ENERGY' },
    ...(isSuccess ? { log: [transferOf(raw_data_hex)] } : { result: 'FAILED' }),
  };
  const ret = [{ contractRet: isSuccess ? 'SUCCESS' : 'OUT_OF_ENERGY' }];
  const entry = { txID: tx.txid, raw_data_hex, signature: [tx.raw.slice(-130)], ret };
  let last = '';
  return {
    before: (path) => {
      last = path;
    },
    rewrite: (path, answer: Answer) => {
      if (/gettransactioninfobyid$/.test(last) && Object.keys(answer).length === 0) return info;
      if (inBlock && ofResults(path)) {
        const isOfBlock = answer.length === 0 || answer[0].blockNumber === number;
        return isOfBlock ? [...answer, info] : answer;
      }
      const isBlock = inBlock && /getblock$/.test(path) && answer.block_header?.raw_data.number === number;
      return isBlock ? { ...answer, transactions: [...(answer.transactions ?? []), entry] } : answer;
    },
  };
}

/** The bytes that are signed: the first field, with a length of one or two bytes. */
function rawOf({ raw }: SignedTx): string {
  const bytes = Buffer.from(raw, 'hex');
  const [low = 0, high = 0] = [bytes[1], bytes[2]];
  const isLong = low >= 0x80;
  const length = isLong ? (low & 0x7f) + high * 128 : low;
  const from = isLong ? 3 : 2;
  return bytes.subarray(from, from + length).toString('hex');
}

function transferOf(raw: string): object {
  const [, to = '', amount = ''] = /a9059cbb(.{64})(.{64})/.exec(raw) ?? [];
  const token = raw.slice(raw.indexOf('1215', raw.indexOf('0a1541')) + 4).slice(2, 42);
  const from = raw.slice(raw.indexOf('0a1541') + 6).slice(0, 40);
  const topic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  return { address: token, topics: [topic, from.padStart(64, '0'), to], data: amount };
}

const lies: Readonly<Record<string, Lie>> = {
  'knows nothing of it': ({ txid }) => ({ rewrite: about(txid, () => ({})) }),
  'knows no transaction at all': () => ({ rewrite: (path, answer) => (ofTx(path) ? {} : answer) }),
  'has an old head': () => ({ lag: 700 }),
  'stands still': () => ({ stuckAt: 21 }),
  'serves another chain': () => ({ chain: startTron({ seed: 'another' }) }),
  'has lost its history': () => ({ forgetsBelow: bench.chain.head.header.number - 2 }),
  'has a final head ahead of the truth': () => ({ solidShift: 19 }),
  'has a final head that went back': () => ({ solidShift: -30 }),
  'has an older final head from question to question': () => {
    let shift = 0;
    const faults: TronFaults = {};
    faults.before = () => {
      shift -= 1;
      faults.solidShift = shift;
    };
    return faults;
  },
  'has heads of the far future': () => ({
    rewrite: (path, answer: Answer) => (/getblock$/.test(path) && isHead(answer) ? later(answer) : answer),
  }),
  'tells the result of another block': ({ txid }) => ({
    rewrite: about(txid, (answer) => ({ ...answer, blockNumber: 3 })),
  }),
  'tells the result of another transaction': ({ txid }) => ({
    rewrite: about(txid, (answer) => ({ ...answer, id: 'f'.repeat(64) })),
  }),
  'tells that it failed': ({ txid }) => ({
    rewrite: about(txid, (answer) => ({ ...answer, result: 'FAILED', receipt: { result: 'OUT_OF_ENERGY' } })),
  }),
  'tells that it failed, with a block that says so': ({ txid }) => ({
    rewrite: (path, answer: Answer) => {
      const block = answer.transactions?.map((one: Answer) =>
        one.txID === txid ? { ...one, ret: [{ contractRet: 'REVERT' }] } : one,
      );
      if (block) return { ...answer, transactions: block };
      return about(txid, (one) => ({ ...one, result: 'FAILED', receipt: { result: 'REVERT' } }))(path, answer);
    },
  }),
  'hides its logs': ({ txid }) => ({ rewrite: about(txid, (answer) => ({ ...answer, log: [] })) }),
  'tells another amount': () => ({ log: (log) => ({ ...log, data: `${'0'.repeat(63)}1` }) }),
  'invents a result': (tx) => invented(tx, { isSuccess: true, inBlock: false }),
  'invents a failure': (tx) => invented(tx, { isSuccess: false, inBlock: false }),
  'invents a result with its block': (tx) => invented(tx, { isSuccess: true, inBlock: true }),
  'invents a failure with its block': (tx) => invented(tx, { isSuccess: false, inBlock: true }),
  'shows blocks without transactions': () => ({
    rewrite: (path, answer: Answer) => {
      if (ofTx(path)) return {};
      return 'transactions' in answer ? { ...answer, transactions: [] } : answer;
    },
  }),
  'does not answer': () => ({ transport: 503 }),
  'is too busy for results': () => ({ transport: 'busy', paths: /byid$/ }),
};

/** Whether a block is the newest one, or the newest final one. */
function isHead({ block_header }: Answer): boolean {
  const number = block_header?.raw_data.number ?? 0;
  return number === bench.chain.head.header.number || number === bench.chain.solidNumber;
}

/** A header of a far later time; its id does not follow from it. */
function later(answer: Answer): Answer {
  const raw_data = { ...answer.block_header.raw_data, timestamp: 4_000_000_000_000 };
  return { ...answer, block_header: { ...answer.block_header, raw_data } };
}

async function statusOf(adapter: TronAdapter, tx: SignedTx): Promise<TxStatus | 'fault'> {
  try {
    return await adapter.status(tx);
  } catch (error) {
    if (error instanceof ChainError) return 'fault';
    throw error;
  }
}

/** Whether money could be lost by a status, if the truth is this one. */
function isDangerous(truth: keyof typeof truths, status: TxStatus | 'fault'): boolean {
  if (status === 'fault' || !('final' in status) || !status.final) return false;
  if (truth === 'paid') return status.state === 'dead' || !status.success;
  return truth === 'waiting' || status.state === 'mined';
}

describeWithAnvil('what Tron nodes tell of a payment', () => {
  for (const truth of ['paid', 'waiting', 'expired'] as const) {
    describe(`that is ${truth}`, () => {
      let tx: SignedTx;
      beforeAll(async () => {
        tx = await truths[truth]();
      });

      it('is the truth with two honest nodes, and with an honest one', async () => {
        const expected = {
          paid: { state: 'mined', success: true, final: true },
          waiting: { state: 'waiting' },
          expired: { state: 'dead', final: true },
        }[truth];
        expect(await adapterOf(bench.nodes).status(tx)).toMatchObject(expected);
        const lone = truth === 'expired' ? { state: 'dead', final: false } : expected;
        expect(await adapterOf([bench.nodes[0]]).status(tx)).toMatchObject(lone);
      });

      it.each(Object.entries(lies))('is never taken for another by a node that %s', async (_name, lie) => {
        const [one, other] = bench.nodes;
        one.faults = await lie(tx);
        for (const nodes of [
          [one, other],
          [other, one],
        ]) {
          const status = await statusOf(adapterOf(nodes), tx);
          expect([status, isDangerous(truth, status)]).toEqual([status, false]);
        }
      });

      it('is not final when the second node is away, or is the first one again', async () => {
        const [one, other] = bench.nodes;
        other.faults = { transport: 503 };
        expect(await adapterOf([one, other]).status(tx)).not.toMatchObject({ final: true });
        // Nodes at one address have one operator, so that the rules of a lone node hold.
        const lone = await adapterOf([one]).status(tx);
        expect(await adapterOf([one, one]).status(tx)).toEqual(lone);
      });
    });
  }

  it('lists what a lone node that lies can do', async () => {
    const [node] = bench.nodes;
    const can: string[] = [];
    for (const truth of ['paid', 'waiting', 'expired'] as const) {
      node.faults = {};
      const tx = await truths[truth]();
      for (const [name, lie] of Object.entries(lies)) {
        node.faults = await lie(tx);
        if (isDangerous(truth, await statusOf(adapterOf([node]), tx))) can.push(`${truth}: ${name}`);
      }
    }
    expect(can).toEqual([
      'paid: tells that it failed, with a block that says so',
      'paid: hides its logs',
      'paid: tells another amount',
      'waiting: invents a result with its block',
      'waiting: invents a failure with its block',
      'expired: invents a result with its block',
      'expired: invents a failure with its block',
    ]);
  });
});

describeWithAnvil('the death of a payment on Tron', () => {
  const dead = (final: boolean): object => ({ state: 'dead', why: 'expired', final });

  it('is final when the newest final block has the time of the expiration, and not 1 ms before', async () => {
    const tx = await signed();
    await makeFinal(expiryMs(tx) - 1);
    expect(await bench.adapter.status(tx)).toEqual(dead(false));
    await bench.mine(1);
    expect(await bench.adapter.status(tx)).toEqual(dead(true));
    const exact = await signed();
    await makeFinal(expiryMs(exact));
    expect(await bench.adapter.status(exact)).toEqual(dead(true));
  });

  it.each([
    [59_999, false],
    [60_000, true],
  ])('needs 60 s more with one node: %i ms', async (more, isFinal) => {
    const tx = await signed();
    await makeFinal(expiryMs(tx) + more);
    expect(await adapterOf([bench.nodes[0]]).status(tx)).toEqual(dead(isFinal));
  });

  it('needs the final head of both nodes', async () => {
    const tx = await signed();
    await makeFinal(expiryMs(tx));
    const [one, other] = bench.nodes;
    other.faults = { solidShift: -1 };
    expect(await adapterOf([one, other]).status(tx)).toEqual(dead(false));
    expect(await adapterOf([other, one]).status(tx)).toEqual(dead(false));
  });

  it('does not come to one in a block after its expiration, and waits after a reorg took it away', async () => {
    const { chain } = bench;
    const tx = await signed();
    chain.setTime(expiryMs(tx) - 1);
    await chain.mine();
    await bench.adapter.broadcast(tx);
    chain.setTime(expiryMs(tx) + 2_999);
    await chain.mine();
    const paid = { state: 'mined', success: true };
    expect(await bench.adapter.status(tx)).toMatchObject({ ...paid, final: false });
    await chain.reorg(1);
    // The newest block has passed the expiration, and another fork could still hold it.
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'dead', final: false });
    await chain.reorg(2, 1);
    await bench.adapter.broadcast(tx);
    await chain.mine(1);
    const again = await bench.adapter.status(tx);
    expect(again.state).toMatch(/^(mined|dead)$/);
    await chain.mine(chain.solidLag);
    const isIn = chain.blockOf(tx.txid) !== null;
    expect(await bench.adapter.status(tx)).toMatchObject(isIn ? { ...paid, final: true } : dead(true));
  });

  describe('while the chain stands still from before its expiration to long after it', () => {
    /** The chain stops 1 ms before the expiration. */
    const halted = async (payment: PaymentIntent) => {
      const { chain } = bench;
      await chain.pay(chain.address(), null, 1n);
      await chain.mine();
      const prepared = await bench.adapter.prepare(payment, new Map());
      const tx = await bench.sign(payment, prepared);
      chain.setTime(expiryMs(tx) - 1);
      await chain.mine();
      const { payload, reserves, expiresAt } = prepared;
      const earlier = [{ payload, reserves, expiresAt, why: 'expired' as const }];
      const further = () => bench.adapter.prepare({ ...payment, attempt: 2 }, new Map(), earlier);
      return { tx, further };
    };
    /** The chain goes on 2 hours later. */
    const goOn = async (tx: SignedTx): Promise<void> => {
      bench.chain.setTime(expiryMs(tx) + 7_200_000);
      await bench.chain.mine();
    };
    const final = async (): Promise<void> => {
      const { solidLag } = bench.chain;
      // The newest final block is the first one after the halt, and then a later one.
      await bench.chain.mine(solidLag);
    };

    it('it waits, and the first block after the halt may hold it: it is mined and never dead', async () => {
      const payment = intent();
      const { tx, further } = await halted(payment);
      await bench.adapter.broadcast(tx);
      expect(await bench.adapter.status(tx)).toMatchObject({ state: 'waiting' });
      await expect(further()).rejects.toMatchObject({ code: 'earlier_may_confirm' });
      await goOn(tx);
      expect(bench.chain.blockOf(tx.txid)).toBe(bench.chain.head);
      expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', final: false });
      await final();
      expect(bench.chain.solidNumber).toBe(bench.chain.blockOf(tx.txid)?.header.number);
      expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', success: true, final: true });
      await expect(further()).rejects.toMatchObject({ code: 'earlier_may_confirm' });
      expect(await bench.chain.balance(payment.to)).toBe(payment.amount);
    });

    it.each([0, 1])('a first block after the halt that node %i hides it in is no death', async (index) => {
      const { tx, further } = await halted(intent());
      await bench.adapter.broadcast(tx);
      await goOn(tx);
      await final();
      const node = bench.nodes[index] as TronNode;
      node.faults = { rewrite: about(tx.txid, () => ({})) };
      expect(isDangerous('paid', await statusOf(bench.adapter, tx))).toBe(false);
      await expect(further()).rejects.toBeInstanceOf(ChainError);
    });

    it('and the first block after the halt does not hold it, it is dead, and nothing later can take it', async () => {
      const payment = intent();
      const { tx, further } = await halted(payment);
      await goOn(tx);
      expect(await bench.adapter.status(tx)).toEqual(dead(false));
      await bench.adapter.broadcast(tx);
      await final();
      expect(await bench.adapter.status(tx)).toEqual(dead(true));
      await bench.adapter.broadcast(tx);
      const second = await bench.sign({ ...payment, attempt: 2 }, await further());
      await bench.adapter.broadcast(second);
      for (let round = 0; round < 3; round += 1) await bench.chain.mine();
      expect(bench.chain.blockOf(tx.txid)).toBe(null);
      expect(await bench.chain.balance(payment.to)).toBe(payment.amount);
    });
  });

  it('is found in a chain that stood still, with few questions', async () => {
    const { chain, nodes } = bench;
    const tx = await signed();
    await chain.pay(chain.address(), null, 1n);
    await chain.mine();
    const txid = await chain.pay(chain.address(), null, 1n);
    chain.setTime(expiryMs(tx) + 86_400_000 * 3);
    await chain.mine(1 + chain.solidLag);
    expect(chain.blockOf(txid)).not.toBe(null);
    nodes[0].asked.splice(0);
    expect(await bench.adapter.status(tx)).toEqual(dead(true));
    expect(nodes[0].asked.length).toBeLessThan(60);
  });

  it('lets a further attempt be prepared only after it, and both attempts pay once', async () => {
    const { chain, adapter } = bench;
    const payment = intent();
    const first = await adapter.prepare(payment, new Map());
    const tx = await bench.sign(payment, first);
    const { payload, reserves, expiresAt } = first;
    const earlier = [{ payload, reserves, expiresAt, why: 'expired' as const }];
    const further = (): Promise<unknown> => adapter.prepare({ ...payment, attempt: 2 }, new Map(), earlier);
    const early = { code: 'earlier_may_confirm' };
    await expect(further()).rejects.toMatchObject(early);
    await makeFinal(expiryMs(tx) - 1);
    await expect(further()).rejects.toMatchObject(early);
    await chain.mine();
    for (const node of bench.nodes) {
      node.faults = { solidShift: -60 };
      await expect(further()).rejects.toBeInstanceOf(ChainError);
      node.faults = {};
    }
    const second = await adapterOf(bench.nodes).prepare({ ...payment, attempt: 2 }, new Map(), earlier);
    const again = await bench.sign({ ...payment, attempt: 2 }, second);
    for (let round = 0; round < 5; round += 1) {
      await adapter.broadcast(tx);
      await adapter.broadcast(again);
      await chain.mine(1);
    }
    expect(await chain.balance(payment.to)).toBe(payment.amount);
  });
});
