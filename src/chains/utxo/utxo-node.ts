import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonRpcNode, RpcError } from '../nodes/json-rpc.ts';
import { asList, asObject, NodeFault, unsound } from '../nodes/node-answer.ts';
import type { BlockRef, ScannedBlock, Transfer } from '../port/chain-adapter.ts';
import type { Outpoint } from './outpoint.ts';
import { parseCoins } from './utxo-amount.ts';
import { asCoins, asCount, asHash, asHeight, asHex, asInteger } from './utxo-answer.ts';
import { readBlock, readSpends, readTransfers } from './utxo-block.ts';

/** An output that no block spends. */
interface UnspentOutput {
  readonly amount: bigint;
  /** In hex. */
  readonly script: string;
  /** 0 while its transaction is in the mempool. */
  readonly confirmations: number;
  /** The newest block at the time of the answer. */
  readonly best: string;
}

interface BlockHeader extends BlockRef {
  /** -1 when the block is not on the chain. */
  readonly confirmations: number;
  /** In seconds since 1970. */
  readonly time: number;
}

/** The fee rates of a node and the network, in the smallest unit for 1,000 virtual bytes. */
export interface FeeTerms {
  /** The rate that confirms within the requested blocks; null while the node cannot tell. */
  readonly estimate: bigint | null;
  /** Below this rate the node refuses a transaction. */
  readonly least: bigint;
  /** The rate by which a replacement must exceed the replaced transaction. */
  readonly increment: bigint;
}

/** https://github.com/bitcoin/bitcoin/blob/master/src/rpc/protocol.h */
export const rpcCode = {
  misc: -1,
  noSuchThing: -5,
  badParameter: -8,
  malformed: -22,
  missingInputs: -25,
  refused: -26,
  onChain: -27,
  warmingUp: -28,
  noSuchMethod: -32601,
} as const;

const batchSize = 50;

/**
 * The RPC calls to a node of Bitcoin Core's family, with checked answers. The node needs neither a
 * wallet nor an index of transactions.
 */
export class UtxoNode {
  readonly #rpc: JsonRpcNode;
  readonly #slow: JsonRpcNode;

  /** @param slow The same node with a longer timeout, for a call that takes minutes. */
  constructor(rpc: JsonRpcNode, slow: JsonRpcNode = rpc) {
    this.#rpc = rpc;
    this.#slow = slow;
  }

  /** As `JsonRpcNode` names it. */
  get name(): string {
    return this.#rpc.name;
  }

