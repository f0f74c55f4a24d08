import { stellarTraits } from '../../../src/chains/stellar/stellar-traits.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import type { Family } from '../../support/chains/conformance/bench.ts';
import { stellarHarness } from '../../support/chains/stellar-harness.ts';

const family: Family = {
  traits: stellarTraits,
  abilities: ['tag', 'token', 'refusal', 'large amounts'],
  counts: { tried: 31, skipped: 15 },
};
describeChainAdapter('Stellar', family, () => stellarHarness());
