import { randomBytes } from 'node:crypto';
import { Transaction } from '@scure/btc-signer';
import { depositPath, hotWalletPath, type Network, networkOfChain } from '../../../src/chains/networks/networks.ts';
import { type UtxoParams, utxoParams } from '../../../src/chains/networks/utxo-params.ts';
import type { PaymentIntent, PreparedTx, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { parseOutpointKey } from '../../../src/chains/utxo/outpoint.ts';
import { UtxoAdapter } from '../../../src/chains/utxo/utxo-adapter.ts';
import { ownAddress, scriptOfAddress } from '../../../src/chains/utxo/utxo-script.ts';
import type { UtxoNetwork } from '../../../src/chains/utxo/utxo-section.ts';
import { UtxoTransactions } from '../../../src/chains/utxo/utxo-transactions.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { utxoByHand } from './by-hand.ts';
import type { ChainHarness } from './chain-conformance.ts';
import type { Litecoind } from './litecoind.ts';
import { ScannedOutputs } from './utxo-outputs.ts';

function litecoinNetwork(node: Litecoind, changes: Partial<UtxoNetwork> = {}): UtxoNetwork {
  return {
    kind: 'utxo',
    chain: 'litecoin',
    net: 'regtest',
    nodes: [node.config],
    startHeight: 0,
    pollMs: 0,
    reorgWindow: 20,
    finality: 3,
    stalledAfterSec: 0,
    replaceAfterSec: 60,
    feeFloor: 2_000n,
    feeCeiling: 1_000_000n,
    feeTarget: 2,
    replaceable: true,
    mempool: true,
    tokens: new Map(),
    limits: new Map(),
    levels: new Map(),
    sweepFrom: new Map(),
    ...changes,
  };
}

/** A hot wallet and deposit addresses with their own keys on the node's chain. */
export class UtxoHarness implements ChainHarness {
  readonly token = null;
  readonly tag = null;
  readonly refuse = null;
  readonly node: Litecoind;
  readonly network: UtxoNetwork;
  readonly adapter: UtxoAdapter;
  readonly outputs: ScannedOutputs;
  readonly transactions: UtxoTransactions;
  readonly hotAddress: string;
  readonly #keys = new SignerKeys(randomBytes(32));
  readonly #params: UtxoParams;
  readonly #paths: Network;

  constructor(node: Litecoind, changes: Partial<UtxoNetwork> = {}) {
    this.node = node;
    this.network = litecoinNetwork(node, changes);
    const { chain, net } = this.network;
    const paths = networkOfChain(chain);
    if (!paths) throw new Error(`there is no network on ${chain}`);
    this.#paths = paths;
    this.#params = utxoParams(chain, net);
    this.transactions = new UtxoTransactions({ network: this.network, keys: this.#keys });
    this.hotAddress = this.transactions.hotWallet(chain);
    const none = async (): Promise<[]> => [];
    const nothing = { hot: none, spendable: none, lost: none, find: none, spentBy: none };
    const scanning = { ...this.network, reorgWindow: 100 };
    this.outputs = new ScannedOutputs(
      new UtxoAdapter({ network: scanning, hotWallet: this.hotAddress, outputs: nothing }),
    );
    this.outputs.watch(this.hotAddress, null);
    this.adapter = this.adapterWith({});
  }

  /** Another adapter for the same wallet. */
  adapterWith(changes: Partial<UtxoNetwork>): UtxoAdapter {
    const { hotAddress, outputs } = this;
    return new UtxoAdapter({ network: { ...this.network, ...changes }, hotWallet: hotAddress, outputs });
  }

  /** Gives the hot wallet coins, each amount in a separate transaction. */
  async fund(amounts: readonly bigint[]): Promise<void> {
    await this.outputs.startHere();
    for (const amount of amounts) await this.node.pay(this.hotAddress, amount);
    await this.node.mine(1);
  }

  /**
   * Makes a transaction as a person does who has the hot wallet's key and, where it spends more,
   * the node's wallet. Change is one of the outputs. Returns its bytes, which are not sent.
   */
  byHand(inputs: readonly string[], outputs: readonly object[]): Promise<string> {
    const from = { params: this.#params, keys: this.#keys, chain: this.network.chain };
    return utxoByHand(this.node, from, inputs, outputs);
  }

  addressAt(index: number): string {
    const { publicKey } = this.#keys.secp256k1(depositPath(this.#paths, index));
    const { address } = ownAddress(this.#params, publicKey);
    this.outputs.watch(address, index);
    return address;
  }

  address(): string {
    return ownAddress(this.#params, new SignerKeys(randomBytes(32)).secp256k1("m/0'").publicKey).address;
  }

  pay(to: string, _tag: string | null, _contract: string | null, amount: bigint): Promise<string> {
    return this.node.pay(to, amount);
  }

  async mine(blocks: number): Promise<void> {
    await this.node.mine(blocks);
  }

  reorg(depth: number, blocks = depth): Promise<void> {
    return this.node.reorg(depth, blocks);
  }

  async sign(intent: PaymentIntent, prepared: PreparedTx): Promise<SignedTx> {
    const opened = this.transactions.open(this.network.chain, intent, prepared);
    if (opened.faults.length > 0) throw new Error(opened.faults.join('; '));
    return { ...opened.sign(), reserves: prepared.reserves, expiresAt: prepared.expiresAt };
  }

  async drop(): Promise<void> {
    await this.node.restart();
  }

  /** Spends the same outputs of the hot wallet to another recipient at a high fee. */
  async conflict({ reserves }: SignedTx): Promise<SignedTx> {
    const keys = reserves.map((one) => one.replace(/^outpoint:/, ''));
    const spent = await this.outputs.find(this.network.chain, keys);
    const tx = new Transaction();
    for (const { key, address, amount } of spent) {
      const outpoint = parseOutpointKey(key);
      const script = scriptOfAddress(this.#params, address);
      if (!outpoint || !script) throw new Error(key);
      tx.addInput({
        txid: outpoint.txid,
        index: outpoint.vout,
        sequence: 0xfffffffd,
        witnessUtxo: { amount, script },
      });
    }
    const total = spent.reduce((sum, { amount }) => sum + amount, 0n);
    const script = scriptOfAddress(this.#params, this.address());
    if (!script) throw new Error('no address');
    tx.addOutput({ script, amount: total - 200_000n });
    tx.sign(this.#keys.secp256k1(hotWalletPath(this.#paths)).privateKey);
    tx.finalize();
    const txid = await this.node.rpc<string>('sendrawtransaction', tx.hex);
    return { txid, raw: tx.hex, reserves, expiresAt: null };
  }

  async secondAttempt(payment: PaymentIntent, first: PreparedTx): Promise<PreparedTx> {
    const dearer = this.adapterWith({ feeFloor: 500_000n });
    const second = await dearer.replace(payment, first);
    if (!second) throw new Error('nothing takes its place');
    return second;
  }

  async stop(): Promise<void> {}
}
