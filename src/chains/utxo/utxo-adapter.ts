import { RawTx } from '@scure/btc-signer';
import { blockToleranceSec } from '../networks/networks.ts';
import { type UtxoParams, utxoParams } from '../networks/utxo-params.ts';
import type { HttpNodeOptions } from '../nodes/http-node.ts';
import { JsonRpcNode, RpcError } from '../nodes/json-rpc.ts';
import { NodeFault } from '../nodes/node-answer.ts';
import { Nodes } from '../nodes/nodes.ts';
import { scanBlocks, startCursor } from '../nodes/scan-blocks.ts';
import { ageSec, refuseStalled, stallProblems } from '../nodes/stalled.ts';
import type { OwnOutput, OwnOutputs } from '../own-outputs.ts';
import {
  type BlockRef,
  type Broadcast,
  type ChainAdapter,
  ChainError,
  type Cursor,
  type Held,
  type Holding,
  type HotSpend,
  type NodeReport,
  type PaymentIntent,
  type Pending,
  type PreparedTx,
  type ScanResult,
  type SignedTx,
  type SweepCost,
  type TxStatus,
} from '../port/chain-adapter.ts';
import { txidDigits } from '../port/txid.ts';
import { outpointKey, outpointOf } from './outpoint.ts';
import { UtxoBuilder } from './utxo-builder.ts';
import { refOf, rpcCode, UtxoNode } from './utxo-node.ts';
import { totalOf } from './utxo-psbt.ts';
import { scriptOfAddress } from './utxo-script.ts';
import type { UtxoNetwork } from './utxo-section.ts';
import { UtxoSource } from './utxo-source.ts';
import { utxoSpend } from './utxo-spend.ts';
import { utxoTraits } from './utxo-traits.ts';
import { WaitingTransfers } from './waiting-transfers.ts';

interface UtxoAdapterOptions {
  readonly network: UtxoNetwork;
  readonly hotWallet: string;
  readonly outputs: OwnOutputs;
  /**
   * Changes to the options of the node's RPC, except for the timeout of a scan of all unspent
   * outputs.
   */
  readonly rpc?: Pick<HttpNodeOptions, 'timeoutMs'>;
}

/** Timeout of a scan in which the node reads all unspent outputs of the chain. */
const scanTimeoutMs = 600_000;
/** Addresses in one such scan. */
const scanAddresses = 500;

/**
 * The adapter of a Bitcoin-like chain, over nodes of Bitcoin Core's family (Bitcoin Core, Litecoin
 * Core, Dogecoin Core). They need neither a wallet nor an index of transactions. Pruned nodes work
 * while they keep the blocks that a scan has still to read.
 */
export class UtxoAdapter implements ChainAdapter {
  readonly chain: string;
  readonly traits = utxoTraits;
  readonly finalityDepth: number;
  readonly reorgWindow: number;
  readonly startHeight: number;
  readonly blockToleranceSec: number;
  readonly pollMs: number;
  readonly stalledAfterSec: number;
  readonly replaceAfterSec: number;
  readonly #network: UtxoNetwork;
  readonly #hotWallet: string;
  readonly #outputs: OwnOutputs;
  readonly #params: UtxoParams;
  readonly #builder: UtxoBuilder;
  readonly #nodes: Nodes<UtxoNode>;
  readonly #waiting = new WaitingTransfers();
  /** A node runs one scan of its outputs at a time. */
  #lastScan: Promise<unknown> = Promise.resolve();

