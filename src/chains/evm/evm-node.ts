import { type JsonRpcNode, type RpcCall, RpcError } from '../nodes/json-rpc.ts';
import { asList, asObject, NodeFault, unsound } from '../nodes/node-answer.ts';
import { ChainError } from '../port/chain-adapter.ts';
import { transferTopic } from './erc20.ts';
import {
  asAddress,
  asBytes,
  asHash,
  asQuantity,
  type EvmBlock,
  type EvmBlockTx,
  type EvmHeader,
  type EvmReceipt,
  type EvmWaitingTx,
  readBlock,
  readBlockTx,
  readHeader,
  readReceipt,
  readWaitingTx,
  zeroAddress,
} from './evm-answer.ts';
import { type CallTrace, readCallTrace } from './evm-traces.ts';
import type { WatchedTokens } from './evm-transfers.ts';

/** A block by its height, or by one of the chain's names for it. */
type BlockTag = number | 'latest' | 'safe' | 'finalized';

/** The contents of a transaction, for calls that only simulate it. */
export interface CallRequest {
  readonly from?: string;
  readonly to: string;
  readonly value?: bigint;
  readonly data?: string;
}

/** Where a node has a transaction: in a block, in the mempool, or not at all. */
type TxPlace = 'block' | 'pool' | null;

/** A transaction with its place. */
type FoundTx =
  | { readonly place: 'block'; readonly tx: EvmBlockTx }
  | { readonly place: 'pool'; readonly tx: EvmWaitingTx };

/** The error code of a reverted call, which comes with the contract's return data. */
export const reverted = 3;

/** Calls in one batch. Nodes and hosting services limit it. */
const batchSize = 100;

/**
 * The RPC calls to one EVM node. Every answer is checked before it is used. An invalid answer, or a
 * call that the node refuses, is a ChainError, so that another node can be asked.
 */
export class EvmNode {
  readonly #node: JsonRpcNode;
  /** The node does not serve all receipts of a block at once. */
  #lacksBlockReceipts = false;

  constructor(node: JsonRpcNode) {
    this.#node = node;
  }

  /** As `JsonRpcNode` names it. */
  get name(): string {
    return this.#node.name;
  }

