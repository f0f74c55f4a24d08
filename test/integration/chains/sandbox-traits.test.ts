import { type SandboxRules, sandboxVariants, traitsOf } from '../../../src/chains/sandbox/sandbox-rules.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import { sandboxAbilities, sandboxHarness } from '../../support/chains/sandbox-harness.ts';
import { withSandboxNode } from '../../support/chains/sandbox-node.ts';

withSandboxNode();

/** Tests of the suite that apply to a chain of these rules, and those that do not. */
const counts: Record<Exclude<keyof typeof sandboxVariants, 'usual'>, { tried: number; skipped: number }> = {
  gaps: { tried: 0, skipped: 0 },
  'expiry-height': { tried: 0, skipped: 0 },
  'expiry-time': { tried: 0, skipped: 0 },
  final: { tried: 0, skipped: 0 },
  'final-gaps': { tried: 0, skipped: 0 },
  'not-exclusive': { tried: 0, skipped: 0 },
};

for (const [name, count] of Object.entries(counts)) {
  const rules: SandboxRules = sandboxVariants[name as keyof typeof counts];
  const family = { traits: traitsOf(rules), abilities: sandboxAbilities, counts: count };
  describeChainAdapter(`a sandbox chain of the rules '${name}'`, family, () => sandboxHarness(rules));
}
