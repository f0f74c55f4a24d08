import { randomBytes, randomUUID } from 'node:crypto';
import type { MadeAddresses } from '../../../src/chains/addresses/own-addresses.ts';
import { MoneroAdapter } from '../../../src/chains/monero/monero-adapter.ts';
import type { MoneroNetwork } from '../../../src/chains/monero/monero-section.ts';
import { MoneroTransactions } from '../../../src/chains/monero/monero-transactions.ts';
import { keyImageReservation } from '../../../src/chains/monero/monero-tx.ts';
import { MoneroWallet } from '../../../src/chains/monero/monero-wallet.ts';
import type { PaymentIntent, PreparedTx, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import type { Signer } from '../../../src/chains/port/signer.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { holding } from '../gateway/holding.ts';
import type { ChainHarness } from './chain-conformance.ts';
import type { Monerod } from './monerod.ts';

/** Outputs that a test may need at once. */
const wantedFree = 5;
const unlockBlocks = 10;

function moneroNetwork(node: Monerod, startHeight: number): MoneroNetwork {
  return {
    kind: 'monero',
    chain: 'monero',
    net: 'regtest',
    nodes: [node.config],
    wallet: node.view.config,
    offlineWallet: node.offline.config,
    startHeight,
    pollMs: 0,
    reorgWindow: 20,
    finality: 3,
    stalledAfterSec: 0,
    tokens: new Map(),
    limits: new Map(),
    levels: new Map(),
    sweepFrom: new Map(),
  };
}

/** The wallet of one seed on the node's chain, with an adapter and a signer's transactions. */
export class MoneroHarness implements ChainHarness {
  readonly token = null;
  readonly tag = null;
  readonly refuse = null;
  readonly node: Monerod;
  readonly network: MoneroNetwork;
  readonly keys: SignerKeys;
  readonly transactions: MoneroTransactions;
  readonly hotAddress: string;
  readonly adapter: MoneroAdapter;
  /** The gateway's wallet, for looks into it. */
  readonly view: MoneroWallet;
  /** How many addresses the database has. */
  made = 0;
  #next = 0;

  constructor(node: Monerod, startHeight: number, entropy: Uint8Array = randomBytes(32)) {
    this.node = node;
    this.network = moneroNetwork(node, startHeight);
    this.keys = new SignerKeys(entropy);
    this.transactions = new MoneroTransactions({ network: this.network, keys: this.keys });
    this.hotAddress = this.transactions.hotWallet('monero');
    this.view = new MoneroWallet(this.network.wallet);
    this.adapter = this.another();
  }

  /** A signer's part that the adapter asks. */
  signer(): Pick<Signer, 'viewKey' | 'keyImages'> {
    return {
      viewKey: async () => this.transactions.viewKey(),
      keyImages: (_chain, outputs, addresses) => this.transactions.keyImages(outputs, addresses),
    };
  }

  /** Another adapter of the same wallet, as after a restart. */
  another(
    changes: Partial<MoneroNetwork> = {},
    signer: Pick<Signer, 'viewKey' | 'keyImages'> | null = this.signer(),
  ): MoneroAdapter {
    const { network, hotAddress } = this;
    return new MoneroAdapter({
      network: { ...network, ...changes },
      hotWallet: hotAddress,
      addresses: this.#addresses(),
      signer,
    });
  }

  /** The address of a deposit, by its index from 1. */
  addressAt(index: number): string {
    this.made = Math.max(this.made, index);
    return this.keys.poolAddress('XMR', index);
  }

  address(): string {
    return this.node.address();
  }

  ownAddress(): string {
    this.#next += 1;
    return this.addressAt(this.#next);
  }

  async received(address: string): Promise<bigint> {
    const index = Array.from({ length: this.made }, (_, at) => at + 1).find((at) => this.addressAt(at) === address);
    if (index === undefined) return this.node.balance(address);
    await this.adapter.balances([{ address: this.hotAddress, tag: null }], null);
    const outputs = await this.view.outputs('available');
    return outputs.filter(({ place }) => place.minor === index).reduce((sum, { amount }) => sum + amount, 0n);
  }

  pay(to: string, _tag: string | null, _contract: string | null, amount: bigint): Promise<string> {
    return this.node.pay([[to, amount]]);
  }

  mine(blocks: number): Promise<void> {
    return this.node.mine(blocks);
  }

  reorg(depth: number, blocks = depth): Promise<void> {
    return this.node.reorg(depth, blocks);
  }

  async sign(intent: PaymentIntent, prepared: PreparedTx): Promise<SignedTx> {
    const opened = await this.transactions.open(this.network.chain, intent, prepared);
    if (opened.faults.length > 0) throw new Error(opened.faults.join('; '));
    return { ...(await opened.sign()), reserves: prepared.reserves, expiresAt: prepared.expiresAt };
  }

  drop(txid: string): Promise<void> {
    return this.node.drop(txid);
  }

  /** Spends the same outputs to another recipient. Nodes replace nothing: the first is dropped. */
  async conflict({ txid, reserves }: SignedTx): Promise<SignedTx> {
    await this.node.drop(txid);
    const payment = await this.#rivalOf(reserves);
    const tx = await this.sign(payment, await this.#prepareWith(payment, reserves));
    const { outcome } = await this.adapter.broadcast(tx);
    if (outcome !== 'accepted') throw new Error(`the rival is ${outcome}`);
    return tx;
  }

  /** The same payment from the same outputs. */
  secondAttempt(payment: PaymentIntent, first: PreparedTx): Promise<PreparedTx> {
    return this.#prepareWith(payment, first.reserves);
  }

  /** Gives the wallet enough outputs, unlocked, for the payments of a test. */
  async fund(count = wantedFree): Promise<void> {
    await this.adapter.balances([{ address: this.hotAddress, tag: null }], null);
    const outputs = await this.view.outputs('available');
    if (outputs.filter(({ isUnlocked }) => isUnlocked).length >= count) return;
    await this.node.fund(this.hotAddress);
    await this.node.mine(unlockBlocks);
  }

  async stop(): Promise<void> {}

  async #prepareWith(payment: PaymentIntent, reserves: readonly string[]): Promise<PreparedTx> {
    const outputs = await this.view.outputs('all');
    const others = outputs
      .map(({ keyImage }) => keyImageReservation(keyImage ?? ''))
      .filter((one) => !reserves.includes(one));
    const prepared = await this.adapter.prepare(payment, holding(...others));
    if ([...prepared.reserves].sort().join() !== [...reserves].sort().join())
      throw new Error('other outputs were taken');
    return prepared;
  }

  /** A payment that needs all of these outputs. */
  async #rivalOf(reserves: readonly string[]): Promise<PaymentIntent> {
    const outputs = await this.view.outputs('all');
    const spent = outputs.filter(({ keyImage }) => reserves.includes(keyImageReservation(keyImage ?? '')));
    const amounts = spent.map(({ amount }) => amount);
    const least = amounts.reduce((one, other) => (other < one ? other : one));
    const amount = amounts.reduce((sum, one) => sum + one, 0n) - least / 2n;
    const more = { from: null, contract: null, tag: null, attempt: 1 };
    return { id: randomUUID(), to: this.address(), amount, ...more };
  }

  #addresses(): MadeAddresses {
    return {
      last: async () => this.made,
      all: async () => new Map(Array.from({ length: this.made }, (_, at) => [at + 1, this.addressAt(at + 1)])),
    };
  }
}
