import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { StellarAdapter } from '../../../src/chains/stellar/stellar-adapter.ts';
import { networkIdOf, type StellarNetwork, stellarPath } from '../../../src/chains/stellar/stellar-section.ts';
import { StellarTransactions } from '../../../src/chains/stellar/stellar-transactions.ts';
import { decodePayload, openStellarTx, signStellarTx } from '../../../src/chains/stellar/stellar-tx.ts';
import type { ChainHarness } from './chain-conformance.ts';
import { TestWallet } from './evm-harness.ts';
import type { StellarOptions } from './stellar-node/ledgers.ts';
import { type StellarChain, type StellarNode, startStellar } from './stellar-node.ts';

export interface StellarHarness extends ChainHarness {
  readonly adapter: StellarAdapter;
  readonly chain: StellarChain;
  /** The servers of two operators. */
  readonly nodes: readonly [StellarNode, StellarNode];
  readonly wallet: TestWallet;
  readonly network: StellarNetwork;
  readonly signer: StellarTransactions;
  readonly hot: string;
  /** The token as the network names it. */
  readonly asset: string;
}

export const fundingTag = '4000000001';
const xlm = 10_000_000n;
/** Accounts without coins that trust the token, made before the test begins. */
const stock = 24;

/** Settings of a network of Stellar for tests. */
export function stellarNetwork(nodes: readonly NodeConfig[], changes: Partial<StellarNetwork> = {}): StellarNetwork {
  return {
    kind: 'stellar',
    chain: 'stellar',
    passphrase: 'A network of tests ; 2026',
    nodes,
    startHeight: 0,
    pollMs: 0,
    reorgWindow: 20,
    stalledAfterSec: 0,
    limits: new Map(),
    feeLimits: { perTransaction: '0.1', perDay: '5' },
    levels: new Map(),
    sweepFrom: new Map(),
    finality: 'closed',
    tokens: new Map(),
    channels: 6,
    twoNodesAbove: new Map(),
    expireAfterSec: 300,
    ...changes,
  };
}

/**
 * A network, the servers of two operators, a wallet with coins, tokens and channels, and an adapter
 * for it. Accounts keep no reserve, so that any amount makes an account.
 */
export async function stellarHarness(
  changes: Partial<StellarNetwork> = {},
  { startTime = Date.now() - 3_600_000, ...options }: StellarOptions = {},
): Promise<StellarHarness> {
  const chain = startStellar({ startTime, ...options });
  const nodes = [await chain.node(), await chain.node()] as const;
  chain.fees.baseReserve = 0n;
  const asset = chain.asset('USDC');
  const issuer = chain.issuer('USDC').address;
  const wallet = new TestWallet();
  const network = stellarNetwork(
    nodes.map(({ config }) => config),
    { passphrase: chain.passphrase, tokens: new Map([['USDC', issuer]]), ...changes },
  );
  const signer = new StellarTransactions({ network, keys: wallet.keys });
  const { accounts } = signer;
  const hot = accounts.wallet;
  chain.fund(hot, 1_000_000n * xlm);
  chain.trust(hot, asset, { balance: 1_000_000n * xlm });
  // Enough for the fees of ten payments each.
  for (const channel of accounts.channels) chain.fund(channel, 1_000n);
  const unused = Array.from({ length: stock }, () => chain.newKey().address);
  for (const address of unused) {
    chain.fund(address, 0n);
    chain.trust(address, asset);
  }
  chain.closeEmpty(2);
  const adapter = new StellarAdapter({ network, accounts, fundingTag });
  const refusing = new Set<string>();
  return {
    adapter,
    chain,
    nodes,
    wallet,
    network,
    signer,
    hot,
    asset,
    token: issuer,
    tag: '7',
    address: () => unused.pop() ?? chain.newKey().address,
    pay: async (to, tag, contract, amount) =>
      chain.pay(chain.bank, to, amount, {
        ...(contract !== null && { asset }),
        ...(tag !== null && { memo: BigInt(tag) }),
      }),
    mine: async (blocks) => {
      // After the payment was asked for and sent: the adapter would not prepare it now.
      for (const address of refusing) leave(chain, address, asset);
      refusing.clear();
      for (let made = 0; made < blocks; made += 1) chain.close();
    },
    // Servers that lie: no ledger is taken back.
    reorg: async (depth, blocks = depth) => {
      for (const node of nodes) node.faults = { ledger: 'fork' };
      chain.closeEmpty(Math.max(0, blocks - depth));
    },
    drop: async (txid) => chain.drop(txid),
    sign: async (intent, prepared) => {
      const opened = signer.open(network.chain, intent, prepared);
      if (opened.faults.length > 0) throw new Error(opened.faults.join('; '));
      return { ...opened.sign(), reserves: prepared.reserves, expiresAt: prepared.expiresAt };
    },
    conflict: async ({ raw, reserves, expiresAt }) => {
      const { tx } = openStellarTx(raw, networkIdOf(network));
      const action = { kind: 'payment', to: chain.bank.address, token: null, amount: 7n } as const;
      const channel = accounts.channels.indexOf(tx.source) + 1;
      const keyOf = (index: number) => wallet.keys.ed25519(stellarPath(network.chain, index));
      const other = signStellarTx({ ...tx, action }, networkIdOf(network), [
        ...(channel === 0 ? [] : [keyOf(channel)]),
        keyOf(0),
      ]);
      chain.plant(other.raw);
      return { ...other, reserves, expiresAt };
    },
    refuse: async (address) => void refusing.add(address),
    mineBefore: async (expiry) => closeAt(chain, expiry, -5_000),
    mineAt: async (expiry) => closeAt(chain, expiry, 1_000),
    stop: () => chain.stop(),
  };
}

/** Closes a ledger this many milliseconds after an expiry. */
function closeAt(chain: StellarChain, expiry: object, afterMs: number): void {
  if (!('timeMs' in expiry) || typeof expiry.timeMs !== 'number') throw new Error('payments expire by time');
  chain.setTime(expiry.timeMs + afterMs);
  chain.close();
}

/** Takes an account out of the network, so that it can get nothing. */
function leave(chain: StellarChain, address: string, asset: string): void {
  chain.change((state) => {
    const line = state.trustLine(address, asset);
    if (line) state.delete(line);
    const account = state.account(address);
    if (account) state.delete(account);
  });
}

/** The sequence number that a prepared payment uses. */
export function sequenceOf(payload: string): bigint {
  return decodePayload(payload).tx.sequence;
}
