import { randomUUID } from 'node:crypto';
import { ChainError, type PaymentIntent, type Transfer } from '../../../src/chains/port/chain-adapter.ts';
import { TronAdapter } from '../../../src/chains/tron/tron-adapter.ts';
import { decodePayload } from '../../../src/chains/tron/tron-tx.ts';
import { describeWithAnvil } from '../../support/chains/anvil.ts';
import { type TronHarness, tronHarness } from '../../support/chains/tron-harness.ts';
import { toHexAddress } from '../../support/chains/tron-node/crypto.ts';
import type { TronNode } from '../../support/chains/tron-node.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a node, which the lies change.
type Answer = any;

const limit = 1_000n;
let bench: TronHarness;
let address: string;

beforeAll(async () => {
  bench = await tronHarness();
  address = await bench.wallet.deposit(1);
});
afterAll(() => bench.stop());
afterEach(() => {
  for (const node of bench.nodes) node.faults = {};
});

function adapterOf(nodes: readonly TronNode[]): TronAdapter {
  const twoNodesAbove = new Map([
    [bench.token, limit],
    ['', limit],
  ]);
  const network = { ...bench.network, nodes: nodes.map(({ config }) => config), twoNodesAbove };
  return new TronAdapter({ network, hotWallet: bench.hot, addresses: bench.wallet });
}

/** What a scan finds for the address in the blocks that `make` adds; the code of a fault. */
async function found(nodes: readonly TronNode[], make: () => Promise<unknown>): Promise<readonly bigint[] | string> {
  const adapter = adapterOf(nodes);
  const cursor = await bench.adapter.start((await bench.adapter.head()).height);
  await make();
  await bench.mine(1);
  try {
    const { blocks } = await adapter.scan(cursor, 100);
    return blocks.flatMap(({ transfers }) => transfers.filter(isOurs).map(({ amount }) => amount));
  } catch (error) {
    if (error instanceof ChainError) return error.code;
    throw error;
  }
}

const isOurs = (one: Transfer): boolean => one.address === address;

describeWithAnvil('large deposits on Tron', () => {
  const pay = (...amounts: bigint[]) => {
    return async (): Promise<void> => {
      for (const amount of amounts) await bench.chain.pay(address, bench.token, amount);
    };
  };
  const coins = (amount: bigint) => (): Promise<string> => bench.chain.pay(address, null, amount);
  const away = { transport: 503 } as const;

  it('count with an honest second node', async () => {
    expect(await found(bench.nodes, pay(limit + 1n))).toEqual([limit + 1n]);
    expect(await found(bench.nodes, coins(limit + 1n))).toEqual([limit + 1n]);
    expect(await found([bench.nodes[0]], pay(limit + 1n))).toEqual([limit + 1n]);
  });

  it.each([
    ['tokens', () => pay(limit), () => pay(limit + 1n)],
    ['coins', () => coins(limit), () => coins(limit + 1n)],
    ['tokens in parts', () => pay(limit / 2n, limit / 2n), () => pay(limit / 2n, limit / 2n + 1n)],
  ])('of %s need a second node above the limit, and not at it', async (_name, atLimit, above) => {
    bench.nodes[1].faults = away;
    expect(await found(bench.nodes, atLimit())).toEqual(expect.any(Array));
    expect(await found(bench.nodes, above())).toEqual(expect.any(String));
  });

  it('do not count while the second node is behind or tells something else', async () => {
    bench.nodes[1].faults = { lag: 1 };
    // The scan goes on with the node that is behind, up to its own head.
    expect(await found(bench.nodes, pay(limit + 1n))).toEqual([]);
    bench.nodes[1].faults = { log: (log) => ({ ...log, data: `${'0'.repeat(63)}1` }) };
    expect(await found(bench.nodes, pay(limit + 1n))).toBe('nodes_disagree');
  });

  it('stop the scan when one of two nodes invents or hides them', async () => {
    const [one, other] = bench.nodes;
    one.faults = { log: (log) => ({ ...log, data: 'f'.repeat(16).padStart(64, '0') }) };
    expect(await found([one, other], pay(5n))).toBe('nodes_disagree');
    // The honest node is asked alone for what is below the limit.
    expect(await found([other, one], pay(5n))).toEqual([5n]);
    one.faults = { log: () => null };
    expect(await found([other, one], pay(limit + 1n))).toBe('nodes_disagree');
  });

  it('are not compared with the same address again', async () => {
    const [one] = bench.nodes;
    expect(await found([one, one], pay(limit + 1n))).toEqual([limit + 1n]);
    expect((await adapterOf([one, one]).check()).flatMap(({ problems }) => problems)).toEqual(
      expect.arrayContaining([expect.stringContaining('it is the only node')]),
    );
  });

  it('of transactions beyond 2^53 survive', async () => {
    expect(await found(bench.nodes, pay(2n ** 53n + 1n))).toEqual([2n ** 53n + 1n]);
    expect(await found(bench.nodes, coins(2n ** 53n + 1n))).toEqual([2n ** 53n + 1n]);
  });

  it('come from the second node when the results of the first one do not fit', async () => {
    for (const infos of ['lack', 'repeat', 'foreign', 'other-block', 'misnumbered', 'none'] as const) {
      bench.nodes[0].faults = { infos };
      expect([infos, await found(bench.nodes, pay(7n))]).toEqual([infos, [7n]]);
    }
  });
});

