import { tonFamily } from '../../../src/chains/ton/ton-family.ts';
import { textOf } from '../../../src/chains/ton/ton-highload.ts';
import type { TonNetwork } from '../../../src/chains/ton/ton-section.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import { type TonHarness, tonHarness } from '../../support/chains/ton-harness.ts';

let chain: TonHarness;
beforeAll(async () => {
  chain = await tonHarness();
});
afterEach(() => {
  for (const node of chain.nodes) node.faults = {};
});
afterAll(() => chain.stop());

async function facts(changes: Partial<TonNetwork> = {}) {
  const [first] = await tonFamily.askNodes({ ...chain.network, ...changes }, chainCoins('ton'));
  if (!first) throw new Error('no node was asked');
  return first;
}

test('an index of the network, with the jettons of the file, has no fault', async () => {
  expect(await facts()).toMatchObject({ genesis: 'network -239', faults: [], troubles: [] });
});

test('one of another network, or without the first block, has a fault', async () => {
  expect((await facts({ globalId: -3 })).faults).toEqual([
    'is an index of network -239, and the settings say global_id -3',
  ]);
  chain.nodes[0].faults = { oldest: chain.network.startHeight + 2 };
  expect((await facts()).faults).toEqual(['has no block start_height: its blocks begin later']);
});

test('one that is below the first block is waited for', async () => {
  const { faults, troubles } = await facts({ startHeight: 1_000_000 });
  expect([faults, troubles.length]).toEqual([[], 1]);
  expect(troubles[0]).toMatch(/is at block \d+, below start_height 1000000$/);
});

test('a contract that is no jetton, and one whose wallets have an unknown form, are faults', async () => {
  const user = textOf(chain.chain.newUser().address);
  expect((await facts({ tokens: new Map([['USDT', user]]) })).faults).toEqual([
    `has no jetton at tokens.USDT, ${user}`,
  ]);
  chain.nodes[0].faults = {
    rewrite: (_method, result) =>
      Array.isArray(result.stack) && result.stack.length === 5
        ? { ...result, stack: [...result.stack.slice(0, 4), result.stack[3]] }
        : result,
  };
  expect((await facts()).faults).toEqual([
    `has a jetton whose wallets are made in a way that is not known here, at tokens.USDT, ${chain.token}`,
  ]);
});

test('an index that does not answer is waited for', async () => {
  chain.nodes[0].faults = { error: 503 };
  const { genesis, faults, troubles } = await facts();
  expect([genesis, faults, troubles.length]).toEqual([null, [], 1]);
});

test('a report of a sound index has no problem', async () => {
  const [report] = await chain.adapter.check();
  expect(report).toMatchObject({ head: chain.chain.head.seqno, isSyncing: false, problems: [] });
});
