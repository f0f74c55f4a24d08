import { randomUUID } from 'node:crypto';
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  ChainError,
  type PaymentIntent,
  type Promised,
  type SignedTx,
  type Transfer,
} from '../../../src/chains/port/chain-adapter.ts';
import { TronAdapter } from '../../../src/chains/tron/tron-adapter.ts';
import { blockIdOf, txidOf } from '../../../src/chains/tron/tron-proof.ts';
import { decodePayload, digitsOf, encodeTronTx } from '../../../src/chains/tron/tron-tx.ts';
import { call, describeWithAnvil } from '../../support/chains/anvil.ts';
import { type TronHarness, tronHarness } from '../../support/chains/tron-harness.ts';
import { keyOf, toBase58, toHexAddress } from '../../support/chains/tron-node/crypto.ts';
import type { TronFaults } from '../../support/chains/tron-node/faults.ts';
import { toEvm } from '../../support/chains/tron-node/vm.ts';
import type { TronNode } from '../../support/chains/tron-node.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a node, which the lies change.
type Answer = any;

const limit = 1_000n;
const away = { transport: 503 } as const;
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

  it('need a second node when they come in parts, in one scan each', async () => {
    const adapter = adapterOf(bench.nodes);
    const scan = async (make: () => Promise<unknown>): Promise<unknown> => {
      const cursor = await bench.adapter.start((await bench.adapter.head()).height);
      await make();
      await bench.mine(1);
      return adapter.scan(cursor, 100).then(
        ({ blocks }) => blocks.flatMap(({ transfers }) => transfers.filter(isOurs).map(({ amount }) => amount)),
        (error: ChainError) => error.code,
      );
    };
    bench.nodes[1].faults = away;
    const [half] = [limit / 2n];
    for (const make of [pay, (amount: bigint) => coins(amount)]) {
      bench.nodes[1].faults = away;
      expect(await scan(make(half))).toEqual([half]);
      expect(await scan(make(half))).toEqual([half]);
      expect(await scan(make(1n))).toBe('busy');
      bench.nodes[1].faults = {};
      expect(await scan(make(1n))).toEqual([1n]);
    }
    bench.nodes[0].faults = { log: (log) => ({ ...log, data: 'f'.repeat(2).padStart(64, '0') }) };
    expect(await scan(pay(5n))).toBe('nodes_disagree');
  });

  it('that a node adds to a block are not read, also while the second node is away', async () => {
    const { chain, nodes, hot } = bench;
    const raw = encodeTronTx({
      ...{ refBlockBytes: '0000', refBlockHash: '0'.repeat(16), expiresAtMs: Date.now(), builtAtMs: Date.now() },
      ...{ feeLimit: 0n, owner: digitsOf(hot), contract: null, to: digitsOf(address), amount: 5n },
    });
    const txID = txidOf(raw);
    const entry = { txID, raw_data_hex: bytesToHex(raw), ret: [{ contractRet: 'SUCCESS' }] };
    nodes[0].faults = {
      rewrite: (path, answer: Answer) => {
        if (/getblock$/.test(path) && answer.transactions)
          return { ...answer, transactions: [...answer.transactions, entry] };
        if (!Array.isArray(answer) || answer.length === 0) return answer;
        const { blockNumber, blockTimeStamp } = answer[0] as Answer;
        return [...answer, { id: txID, blockNumber, blockTimeStamp }];
      },
    };
    const adapter = adapterOf(nodes);
    const cursor = await bench.adapter.start(chain.head.header.number);
    await chain.pay(address, null, 7n);
    await bench.mine(1);
    nodes[1].faults = away;
    for (let time = 1; time <= 3; time += 1) await expect(adapter.scan(cursor, 9)).rejects.toBeInstanceOf(ChainError);
    nodes[1].faults = {};
    const { blocks } = await adapter.scan(cursor, 9);
    expect(blocks.flatMap(({ transfers }) => transfers).map(({ amount }) => amount)).toEqual([7n]);
  });

  it('are not found by a balance that one node alone tells', async () => {
    const { chain, nodes, token } = bench;
    const [one, other] = nodes;
    const adapter = adapterOf(nodes);
    await chain.pay(address, null, 9n);
    await bench.mine(1 + chain.solidLag);
    const honest = await adapter.finalBalances([address], null);
    expect(honest.amounts).toEqual([await chain.balance(address)]);
    const asksTwice = async (contract: string | null): Promise<unknown> =>
      adapterOf(nodes)
        .finalBalances([address], contract)
        .then(
          ({ amounts }) => amounts,
          ({ code }: ChainError) => code,
        );
    const invents: TronFaults = {
      rewrite: (path, answer: Answer) =>
        /walletsolidity\/getaccount$/.test(path) ? { ...answer, balance: 9_000_000_000 } : answer,
    };
    one.faults = invents;
    expect(await asksTwice(null)).toBe('nodes_disagree');
    other.faults = away;
    expect(await asksTwice(null)).toBe('busy');
    // Coins of tokens that no deposit explains are never credited.
    expect(await asksTwice(token)).toEqual([await chain.balance(address, token)]);
    other.faults = { solidShift: -1 };
    one.faults = {};
    expect(await asksTwice(null)).toBe('unsettled_answer');
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
    // The head, the final head, and three for the block.
    expect(node.asked).toHaveLength(5);
  });
});

