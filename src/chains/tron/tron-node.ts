import type { HttpNode } from '../nodes/http-node.ts';
import { asList, asObject, NodeFault, unsound } from '../nodes/node-answer.ts';
import type { Broadcast } from '../port/chain-adapter.ts';
import {
  asHash,
  isNothing,
  readBlock,
  readBlockTx,
  readHeader,
  readInfo,
  type TronBlock,
  type TronBlockTx,
  type TronHeader,
  type TronInfo,
} from './tron-answer.ts';
import {
  readAccount,
  readBroadcast,
  readPrices,
  readResources,
  readTrial,
  type TronAccount,
  type TronPrices,
  type TronResources,
  type TronTrial,
} from './tron-state.ts';

/** A node that takes and answers JSON. Numbers of more than 15 digits are text in its answers. */
export type PostNode = Pick<HttpNode, 'name' | 'post'>;

/**
 * Which blocks a question is about: all up to the newest one, or only solid ones, which no reorg
 * can remove.
 */
export type Reach = 'newest' | 'solid';

/** A call of a contract that is only simulated. Addresses have 42 digits, data has no '0x'. */
interface TronCall {
  readonly owner: string;
  readonly contract: string;
  readonly data: string;
}

/** What an overloaded node answers in place of a result. */
const overloaded = /lack of computing resources/i;

/**
 * The HTTP calls to one node of Tron. Every answer is checked before it is used. An invalid answer,
 * or a question that the node refuses, is a ChainError, so that another node can be asked.
 * https://tronprotocol.github.io/documentation-en/api/http
 */
export class TronNode {
  readonly #node: PostNode;

  constructor(node: PostNode) {
    this.#node = node;
  }

  get name(): string {
    return this.#node.name;
  }

  /**
   * The newest block, or the newest one that is solid. `getnowblock` would send all its
   * transactions with it, at each poll.
   */
  async head(reach: Reach): Promise<TronHeader> {
    const header = readHeader(await this.#ask(reach, 'getblock', { detail: false }), null);
    if (header === null) throw unsound('no newest block');
    return header;
  }

  /** Null when the chain has no such block. */
  async header(height: number): Promise<TronHeader | null> {
    return readHeader(await this.#ask('newest', 'getblock', { id_or_num: String(height), detail: false }), height);
  }

  /** Null when the chain has no such block. */
  async block(height: number): Promise<TronBlock | null> {
    return readBlock(await this.#ask('newest', 'getblock', { id_or_num: String(height), detail: true }), height);
  }

  /**
   * The results of a block's transactions. They are asked for by height: the caller reads the
   * block's id again afterwards.
   *
   * @throws ChainError when they are not those of exactly its transactions, once each.
   */
  async infos({ ref, transactions }: TronBlock): Promise<Map<string, TronInfo>> {
    const answer = await this.#ask('newest', 'gettransactioninfobyblocknum', { num: ref.height });
    const infos = new Map<string, TronInfo>();
    for (const item of asList(answer, 'results of a block')) {
      const info = readInfo(item);
      if (info.height !== ref.height || info.timeMs !== ref.timeMs) throw unsound('a result of another block');
      if (infos.has(info.txid)) throw unsound('a result twice');
      infos.set(info.txid, info);
    }
    const isWhole = infos.size === transactions.length && transactions.every(({ txid }) => infos.has(txid));
    if (!isWhole) throw unsound("results that are not of its block's transactions");
    return infos;
  }

  /** The result of a transaction in a block; null when the node has none. */
  async info(txid: string, reach: Reach): Promise<TronInfo | null> {
    const answer = await this.#ask(reach, 'gettransactioninfobyid', { value: txid });
    if (isNothing(answer)) return null;
    const info = readInfo(answer);
    if (info.txid !== txid) throw unsound('the result of another transaction');
    return info;
  }

  /**
   * A transaction; null when the node has none. It may wait for a block and state a result that is
   * only foretold.
   */
  async transaction(txid: string, reach: Reach): Promise<TronBlockTx | null> {
    const answer = await this.#ask(reach, 'gettransactionbyid', { value: txid });
    if (isNothing(answer)) return null;
    const tx = readBlockTx(answer);
    if (tx.txid !== txid) throw unsound('another transaction');
    return tx;
  }

  /**
   * Broadcasts signed bytes. The answer proves nothing.
   *
   * @param signed In hexadecimal digits.
   */
  async broadcast(signed: string): Promise<Broadcast> {
    return readBroadcast(await this.#ask('newest', 'broadcasthex', { transaction: signed }));
  }

  /** Simulates a call of a contract. */
  async trial({ owner, contract, data }: TronCall, reach: Reach = 'newest'): Promise<TronTrial> {
    const call = { owner_address: owner, contract_address: contract, data, visible: false };
    return readTrial(await this.#ask(reach, 'triggerconstantcontract', call));
  }

  /** An account, by its 42 digits; null when it does not exist. */
  async account(address: string, reach: Reach): Promise<TronAccount | null> {
    return readAccount(await this.#ask(reach, 'getaccount', { address, visible: false }), address);
  }

  /** What an account can use without a fee. */
  async resources(address: string): Promise<TronResources> {
    return readResources(await this.#ask('newest', 'getaccountresource', { address, visible: false }));
  }

  /** Prices of the next block. */
  async prices(): Promise<TronPrices> {
    return readPrices(await this.#ask('newest', 'getchainparameters'));
  }

  /** The id of block 0, which names the chain. */
  async genesis(): Promise<string> {
    const block = asObject(await this.#ask('newest', 'getblock', { id_or_num: '0', detail: false }), 'block 0');
    return asHash(block.blockID, 'id of block 0');
  }

  /** A refusal comes as an answer with the member `Error`. */
  async #ask(reach: Reach, method: string, body: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const answer = await this.#node.post(`${reach === 'solid' ? 'walletsolidity' : 'wallet'}/${method}`, body);
    if (typeof answer !== 'object' || answer === null || !('Error' in answer)) return answer;
    // An object may have no text.
    const refusal = typeof answer.Error === 'string' ? answer.Error : 'no text';
    if (overloaded.test(refusal)) throw new NodeFault('busy', 'is busy: it lacks computing resources');
    throw new NodeFault('node_refused', `refuses ${method}: ${refusal.slice(0, 200).replace(/[^\x20-\x7e]+/g, ' ')}`);
  }
}
