import { xrpTraits } from '../../../src/chains/xrp/xrp-traits.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import type { Family } from '../../support/chains/conformance/bench.ts';
import { xrpHarness } from '../../support/chains/xrp-harness.ts';

const family: Family = {
  traits: xrpTraits,
  abilities: ['tag', 'refusal', 'large amounts'],
  counts: { tried: 29, skipped: 17 },
};
describeChainAdapter('XRP Ledger', family, () => xrpHarness());
