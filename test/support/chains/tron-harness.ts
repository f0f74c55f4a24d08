import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { TronAdapter } from '../../../src/chains/tron/tron-adapter.ts';
import type { TronNetwork } from '../../../src/chains/tron/tron-section.ts';
import { TronTransactions } from '../../../src/chains/tron/tron-transactions.ts';
import { decodePayload, encodePayload, reservation } from '../../../src/chains/tron/tron-tx.ts';
import type { ChainHarness } from './chain-conformance.ts';
import { TestWallet } from './evm-harness.ts';
import type { TronOptions } from './tron-node/blocks.ts';
import { startTron, type TronChain, type TronNode } from './tron-node.ts';

export interface TronHarness extends ChainHarness {
  readonly adapter: TronAdapter;
  readonly chain: TronChain;
  /** The nodes of two operators. */
  readonly nodes: readonly [TronNode, TronNode];
  readonly wallet: TestWallet;
  readonly network: TronNetwork;
  readonly signer: TronTransactions;
  readonly hot: string;
  readonly token: string;
}

const trx = 10n ** 6n;

/** Settings of a private chain of Tron for tests. */
export function tronNetwork(
  chain: TronChain,
  nodes: readonly NodeConfig[],
  changes: Partial<TronNetwork> = {},
): TronNetwork {
  return {
    kind: 'tron',
    chain: 'tron',
    net: 'private',
    genesis: chain.blocks[0]?.id ?? null,
    nodes,
    startHeight: 0,
    pollMs: 0,
    reorgWindow: 100,
    stalledAfterSec: 0,
    limits: new Map(),
    feeLimits: { perTransaction: '45', perDay: '2000' },
    levels: new Map(),
    sweepFrom: new Map(),
    finality: 'solid',
    tokens: new Map(),
    internalTransfers: 'none',
    twoNodesAbove: new Map(),
    expireAfterSec: 1_800,
    ...changes,
  };
}

/**
 * A chain with a token like USDT, the nodes of two operators, a wallet that has of both coins, and
 * an adapter for it. Its blocks are an hour old, and final after 19 further ones.
 */
export async function tronHarness(
  changes: Partial<TronNetwork> = {},
  { solidLag = 19, startTime = Date.now() - 3_600_000, ...options }: TronOptions = {},
): Promise<TronHarness> {
  const chain = startTron({ solidLag, startTime, ...options });
  const token = await chain.deployToken();
  const nodes = [await chain.node(), await chain.node()] as const;
  const wallet = new TestWallet('TRX');
  const settings = { tokens: new Map([['USDT', token]]), ...changes };
  const network = tronNetwork(
    chain,
    nodes.map(({ config }) => config),
    settings,
  );
  const signer = new TronTransactions({ network, keys: wallet.keys });
  const hot = signer.hotWallet();
  await chain.pay(hot, null, 10n ** 6n * trx);
  await chain.pay(hot, token, 10n ** 12n);
  await chain.mine(solidLag + 1);
  const adapter = new TronAdapter({ network, hotWallet: hot, addresses: wallet });
  return {
    adapter,
    chain,
    nodes,
    wallet,
    network,
    signer,
    hot,
    token,
    tag: null,
    address: () => chain.address(),
    pay: (to, _tag, contract, amount) => chain.pay(to, contract, amount),
    mine: (blocks) => chain.mine(blocks),
    reorg: (depth, blocks) => chain.reorg(depth, blocks),
    drop: async (txid) => chain.drop(txid),
    sign: async (intent, prepared) => {
      const opened = signer.open(network.chain, intent, prepared);
      if (opened.faults.length > 0) throw new Error(opened.faults.join('; '));
      return { ...opened.sign(), reserves: prepared.reserves, expiresAt: prepared.expiresAt };
    },
    conflict: async () => {
      throw new Error('nothing on this chain conflicts with a payment');
    },
    // A transfer of coins never fails in a block: `chain.failing` fails those of tokens.
    refuse: null,
    depositAddress: () => wallet.deposit(1),
    secondAttempt: async (payment, first) => {
      const { path, tx } = decodePayload(first.payload);
      const timeMs = tx.expiresAtMs + 1;
      const payload = encodePayload({ path, tx: { ...tx, expiresAtMs: timeMs } });
      return { ...first, payload, expiresAt: { timeMs }, reserves: [reservation(hot, payment)] };
    },
    mineBefore: async (expiry) => {
      if ('timeMs' in expiry) chain.setTime(expiry.timeMs - 1);
      await chain.mine(1);
    },
    mineAt: async (expiry) => {
      if ('timeMs' in expiry) chain.setTime(Math.max(expiry.timeMs, chain.head.header.timestamp + 1));
      await chain.mine(1);
    },
    stop: () => chain.stop(),
  };
}
