import { tonTraits } from '../../../src/chains/ton/ton-traits.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import type { Family } from '../../support/chains/conformance/bench.ts';
import { tonHarness } from '../../support/chains/ton-harness.ts';

const family: Family = {
  traits: tonTraits,
  abilities: ['tag', 'token', 'large amounts'],
  unit: 100_000_000n,
  finds: 'own',
  forwarded: 1n,
  rent: 10n,
  counts: { tried: 23, skipped: 23 },
};
describeChainAdapter('TON', family, () => tonHarness());
