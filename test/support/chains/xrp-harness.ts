import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { XrpAdapter } from '../../../src/chains/xrp/xrp-adapter.ts';
import { walletPath, type XrpNetwork } from '../../../src/chains/xrp/xrp-section.ts';
import { XrpTransactions } from '../../../src/chains/xrp/xrp-transactions.ts';
import { openXrpTx, signXrpTx } from '../../../src/chains/xrp/xrp-tx.ts';
import type { ChainHarness } from './chain-conformance.ts';
import { TestWallet } from './evm-harness.ts';
import type { XrpOptions } from './xrp-node/ledgers.ts';
import { accountFlags } from './xrp-node/state.ts';
import { startXrp, type XrpChain, type XrpNode } from './xrp-node.ts';

export interface XrpHarness extends ChainHarness {
  readonly adapter: XrpAdapter;
  readonly chain: XrpChain;
  /** The servers of two operators. */
  readonly nodes: readonly [XrpNode, XrpNode];
  readonly wallet: TestWallet;
  readonly network: XrpNetwork;
  readonly signer: XrpTransactions;
  readonly hot: string;
}

export const fundingTag = '4000000001';
const xrp = 1_000_000n;

/** Settings of a network of the XRP Ledger for tests. */
export function xrpNetwork(nodes: readonly NodeConfig[], changes: Partial<XrpNetwork> = {}): XrpNetwork {
  return {
    kind: 'xrp',
    chain: 'ripple',
    networkId: 0,
    nodes,
    startHeight: 0,
    pollMs: 0,
    reorgWindow: 20,
    stalledAfterSec: 0,
    limits: new Map(),
    feeLimits: { perTransaction: '0.001', perDay: '0.05' },
    levels: new Map(),
    sweepFrom: new Map(),
    finality: 'validated',
    tokens: new Map(),
    twoNodesAbove: new Map(),
    expireAfterLedgers: 75,
    ...changes,
  };
}

/**
 * A network, the servers of two operators, a wallet with coins and tickets, and an adapter for it.
 * Accounts keep no reserve, so that any amount makes an account.
 */
export async function xrpHarness(
  changes: Partial<XrpNetwork> = {},
  { startTime = Date.now() - 3_600_000, ...options }: XrpOptions = {},
): Promise<XrpHarness> {
  const chain = startXrp({ startTime, ...options });
  const nodes = [await chain.node(), await chain.node()] as const;
  Object.assign(chain.fees, { reserveBase: 0n, reserveInc: 0n });
  const wallet = new TestWallet();
  const network = xrpNetwork(
    nodes.map(({ config }) => config),
    { networkId: chain.networkId, ...changes },
  );
  const signer = new XrpTransactions({ network, keys: wallet.keys });
  const hot = signer.hotWallet();
  chain.fund(hot, 1_000_000n * xrp);
  chain.makeTickets(hot, 60);
  chain.closeEmpty(2);
  const adapter = new XrpAdapter({ network, hotWallet: hot, fundingTag });
  const refusing = new Set<string>();
  const closeTo = (height: number): void => {
    while (chain.head.header.ledger_index < height) chain.close();
  };
  return {
    adapter,
    chain,
    nodes,
    wallet,
    network,
    signer,
    hot,
    token: null,
    tag: '7',
    address: () => chain.newKey().address,
    pay: async (to, tag, _contract, amount) =>
      chain.pay(chain.bank, to, amount, tag === null ? {} : { tag: Number(tag) }),
    mine: async (blocks) => {
      // After the payment was asked for and sent: the server would neither prepare nor take it now.
      for (const address of refusing) chain.setAccount(address, { flags: accountFlags.depositAuth });
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
    conflict: async ({ raw, reserves }) => {
      const { tx } = openXrpTx(raw);
      const action = { kind: 'payment', to: chain.newKey().address, tag: null, amount: 7n } as const;
      const other = signXrpTx({ ...tx, action }, wallet.keys.secp256k1(walletPath(network)));
      chain.plant(other.raw);
      return { ...other, reserves, expiresAt: { height: tx.lastLedger } };
    },
    refuse: async (address) => {
      chain.fund(address, 0n);
      refusing.add(address);
    },
    mineBefore: async (expiry) => {
      if ('height' in expiry) closeTo(expiry.height - 1);
    },
    mineAt: async (expiry) => {
      if ('height' in expiry) closeTo(expiry.height);
    },
    stop: () => chain.stop(),
  };
}