  constructor({ network, hotWallet, outputs, rpc = {} }: UtxoAdapterOptions) {
    this.chain = network.chain;
    this.finalityDepth = network.finality;
    this.reorgWindow = network.reorgWindow;
    this.startHeight = network.startHeight;
    this.blockToleranceSec = blockToleranceSec(network.chain);
    this.pollMs = network.pollMs;
    this.stalledAfterSec = network.stalledAfterSec;
    this.replaceAfterSec = network.replaceAfterSec;
    this.#network = network;
    this.#hotWallet = hotWallet;
    this.#outputs = outputs;
    this.#params = utxoParams(network.chain, network.net);
    this.#builder = new UtxoBuilder({ network, hotWallet, outputs });
    const nodes = network.nodes.map((config) => {
      const slow = new JsonRpcNode(config, { numbersAsText: true, timeoutMs: scanTimeoutMs });
      return new UtxoNode(new JsonRpcNode(config, { ...rpc, numbersAsText: true }), slow);
    });
    this.#nodes = new Nodes({
      chain: network.chain,
      nodes,
      verify: (node) => this.#verify(node),
      height: (node) => node.headHeight(),
    });
  }

  head(): Promise<BlockRef> {
    return this.#ask(async (node) => refOf(await node.head()));
  }

  start(height: number): Promise<Cursor> {
    return this.#ask((node) => startCursor((at) => node.refAt(at), height));
  }

  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    return this.#ask(async (node) => {
      if (this.#network.stalledAfterSec > 0) refuseStalled(this.#network, (await node.head()).time);
      const source = new UtxoSource(node, maxBlocks);
      return scanBlocks(this.chain, source, cursor, { maxBlocks, reorgWindow: this.reorgWindow });
    });
  }

  async pending(known: readonly string[]): Promise<Pending> {
    if (!this.#network.mempool) return { transfers: [], left: new Set() };
    return this.#ask((node) => this.#waiting.read(node, known));
  }

  /**
   * Reads all unspent outputs of the chain, which takes a node minutes on a large chain. On a node
   * without that call (Dogecoin), the known outputs of the hot wallet are counted, each by a
   * separate call.
   *
   * @throws ChainError `unsupported` for another address on such a node.
   */
  async balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    if (contract !== null) throw new ChainError('no_tokens', `${this.chain} has no tokens`, unhelpful);
    // The chain has no tags, so that a holding with a tag is empty.
    const scripts = holdings.map(({ address, tag }) => (tag === null ? this.#scriptOf(address) : null));
    const addresses = new Map<string, string>();
    for (const [index, script] of scripts.entries()) {
      if (script !== null) addresses.set(script, holdings[index]?.address ?? '');
    }
    const found = await this.#inTurn(() => this.#ask((node) => this.#balances(node, addresses)));
    return scripts.map((script) => (script === null ? 0n : (found.get(script) ?? 0n)));
  }

  async hotWallet(): Promise<Holding> {
    return { address: this.#hotWallet, tag: null };
  }

  prepare(intent: PaymentIntent, held: Held): Promise<PreparedTx> {
    return this.#ask((node) => this.#builder.prepare(node, intent, held));
  }

  replace(intent: PaymentIntent, old: PreparedTx): Promise<PreparedTx | null> {
    return this.#ask((node) => this.#builder.replace(node, intent, old));
  }

  sweepCost(intent: PaymentIntent): Promise<SweepCost> {
    return this.#ask((node) => this.#builder.sweepCost(node, intent));
  }

  async broadcast({ txid, raw }: SignedTx): Promise<Broadcast> {
    try {
      return await this.#ask(async (node): Promise<Broadcast> => {
        // A node accepts a transaction that it has a second time, and relays it again.
        const wasWaiting = await node.isWaiting(txid);
        if ((await node.send(raw)) !== txid) return { outcome: 'uncertain', code: 'other_txid' };
        return wasWaiting ? { outcome: 'known', code: null } : { outcome: 'accepted', code: null };
      });
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      const refusal = error.cause instanceof RpcError ? error.cause.code : null;
      if (refusal === rpcCode.onChain) return { outcome: 'known', code: 'on_chain' };
      if (refusal === rpcCode.missingInputs) return { outcome: 'rejected', code: 'missing_inputs' };
      if (refusal === rpcCode.refused) return { outcome: 'rejected', code: 'refused' };
      if (refusal === rpcCode.malformed) return { outcome: 'rejected', code: 'malformed' };
      return { outcome: 'uncertain', code: error.code };
    }
  }

  status(tx: SignedTx): Promise<TxStatus> {
    return this.#ask((node) => this.#status(node, tx));
  }

  /** In a block, it is told once a scan has read the block. */
  async spent(txid: string): Promise<HotSpend | null> {
    const digits = txidDigits(txid);
    if (digits === null) return null;
    const { chain, finalityDepth } = this;
    const hotScript = this.#scriptOf(this.#hotWallet);
    return this.#ask((node) => utxoSpend(node, digits, { chain, outputs: this.#outputs, hotScript, finalityDepth }));
  }

  check(): Promise<readonly NodeReport[]> {
    return this.#nodes.report(async (node) => {
      const [{ problems, isSyncing }, head] = [await this.#problems(node), await node.head()];
      const { least } = await node.feeTerms(this.#network.feeTarget);
      const dear =
        least > this.#network.feeCeiling ? ['it asks for a higher fee than the ceiling: raise feeCeiling'] : [];
      const stalled = stallProblems(this.#network, head.time);
      return { head: head.height, lagSec: ageSec(head.time), isSyncing, problems: [...problems, ...dear, ...stalled] };
    });
  }

  /**
   * The status of a transaction, by facts that the node confirms:
   * - it is in the mempool;
   * - one of its outputs is unspent in a block;
   * - a block on the chain holds it, or another transaction with the same inputs.
   *
   * Once all of its outputs are spent, the scan tells the block: it records which transaction spent
   * our own outputs.
   */
  async #status(node: UtxoNode, tx: SignedTx): Promise<TxStatus> {
    const { txid } = tx;
    if (await node.isWaiting(txid)) return { state: 'mempool' };
    const { inputs, outputs } = parseRaw(tx.raw);
    const unspent = await node.outputs(
      outputs.map((_, vout) => ({ txid, vout })),
      false,
    );
    const own = await this.#outputs.find(this.chain, inputs);
    const left = unspent.find((output) => output !== null && output.confirmations > 0);
    if (left) {
      const best = await node.header(left.best);
      if (!best) throw new ChainError('unsound_answer', 'a node does not know its own newest block');
      return this.#mined(best.height - left.confirmations + 1, left.confirmations, own, inputs, outputs);
    }
    const indexed = await node.blockOf(txid);
    const block = indexed === null ? null : await node.header(indexed);
    if (block && block.confirmations > 0) return this.#mined(block.height, block.confirmations, own, inputs, outputs);

    let rival = 0;
    for (const { key, spentBy } of own) {
      if (spentBy === null) continue;
      const header = await node.header(spentBy.blockHash);
      if (!header || header.confirmations < 1) continue;
      const spends = await node.spendsIn(spentBy.txid, spentBy.blockHash);
      if (!spends?.includes(key)) continue;
      if (spentBy.txid === txid) return this.#mined(header.height, header.confirmations, own, inputs, outputs);
      rival = Math.max(rival, header.confirmations);
    }
    if (rival > 0) return { state: 'dead', why: 'conflict', final: rival >= this.finalityDepth };
    // The input is change of a transaction that was replaced after all. That one is dead in a final
    // block, and so is this one.
    const lost = await this.#outputs.lost(this.chain, inputs);
    return lost.length > 0 ? { state: 'dead', why: 'conflict', final: true } : { state: 'unknown' };
  }

  #mined(
    height: number,
    confirmations: number,
    own: readonly OwnOutput[],
    inputs: readonly string[],
    outputs: readonly { readonly amount: bigint }[],
  ): TxStatus {
    // All inputs are ours, so that the fee is known without the transactions before them.
    if (own.length !== inputs.length) {
      throw new ChainError('unknown_output', 'the outputs that a payment spends are not known', { isOfChain: true });
    }
    const fee = totalOf(own) - totalOf(outputs);
    return { state: 'mined', height, confirmations, success: true, fee, final: confirmations >= this.finalityDepth };
  }

  async #balances(node: UtxoNode, addresses: ReadonlyMap<string, string>): Promise<Map<string, bigint>> {
    const found = new Map<string, bigint>();
    const entries = [...addresses];
    try {
      for (let from = 0; from < entries.length; from += scanAddresses) {
        const chunk = new Map(entries.slice(from, from + scanAddresses));
        for (const [script, amount] of await node.balances(chunk)) found.set(script, amount);
      }
      return found;
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== rpcCode.noSuchMethod) throw error;
    }
    const hot = this.#scriptOf(this.#hotWallet);
    if (entries.some(([script]) => script !== hot)) {
      throw new ChainError('unsupported', `the node of ${this.chain} tells balances of the hot wallet only`, unhelpful);
    }
    const known = await this.#outputs.hot(this.chain);
    const real = await node.outputs(known.map(outpointOf), false);
    return new Map([[hot, real.reduce((sum, output) => sum + (output?.amount ?? 0n), 0n)]]);
  }

  #scriptOf(address: string): string {
    const script = scriptOfAddress(this.#params, address);
    if (!script) throw new ChainError('wrong_address', `${address} is not an address of ${this.chain}`, unhelpful);
    return Buffer.from(script).toString('hex');
  }

  async #inTurn<T>(scan: () => Promise<T>): Promise<T> {
    const turn = this.#lastScan.then(scan, scan);
    this.#lastScan = turn.catch(() => {});
    return turn;
  }

  #problems(node: UtxoNode): Promise<{ problems: readonly string[]; isSyncing: boolean }> {
    return node.problems({ genesis: this.#params.genesis, depth: this.reorgWindow + this.finalityDepth });
  }

  async #verify(node: UtxoNode): Promise<void> {
    const { problems } = await this.#problems(node);
    if (problems.length > 0) throw new NodeFault('unfit_node', `cannot be used: ${problems.join('; ')}`);
  }

  async #ask<T>(question: (node: UtxoNode) => Promise<T>): Promise<T> {
    try {
      return await this.#nodes.ask(question);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      throw new ChainError('node_refused', `a node of ${this.chain} refuses: ${error.message}`, { cause: error });
    }
  }
}

/** Neither a retry nor another node helps. */
const unhelpful = { retryable: false, isOfChain: true } as const;

/** Reads the keys of a signed transaction's inputs, and its outputs. */
function parseRaw(raw: string): { inputs: string[]; outputs: readonly { readonly amount: bigint }[] } {
  const { inputs, outputs } = RawTx.decode(Buffer.from(raw, 'hex'));
  const keys = inputs.map(({ txid, index }) => outpointKey({ txid: Buffer.from(txid).toString('hex'), vout: index }));
  return { inputs: keys, outputs };
}
