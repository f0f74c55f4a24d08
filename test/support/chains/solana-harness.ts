import type { ChainAdapter, PaymentIntent, PreparedTx, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import type { ChainHarness } from './chain-conformance.ts';
import type { Mint } from './solana-node/hands.ts';
import type { SolanaKey } from './solana-node/keys.ts';
import type { SolanaOptions } from './solana-node/slots.ts';
import { decodeTransaction, idOf } from './solana-node/transaction.ts';
import { type SolanaChain, type SolanaNode, startSolana } from './solana-node.ts';

/** What a network offers to an adapter. */
export interface SolanaSetting {
  readonly chain: SolanaChain;
  /** The servers of two operators. */
  readonly nodes: readonly [SolanaNode, SolanaNode];
  readonly mint: Mint;
}

/** What the family brings: an adapter on the network's servers, and its signer. */
export interface SolanaParts<Adapter extends ChainAdapter> {
  readonly adapter: Adapter;
  /** The key of the wallet that pays. */
  readonly hot: SolanaKey;
  /** Gives out an address of ours, which can be swept. */
  readonly depositAddress: () => Promise<string>;
  readonly sign: (intent: PaymentIntent, prepared: PreparedTx) => Promise<Pick<SignedTx, 'txid' | 'raw'>>;
}

export interface SolanaHarness<Adapter extends ChainAdapter> extends ChainHarness {
  readonly adapter: Adapter;
  readonly chain: SolanaChain;
  readonly nodes: SolanaSetting['nodes'];
  readonly hot: SolanaKey;
  readonly mint: Mint;
}

const sol = 1_000_000_000n;
/** Lamports a byte: an account keeps 128 of them, less than the least payment of the suite. */
const lowRent = 1n;
/** As it has been on the main network since November 2026. */
const usualRent = 5_080n;

/**
 * A network, the servers of two operators, a wallet with coins and tokens, and an adapter for it.
 * Each third block follows a slot without one. Accounts keep little, so that any amount makes an
 * account.
 */
export async function solanaHarness<Adapter extends ChainAdapter>(
  makeParts: (setting: SolanaSetting) => Promise<SolanaParts<Adapter>> | SolanaParts<Adapter>,
  { startTime = Date.now() - 3_600_000, rentPerByte = lowRent, ...options }: SolanaOptions = {},
): Promise<SolanaHarness<Adapter>> {
  const chain = startSolana({ startTime, rentPerByte, ...options });
  const nodes = [await chain.node(), await chain.node()] as const;
  const mint = chain.mint('USDC');
  const { adapter, hot, depositAddress, sign } = await makeParts({ chain, nodes, mint });
  chain.fund(hot.address, 1_000_000n * sol);
  chain.giveTokens(hot.address, mint, 1_000_000n * sol);
  const mineOne = (): void => {
    if (chain.head.height % 3 === 0) chain.skip();
    chain.mine();
  };
  const mineTo = (height: number): void => {
    while (chain.head.height < height) mineOne();
  };
  mineTo(chain.head.height + 2);
  const refusing = new Set<string>();
  return {
    adapter,
    chain,
    nodes,
    hot,
    mint,
    token: mint.address,
    tag: null,
    address: () => chain.newKey().address,
    pay: async (to, _tag, contract, amount) => chain.pay(chain.bank, to, amount, contract === null ? {} : { mint }),
    mine: async (blocks) => {
      // After the payment was tried and sent: new accounts must keep more than they get.
      if (refusing.size > 0) chain.vm.rentPerByte = usualRent;
      refusing.clear();
      for (let made = 0; made < blocks; made += 1) mineOne();
      chain.vm.rentPerByte = rentPerByte;
    },
    // Servers that lie: no block is taken back.
    reorg: async (depth, blocks = depth) => {
      for (const node of nodes) node.faults = { block: 'fork' };
      for (let made = depth; made < blocks; made += 1) mineOne();
    },
    drop: async (txid) => chain.drop(txid),
    sign: async (intent, prepared) => {
      const { reserves, expiresAt } = prepared;
      return { ...(await sign(intent, prepared)), reserves, expiresAt };
    },
    conflict: async ({ raw, reserves, expiresAt }) => {
      const rival = chain.rivalOf(bytesOf(raw), hot, chain.bank.address, 7n);
      chain.plant(rival.wire);
      return { txid: idOf(rival), raw: Buffer.from(rival.wire).toString('base64'), reserves, expiresAt };
    },
    refuse: async (address) => void refusing.add(address),
    depositAddress,
    // A transaction may be in a block that is one higher than its last height says.
    mineBefore: async (expiry) => {
      if ('height' in expiry) mineTo(expiry.height);
    },
    mineAt: async (expiry) => {
      if ('height' in expiry) mineTo(expiry.height + 2);
    },
    stop: () => chain.stop(),
  };
}

function bytesOf(raw: string): Uint8Array {
  return decodeTransaction(Uint8Array.from(Buffer.from(raw, 'base64'))).wire;
}
