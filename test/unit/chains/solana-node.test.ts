import { scanBlocks } from '../../../src/chains/nodes/scan-blocks.ts';
import { ChainError, type Cursor } from '../../../src/chains/port/chain-adapter.ts';
import { SolanaBlockSource } from '../../../src/chains/solana/solana-block-source.ts';
import type { SolanaNode } from '../../../src/chains/solana/solana-node.ts';
import { hashOf, solanaTestKey, ToldSolana } from '../../support/chains/solana-told.ts';

const owner = solanaTestKey(2).address;

async function codeOf(question: Promise<unknown>): Promise<unknown> {
  const error = await question.then(
    () => null,
    (cause: unknown) => cause,
  );
  return error instanceof ChainError ? [error.code, error.isOfChain] : error;
}

async function scan(node: SolanaNode, top: number, maxBlocks = 100) {
  const head = await node.head();
  const source = new SolanaBlockSource({ node, head, maxBlocks, mints: new Set() });
  const cursor: Cursor = { window: [{ height: top, hash: hashOf(top), parent: hashOf(top - 1) }] };
  return scanBlocks('solana', source, cursor, { maxBlocks, reorgWindow: 20 });
}

describe('a scan', () => {
  test('goes over empty slots', async () => {
    const told = new ToldSolana().addBlocks(10, 11, 14, 15, 40);
    const { blocks, head, orphaned } = await scan(told.node(), 10);
    expect(blocks.map(({ ref }) => ref.height)).toEqual([11, 14, 15, 40]);
    expect([head, orphaned]).toEqual([40, []]);
  });

  test('joins blocks of several scans, and reads none twice', async () => {
    const told = new ToldSolana().addBlocks(10, 11, 14, 15, 40);
    const node = told.node();
    const first = await scan(node, 10, 2);
    expect(first.blocks.map(({ ref }) => ref.height)).toEqual([11, 14]);
    expect((await scan(node, 14, 2)).blocks.map(({ ref }) => ref.height)).toEqual([15, 40]);
    const read = told.calls.filter(
      ([method, [, options]]) =>
        method === 'getBlock' && (options as { transactionDetails: string }).transactionDetails === 'accounts',
    );
    expect(read.map(([, [slot]]) => slot)).toEqual([11, 14, 15, 40]);
  });

  test('goes over more empty slots than one question asks for', async () => {
    const told = new ToldSolana().addBlocks(10, 5_000);
    expect((await scan(told.node(), 10)).blocks.map(({ ref }) => ref.height)).toEqual([5_000]);
  });

  test('never takes a block that a node leaves out of its list for an empty slot', async () => {
    const told = new ToldSolana().addBlocks(10, 11, 12, 13);
    told.answers.set('getBlocks', () => [13]);
    await expect(scan(told.node(), 11)).rejects.toThrow('leaves out blocks between slots 11 and 13');
    expect(await codeOf(scan(told.node(), 11))).toEqual(['inconsistent_chain', false]);
  });

  test('never takes a list without the newest block for the end of the chain', async () => {
    const told = new ToldSolana().addBlocks(10, 11, 12);
    told.answers.set('getBlocks', () => []);
    expect(await codeOf(scan(told.node(), 10))).toEqual(['inconsistent_chain', false]);
  });

  test('never takes back a block', async () => {
    const told = new ToldSolana().addBlocks(10, 11);
    told.blocks.set(11, { parentSlot: 10, blockHeight: 10, previousBlockhash: hashOf(99) });
    expect(await codeOf(scan(told.node(), 10))).toEqual(['inconsistent_chain', false]);
  });

  test('refuses a chain without the block that was seen', async () => {
    const told = new ToldSolana().addBlocks(10, 12, 13);
    expect(await codeOf(scan(told.node(), 11))).toEqual(['no_block', false]);
  });

  test.each([
    -32_001, -32_004, -32_007, -32_009, -32_011, -32_014,
  ])('stops at a block that a node refuses with %d', async (code) => {
    const told = new ToldSolana().addBlocks(10, 11, 12);
    const node = told.node();
    const head = await node.head();
    told.refuse('getBlock', code);
    expect(await codeOf(node.block(11))).toEqual(['no_block', false]);
    const source = new SolanaBlockSource({ node, head, maxBlocks: 5, mints: new Set() });
    await expect(source.blockAfter({ height: 10, hash: hashOf(10), parent: hashOf(9) })).rejects.toThrow(ChainError);
  });

  test('stops the chain at transactions of an unknown version, at every node', async () => {
    const told = new ToldSolana().addBlocks(10, 11);
    const node = told.node();
    told.refuse('getBlock', -32_015, 'Transaction version (2) is not supported');
    expect(await codeOf(node.block(11))).toEqual(['unsupported_version', true]);
  });
});