describeWithAnvil('dust on Tron', () => {
  it('costs three questions a block, however much there is of it', async () => {
    const [node] = bench.nodes;
    const adapter = adapterOf([node]);
    const cursor = await adapter.start((await adapter.head()).height);
    for (let count = 0; count < 200; count += 1) await bench.chain.pay(address, null, 1n);
    await bench.mine(1);
    node.asked.splice(0);
    const { blocks } = await adapter.scan(cursor, 100);
    expect(blocks.flatMap(({ transfers }) => transfers)).toHaveLength(200);
    // The head, the final head, the block of the cursor, and three for the block.
    expect(node.asked).toHaveLength(6);
  });
});

/** Values that a member of an answer never has. */
const odd: readonly unknown[] = [
  ...[null, true, -1, 1.5, 2 ** 63, '', 'x', '\u0000\u202e"<b>', [], [[]], {}, { toString: 1, valueOf: 2 }],
  ...['f'.repeat(10), 'f'.repeat(64), 'e'.repeat(12_000_000)],
];

/** The answer with one member of one of its objects changed. */
function changed(answer: Answer, place: number, value: unknown): unknown {
  let count = 0;
  const visit = (one: Answer): unknown => {
    if (typeof one !== 'object' || one === null) return one;
    const copy: Answer = Array.isArray(one) ? [] : {};
    for (const [name, member] of Object.entries(one)) {
      count += 1;
      copy[name] = count === place ? value : visit(member);
    }
    return copy;
  };
  return visit(answer);
}

describeWithAnvil('hostile answers of a Tron node', () => {
  it('are faults of the node, after which the next one is asked', async () => {
    const [bad] = bench.nodes;
    const cursor = await bench.adapter.start((await bench.adapter.head()).height);
    const payment: PaymentIntent = {
      ...{ id: randomUUID(), attempt: 1, from: null, contract: bench.token, tag: null, amount: 5n },
      to: bench.address(),
    };
    const tx = await bench.sign(payment, await bench.adapter.prepare(payment, new Map()));
    await bench.adapter.broadcast(tx);
    await bench.mine(21);
    const questions: readonly ((adapter: TronAdapter) => Promise<unknown>)[] = [
      (adapter) => adapter.scan(cursor, 2),
      (adapter) => adapter.status(tx),
      (adapter) => adapter.prepare({ ...payment, id: randomUUID() }, new Map()),
      (adapter) => adapter.spent(tx.txid),
      (adapter) => adapter.finalBalances([bench.hot], bench.token),
      (adapter) => adapter.broadcast(tx),
      (adapter) => adapter.check(),
    ];
    for (const ask of questions) {
      const answered = await ask(adapterOf(bench.nodes));
      for (const [index, value] of [...odd, { Error: { toString: 1 } }, { Error: 5 }].entries()) {
        const isWhole = index >= odd.length;
        const place = 1 + (index % 9);
        bad.faults = {
          rewrite: (path, answer) => {
            if (/getblock$/.test(path) && (answer as Answer).block_header?.raw_data.number === undefined) return answer;
            return isWhole ? value : changed(answer, place, value);
          },
        };
        const outcome = await ask(adapterOf(bench.nodes)).catch((error: unknown) => error);
        // A fact that the node states of the chain is believed, or another node answers.
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ChainError);
        else expect(typeof outcome).toBe(typeof answered);
      }
      bad.faults = {};
    }
  });
});

describeWithAnvil('the preparation of payments of tokens on Tron', () => {
  const state = async (share: bigint): Promise<unknown> => {
    const { chain, nodes } = bench;
    const to = bench.address();
    const payment: PaymentIntent = {
      ...{ id: randomUUID(), attempt: 1, from: null, contract: bench.token, tag: null },
      ...{ amount: 5n, to },
    };
    let spent = 0n;
    // The trial tells less energy than the transfer will use: it grows until its block.
    nodes[0].faults = {
      rewrite: (path, answer: Answer) => {
        if (!/wallet\/triggerconstantcontract$/.test(path)) return answer;
        spent = BigInt(answer.energy_used);
        return { ...answer, energy_used: (spent * 100n + share - 1n) / share };
      },
    };
    const prepared = await adapterOf(nodes).prepare(payment, new Map());
    nodes[0].faults = {};
    const told = (spent * 100n + share - 1n) / share;
    expect(decodePayload(prepared.payload).tx.feeLimit).toBe((told * chain.prices.energyFee * 6n) / 5n);
    const tx = await bench.sign(payment, prepared);
    await bench.adapter.broadcast(tx);
    await bench.mine(1 + chain.solidLag);
    const status = await bench.adapter.status(tx);
    expect(status).toMatchObject({ state: 'mined', final: true });
    if (status.state === 'mined') {
      expect(status.fee).toBeGreaterThan(0n);
      expect(status.fee).toBeLessThanOrEqual(prepared.fee);
      expect(await chain.balance(to, bench.token)).toBe(status.success ? 5n : 0n);
      return status.success;
    }
    return null;
  };

  it('leaves room for a fifth more energy, and not for much more', async () => {
    expect(await state(115n)).toBe(true);
    expect(await state(125n)).toBe(false);
  });

  it('refuses coins to a contract, and a wallet with another key', async () => {
    const { chain, hot, adapter } = bench;
    const payment: PaymentIntent = {
      ...{ id: randomUUID(), attempt: 1, from: null, contract: null, tag: null },
      ...{ amount: 5n, to: bench.token },
    };
    await expect(adapter.prepare(payment, new Map())).rejects.toMatchObject({ code: 'would_fail' });
    await chain.setOwner(hot, toHexAddress(chain.address()));
    await chain.mine(1 + chain.solidLag);
    const refused = adapter.prepare({ ...payment, to: bench.address() }, new Map());
    await expect(refused).rejects.toMatchObject({ code: 'permission_changed' });
  });
});
