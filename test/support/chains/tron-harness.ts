import type { ChainHarness } from './chain-conformance.ts';
import type { TronOptions } from './tron-node/blocks.ts';
import { startTron, type TronChain } from './tron-node.ts';

/** The part of a harness that needs no adapter: a chain with a token like USDT, and its hands. */
export interface TronHands extends Omit<ChainHarness, 'adapter' | 'sign' | 'conflict'> {
  readonly chain: TronChain;
  readonly token: string;
  /** Gives a wallet enough of the coin and of the token for every payment of a suite. */
  fund(address: string): Promise<void>;
}

/**
 * Starts them; blocks are final after `solidLag` further ones. `drop` makes every node forget a
 * transaction, which they take when it comes again. Payments of the coin never fail in a block, so
 * `refuse` is null: `chain.failing` fails transfers of tokens.
 */
export async function tronHands({ solidLag = 6, ...options }: TronOptions = {}): Promise<TronHands> {
  const chain = startTron({ solidLag, ...options });
  const token = await chain.deployToken();
  return {
    chain,
    token,
    tag: null,
    address: () => chain.address(),
    pay: (to, _tag, contract, amount) => chain.pay(to, contract, amount),
    mine: (blocks) => chain.mine(blocks),
    reorg: (depth, blocks) => chain.reorg(depth, blocks),
    drop: async (txid) => chain.drop(txid),
    refuse: null,
    fund: async (address) => {
      await chain.pay(address, null, 10n ** 12n);
      await chain.pay(address, token, 10n ** 12n);
      await chain.mine();
    },
    stop: () => chain.stop(),
  };
}
