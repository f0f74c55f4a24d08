import { contractAddress } from '@ton/core';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { TonAdapter } from '../../../src/chains/ton/ton-adapter.ts';
import { addressOf, textOf } from '../../../src/chains/ton/ton-highload.ts';
import { highestQuery } from '../../../src/chains/ton/ton-preparation.ts';
import type { TonNetwork } from '../../../src/chains/ton/ton-section.ts';
import { TonTransactions } from '../../../src/chains/ton/ton-transactions.ts';
import { settleSec } from '../../../src/chains/ton/ton-tx.ts';
import type { ChainHarness } from './chain-conformance.ts';
import { TestWallet } from './evm-harness.ts';
import { keyOf, walletInit } from './ton-contracts.ts';
import type { TonOptions } from './ton-node/blocks.ts';
import type { Jetton } from './ton-node/jettons.ts';
import { rawOf } from './ton-node/names.ts';
import { startTon, type TonChain, type TonNode } from './ton-node.ts';

export interface TonHarness extends ChainHarness {
  readonly adapter: TonAdapter;
  readonly chain: TonChain;
  /** The indexes of two operators. */
  readonly nodes: readonly [TonNode, TonNode];
  readonly wallet: TestWallet;
  readonly network: TonNetwork;
  readonly signer: TonTransactions;
  readonly hot: string;
  readonly jetton: Jetton;
  /** Counts of the query ids that were signed. */
  readonly signed: Set<string>;
}

export const fundingTag = '4000000001';
export const ton = 1_000_000_000n;

/** Settings of a network of TON for tests. */
export function tonNetwork(
  chain: { readonly globalId: number; readonly first: { readonly seqno: number } },
  nodes: readonly NodeConfig[],
  changes: Partial<TonNetwork> = {},
): TonNetwork {
  return {
    kind: 'ton',
    chain: 'ton',
    globalId: chain.globalId,
    nodes,
    startHeight: chain.first.seqno,
    pollMs: 0,
    reorgWindow: 20,
    stalledAfterSec: 0,
    limits: new Map(),
    feeLimits: { perTransaction: '0.5', perDay: '25' },
    levels: new Map(),
    sweepFrom: new Map(),
    finality: 'masterchain',
    tokens: new Map(),
    paymentFee: 20_000_000n,
    jettonValue: 50_000_000n,
    twoNodesAbove: new Map(),
    ...changes,
  };
}

/**
 * A network over the real virtual machine, the indexes of two operators, a wallet that has coins
 * and tokens and is not deployed yet, and an adapter for it. Its blocks are three hours old.
 */
export async function tonHarness(
  changes: Partial<TonNetwork> = {},
  { startTime = Date.now() - 3 * 3_600_000, ...options }: TonOptions = {},
): Promise<TonHarness> {
  const chain = await startTon({ startTime, ...options });
  const nodes = [await chain.node(), await chain.node()] as const;
  const wallet = new TestWallet();
  const jetton = await chain.jetton('USDT', { kind: 'governed', library: true });
  const token = textOf(jetton.master);
  const network = tonNetwork(
    chain,
    nodes.map(({ config }) => config),
    { tokens: new Map([['USDT', token]]), ...changes },
  );
  const signer = new TonTransactions({ network, keys: wallet.keys });
  const hot = signer.hotWallet();
  chain.pay(addressOf(hot), 1_000_000n * ton);
  await chain.settle();
  chain.mint(jetton, addressOf(hot), 10n ** 15n);
  await chain.settle();
  const signed = new Set<string>();
  const lastQuery = async () => highestQuery(signed);
  const adapter = new TonAdapter({ network, hotWallet: hot, fundingTag, lastQuery });
  let addresses = 0;
  return {
    adapter,
    chain,
    nodes,
    wallet,
    network,
    signer,
    hot,
    jetton,
    signed,
    token,
    tag: '4000000007',
    address: () => {
      addresses += 1;
      return textOf(contractAddress(0, walletInit('v4r2', keyOf(`receiver ${addresses}`))));
    },
    pay: (to, tag, contract, amount) => pay(chain, jetton, { to, tag, contract, amount }),
    mine: (blocks) => chain.block(blocks),
    // Indexes that lie: no block is taken back.
    reorg: async (depth, blocks = depth) => {
      for (const node of nodes) node.faults = { fork: true };
      await chain.block(Math.max(0, blocks - depth));
    },
    drop: async (txid) => chain.drop(Buffer.from(txid, 'hex').toString('base64')),
    sign: async (intent, prepared) => {
      const opened = signer.open(network.chain, intent, prepared, new Date(chain.head.timeMs));
      if (opened.faults.length > 0) throw new Error(opened.faults.join('; '));
      for (const one of prepared.reserves) signed.add(one);
      return { ...opened.sign(), reserves: prepared.reserves, expiresAt: prepared.expiresAt };
    },
    conflict: async () => {
      throw new Error('nothing on this chain conflicts with a payment');
    },
    // Coins that left the wallet arrive. `jetton.refuse` fails transfers of tokens.
    refuse: null,
    // The contract takes a payment until this long before it counts as expired.
    mineBefore: async (expiry) => mineAt(chain, expiry, -settleSec * 1_000 - 1_000),
    mineAt: async (expiry) => mineAt(chain, expiry, 0),
    stop: () => chain.stop(),
  };
}

interface Paid {
  readonly to: string;
  readonly tag: string | null;
  readonly contract: string | null;
  readonly amount: bigint;
}

/**
 * Pays from outside in a block of its own. Returns the hash of the transaction that received it,
 * by which a scan names it.
 */
async function pay(chain: TonChain, jetton: Jetton, { to, tag, contract, amount }: Paid): Promise<string> {
  const address = addressOf(to);
  const comment = { comment: tag };
  const receiver = contract === null ? address : jetton.walletOf(address);
  if (contract === null) chain.pay(address, amount, comment);
  else chain.payTokens(jetton, address, amount, { ...comment, forward: 0n });
  await chain.block();
  const received = chain.head.executed.findLast(({ account }) => account === rawOf(receiver));
  if (!received) throw new Error('the payment did not arrive in its block');
  return Buffer.from(received.hash, 'base64').toString('hex');
}

/** Makes a block this many milliseconds after an expiry. */
async function mineAt(chain: TonChain, expiry: object, afterMs: number): Promise<void> {
  if (!('timeMs' in expiry) || typeof expiry.timeMs !== 'number') throw new Error('payments expire by time');
  chain.setTime(Math.max(expiry.timeMs + afterMs, chain.head.timeMs));
  await chain.block();
}
