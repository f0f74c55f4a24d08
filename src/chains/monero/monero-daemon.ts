import type { NodeConfig } from '../networks/network-config.ts';
import { HttpNode, type HttpNodeOptions } from '../nodes/http-node.ts';
import { JsonRpcNode, RpcError } from '../nodes/json-rpc.ts';
import { asList, asObject, printable, unsound } from '../nodes/node-answer.ts';
import type { BlockRef } from '../port/chain-adapter.ts';
import { amountOf, flagOf, hashOf, hexOf, textOf, wholeOf } from './monero-answer.ts';

/** A transaction, as a daemon knows it. */
export interface KnownTx {
  readonly txid: string;
  /** Null while it waits for a block. */
  readonly height: number | null;
  /** Its bytes in hex. */
  readonly raw: string;
}

/** Where an output is spent, as its key image tells. */
export type SpentState = 'unspent' | 'chain' | 'pool';

/** A daemon's answer to a transaction. */
export interface SendAnswer {
  readonly isAccepted: boolean;
  /** It has it already, so that it does not relay it again. */
  readonly isKnown: boolean;
  readonly isDoubleSpend: boolean;
  readonly reason: string;
}

export interface DaemonInfo {
  readonly net: string;
  readonly isSynchronised: boolean;
}

/** `Requested block height … greater than current top block height`. */
const tooBigHeight = -2;
const headersAtOnce = 500;
const txsAtOnce = 100;
const spentStates: readonly SpentState[] = ['unspent', 'chain', 'pool'];

/** The URL of a call below the URL of a node. */
export function below(url: string, path: string): string {
  const whole = new URL(url);
  whole.pathname = `${whole.pathname.replace(/\/+$/, '')}/${path}`;
  return whole.href;
}

/** One monerod. https://docs.getmonero.org/rpc-library/monerod-rpc/ */
export class MoneroDaemon {
  readonly #rpc: JsonRpcNode;
  readonly #http: HttpNode;

  constructor(config: NodeConfig, options: Pick<HttpNodeOptions, 'timeoutMs' | 'maxBytes'> = {}) {
    const all = { ...options, numbersAsText: true, digest: true };
    this.#rpc = new JsonRpcNode({ ...config, url: below(config.url, 'json_rpc') }, all);
    this.#http = new HttpNode(config, all);
  }

  /** Scheme, host and port, without credentials. */
  get name(): string {
    return this.#http.name;
  }

