import { randomUUID } from 'node:crypto';
import { SandboxChain } from '../../../src/chains/sandbox/sandbox-chain.ts';
import { type SandboxRules, sandboxVariants, traitsOf } from '../../../src/chains/sandbox/sandbox-rules.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import { sandboxAbilities, sandboxHarness } from '../../support/chains/sandbox-harness.ts';
import { openChain, orm, rowsOf, withSandboxNode } from '../../support/chains/sandbox-node.ts';
import { TestClock } from '../../support/gateway/clock.ts';

withSandboxNode();

/** How many tests of the suite apply to a chain of these rules, and how many do not. */
const counts: Record<Exclude<keyof typeof sandboxVariants, 'usual'>, { tried: number; skipped: number }> = {
  gaps: { tried: 37, skipped: 9 },
  'expiry-height': { tried: 37, skipped: 9 },
  'expiry-time': { tried: 37, skipped: 9 },
  final: { tried: 30, skipped: 16 },
  'final-gaps': { tried: 30, skipped: 16 },
  'not-exclusive': { tried: 28, skipped: 18 },
  shared: { tried: 34, skipped: 12 },
  tagged: { tried: 31, skipped: 15 },
};

for (const [name, count] of Object.entries(counts)) {
  const rules: SandboxRules = sandboxVariants[name as keyof typeof counts];
  const deposits = rules.paysFromDeposits ? 'shared' : 'per_order';
  const family = { traits: traitsOf(rules, deposits), abilities: sandboxAbilities, counts: count };
  describeChainAdapter(`a sandbox chain of the rules '${name}'`, family, () => sandboxHarness(rules));
}

describe('a sandbox chain', () => {
  const payment = { from: null, contract: null, to: 'someone', tag: null, amount: 7n };

  it('without exclusion confirms two attempts of one payment', async () => {
    const chain = await sandboxHarness(sandboxVariants['not-exclusive']);
    const id = randomUUID();
    for (const attempt of [1, 2]) {
      const intent = { ...payment, id, attempt };
      const prepared = await chain.adapter.prepare(intent, new Map());
      expect(prepared.reserves).toEqual([`attempt:${id}:${attempt}`]);
      expect((await chain.adapter.broadcast(await chain.sign(intent, prepared))).outcome).toBe('accepted');
    }
    await chain.mine(1);
    expect(await chain.adapter.balances([{ address: 'someone', tag: null }], null)).toEqual([14n]);
  });

  it('takes no expired transaction, and forgets one that expired while it waited', async () => {
    const chain = await sandboxHarness(sandboxVariants['expiry-height']);
    const sign = async () => {
      const intent = { ...payment, id: randomUUID(), attempt: 1 };
      return chain.sign(intent, await chain.adapter.prepare(intent, new Map([...held])));
    };
    const held = new Map();
    const first = await sign();
    held.set(first.reserves[0] ?? '', { contract: null, amount: 7n, fee: 1_000n });
    const behind = await sign();
    await chain.adapter.broadcast(behind);
    await chain.mineAt?.(behind.expiresAt ?? { height: 0 });
    expect(await chain.adapter.broadcast(first)).toEqual({ outcome: 'rejected', code: 'expired' });
    await chain.mine(1);
    expect(await rowsOf('select state from sandbox_tx where txid = $1', [behind.txid])).toEqual([{ state: 'dropped' }]);
    expect(await chain.adapter.broadcast(behind)).toEqual({ outcome: 'rejected', code: 'expired' });
  });

  it('of final blocks takes none back', async () => {
    const { chain } = await openChain();
    const node = new SandboxChain({ orm, clock: new TestClock(), rules: sandboxVariants.final });
    const txid = await node.pay(chain, { to: 'someone', tag: null, contract: null, amount: 1n, busyBlocks: 1 });
    await node.mine(chain);
    await expect(node.reorg(chain, 1)).rejects.toThrow(RangeError);
    expect(await node.dropMined(chain, txid, 10)).toBe(false);
  });

  it('on which payments expire goes on while nothing waits, ten times more slowly', async () => {
    const { chain } = await openChain();
    const clock = new TestClock();
    const expiring = new SandboxChain({ orm, clock, rules: sandboxVariants['expiry-time'] });
    const usual = new SandboxChain({ orm, clock });
    await expiring.mine(chain, 10);
    clock.advance(9_999);
    expect(await expiring.mineDue(1_000)).not.toContain(chain);
    clock.advance(1);
    expect(await usual.mineDue(1_000)).not.toContain(chain);
    expect(await expiring.mineDue(1_000)).toContain(chain);
    expect(await expiring.mineDue(1_000)).not.toContain(chain);
  });
});