  async chainId(): Promise<bigint> {
    return asQuantity(await this.#call('eth_chainId'), 'id of the chain');
  }

  async isSyncing(): Promise<boolean> {
    return (await this.#call('eth_syncing')) !== false;
  }

  async latest(): Promise<EvmHeader> {
    const header = await this.header('latest');
    if (header === null) throw unsound('no newest block');
    return header;
  }

  /** Null when the chain has no such block. */
  async header(at: BlockTag): Promise<EvmHeader | null> {
    const answer = await this.#call('eth_getBlockByNumber', [tagText(at), false]);
    return readHeader(answer, typeof at === 'number' ? at : null);
  }

  async block(height: number): Promise<EvmBlock | null> {
    return readBlock(await this.#call('eth_getBlockByNumber', [tagText(height), true]), height);
  }

  /**
   * The transactions of the node's pending block. Empty when the node builds none.
   *
   * @throws ChainError when the node does not answer at all.
   */
  async pendingTransactions(): Promise<readonly EvmBlockTx[]> {
    let answers: unknown[];
    try {
      answers = await this.#node.batch([
        { method: 'eth_getBlockByNumber', params: ['pending', true] },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ]);
    } catch (error) {
      if (error instanceof RpcError) return [];
      throw error;
    }
    const [pending, latest] = answers;
    const head = readHeader(latest, null);
    if (pending === null || pending === undefined || head === null) return [];
    const block = asObject(pending, 'pending block');
    // Some nodes return the newest block by this name, whose transactions are mined.
    if (block.parentHash !== head.ref.hash) return [];
    return asList(block.transactions, 'transactions').map((tx) => readBlockTx(asObject(tx, 'transaction')));
  }

  /**
   * The receipts of a block by transaction: at least of the transactions that move coins or a
   * watched token.
   *
   * @throws ChainError when one is missing, or belongs to another block.
   */
  async receipts(block: EvmBlock, tokens: WatchedTokens): Promise<ReadonlyMap<string, EvmReceipt>> {
    if (!block.hasReceipts) return new Map();
    const found = await this.#blockReceipts(block);
    if (found === null) return this.#receiptsThatMatter(block, tokens);
    const receipts = inBlock(block, found);
    const known = new Map(block.transactions.map((tx) => [tx.txid, tx]));
    // System transactions of a chain, such as the transfers of a bridge, may be in only one of
    // the two lists.
    for (const { txid, from } of block.transactions) {
      if (!receipts.has(txid) && from !== zeroAddress) throw unsound(`block ${block.ref.height} without a receipt`);
    }
    for (const { txid, from } of receipts.values()) {
      if (!known.has(txid) && from !== zeroAddress) throw unsound(`a receipt of no transaction of its block`);
    }
    return receipts;
  }

  /**
   * The call traces of a block, by transaction.
   *
   * @throws ChainError when the node traces nothing, or the trace of a transaction is missing.
   */
  async traces(block: EvmBlock): Promise<ReadonlyMap<string, CallTrace>> {
    if (block.transactions.length === 0) return new Map();
    const answer = await this.#call('debug_traceBlockByHash', [block.ref.hash, { tracer: 'callTracer' }]);
    const items = asList(answer, 'traces').map((item) => asObject(item, 'trace'));
    const hasNames = items.every(({ txHash }) => txHash !== undefined);
    if (!hasNames && items.length !== block.transactions.length) throw unsound('fewer traces than transactions');
    const traces = new Map<string, CallTrace>();
    for (const [index, { txHash, result }] of items.entries()) {
      const txid = hasNames ? asHash(txHash, 'transaction of a trace') : (block.transactions[index]?.txid ?? '');
      traces.set(txid, readCallTrace(result));
    }
    for (const { txid, from, value } of block.transactions) {
      const trace = traces.get(txid);
      if (!trace && from === zeroAddress) continue;
      if (trace?.from !== from || trace.value !== value) throw unsound('no trace of a transaction, or of another one');
    }
    return traces;
  }

  async receipt(txid: string): Promise<EvmReceipt | null> {
    const answer = await this.#call('eth_getTransactionReceipt', [txid]);
    if (answer === null) return null;
    const receipt = readReceipt(answer);
    if (receipt.txid !== txid) throw unsound('the receipt of another transaction');
    return receipt;
  }

  async place(txid: string): Promise<TxPlace> {
    return readPlace(await this.#call('eth_getTransactionByHash', [txid]), txid);
  }

  async transaction(txid: string): Promise<FoundTx | null> {
    const answer = await this.#call('eth_getTransactionByHash', [txid]);
    const place = readPlace(answer, txid);
    if (place === null) return null;
    const tx = asObject(answer, 'transaction');
    return place === 'pool' ? { place, tx: readWaitingTx(tx) } : { place, tx: readBlockTx(tx) };
  }

  /** The transactions among `txids` that left the mempool. */
  async notWaiting(txids: readonly string[]): Promise<Set<string>> {
    const answers = await this.#batch(txids.map((txid) => ({ method: 'eth_getTransactionByHash', params: [txid] })));
    return new Set(txids.filter((txid, index) => readPlace(answers[index], txid) !== 'pool'));
  }

  /** Number of transactions that an account has sent, as of a block. */
  async nonce(address: string, at: BlockTag): Promise<bigint> {
    return asQuantity(await this.#call('eth_getTransactionCount', [address, tagText(at)]), 'nonce');
  }

  /** Balances in the order asked. */
  async balances(addresses: readonly string[], at: BlockTag): Promise<bigint[]> {
    const calls = addresses.map((address) => ({ method: 'eth_getBalance', params: [address, tagText(at)] }));
    return (await this.#batch(calls)).map((answer) => asQuantity(answer, 'balance'));
  }

  /** The answers of contracts, in the order asked. */
  async callAll(requests: readonly CallRequest[], at: BlockTag): Promise<string[]> {
    const calls = requests.map((request) => ({ method: 'eth_call', params: [callText(request), tagText(at)] }));
    return (await this.#batch(calls)).map((answer) => asBytes(answer, 'answer of a contract'));
  }

  async hasCode(address: string): Promise<boolean> {
    return asBytes(await this.#call('eth_getCode', [address, 'latest']), 'code of a contract') !== '0x';
  }

  /**
   * The gas that a transaction would use.
   *
   * @param most The most that it may use: a contract that burns more costs the node no more than
   *   that.
   * @throws ChainError `would_fail` when the chain would revert it, `gas_above_maximum` when it
   *   would use more than `most`; `not_estimated` when the node does not tell.
   */
  async estimateGas(request: CallRequest, most: bigint): Promise<bigint> {
    let gas: bigint;
    try {
      gas = await this.#estimateGas(request, most);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code === reverted) throw wouldFail(error);
      // Nodes share no error code for insufficient gas. So the node estimates a plain transfer,
      // which always succeeds. If that works, the transaction itself uses too much gas.
      const sender = request.from ?? zeroAddress;
      const plain = await this.#estimateGas({ from: sender, to: sender }, most).catch((cause) => {
        if (cause instanceof RpcError) return null;
        throw cause;
      });
      if (plain === null) {
        throw new NodeFault('not_estimated', 'does not tell how much gas a transaction uses', { cause: error });
      }
      throw gasAbove(most, error);
    }
    if (gas > most) throw gasAbove(most);
    return gas;
  }

  async #estimateGas(request: CallRequest, most: bigint): Promise<bigint> {
    const question = { ...callText(request), gas: `0x${most.toString(16)}` };
    return asQuantity(await this.#node.call('eth_estimateGas', [question]), 'gas');
  }

  /**
   * The answer of a call.
   *
   * @throws ChainError `would_fail` when the contract reverts it.
   */
  async call(request: CallRequest): Promise<string> {
    try {
      return asBytes(await this.#node.call('eth_call', [callText(request), 'latest']), 'answer of a contract');
    } catch (error) {
      throw error instanceof RpcError && error.code === reverted ? wouldFail(error) : asChainError(error, 'eth_call');
    }
  }

  /**
   * The answer of a call to an address with overridden code. Null when the node does not override
   * the code, or the code fails. Support for state overrides is not asked for: some nodes refuse
   * them, others ignore them.
   * https://geth.ethereum.org/docs/interacting-with-geth/rpc/objects#state-override-set
   */
  async callWithCode(request: CallRequest, code: string): Promise<string | null> {
    const overrides = { [request.to]: { code } };
    try {
      const answer = await this.#node.call('eth_call', [callText(request), 'latest', overrides]);
      const bytes = asBytes(answer, 'answer of lent code');
      return bytes === '0x' ? null : bytes;
    } catch (error) {
      if (error instanceof RpcError) return null;
      throw error;
    }
  }

  /** Base fee of the next block, and the tips of the newest blocks; in wei. */
  async market(blocks: number): Promise<{ readonly baseFee: bigint; readonly tips: readonly bigint[] }> {
    const answer = await this.#call('eth_feeHistory', [tagText(blocks), 'latest', [50]]);
    const history = asObject(answer, 'history of fees');
    const baseFees = asList(history.baseFeePerGas, 'base fees');
    const rewards = history.reward === null || history.reward === undefined ? [] : asList(history.reward, 'rewards');
    return {
      baseFee: asQuantity(baseFees.at(-1), 'base fee'),
      tips: rewards.map((reward) => asQuantity(asList(reward, 'rewards of a block')[0], 'reward')),
    };
  }

  /** The tip that the node suggests; null when it suggests none. */
  async suggestedTip(): Promise<bigint | null> {
    try {
      return asQuantity(await this.#node.call('eth_maxPriorityFeePerGas'), 'tip');
    } catch (error) {
      if (error instanceof RpcError) return null;
      throw error;
    }
  }

  /**
   * Broadcasts signed bytes.
   *
   * @throws RpcError when the node refuses them, which does not tell whether they are known
   *   elsewhere.
   */
  async send(raw: string): Promise<void> {
    await this.#node.call('eth_sendRawTransaction', [raw]);
  }

  /** Whether the node serves the receipts of a block at once. */
  async hasBlockReceipts(hash: string): Promise<boolean> {
    return this.#serves('eth_getBlockReceipts', [hash]);
  }

  /** Whether the node knows a block by a name. */
  async hasBlock(tag: BlockTag): Promise<boolean> {
    try {
      return (await this.#node.call('eth_getBlockByNumber', [tagText(tag), false])) !== null;
    } catch (error) {
      if (error instanceof RpcError) return false;
      throw error;
    }
  }

  /** Whether the node keeps the balances of a block. */
  async hasState(at: BlockTag): Promise<boolean> {
    try {
      await this.#node.call('eth_getBalance', [zeroAddress, tagText(at)]);
      return true;
    } catch (error) {
      if (error instanceof RpcError) return false;
      throw error;
    }
  }

  async hasTraces(hash: string): Promise<boolean> {
    return this.#serves('debug_traceBlockByHash', [hash, { tracer: 'callTracer' }]);
  }

  async #serves(method: string, params: readonly unknown[]): Promise<boolean> {
    try {
      return Array.isArray(await this.#node.call(method, params));
    } catch (error) {
      if (error instanceof RpcError) return false;
      throw error;
    }
  }

  async #blockReceipts(block: EvmBlock): Promise<readonly EvmReceipt[] | null> {
    if (this.#lacksBlockReceipts) return null;
    let answer: unknown;
    try {
      answer = await this.#node.call('eth_getBlockReceipts', [block.ref.hash]);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // The method is unknown, or does not take a block hash:
      // https://www.jsonrpc.org/specification#error_object
      this.#lacksBlockReceipts = error.code === -32601 || error.code === -32602;
      return null;
    }
    return asList(answer, 'receipts').map(readReceipt);
  }

  /** Reads receipts one by one, for nodes that do not serve them at once. */
  async #receiptsThatMatter(block: EvmBlock, tokens: WatchedTokens): Promise<ReadonlyMap<string, EvmReceipt>> {
    const filter = { blockHash: block.ref.hash, address: [...tokens.keys()], topics: [transferTopic] };
    const logs = tokens.size === 0 ? [] : asList(await this.#call('eth_getLogs', [filter]), 'logs');
    const wanted = new Set(logs.map((log) => asHash(asObject(log, 'log').transactionHash, 'transaction of a log')));
    for (const { txid, to, value } of block.transactions) if (to !== null && value > 0n) wanted.add(txid);
    const calls = [...wanted].map((txid) => ({ method: 'eth_getTransactionReceipt', params: [txid] }));
    const receipts = inBlock(block, (await this.#batch(calls)).map(readReceipt));
    for (const txid of wanted) if (!receipts.has(txid)) throw unsound('the receipt of another transaction');
    return receipts;
  }

  async #call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    try {
      return await this.#node.call(method, params);
    } catch (error) {
      throw asChainError(error, method);
    }
  }

  async #batch(calls: readonly RpcCall[]): Promise<unknown[]> {
    const answers: unknown[] = [];
    for (let from = 0; from < calls.length; from += batchSize) {
      try {
        answers.push(...(await this.#node.batch(calls.slice(from, from + batchSize))));
      } catch (error) {
        throw asChainError(error, calls[from]?.method ?? '');
      }
    }
    return answers;
  }
}

function readPlace(answer: unknown, txid: string): TxPlace {
  if (answer === null) return null;
  const tx = asObject(answer, 'transaction');
  if (asHash(tx.hash, 'hash of a transaction') !== txid) throw unsound('another transaction');
  return tx.blockHash === null || tx.blockHash === undefined ? 'pool' : 'block';
}

/** The receipts by transaction, when each belongs to the block. */
function inBlock(block: EvmBlock, found: readonly EvmReceipt[]): Map<string, EvmReceipt> {
  const receipts = new Map<string, EvmReceipt>();
  for (const receipt of found) {
    const isHere = receipt.blockHash === block.ref.hash && receipt.height === block.ref.height;
    if (!isHere) throw unsound('a receipt of another block');
    if (receipts.has(receipt.txid)) throw unsound('a receipt twice');
    receipts.set(receipt.txid, receipt);
  }
  return receipts;
}

function tagText(at: BlockTag): string {
  return typeof at === 'number' ? `0x${at.toString(16)}` : at;
}

function callText({ from, to, value, data }: CallRequest): Record<string, string> {
  return {
    ...(from === undefined ? {} : { from: asAddress(from, 'sender') }),
    to: asAddress(to, 'recipient'),
    ...(value === undefined ? {} : { value: `0x${value.toString(16)}` }),
    ...(data === undefined ? {} : { data }),
  };
}

function wouldFail(cause?: unknown): ChainError {
  return new ChainError('would_fail', 'the chain would undo the transaction', { isOfChain: true, cause });
}

function gasAbove(most: bigint, cause?: unknown): ChainError {
  return new ChainError('gas_above_maximum', `it would use more than ${most} gas`, { isOfChain: true, cause });
}

/**
 * Turns a refused call into a failure of the node: the node may not offer the method, or may have
 * lost the data.
 */
function asChainError(error: unknown, method: string): unknown {
  if (!(error instanceof RpcError)) return error;
  return new NodeFault('node_refused', `refuses ${method}: ${error.message}`, { cause: error });
}