  async info(): Promise<DaemonInfo> {
    const info = asObject(await this.#rpc.call('get_info'), 'facts of the node');
    return {
      net: textOf(info.nettype, 'kind of network'),
      isSynchronised: flagOf(info.synchronized, 'state of synchronisation'),
    };
  }

  async head(): Promise<BlockRef> {
    const answer = asObject(await this.#rpc.call('get_last_block_header'), 'newest block');
    return refOf(answer.block_header);
  }

  /** The block at a height; null above the newest one. */
  async refAt(height: number): Promise<BlockRef | null> {
    try {
      const answer = asObject(await this.#rpc.call('get_block_header_by_height', { height }), 'header');
      return sameHeight(refOf(answer.block_header), height);
    } catch (error) {
      if (error instanceof RpcError && error.code === tooBigHeight) return null;
      throw error;
    }
  }

  /** Blocks from a height on, up to `last` and at most 500. */
  async refsFrom(first: number, last: number): Promise<BlockRef[]> {
    const end = Math.min(last, first + headersAtOnce - 1);
    if (end < first) return [];
    const params = { start_height: first, end_height: end };
    let answer: unknown;
    try {
      answer = await this.#rpc.call('get_block_headers_range', params);
    } catch (error) {
      // The chain may have become shorter.
      if (error instanceof RpcError && error.code === tooBigHeight) return [];
      throw error;
    }
    const headers = asList(asObject(answer, 'headers').headers, 'headers');
    if (headers.length !== end - first + 1) throw unsound('another number of headers than asked for');
    return headers.map((header, index) => sameHeight(refOf(header), first + index));
  }

  /** The transactions that it knows, by txid. */
  async transactions(txids: readonly string[]): Promise<ReadonlyMap<string, KnownTx>> {
    const found = new Map<string, KnownTx>();
    for (let start = 0; start < txids.length; start += txsAtOnce) {
      const asked = txids.slice(start, start + txsAtOnce);
      const answer = await this.#post('get_transactions', { txs_hashes: asked });
      for (const value of answer.txs === undefined ? [] : asList(answer.txs, 'transactions')) {
        const tx = knownTx(value);
        if (!asked.includes(tx.txid)) throw unsound('a transaction that was not asked for');
        found.set(tx.txid, tx);
      }
    }
    return found;
  }

  /** Whether outputs are spent, by their key images, in the same order. */
  async spentStates(keyImages: readonly string[]): Promise<readonly SpentState[]> {
    if (keyImages.length === 0) return [];
    const answer = await this.#post('is_key_image_spent', { key_images: keyImages });
    const states = asList(answer.spent_status, 'states of key images');
    if (states.length !== keyImages.length) throw unsound('another number of states than of key images');
    return states.map((state) => spentStates[wholeOf(state, 'state of a key image')] ?? unknownState());
  }

  /** The usual fee for a byte, in the smallest unit. */
  async feePerByte(): Promise<bigint> {
    return amountOf(asObject(await this.#rpc.call('get_fee_estimate'), 'estimate of fees').fee, 'estimate of fees');
  }

  /** Txids of what waits for a block. */
  async waiting(): Promise<ReadonlySet<string>> {
    const answer = await this.#post('get_transaction_pool_hashes', {});
    const hashes = answer.tx_hashes === undefined ? [] : asList(answer.tx_hashes, 'list of what waits');
    return new Set(hashes.map((hash) => hashOf(hash, 'txid')));
  }

  async send(raw: string): Promise<SendAnswer> {
    const answer = asObject(await this.#http.post('send_raw_transaction', { tx_as_hex: raw }), 'answer');
    const isOk = textOf(answer.status, 'status') === 'OK';
    return {
      isAccepted: isOk,
      isKnown: isOk && answer.not_relayed === true,
      isDoubleSpend: answer.double_spend === true,
      reason: typeof answer.reason === 'string' ? printable(answer.reason) : '',
    };
  }

  async #post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = asObject(await this.#http.post(path, body), 'answer');
    if (answer.status !== 'OK') throw unsound(`${path} with the status ${printable(String(answer.status))}`);
    return answer;
  }
}

function unknownState(): never {
  throw unsound('an unknown state of a key image');
}

function sameHeight(ref: BlockRef, height: number): BlockRef {
  if (ref.height !== height) throw unsound('another block than asked for');
  return ref;
}

function refOf(value: unknown): BlockRef {
  const header = asObject(value, 'header');
  return {
    height: wholeOf(header.height, 'height of a block'),
    hash: hashOf(header.hash, 'hash of a block'),
    parent: hashOf(header.prev_hash, 'parent of a block'),
    timeMs: wholeOf(header.timestamp, 'time of a block') * 1_000,
  };
}

function knownTx(value: unknown): KnownTx {
  const tx = asObject(value, 'transaction');
  const isWaiting = flagOf(tx.in_pool, 'place of a transaction');
  // A node that prunes leaves out the rest, so that all parts are there only on others.
  const raw = tx.as_hex === '' ? `${tx.pruned_as_hex}${tx.prunable_as_hex}` : tx.as_hex;
  return {
    txid: hashOf(tx.tx_hash, 'txid'),
    height: isWaiting ? null : wholeOf(tx.block_height, 'height of a transaction'),
    raw: hexOf(raw, 'bytes of a transaction'),
  };
}
