import { SandboxAdapter } from '../../../src/chains/sandbox/sandbox-adapter.ts';
import { SandboxChain } from '../../../src/chains/sandbox/sandbox-chain.ts';
import { nextHeight, type SandboxRules, traitsOf, usualRules } from '../../../src/chains/sandbox/sandbox-rules.ts';
import { SandboxTransactions } from '../../../src/chains/sandbox/sandbox-transactions.ts';
import { decodePayload } from '../../../src/chains/sandbox/sandbox-tx.ts';
import { TestClock } from '../gateway/clock.ts';
import type { ChainHarness } from './chain-conformance.ts';
import type { Ability } from './conformance/bench.ts';
import { openChain, orm, signedBy, signingKeyOf, token } from './sandbox-node.ts';

/** What every sandbox chain can do, for the suite. */
export const sandboxAbilities: readonly Ability[] = ['token', 'tag', 'balances of tags', 'refusal', 'large amounts'];

/** A separate chain under these rules, with a separate clock. The file has a sandbox node. */
export async function sandboxHarness(rules: SandboxRules = usualRules): Promise<ChainHarness> {
  const { chain, account } = await openChain();
  const clock = new TestClock();
  const node = new SandboxChain({ orm, clock, rules });
  // The same chain without the promise that its blocks are final: for a node that lies.
  const liar = new SandboxChain({ orm, clock, rules: { ...rules, reorgs: true } });
  const deposits = rules.paysFromDeposits ? 'shared' : 'per_order';
  const wallet = { hotAddress: account.address, fundingTag: 'funding' };
  const adapter = new SandboxAdapter({ chain, node, ...wallet, deposits, busyBlocks: 3 });
  const signer = new SandboxTransactions({ ed25519: () => signingKeyOf(account) }, rules);
  expect(adapter.traits).toEqual(traitsOf(rules, deposits));
  let addresses = 0;
  return {
    adapter,
    token,
    tag: 'tag-7',
    address: () => {
      addresses += 1;
      return `address-${addresses}`;
    },
    pay: (to, tag, contract, amount) => node.pay(chain, { to, tag, contract, amount, busyBlocks: 3 }),
    mine: (blocks) => node.mine(chain, blocks),
    reorg: async (depth, blocks = depth) => {
      await liar.reorg(chain, depth, { blocks });
      // It finds nothing, and makes the node forget what it read before.
      await node.drop(chain, '');
    },
    sign: async (intent, prepared) => {
      const opened = signer.open(chain, intent, prepared);
      if (opened.faults.length > 0) throw new Error(opened.faults.join('; '));
      return { ...opened.sign(), reserves: prepared.reserves, expiresAt: prepared.expiresAt };
    },
    drop: async (txid) => {
      await node.drop(chain, txid);
    },
    conflict: async (tx) => {
      const { nonce = -1 } = decodePayload(tx.raw.split('#')[0] ?? '');
      const other = signedBy(account, chain, { nonce, to: 'another', fee: '2000' });
      expect(await node.submit(chain, [other.raw], 3)).toEqual([{ outcome: 'accepted', code: null }]);
      return { ...other, reserves: tx.reserves, expiresAt: null };
    },
    refuse: (address) => node.refuse(chain, address),
    mineBefore: async (expiry) => {
      const isBelow = async (): Promise<boolean> => {
        const { height } = await node.head(chain);
        return 'height' in expiry && nextHeight(rules, height) < expiry.height;
      };
      while (await isBelow()) await node.mine(chain);
      if ('timeMs' in expiry) {
        clock.advance(expiry.timeMs - 1 - clock.now().getTime());
        await node.mine(chain);
      }
    },
    mineAt: async (expiry) => {
      const isBelow = async (): Promise<boolean> =>
        'height' in expiry && (await node.head(chain)).height < expiry.height;
      if ('timeMs' in expiry) {
        clock.advance(Math.max(0, expiry.timeMs - clock.now().getTime()));
        await node.mine(chain);
      }
      while (await isBelow()) await node.mine(chain);
    },
    stop: async () => {},
  };
}
