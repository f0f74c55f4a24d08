import { Address } from '@ton/core';
import type { ChainAdapter, PaymentIntent, PreparedTx, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import type { ChainHarness } from './chain-conformance.ts';
import type { TonOptions } from './ton-node/blocks.ts';
import type { Jetton } from './ton-node/jettons.ts';
import { startTon, type TonChain, type TonNode } from './ton-node.ts';

/** What a network offers to an adapter. */
export interface TonSetting {
  readonly chain: TonChain;
  /** The servers of two operators. */
  readonly nodes: readonly [TonNode, TonNode];
  readonly jetton: Jetton;
}

/** What the family brings: an adapter on the network's servers, and its signer. */
export interface TonParts<Adapter extends ChainAdapter> {
  readonly adapter: Adapter;
  /** The wallet that pays, in any of its spellings. */
  readonly hot: string;
  /** The token as the adapter names it. */
  readonly token: string;
  readonly sign: (intent: PaymentIntent, prepared: PreparedTx) => Promise<Pick<SignedTx, 'txid' | 'raw'>>;
}

export interface TonHarness<Adapter extends ChainAdapter> extends ChainHarness {
  readonly adapter: Adapter;
  readonly chain: TonChain;
  readonly nodes: TonSetting['nodes'];
  readonly jetton: Jetton;
  readonly hot: Address;
}

const ton = 1_000_000_000n;

/**
 * A network, the servers of two operators, a wallet with coins and tokens, and an adapter for it.
 * Accounts pay nothing for their storage, so that a receiver has what it got. Txids are hashes in
 * hexadecimal: of a deposit, the one that `TonChain.credit` returns; of a payment, the normalised
 * one of its external message.
 */
export async function tonHarness<Adapter extends ChainAdapter>(
  makeParts: (setting: TonSetting) => Promise<TonParts<Adapter>> | TonParts<Adapter>,
  { startTime = Date.now() - 3 * 3_600_000, storageFees = false, ...options }: TonOptions = {},
): Promise<TonHarness<Adapter>> {
  const chain = await startTon({ startTime, storageFees, ...options });
  const nodes = [await chain.node(), await chain.node()] as const;
  const jetton = await chain.jetton('USDT', { library: true });
  const { adapter, hot, token, sign } = await makeParts({ chain, nodes, jetton });
  const wallet = Address.parse(hot);
  chain.pay(wallet, 1_000_000n * ton);
  chain.payTokens(jetton, wallet, 10n ** 15n, { forward: 0n });
  await chain.settle();
  await chain.block(2);
  const blockAt = (timeMs: number): Promise<void> => {
    chain.setTime(Math.max(timeMs, chain.head.timeMs));
    return chain.block();
  };
  return {
    adapter,
    chain,
    nodes,
    jetton,
    hot: wallet,
    token,
    tag: '4711',
    address: () => chain.newUser().address.toString({ bounceable: false }),
    pay: (to, comment, contract, amount) =>
      chain.credit(Address.parse(to), amount, { jetton: contract === null ? null : jetton, comment }),
    mine: (blocks) => chain.block(blocks),
    // Servers that lie: no block is taken back.
    reorg: async (depth, blocks = depth) => {
      for (const node of nodes) node.faults = { fork: true };
      await chain.block(Math.max(0, blocks - depth));
    },
    drop: async (txid) => chain.drop(Buffer.from(txid, 'hex').toString('base64')),
    sign: async (intent, prepared) => {
      const { reserves, expiresAt } = prepared;
      return { ...(await sign(intent, prepared)), reserves, expiresAt };
    },
    conflict: async () => {
      throw new Error('no payment of TON excludes another one');
    },
    // Coins always arrive. Tokens come back from a jetton wallet that refuses them.
    refuse: async (address) => jetton.refuse(Address.parse(address)),
    // A message is valid while the time is below that of its expiry, in whole seconds.
    mineBefore: async (expiry) => {
      if ('timeMs' in expiry) await blockAt(expiry.timeMs - 2_000);
    },
    mineAt: async (expiry) => {
      if ('timeMs' in expiry) await blockAt(expiry.timeMs);
    },
    stop: () => chain.stop(),
  };
}
