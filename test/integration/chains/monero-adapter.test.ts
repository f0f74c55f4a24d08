import { moneroTraits } from '../../../src/chains/monero/monero-traits.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import type { Family } from '../../support/chains/conformance/bench.ts';
import { MoneroHarness } from '../../support/chains/monero-harness.ts';
import { hasMonerod, type Monerod, startMonerod, withoutMonerod } from '../../support/chains/monerod.ts';

if (!hasMonerod()) {
  it.skip(`${withoutMonerod}: the adapter was not tried on a node`, () => {}); // CI requires it
} else {
  let node: Monerod;
  let wallet: MoneroHarness;

  beforeAll(async () => {
    node = await startMonerod();
    wallet = new MoneroHarness(node, 1);
    await wallet.fund();
  }, 600_000);
  afterAll(() => node?.stop());

  const family: Family = { traits: moneroTraits, abilities: [], counts: { tried: 26, skipped: 20 } };
  describeChainAdapter('Monero', family, async () => {
    await wallet.fund();
    return wallet;
  });
}
