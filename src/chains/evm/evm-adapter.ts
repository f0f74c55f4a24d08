import { toChecksumAddress } from '../addresses/evm.ts';
import type { OwnAddresses } from '../addresses/own-addresses.ts';
import { blockToleranceSec } from '../networks/networks.ts';
import type { HttpNodeOptions } from '../nodes/http-node.ts';
import { JsonRpcNode, RpcError } from '../nodes/json-rpc.ts';
import { NodeFault, unsound } from '../nodes/node-answer.ts';
import { Nodes } from '../nodes/nodes.ts';
import { scanBlocks, startCursor } from '../nodes/scan-blocks.ts';
import { ageSec, refuseStalled, stallProblems } from '../nodes/stalled.ts';
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
import { balanceCall, readTransferCall, readUint } from './erc20.ts';
import { EvmBlockSource } from './evm-block-source.ts';
import { stateFaults } from './evm-facts.ts';
import { EvmNode } from './evm-node.ts';
import { EvmPreparation } from './evm-preparation.ts';
import { type EvmNetwork, evmFinalityDepth } from './evm-section.ts';
import { evmSpend } from './evm-spend.ts';
import { evmStatus, finalBlock } from './evm-status.ts';
import { evmTraits } from './evm-traits.ts';
import type { WatchedTokens } from './evm-transfers.ts';
import { openEvmTx } from './evm-tx.ts';

interface EvmAdapterOptions {
  readonly network: EvmNetwork;
  /** Address of the wallet that pays. */
  readonly hotWallet: string;
  readonly addresses: OwnAddresses;
  /**
   * Hash of block 0. Several chains may share one chain id; null or absent while it is not known.
   */
  readonly genesis?: string | null;
  /** Changes to the options of the node's RPC. */
  readonly rpc?: Pick<HttpNodeOptions, 'timeoutMs'>;
}

/** The port to one chain of the Ethereum kind. */
export class EvmAdapter implements ChainAdapter {
  readonly chain: string;
  readonly traits = evmTraits;
  readonly finalityDepth: number;
  readonly reorgWindow: number;
  readonly startHeight: number;
  readonly blockToleranceSec: number;
  readonly pollMs: number;
  readonly stalledAfterSec: number;
  readonly replaceAfterSec: number;
  readonly internalTransfers: EvmNetwork['internalTransfers'];
  readonly missesInternalTransfers: boolean;
  readonly #network: EvmNetwork;
  readonly #hotWallet: string;
  readonly #genesis: string | null;
  readonly #tokens: WatchedTokens;
  readonly #nodes: Nodes<EvmNode>;
  readonly #preparation: EvmPreparation;

