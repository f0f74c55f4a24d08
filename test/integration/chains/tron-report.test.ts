import { describeWithAnvil } from '../../support/chains/anvil.ts';
import { type TronHarness, tronHarness } from '../../support/chains/tron-harness.ts';

describeWithAnvil('the report of a node of Tron', () => {
  let tron: TronHarness;
  beforeAll(async () => {
    tron = await tronHarness();
  });
  afterAll(() => tron.stop());

  it('tells of a block whose transactions do not give the root of its header', async () => {
    await tron.chain.pay(tron.address(), null, 1_000_000n);
    await tron.chain.mine();
    const [, second] = tron.nodes;
    second.faults = {
      rewrite: (path, answer) => (path === '/wallet/getblock' ? { ...(answer as object), transactions: [] } : answer),
    };
    const [honest, lying] = await tron.adapter.check();
    expect(honest?.problems).toEqual([]);
    expect(lying?.problems).toEqual([
      expect.stringMatching(/^its block \d+ has other transactions than the root in its header covers: ask another/),
    ]);
  });
});