describe('a question', () => {
  test.each([
    ['the wrong order', [12, 11]],
    ['a slot twice', [11, 11]],
    ['a slot below', [9, 11]],
    ['a slot above', [11, 13]],
    ['a slot that is no number', ['x']],
    ['no list', null],
  ])('about slots is refused with %s', async (_name, slots) => {
    const told = new ToldSolana().addBlocks(10);
    told.answers.set('getBlocks', () => slots);
    expect(await codeOf(told.node().slots(10, 12))).toEqual(['unsound_answer', false]);
  });

  test.each([
    ['no hash', { blockhash: 'x' }],
    ['no parent', { previousBlockhash: null }],
    ['a parent above', { parentSlot: 11 }],
    ['no height', { blockHeight: null }],
    ['no time', { blockTime: null }],
    ['a time in milliseconds', { blockTime: 1_790_083_456_000 }],
  ])('about a block is refused with %s', async (_name, change) => {
    const told = new ToldSolana().addBlocks(11);
    const good = { blockhash: hashOf(11), previousBlockhash: hashOf(10), parentSlot: 10, blockHeight: 9, blockTime: 5 };
    told.answers.set('getBlock', () => ({ ...good, ...change }));
    expect(await codeOf(told.node().header(11))).toEqual(['unsound_answer', false]);
  });

  test('about a block with null is refused', async () => {
    const told = new ToldSolana().addBlocks(11);
    told.answers.set('getBlock', () => null);
    expect(await codeOf(told.node().header(11))).toEqual(['no_block', false]);
  });

  test('about accounts names the least slot, and refuses an older answer', async () => {
    const told = new ToldSolana().addBlocks(11);
    expect((await told.node().accounts([owner], 11)).value).toEqual([null]);
    expect(told.calls.at(-1)?.[1][1]).toMatchObject({ minContextSlot: 11, commitment: 'finalized' });
    expect(await codeOf(told.node().accounts([owner], 12))).toEqual(['node_behind', false]);
    told.refuse('getMultipleAccounts', -32_016, 'Minimum context slot has not been reached');
    expect(await codeOf(told.node().accounts([owner], 11))).toEqual(['node_behind', false]);
  });

  test.each([
    ['fewer accounts', []],
    ['no balance', [{ owner, data: ['', 'base64'] }]],
    ['a balance with a fraction', [{ lamports: 1.5, owner, data: ['', 'base64'] }]],
    ['other bytes', [{ lamports: 1, owner, data: ['', 'base58'] }]],
    ['no owner', [{ lamports: 1, data: ['', 'base64'] }]],
  ])('about accounts is refused with %s', async (_name, value) => {
    const told = new ToldSolana().addBlocks(11);
    told.answers.set('getMultipleAccounts', () => ({ context: { slot: 11 }, value }));
    expect(await codeOf(told.node().accounts([owner], 11))).toEqual(['unsound_answer', false]);
  });

  test('about statuses searches the history', async () => {
    const told = new ToldSolana().addBlocks(11);
    await told.node().statuses(['a']);
    expect(told.calls.at(-1)).toEqual(['getSignatureStatuses', [['a'], { searchTransactionHistory: true }]]);
    told.answers.set('getSignatureStatuses', () => ({ context: { slot: 11 }, value: [] }));
    expect(await codeOf(told.node().statuses(['a']))).toEqual(['unsound_answer', false]);
  });

  test('that a node does not know is its fault', async () => {
    const told = new ToldSolana().addBlocks(11);
    told.refuse('getMinimumBalanceForRentExemption', -32_601, 'Method not found');
    expect(await codeOf(told.node().rentOf(0))).toEqual(['node_refused', false]);
  });
});

test('what a broadcast is answered', async () => {
  const told = new ToldSolana().addBlocks(11);
  const send = () => told.node().send('raw');
  expect(await send()).toEqual({ outcome: 'accepted', code: null });
  told.refuse('sendTransaction', -32_002, 'Transaction simulation failed');
  expect(await send()).toEqual({ outcome: 'rejected', code: '-32002' });
  told.refuse('sendTransaction', -32_005, 'Node is behind');
  expect(await send()).toEqual({ outcome: 'uncertain', code: '-32005' });
});