  async headHeight(): Promise<number> {
    return asHeight(await this.#call('getblockcount'), 'height');
  }

  /** Null above the newest block. */
  async hashAt(height: number): Promise<string | null> {
    const hash = await orNull(this.#call('getblockhash', [height]), rpcCode.badParameter);
    return hash === null ? null : asHash(hash, 'hash of a block');
  }

  /** Hashes of blocks up to the newest one; none when one of them is above it. */
  async hashesFrom(height: number, count: number): Promise<string[]> {
    const calls = Array.from({ length: count }, (_, index) => ({ method: 'getblockhash', params: [height + index] }));
    const hashes = await orNull(this.#batch(calls), rpcCode.badParameter);
    return (hashes ?? []).map((hash) => asHash(hash, 'hash of a block'));
  }

  /** Blocks in the order asked. */
  async blocks(asked: readonly { readonly height: number; readonly hash: string }[]): Promise<ScannedBlock[]> {
    const answers = await this.#unpruned(
      this.#batch(asked.map(({ hash }) => ({ method: 'getblock', params: [hash, 2] }))),
    );
    return asked.map((block, index) => readBlock(answers[index], block));
  }

  /** Null for a block that the node has never seen. */
  async header(hash: string): Promise<BlockHeader | null> {
    const answer = await orNull(this.#call('getblockheader', [hash]), rpcCode.noSuchThing);
    if (answer === null) return null;
    const header = asObject(answer, 'header');
    if (header.hash !== hash) throw unsound('another header than was asked for');
    const height = asHeight(header.height, 'height of a header');
    return {
      height,
      hash,
      parent: height === 0 ? '0'.repeat(64) : asHash(header.previousblockhash, 'parent of a header'),
      confirmations: asInteger(header.confirmations, 'confirmations of a header'),
      time: asCount(header.time, 'time of a header'),
    };
  }

  async head(): Promise<BlockHeader> {
    const header = await this.header(asHash(await this.#call('getbestblockhash'), 'newest block'));
    if (!header) throw unsound('no header of its own newest block');
    return header;
  }

  /** Null above the newest block. */
  async refAt(height: number): Promise<BlockRef | null> {
    const hash = await this.hashAt(height);
    const header = hash === null ? null : await this.header(hash);
    return header === null ? null : refOf(header);
  }

  async mempool(): Promise<string[]> {
    const txids = asList(await this.#call('getrawmempool'), 'mempool');
    return txids.map((txid) => asHash(txid, 'txid'));
  }

  async isWaiting(txid: string): Promise<boolean> {
    return (await orNull(this.#call('getmempoolentry', [txid]), rpcCode.noSuchThing)) !== null;
  }

  /**
   * Transfers of mempool transactions, by txid. Transactions that left the mempool are left out.
   */
  async waitingTransfers(txids: readonly string[]): Promise<Map<string, Transfer[]>> {
    const found = new Map<string, Transfer[]>();
    for (let from = 0; from < txids.length; from += batchSize) {
      const chunk = txids.slice(from, from + batchSize);
      for (const [index, answer] of (await this.#transactions(chunk)).entries()) {
        const txid = chunk[index] ?? '';
        if (answer !== null) {
          found.set(txid, readTransfers(asObject(answer, 'transaction'), txid));
        }
      }
    }
    return found;
  }

  /**
   * The outputs in the order asked. Null for a missing one, or one that a block spends. With
   * `withMempool`, null also for one that a mempool transaction spends.
   */
  async outputs(outpoints: readonly Outpoint[], withMempool: boolean): Promise<(UnspentOutput | null)[]> {
    const calls = outpoints.map(({ txid, vout }) => ({ method: 'gettxout', params: [txid, vout, withMempool] }));
    const answers: unknown[] = [];
    for (let from = 0; from < calls.length; from += batchSize) {
      answers.push(...(await this.#batch(calls.slice(from, from + batchSize))));
    }
    return answers.map((answer) => (answer === null ? null : this.#readOutput(answer)));
  }

  #readOutput(answer: unknown): UnspentOutput {
    const output = asObject(answer, 'output');
    return {
      amount: asCoins(output.value, 'amount of an output'),
      script: asHex(asObject(output.scriptPubKey, 'script of an output').hex, 'script of an output'),
      confirmations: asCount(output.confirmations, 'confirmations of an output'),
      best: asHash(output.bestblock, 'newest block of an output'),
    };
  }

  /**
   * The keys of the outputs that a transaction of a block spends; null when the block does not hold
   * the transaction.
   */
  async spendsIn(txid: string, blockHash: string): Promise<string[] | null> {
    const tx = await this.transactionIn(txid, blockHash);
    return tx === null ? null : readSpends(tx);
  }

  /**
   * The bytes of a transaction of a block, in hex, when one of its outputs is unspent. Null when
   * the block does not hold the transaction.
   */
  async rawIn(txid: string, blockHash: string): Promise<string | null> {
    try {
      return asHex(await this.#call('getrawtransaction', [txid, 0, blockHash]), 'bytes of a transaction');
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code === rpcCode.noSuchThing) return null;
    }
    // Versions before 0.16 (Dogecoin) lack the third parameter, and find the transaction by its
    // unspent outputs.
    const raw = await orNull(this.#call('getrawtransaction', [txid, 0]), rpcCode.noSuchThing);
    return raw === null ? null : asHex(raw, 'bytes of a transaction');
  }

  /**
   * The block of a transaction, if the node can tell it by the txid alone (-txindex); else null.
   */
  async blockOf(txid: string): Promise<string | null> {
    const tx = await this.#transaction(txid);
    return tx?.blockhash === undefined ? null : asHash(tx.blockhash, 'block of a transaction');
  }

  /** A mempool transaction; null for any other one. */
  async waitingTransaction(txid: string): Promise<Readonly<Record<string, unknown>> | null> {
    const tx = await this.#transaction(txid);
    return tx?.blockhash === undefined ? tx : null;
  }

  async #transaction(txid: string): Promise<Readonly<Record<string, unknown>> | null> {
    const answer = await orNull(this.#call('getrawtransaction', [txid, 1]), rpcCode.noSuchThing);
    return answer === null ? null : this.#isOf(answer, txid);
  }

  /** @throws RpcError when the node refuses it. */
  async send(raw: string): Promise<string> {
    return asHash(await this.#call('sendrawtransaction', [raw]), 'txid');
  }

  /** @param blocks Blocks within which a transaction should confirm. */
  async feeTerms(blocks: number): Promise<FeeTerms> {
    const [smart, pool, network] = await this.#batch([
      { method: 'estimatesmartfee', params: [blocks] },
      { method: 'getmempoolinfo' },
      { method: 'getnetworkinfo' },
    ]);
    const { mempoolminfee } = asObject(pool, 'mempool');
    const { relayfee, incrementalfee } = asObject(network, 'network');
    const relay = asCoins(relayfee, 'relay fee');
    const least = asCoins(mempoolminfee, 'least fee of the mempool');
    return {
      // Absent, or -1 in old versions, while the node has seen too few transactions.
      estimate: parseCoins(asObject(smart, 'estimate of the fee').feerate),
      least: least > relay ? least : relay,
      increment: asCoins(incrementalfee ?? relayfee, 'increment of the fee'),
    };
  }

  /**
   * The unspent amount of each script (in hex) in the newest block. The node reads all unspent
   * outputs, which takes minutes on a large chain; it runs one such scan at a time.
   *
   * @throws RpcError `noSuchMethod` when the node lacks the call.
   */
  async balances(scripts: ReadonlyMap<string, string>): Promise<Map<string, bigint>> {
    const found = new Map([...scripts.keys()].map((script) => [script, 0n]));
    const asked = [...scripts.values()].map((address) => `addr(${address})`);
    const answer = asObject(await this.#scan(asked), 'outputs');
    if (answer.success !== true) throw unsound('an unfinished scan of its outputs');
    for (const entry of asList(answer.unspents, 'outputs')) {
      const { scriptPubKey, amount } = asObject(entry, 'output');
      const script = asHex(scriptPubKey, 'script of an output');
      const sum = found.get(script);
      if (sum === undefined) throw unsound('an output that was not asked for');
      found.set(script, sum + asCoins(amount, 'amount of an output'));
    }
    return found;
  }

  /** Starts a scan. The node may be busy with the scan of another client. */
  async #scan(descriptors: readonly string[]): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#slow.call('scantxoutset', ['start', descriptors]);
      } catch (error) {
        if (!(error instanceof RpcError) || error.code !== rpcCode.badParameter) throw error;
        if (attempt >= 20) throw new NodeFault('busy', 'is busy with another scan', { cause: error });
        await sleep(500);
      }
    }
  }

  /** The problems of the node, each with its remedy. */
  async problems({ genesis, depth }: { genesis: string; depth: number }): Promise<{
    readonly problems: readonly string[];
    readonly isSyncing: boolean;
  }> {
    const found: string[] = [];
    if ((await this.hashAt(0)) !== genesis) {
      return { problems: ['it follows another chain: correct its address'], isSyncing: false };
    }
    const info = asObject(await this.#call('getblockchaininfo'), 'state of the chain');
    const blocks = asCount(info.blocks, 'number of blocks');
    const headers = asCount(info.headers, 'number of headers');
    // A header comes before its block, so that a node which is not behind may lack the newest one
    // or two.
    const isSyncing = info.initialblockdownload === true || headers - blocks > 2;
    if (isSyncing) found.push(`it is still catching up, at block ${blocks} of ${headers}: wait`);
    if (info.pruned === true) {
      const kept = asCount(info.pruneheight, 'oldest block that is kept');
      if (kept > Math.max(0, blocks - depth)) {
        found.push(`it keeps no block below ${kept}: keep ${depth} blocks or more (prune=550 keeps enough)`);
      }
    }
    return { problems: found, isSyncing };
  }

  /** A transaction of a block; null when the block does not hold it. */
  async transactionIn(txid: string, blockHash: string): Promise<Readonly<Record<string, unknown>> | null> {
    try {
      const answer = await this.#call('getrawtransaction', [txid, 1, blockHash]);
      return this.#isOf(answer, txid);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code === rpcCode.noSuchThing) return null;
    }
    // Versions before 0.16 (Dogecoin) lack the third parameter, so that the whole block is
    // searched.
    const block = await orNull(this.#unpruned(this.#call('getblock', [blockHash, 2])), rpcCode.noSuchThing);
    if (block === null) return null;
    const txs = asList(asObject(block, 'block').tx, 'transactions of a block');
    const found = txs.find((tx) => asObject(tx, 'transaction').txid === txid);
    return found === undefined ? null : this.#isOf(found, txid);
  }

  #isOf(answer: unknown, txid: string): Readonly<Record<string, unknown>> {
    const tx = asObject(answer, 'transaction');
    if (tx.txid !== txid) throw unsound('another transaction than was asked for');
    return tx;
  }

  /** The mempool transactions; null for one that left the mempool. */
  async #transactions(txids: readonly string[]): Promise<unknown[]> {
    const calls = txids.map((txid) => ({ method: 'getrawtransaction', params: [txid, 1] }));
    const all = await orNull(this.#batch(calls), rpcCode.noSuchThing);
    if (all) return all;
    // One of them has just left the mempool, for which the node refused the whole batch.
    const each: unknown[] = [];
    for (const txid of txids) {
      each.push(await orNull(this.#call('getrawtransaction', [txid, 1]), rpcCode.noSuchThing));
    }
    return each;
  }

  /** A block that the node lacks is a fault of the node: another one may have it. */
  async #unpruned<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== rpcCode.misc) throw error;
      throw new NodeFault('no_block_data', 'does not have a block', { cause: error });
    }
  }

  #call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    return ready(this.#rpc.call(method, params));
  }

  #batch(calls: readonly { readonly method: string; readonly params?: readonly unknown[] }[]): Promise<unknown[]> {
    return ready(this.#rpc.batch(calls));
  }
}

export function refOf({ height, hash, parent, time }: BlockHeader): BlockRef {
  return { height, hash, parent, timeMs: time * 1_000 };
}

/** A node that was just started refuses every call for a while, which is no answer. */
async function ready<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== rpcCode.warmingUp) throw error;
    throw new NodeFault('unreachable', 'is starting', { cause: error });
  }
}

async function orNull<T>(answer: Promise<T>, code: number): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RpcError && error.code === code) return null;
    throw error;
  }
}
