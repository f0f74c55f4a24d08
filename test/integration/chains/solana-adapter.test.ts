import { solanaTraits } from '../../../src/chains/solana/solana-traits.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import type { Family } from '../../support/chains/conformance/bench.ts';
import { describeWithVm } from '../../support/chains/solana-calls.ts';
import { solanaSetup } from '../../support/chains/solana-setup.ts';

const family: Family = {
  traits: solanaTraits,
  abilities: ['token', 'refusal', 'large amounts', 'sweeps', 'final balances'],
  counts: { tried: 30, skipped: 16 },
};
describeWithVm('on simulated servers', () => describeChainAdapter('Solana', family, () => solanaSetup()));
