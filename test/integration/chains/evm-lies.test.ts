import fc from 'fast-check';
import { EvmAdapter } from '../../../src/chains/evm/evm-adapter.ts';
import { ChainError, type Cursor, type ScanResult, type SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { type Anvil, call, describeWithAnvil, randomAddress, startAnvil } from '../../support/chains/anvil.ts';
import { type EvmHarness, ether, evmHarness, payFrom } from '../../support/chains/evm-harness.ts';
import { EvmLiar } from '../../support/chains/evm-liar.ts';

type Json = Record<string, unknown>;

/** What no field of an answer ever is. */
const junk = [null, {}, 'zz', 12, true, '0x', -1.5];

describeWithAnvil('a node that lies', () => {
  let anvil: Anvil;
  let liar: EvmLiar;
  let chain: EvmHarness;
  let cursor: Cursor;
  let truth: ScanResult;
  let tx: SignedTx;

  const adapter = (): EvmAdapter =>
    new EvmAdapter({ network: chain.network, hotWallet: chain.hot, addresses: chain.wallet });
  beforeAll(async () => {
    anvil = await startAnvil();
    liar = await new EvmLiar(anvil.url).start();
    chain = await evmHarness(anvil, { internalTransfers: 'trace' }, [liar.node]);
    const forwarder = await anvil.deploy('Forwarder');
    cursor = await chain.adapter.start((await chain.adapter.head()).height);
    tx = await payFrom(chain, {
      id: 'a',
      attempt: 1,
      from: null,
      contract: null,
      to: chain.address(),
      tag: null,
      amount: 5n,
    });
    await anvil.mine();
    await anvil.send(randomAddress(), ether);
    await anvil.send(chain.token, 0n, { data: call('transferTwice', randomAddress(), randomAddress(), 5n) });
    await anvil.send(forwarder, 7n, { data: call('forward', randomAddress()) });
    await anvil.mine();
    await anvil.send(randomAddress(), 3n);
    await anvil.mine();
    truth = await chain.adapter.scan(cursor, 10);
    // 5 to the payment's recipient, a gift, two transfers, the coins to the forwarder and from it,
    // and another gift.
    expect(truth.blocks.flatMap(({ transfers }) => transfers)).toHaveLength(7);
  });
  afterAll(async () => {
    await liar?.stop();
    await anvil?.stop();
  });
  beforeEach(() => {
    liar.lie = (_method, result) => result;
  });

  const full = (method: string, params: readonly unknown[]) => method === 'eth_getBlockByNumber' && params[1] === true;
  /** To the end: what is sound below the first lie is kept, and the next scan tells of the lie. */
  const scan = async (): Promise<ScanResult> => {
    const reader = adapter();
    let result = await reader.scan(cursor, 10);
    const blocks = [...result.blocks];
    while (result.blocks.length > 0 && (result.cursor.window.at(-1)?.height ?? 0) < result.head) {
      result = await reader.scan(result.cursor, 10);
      blocks.push(...result.blocks);
    }
    return { ...result, blocks };
  };

  /** Each changes what a block holds; the second block above the cursor holds most. */
  const lies: Record<string, (method: string, result: unknown, params: readonly unknown[]) => unknown> = {
    'a block without its transactions': (method, result, params) =>
      full(method, params) ? { ...(result as Json), transactions: [] } : result,
    'no list of transactions': (method, result, params) =>
      full(method, params) ? { ...(result as Json), transactions: null } : result,
    'a list that lacks one': (method, result, params) =>
      full(method, params)
        ? { ...(result as Json), transactions: (result as { transactions: unknown[] }).transactions.slice(1) }
        : result,
    'hashes instead of transactions': (method, result, params) =>
      full(method, params)
        ? {
            ...(result as Json),
            transactions: (result as { transactions: Json[] }).transactions.map(({ hash }) => hash),
          }
        : result,
    'another block than asked for': (method, result, params) =>
      full(method, params) ? { ...(result as Json), number: '0x1' } : result,
    'a block that joins nowhere': (method, result, params) =>
      full(method, params) ? { ...(result as Json), parentHash: `0x${'7'.repeat(64)}` } : result,
    'a transaction twice': (method, result, params) =>
      full(method, params)
        ? {
            ...(result as Json),
            transactions: (result as { transactions: Json[] }).transactions.flatMap((one) => [one, one]),
          }
        : result,
    'a transaction of another block': (method, result, params) =>
      full(method, params)
        ? {
            ...(result as Json),
            transactions: (result as { transactions: Json[] }).transactions.map((one) => ({
              ...one,
              blockHash: `0x${'7'.repeat(64)}`,
            })),
          }
        : result,
    'another recipient': (method, result, params) =>
      full(method, params)
        ? {
            ...(result as Json),
            transactions: (result as { transactions: Json[] }).transactions.map((one) => ({
              ...one,
              to: `0x${'7'.repeat(40)}`,
            })),
          }
        : result,
    'no receipts': (method, result) => (method === 'eth_getBlockReceipts' ? [] : result),
    'receipts of another block': (method, result) =>
      method === 'eth_getBlockReceipts'
        ? (result as Json[]).map((one) => ({ ...one, blockHash: `0x${'7'.repeat(64)}` }))
        : result,
    'a receipt too few': (method, result) => (method === 'eth_getBlockReceipts' ? (result as Json[]).slice(1) : result),
    'a receipt twice': (method, result) =>
      method === 'eth_getBlockReceipts' ? (result as Json[]).flatMap((one) => [one, one]) : result,
    'a receipt of no transaction': (method, result) =>
      method === 'eth_getBlockReceipts'
        ? [...(result as Json[]), { ...(result as Json[])[0], transactionHash: `0x${'7'.repeat(64)}` }]
        : result,
    'a success that is neither yes nor no': (method, result) =>
      method === 'eth_getBlockReceipts' ? (result as Json[]).map((one) => ({ ...one, status: '0x2' })) : result,
    'a log that was removed': (method, result) =>
      method === 'eth_getBlockReceipts'
        ? (result as { logs: Json[] }[]).map((one) => ({
            ...one,
            logs: one.logs.map((log) => ({ ...log, removed: true })),
          }))
        : result,
    'no traces': (method, result) => (method === 'debug_traceBlockByHash' ? [] : result),
    'traces of other transactions': (method, result) =>
      method === 'debug_traceBlockByHash'
        ? (result as Json[]).map((one, index, all) => ({ ...one, result: all[(index + 1) % all.length]?.result }))
        : result,
    'traces of other transactions, without names': (method, result) =>
      method === 'debug_traceBlockByHash'
        ? (result as Json[]).toReversed().map(({ result: trace }) => ({ result: trace }))
        : result,
  };

  it.each(Object.entries(lies))('with %s is not believed', async (name, lie) => {
    liar.lie = lie;
    const expected = name === 'a block that joins nowhere' ? 'inconsistent_chain' : 'unsound_answer';
    await expect(scan()).rejects.toMatchObject({ name: 'ChainError', code: expected });
  });

  it('is believed about traces without names as long as they fit', async () => {
    liar.lie = (method, result) =>
      method === 'debug_traceBlockByHash' ? (result as Json[]).map(({ result: trace }) => ({ result: trace })) : result;
    expect(await scan()).toEqual(truth);
  });

  it('makes no credit and no crash with junk in any place of its answers', async () => {
    const question = fc.constantFrom('eth_getBlockByNumber', 'eth_getBlockReceipts', 'debug_traceBlockByHash');
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        question,
        fc.nat(6),
        fc.nat(10_000),
        fc.constantFrom(...junk),
        async (method, nth, place, put) => {
          let asked = 0;
          liar.lie = (what, result) => {
            if (what !== method) return result;
            asked += 1;
            return asked === nth + 1 ? replaceAt(result, place, put) : result;
          };
          const found = await scan().catch((error: unknown) => {
            if (!(error instanceof ChainError)) throw error;
            refused += 1;
            return null;
          });
          if (found === null) return;
          // What it does not show yet is read by the next scan.
          expect(certain(found.blocks)).toEqual(certain(truth.blocks.slice(0, found.blocks.length), found.blocks));
          expect(found.orphaned).toEqual([]);
        },
      ),
      // The examples change the inner call to the forwarder's recipient: its kind, and all of it.
      {
        numRuns: 120,
        examples: [
          ['debug_traceBlockByHash', 1, 36, '0x'],
          ['debug_traceBlockByHash', 1, 7_109, {}],
        ],
      },
    );
    // Where the junk lands is chance; some of it must have been refused.
    expect(refused).toBeGreaterThan(0);
  });

  it('moves no payment out of its place with junk in any place of its answers', async () => {
    const asked = [() => adapter().status(tx), () => adapter().spent(tx.txid)];
    const honest = await Promise.all(asked.map((ask) => ask()));
    const question = fc.constantFrom(
      'eth_getTransactionReceipt',
      'eth_getTransactionByHash',
      'eth_getBlockByNumber',
      'eth_getTransactionCount',
    );
    await fc.assert(
      fc.asyncProperty(question, fc.nat(60), fc.constantFrom(...junk), async (method, place, put) => {
        liar.lie = (what, result) => (what === method ? replaceAt(result, place, put) : result);
        for (const [index, ask] of asked.entries()) {
          const told = await (ask() as Promise<unknown>).catch((error: unknown) => {
            if (!(error instanceof ChainError)) throw error;
            return honest[index];
          });
          expect(told).toEqual(honest[index]);
        }
      }),
      { numRuns: 80 },
    );
  });
});

/** Blocks without the transfers that `seen` has in doubt: such a transfer is no credit. */
function certain(blocks: ScanResult['blocks'], seen = blocks): ScanResult['blocks'] {
  const inDoubt = new Set(
    seen.flatMap(({ transfers }) => transfers.filter(({ doubt }) => doubt).map(({ key }) => key)),
  );
  return blocks.map((block) => ({ ...block, transfers: block.transfers.filter(({ key }) => !inDoubt.has(key)) }));
}

/** A copy with something else in one of its places, the whole included. */
function replaceAt(value: unknown, place: number, put: unknown): unknown {
  const count = (node: unknown): number =>
    1 +
    (typeof node === 'object' && node !== null
      ? Object.values(node).reduce((sum: number, one) => sum + count(one), 0)
      : 0);
  let left = place % count(value);
  const walk = (node: unknown): unknown => {
    if (left-- === 0) return put;
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, walk(one)]));
  };
  return walk(value);
}
