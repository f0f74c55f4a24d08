import { toChecksumAddress } from '../../../src/chains/addresses/evm.ts';
import { EvmAdapter } from '../../../src/chains/evm/evm-adapter.ts';
import type { Cursor, Transfer } from '../../../src/chains/port/chain-adapter.ts';
import {
  type Anvil,
  call,
  describeWithAnvil,
  randomAddress,
  startAnvil,
  type TokenName,
} from '../../support/chains/anvil.ts';
import { type EvmHarness, evmHarness } from '../../support/chains/evm-harness.ts';

describeWithAnvil('a deposit of a token', () => {
  let anvil: Anvil;
  let chain: EvmHarness;
  beforeAll(async () => {
    anvil = await startAnvil();
    chain = await evmHarness(anvil);
  });
  afterAll(() => anvil?.stop());

  interface Case {
    readonly adapter: EvmAdapter;
    readonly token: string;
    readonly to: string;
    readonly cursor: Cursor;
  }

  async function open(name: TokenName, mood?: bigint): Promise<Case> {
    const token = toChecksumAddress((await anvil.deployToken(18, name)).slice(2));
    if (mood !== undefined) await anvil.send(token, 0n, { data: call('setMood', mood) });
    await anvil.mine();
    const network = { ...chain.network, tokens: new Map([['USDT', token]]) };
    const adapter = new EvmAdapter({ network, hotWallet: chain.hot, addresses: chain.wallet });
    const cursor = await adapter.start((await adapter.head()).height);
    return { adapter, token, to: toChecksumAddress(randomAddress().slice(2)), cursor };
  }

  async function found({ adapter, cursor, to }: Case): Promise<Transfer[]> {
    const { blocks } = await adapter.scan(cursor, 10);
    return blocks.flatMap(({ transfers }) => transfers).filter(({ address }) => address === to);
  }

  const held = async ({ adapter, token, to }: Case): Promise<bigint> =>
    (await adapter.balances([{ address: to, tag: null }], token))[0] ?? -1n;

  /** What is credited is what arrived. */
  it.each([
    ['that behaves', 'Token', undefined, 1_000n],
    ['that returns nothing', 'SilentToken', undefined, 1_000n],
    ['that says no and moves nothing', 'MoodyToken', 1n, null],
    ['that says no instead of undoing', 'FalseToken', undefined, null],
    ['that keeps a tenth', 'MoodyToken', 2n, 900n],
    ['that takes a tenth more', 'MoodyToken', 3n, 1_000n],
    ['that undoes the call', 'MoodyToken', 5n, null],
    ['that blocks nothing', 'BlocklistToken', undefined, 1_000n],
  ] as const)('%s is what arrived', async (_what, name, mood, credited) => {
    const one = await open(name, mood);
    await anvil.send(one.token, 0n, { data: call('transfer', one.to, 1_000n), gas: 300_000 });
    await anvil.mine();
    expect((await found(one)).map(({ amount }) => amount)).toEqual(credited === null ? [] : [credited]);
    expect(await held(one)).toBe(credited ?? 0n);
  });

  it('to an address on its list is none', async () => {
    const one = await open('BlocklistToken');
    await anvil.send(one.token, 0n, { data: call('setBlocked', one.to, true) });
    await anvil.mine();
    await anvil.send(one.token, 0n, { data: call('transfer', one.to, 1_000n), gas: 300_000 });
    await anvil.mine();
    expect(await found(one)).toEqual([]);
  });

  it('that writes no log is not seen', async () => {
    const one = await open('MoodyToken', 4n);
    await anvil.send(one.token, 0n, { data: call('transfer', one.to, 1_000n) });
    await anvil.mine();
    expect(await found(one)).toEqual([]);
    expect(await held(one)).toBe(1_000n);
  });

  it('that counts in shares is credited as its log says, and drifts from its balance', async () => {
    const one = await open('RebasingToken');
    await anvil.send(one.token, 0n, { data: call('rebase', 3n * 10n ** 18n) });
    await anvil.mine();
    await anvil.send(one.token, 0n, { data: call('transfer', one.to, 1_000n) });
    await anvil.mine();
    expect((await found(one)).map(({ amount }) => amount)).toEqual([1_000n]);
    expect(await held(one)).toBe(999n);
  });
});