describeWithAnvil('the parts of one transaction on Tron', () => {
  it('are all found, and a second node confirms them', async () => {
    const { chain, nodes } = bench;
    const forwarder = await chain.deploy('Forwarder');
    const parts = 220;
    const network = {
      ...{ ...bench.network, nodes: nodes.map(({ config }) => config), internalTransfers: 'trace' as const },
      twoNodesAbove: new Map([['', 1n]]),
    };
    const adapter = new TronAdapter({ network, hotWallet: bench.hot, addresses: bench.wallet });
    const cursor = await adapter.start((await adapter.head()).height);
    const to = Array.from({ length: parts }, () => toEvm(toHexAddress(address)));
    const value = BigInt(parts) * 3n;
    await chain.call(forwarder, call('forwardEach', to, 3n), { value, feeLimit: 15_000_000_000n });
    await bench.mine(1);
    const { blocks } = await adapter.scan(cursor, 100);
    const found = blocks.flatMap(({ transfers }) => transfers.filter(isOurs));
    expect(new Set(found.map(({ key }) => key)).size).toBe(parts);
    expect(found.reduce((sum, { amount }) => sum + amount, 0n)).toBe(value);
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
    const faults: TronFaults = {
      rewrite: (path, answer: Answer) => {
        if (!/wallet\/triggerconstantcontract$/.test(path)) return answer;
        spent = BigInt(answer.energy_used);
        return { ...answer, energy_used: (spent * 100n + share - 1n) / share };
      },
    };
    for (const node of nodes) node.faults = faults;
    const prepared = await adapterOf(nodes).prepare(payment, new Map());
    for (const node of nodes) node.faults = {};
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

  const intentOf = (changes: Partial<PaymentIntent> = {}): PaymentIntent => ({
    ...{ id: randomUUID(), attempt: 1, from: null, contract: bench.token, tag: null, amount: 5n },
    ...{ to: bench.address(), ...changes },
  });

  it('pays a holder whose tokens leave between the trial and the block', async () => {
    const { chain, token, adapter } = bench;
    const holder = keyOf(`holder ${randomUUID()}`);
    const to = toBase58(holder.address);
    await chain.pay(to, token, 9n);
    await chain.pay(to, null, 100_000_000n);
    await chain.mine();
    const payment = intentOf({ to });
    const tx = await bench.sign(payment, await adapter.prepare(payment, new Map()));
    await chain.pay(bench.address(), token, 9n, { from: holder });
    await chain.mine();
    await adapter.broadcast(tx);
    await chain.mine(1 + chain.solidLag);
    expect(await adapter.status(tx)).toMatchObject({ state: 'mined', success: true, final: true });
    expect(await chain.balance(to, token)).toBe(5n);
  });

  it('gives energy for a new holder to payouts, and not to sweeps', async () => {
    const { chain, token, adapter, hot } = bench;
    const [holder, from] = [bench.address(), await bench.wallet.deposit(7)];
    for (const one of [holder, from]) await chain.pay(one, token, 1_000n);
    await chain.pay(from, null, 100_000_000n);
    await chain.mine(1 + chain.solidLag);
    const limitOf = async (payment: PaymentIntent): Promise<bigint> =>
      decodePayload((await adapter.prepare(payment, new Map())).payload).tx.feeLimit;
    const toNew = await limitOf(intentOf());
    expect(await limitOf(intentOf({ to: holder }))).toBe(toNew);
    expect(await limitOf(intentOf({ from: [from], to: hot, amount: 1_000n }))).toBeLessThan(toNew);
  });

  it('gives energy also when one of two nodes tells too little of it, or of its price', async () => {
    const { nodes } = bench;
    const [one, other] = nodes;
    const limitOf = async (asked: readonly TronNode[]): Promise<bigint> =>
      decodePayload((await adapterOf(asked).prepare(intentOf(), new Map())).payload).tx.feeLimit;
    const honest = await limitOf(nodes);
    const lies: readonly TronFaults[] = [
      { rewrite: (path, answer: Answer) => (/wallet\/trigger/.test(path) ? { ...answer, energy_used: 5 } : answer) },
      {
        rewrite: (path, answer: Answer) =>
          /getchainparameters$/.test(path)
            ? {
                chainParameter: answer.chainParameter.map((item: Answer) =>
                  item.key === 'getEnergyFee' ? { ...item, value: 1 } : item,
                ),
              }
            : answer,
      },
    ];
    for (const lie of lies) {
      one.faults = lie;
      expect(await limitOf([one])).toBeLessThan(honest);
      expect(await limitOf(nodes)).toBe(honest);
      expect(await limitOf([other, one])).toBe(honest);
    }
  });

  it('refers to no block that one of two nodes invents', async () => {
    const { chain, nodes } = bench;
    const [one, other] = nodes;
    const invents: TronFaults = {
      rewrite: (path, answer: Answer) => {
        if (!/walletsolidity\/getblock$/.test(path)) return answer;
        const { raw_data: raw } = answer.block_header;
        const header = {
          ...{ timeMs: raw.timestamp, txTrieRoot: raw.txTrieRoot, parent: raw.parentHash, height: raw.number },
          ...{ witnessId: 0n, witness: raw.witness_address, version: 99n, accountStateRoot: '' },
        };
        const block_header = { ...answer.block_header, raw_data: { ...raw, version: 99 } };
        return { ...answer, blockID: blockIdOf(header), block_header };
      },
    };
    const reference = async (asked: readonly TronNode[]): Promise<unknown> =>
      adapterOf(asked)
        .prepare(intentOf(), new Map())
        .then(
          ({ payload }) => decodePayload(payload).tx.refBlockHash,
          ({ code }: ChainError) => code,
        );
    const final = chain.blocks[chain.solidNumber]?.id.slice(16, 32);
    one.faults = invents;
    expect(await reference([one])).not.toBe(final);
    expect(await reference(nodes)).toBe(final);
    expect(await reference([other, one])).toBe(final);
    one.faults = { lag: 25 };
    expect(await reference([other, one])).toBe(final);
    one.faults = away;
    expect(await reference(nodes)).toBe(final);
  });

  it('leaves what other payments were promised', async () => {
    const { chain, token, adapter, hot } = bench;
    const [coins, tokens] = [await chain.balance(hot), await chain.balance(hot, token)];
    const refusal = async (contract: string | null, promised: Promised): Promise<unknown> => {
      const held = new Map([[`attempt:${hot}:another:1`, promised]]);
      return adapter.prepare(intentOf({ contract }), held).then(
        () => null,
        ({ code }: ChainError) => code,
      );
    };
    const none = { contract: null, amount: 0n, fee: 0n };
    // A payout of 5 units of tokens costs less than 17 TRX, and one of coins less than 2.
    expect(await refusal(token, { ...none, contract: token, amount: tokens - 5n })).toBe(null);
    expect(await refusal(token, { ...none, contract: token, amount: tokens - 4n })).toBe('insufficient_funds');
    expect(await refusal(token, { ...none, fee: coins - 17_000_000n })).toBe(null);
    expect(await refusal(token, { ...none, amount: coins - 15_000_000n })).toBe('no_gas');
    expect(await refusal(null, { ...none, fee: coins - 1_100_005n })).toBe(null);
    expect(await refusal(null, { ...none, fee: coins - 1_100_004n })).toBe('insufficient_funds');
    expect(await refusal(null, { contract: token, amount: tokens, fee: 0n })).toBe(null);
  });

  it('pays in a token that moves to known holders only', async () => {
    const { nodes } = bench;
    let trials = 0;
    const refusesOthers: TronFaults = {
      rewrite: (path, answer: Answer) => {
        if (!/wallet\/triggerconstantcontract$/.test(path)) return answer;
        trials += 1;
        return trials % 2 === 0 ? { ...answer, result: { result: true, message: '6e6f' } } : answer;
      },
    };
    nodes[0].faults = refusesOthers;
    const { payload } = await adapterOf([nodes[0]]).prepare(intentOf(), new Map());
    expect([trials, decodePayload(payload).tx.contract]).toEqual([2, toHexAddress(bench.token)]);
  });

  it('takes a token with a fee for another amount, and lets one set it after that', async () => {
    const { chain, token, adapter } = bench;
    const holder = bench.address();
    await chain.pay(holder, token, 1_000n);
    // Who takes the fee holds tokens already.
    await chain.mint(token, token, 1n);
    const payments = [intentOf({ amount: 1_000n, to: holder }), intentOf({ amount: 1_000n })];
    const signed: SignedTx[] = [];
    for (const one of payments) signed.push(await bench.sign(one, await adapter.prepare(one, new Map())));
    await chain.call(token, call('setFee', 100n));
    await chain.mine();
    await expect(adapter.prepare(intentOf({ amount: 1_000n }), new Map())).rejects.toMatchObject({
      code: 'token_refused',
    });
    for (const tx of signed) await adapter.broadcast(tx);
    await chain.mine();
    await chain.call(token, call('setFee', 0n));
    await chain.mine(1 + chain.solidLag);
    const [toHolder, toNew] = [
      await adapter.status(signed[0] as SignedTx),
      await adapter.status(signed[1] as SignedTx),
    ];
    // The fee is a second transfer. The energy for a new holder has room for it where the recipient
    // is none. Otherwise the chain undoes the payment.
    expect(toHolder).toMatchObject({ state: 'mined', success: false, problem: 'short_transfer' });
    expect(toNew).toMatchObject({ state: 'mined', success: false });
    expect(toNew).not.toHaveProperty('problem');
  });

  it('is refused for good by two nodes, and not by one that lies or one that is alone', async () => {
    const { chain, token, nodes } = bench;
    const [one, other] = nodes;
    const refusal = async (asked: readonly TronNode[]): Promise<unknown> =>
      adapterOf(asked)
        .prepare(intentOf(), new Map())
        .then(
          () => 'prepared',
          ({ code, isOfChain }: ChainError) => [code, isOfChain],
        );
    const saysNo: TronFaults = {
      rewrite: (path, answer: Answer) =>
        /wallet\/triggerconstantcontract$/.test(path)
          ? { ...answer, result: { result: true, message: '6e6f' } }
          : answer,
    };
    one.faults = saysNo;
    expect(await refusal(nodes)).toEqual(['unconfirmed_refusal', true]);
    expect(await refusal([one])).toEqual(['would_fail', true]);
    other.faults = away;
    expect(await refusal(nodes)).toEqual(['unconfirmed_refusal', true]);
    for (const node of nodes) node.faults = {};
    await chain.call(token, call('setPaused', true));
    await chain.mine();
    expect(await refusal(nodes)).toEqual(['would_fail', true]);
    other.faults = away;
    expect(await refusal(nodes)).toEqual(['unconfirmed_refusal', true]);
    other.faults = {};
    await chain.call(token, call('setPaused', false));
    await chain.mine();
    expect(await refusal(nodes)).toBe('prepared');
  });

  it('counts the free bytes of an address for one of its sweeps', async () => {
    const { chain, token, adapter, hot, wallet } = bench;
    const from = await wallet.deposit(8);
    await chain.pay(from, token, 1_000n);
    await chain.pay(from, null, 100_000_000n);
    await chain.mine(1 + chain.solidLag);
    const tokens = intentOf({ from: [from], to: hot, amount: 1_000n });
    const coins = (amount: bigint): PaymentIntent => intentOf({ from: [from], to: hot, contract: null, amount });
    const first = await adapter.prepare(tokens, new Map());
    const promised = { contract: token, amount: 1_000n, fee: first.fee };
    const held = new Map(first.reserves.map((reserved) => [reserved, promised]));
    const bytes = 267_000n;
    expect((await adapter.prepare(coins(50_000_000n), new Map())).fee).toBe(0n);
    expect((await adapter.prepare(coins(50_000_000n), held)).fee).toBeGreaterThanOrEqual(bytes);
    await adapter.broadcast(await bench.sign(tokens, first));
    await chain.mine(1 + chain.solidLag);
    const rest = await chain.balance(from);
    const second = await adapter.prepare(coins(rest), new Map());
    expect(second.fee).toBeGreaterThanOrEqual(bytes);
    const sweep = coins(rest);
    await adapter.broadcast(await bench.sign(sweep, await adapter.prepare(sweep, new Map())));
    await chain.mine();
    expect(await chain.balance(from)).toBeLessThan(bytes);
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