  constructor({ network, hotWallet, addresses, genesis = null, rpc = {} }: EvmAdapterOptions) {
    const { chain, nodes, tokens } = network;
    this.chain = chain;
    // The least that a deposit waits, and the number shown; finality itself is asked of the chain.
    this.finalityDepth = evmFinalityDepth(network);
    this.reorgWindow = network.reorgWindow;
    this.startHeight = network.startHeight;
    this.internalTransfers = network.internalTransfers;
    this.blockToleranceSec = blockToleranceSec(network.chain);
    this.missesInternalTransfers = network.internalTransfers === 'balances';
    this.pollMs = network.pollMs;
    this.stalledAfterSec = network.stalledAfterSec;
    this.replaceAfterSec = network.replaceAfterSec;
    this.#network = network;
    this.#hotWallet = toChecksumAddress(hotWallet.slice(2));
    this.#genesis = genesis;
    this.#tokens = new Map([...tokens.values()].map((contract) => [contract.toLowerCase(), contract]));
    this.#nodes = new Nodes({
      chain,
      nodes: nodes.map((node) => new EvmNode(new JsonRpcNode(node, rpc))),
      verify: (node) => this.#verify(node),
      height: async (node) => (await node.latest()).ref.height,
    });
    this.#preparation = new EvmPreparation({ network, hotWallet: this.#hotWallet, addresses });
  }

  head(): Promise<BlockRef> {
    return this.#ask(async (node) => (await node.latest()).ref);
  }

  start(height: number): Promise<Cursor> {
    return this.#ask((node) => startCursor(async (at) => (await node.header(at))?.ref ?? null, height));
  }

  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    return this.#ask(async (node) => {
      const head = await node.latest();
      refuseStalled(this.#network, head.timestamp);
      const { finality } = this.#network;
      // Read before the blocks, so that the blocks belong to a chain at least as new.
      const final = typeof finality === 'number' ? {} : { final: (await finalBlock(node, finality, head)).ref.height };
      const top = cursor.window.at(-1);
      if (top?.hash === head.ref.hash) return { orphaned: [], blocks: [], cursor, head: head.ref.height, ...final };
      const source = new EvmBlockSource({
        node,
        head,
        tokens: this.#tokens,
        isTraced: this.#network.internalTransfers === 'trace',
        maxHeight: (top?.height ?? 0) + maxBlocks,
      });
      const limits = { maxBlocks, reorgWindow: this.reorgWindow };
      return { ...(await scanBlocks(this.chain, source, cursor, limits)), ...final };
    });
  }

  /**
   * In the chain's own coin only: a call to a token is known to move an amount only after a block
   * executes it. Transactions that pay too little for the next block are not shown, but still wait.
   */
  pending(known: readonly string[]): Promise<Pending> {
    return this.#ask(async (node) => {
      const waiting = await node.pendingTransactions();
      const shown = new Set(waiting.map(({ txid }) => txid));
      const left = await node.notWaiting(known.filter((txid) => !shown.has(txid)));
      const transfers = waiting.flatMap(({ txid, to, value }) => {
        if (to === null || value === 0n) return [];
        const address = toChecksumAddress(to.slice(2));
        return [{ key: `${txid}:0`, txid, address, tag: null, contract: null, amount: value }];
      });
      return { transfers, left };
    });
  }

  /** Addresses of the chain have no tags, so that a holding with a tag is empty. */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    return this.#ask(async (node) => {
      const { ref } = await node.latest();
      const amounts = await balancesAt(
        node,
        holdings.map(({ address }) => address),
        contract,
        ref.height,
      );
      return holdings.map(({ tag }, index) => (tag === null ? (amounts[index] ?? 0n) : 0n));
    });
  }

  finalBalances(
    addresses: readonly string[],
    contract: string | null,
  ): Promise<{ readonly block: BlockRef; readonly amounts: readonly bigint[] }> {
    return this.#ask(async (node) => {
      const { ref } = await finalBlock(node, this.#network.finality, await node.latest());
      const amounts = await balancesAt(node, addresses, contract, ref.height);
      if ((await node.header(ref.height))?.ref.hash !== ref.hash) throw unsound('two final blocks of one height');
      return { block: ref, amounts };
    });
  }

  async hotWallet(): Promise<Holding> {
    return { address: this.#hotWallet, tag: null };
  }

  /**
   * Throws ChainError, besides the errors of a node:
   * - `insufficient_funds`;
   * - `no_gas`: a token's holder lacks the chain's own coin for the fee;
   * - `below_fee`: a sweep that would bring nothing;
   * - `fee_above_maximum`;
   * - `gas_above_maximum`: the recipient or the token burns gas;
   * - `would_fail`;
   * - `token_refused`: another amount would move.
   */
  prepare(intent: PaymentIntent, held: Held): Promise<PreparedTx> {
    return this.#ask((node) => this.#preparation.prepare(node, intent, held));
  }

  replace(intent: PaymentIntent, old: PreparedTx, held: Held): Promise<PreparedTx | null> {
    return this.#ask((node) => this.#preparation.replace(node, intent, old, held));
  }

  sweepCost(intent: PaymentIntent): Promise<SweepCost> {
    return this.#ask((node) => this.#preparation.sweepCost(node, intent));
  }

  /** Never throws: the node's reply, or its silence, is only a hint. */
  async broadcast(tx: SignedTx): Promise<Broadcast> {
    try {
      return await this.#ask(async (node) => {
        try {
          await node.send(tx.raw);
          return { outcome: 'accepted', code: null };
        } catch (error) {
          if (!(error instanceof RpcError)) throw error;
          const isKnown = (await node.receipt(tx.txid)) !== null || (await node.place(tx.txid)) !== null;
          return isKnown ? { outcome: 'known', code: null } : { outcome: 'rejected', code: hintOf(error) };
        }
      });
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      return { outcome: 'uncertain', code: error.code };
    }
  }

  async status({ txid, raw }: SignedTx): Promise<TxStatus> {
    const opened = openEvmTx(raw);
    if (opened.txid !== txid) throw new Error(`the bytes of ${txid} are those of ${opened.txid}`);
    const { sender, tx } = opened;
    const sent = { txid, sender, nonce: BigInt(tx.nonce), transfer: readTransferCall(tx) };
    return this.#ask((node) => evmStatus(node, sent, this.#network));
  }

  async spent(txid: string): Promise<HotSpend | null> {
    const digits = txidDigits(txid);
    if (digits === null) return null;
    const hotWallet = this.#hotWallet.toLowerCase();
    const options = { hotWallet, tokens: this.#tokens, finality: this.#network.finality };
    return this.#ask((node) => evmSpend(node, `0x${digits}`, options));
  }

  check(): Promise<readonly NodeReport[]> {
    return this.#nodes.report(async (node) => {
      const problems: string[] = [];
      const chainId = await node.chainId();
      if (chainId !== BigInt(this.#network.chainId)) {
        problems.push(
          `it is a node of chain ${chainId}, and the settings say ${this.#network.chainId}: change its URL`,
        );
      }
      const isSyncing = await node.isSyncing();
      const { ref, timestamp, baseFee } = await node.latest();
      if (isSyncing) problems.push('it is still catching up with its network: wait until it has');
      if (!(await node.hasBlockReceipts(ref.hash))) {
        problems.push(
          'it does not serve eth_getBlockReceipts: scanning takes a call for each transaction that matters',
        );
      }
      if (this.#network.internalTransfers === 'trace' && !(await this.#traces(node, ref))) {
        problems.push("it does not serve debug_traceBlockByHash: allow it, or set internalTransfers to 'balances'");
      }
      const { finality } = this.#network;
      if (typeof finality === 'string' && !(await node.hasBlock(finality))) {
        problems.push(`it knows no ${finality} block: set finality to a number of confirmations`);
      } else {
        problems.push(...(await stateFaults(node, this.#network)));
      }
      if (baseFee === null) problems.push('its blocks have no base fee: the chain takes no payments of EIP-1559');
      else if (baseFee > this.#network.maxFeePerGas) {
        problems.push(`gas costs ${baseFee} wei, more than maxFeePerGas allows: payments wait`);
      }
      problems.push(...stallProblems(this.#network, timestamp));
      return { head: ref.height, lagSec: ageSec(timestamp), isSyncing, problems };
    });
  }

  /** Whether the node traces blocks. Block 0 executes nothing, so that no node traces it. */
  async #traces(node: EvmNode, { height, hash }: BlockRef): Promise<boolean> {
    return height === 0 || node.hasTraces(hash);
  }

  async #verify(node: EvmNode): Promise<void> {
    const chainId = await node.chainId();
    if (chainId !== BigInt(this.#network.chainId)) {
      throw new NodeFault('wrong_chain', `is one of chain ${chainId}`);
    }
    if (await node.isSyncing()) throw new NodeFault('node_syncing', 'is still catching up');
    const first = await node.header(0);
    if (first === null) throw unsound('no block 0');
    if (this.#genesis !== null && first.ref.hash !== this.#genesis) {
      throw new NodeFault('wrong_chain', 'is one of a chain that begins with another block');
    }
  }

  #ask<T>(question: (node: EvmNode) => Promise<T>): Promise<T> {
    return this.#nodes.ask(question);
  }
}

/** All balances are of one block, so that they fit together. */
async function balancesAt(
  node: EvmNode,
  addresses: readonly string[],
  contract: string | null,
  height: number,
): Promise<bigint[]> {
  if (contract === null) return node.balances(addresses, height);
  const calls = addresses.map((address) => ({ to: contract, data: balanceCall(address) }));
  const answers = await node.callAll(calls, height);
  // Without a contract at the address, every balance of the token is 0.
  if (answers.every((answer) => answer === '0x') && !(await node.hasCode(contract))) return answers.map(() => 0n);
  return answers.map((answer) => readUint(answer, 'balance'));
}

/** For people only. Kinds of nodes use different words, so that no decision depends on them. */
function hintOf({ message }: RpcError): string {
  const hints: readonly (readonly [RegExp, string])[] = [
    [/nonce too low/i, 'nonce_too_low'],
    [/underpriced/i, 'underpriced'],
    [/insufficient funds/i, 'insufficient_funds'],
  ];
  return hints.find(([words]) => words.test(message))?.[1] ?? 'refused';
}
