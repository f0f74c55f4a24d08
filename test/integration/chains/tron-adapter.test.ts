import { tronTraits } from '../../../src/chains/tron/tron-traits.ts';
import { findAnvil } from '../../support/chains/anvil.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import type { Family } from '../../support/chains/conformance/bench.ts';
import { tronHarness } from '../../support/chains/tron-harness.ts';

const family: Family = {
  traits: tronTraits,
  abilities: ['token', 'sweeps', 'final balances', 'large amounts'],
  counts: { tried: 28, skipped: 18 },
};
if (findAnvil() !== null) describeChainAdapter('Tron', family, () => tronHarness());
