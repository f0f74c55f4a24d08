import { beginCell, type Cell } from '@ton/core';
import type { HttpNode, HttpNodeOptions } from '../nodes/http-node.ts';
import { asObject, NodeFault, printable, unsound } from '../nodes/node-answer.ts';
import type { Broadcast } from '../port/chain-adapter.ts';
import {
  readAccounts,
  readBlockAt,
  readStack,
  readTonBlock,
  readTransactions,
  type StackValue,
  type TonAccount,
  type TonBlock,
  type TonTransaction,
} from './ton-answer.ts';
import { addressOf, textOf } from './ton-highload.ts';
import { base64Of } from './ton-tx.ts';

/** Refusals are JSON too, with a status of failure. */
export const httpOptions = {
  longNumbersAsText: true,
  anyStatus: true,
  maxBytes: 32 * 1024 * 1024,
} as const satisfies HttpNodeOptions;

/** How many transactions one answer has at most. */
export const pageSize = 256;
/** The contract accepted a payment with this query id before. */
const exitUsed = 36;
/** The contract accepts no payment of this time: too early, or too late. */
const exitTime = 35;

/**
 * The calls to one index of TON, which reads a node. Every answer is checked before it is used. An
 * invalid answer is a ChainError, so that another index can be asked.
 * https://toncenter.com/api/v3/
 */
export class TonNode {
  readonly #http: HttpNode;

  constructor(http: HttpNode) {
    this.#http = http;
  }

  get name(): string {
    return this.#http.name;
  }

  /** The newest block of the masterchain that the index has with all that belongs to it. */
  async head(): Promise<TonBlock> {
    return readTonBlock((await this.#get('masterchainInfo', {})).last);
  }

  /** Null when the index has no block of this number. */
  async block(height: number): Promise<TonBlock | null> {
    const answer = await this.#list('blocks', { workchain: '-1', seqno: String(height) });
    return answer === null ? null : readBlockAt(answer, height);
  }

  /** An account's transactions from a logical time on, oldest first, at most `pageSize`. */
  async transactions(account: string, fromLt: bigint): Promise<readonly TonTransaction[]> {
    const params = { account: rawOf(account), start_lt: String(fromLt), sort: 'asc', limit: String(pageSize) };
    const answer = await this.#list('transactions', params);
    const found = answer === null ? [] : readTransactions(answer);
    if (found.some((tx) => tx.account !== account)) throw unsound('a transaction of another account');
    return found;
  }

  /** The transaction with a hash; null when there is none. */
  async transaction(hash: string): Promise<TonTransaction | null> {
    const answer = await this.#list('transactions', { hash: base64Of(hash), limit: '1' });
    return answer === null ? null : (readTransactions(answer).find((tx) => tx.hash === hash) ?? null);
  }

  /** The transactions that sent or received a message: at most two. */
  async transactionsByMessage(hash: string): Promise<readonly TonTransaction[]> {
    const answer = await this.#list('transactionsByMessage', { msg_hash: base64Of(hash) });
    return answer === null ? [] : readTransactions(answer);
  }

  /** The present state of accounts. One that does not exist may be absent. */
  async accounts(addresses: readonly string[], withCode = false): Promise<ReadonlyMap<string, TonAccount>> {
    const asked = [...new Set(addresses)];
    if (asked.length === 0) return new Map();
    const params: [string, string][] = asked.map((address) => ['address', rawOf(address)]);
    params.push(['include_boc', String(withCode)]);
    const answer = await this.#list('accountStates', params);
    return answer === null ? new Map() : readAccounts(answer, asked);
  }

  /** Calls a method of a contract; null when it fails, as that of no contract does. */
  async call(
    address: string,
    method: string,
    stack: readonly (bigint | Cell)[],
  ): Promise<readonly StackValue[] | null> {
    const items = stack.map((value) =>
      typeof value === 'bigint'
        ? { type: 'num', value: `0x${value.toString(16)}` }
        : { type: 'slice', value: value.toBoc().toString('base64') },
    );
    const answer = await this.#http.post('api/v3/runGetMethod', { address: rawOf(address), method, stack: items });
    return readStack(soundAnswer(answer, 'runGetMethod'));
  }

  /** The wallet that an owner has of a jetton; null when the contract is no jetton. */
  async jettonWallet(master: string, owner: string): Promise<string | null> {
    const slice = beginCell().storeAddress(addressOf(owner)).endCell();
    const answer = await this.call(master, 'get_wallet_address', [slice]);
    const [cell] = answer ?? [];
    if (answer === null || cell === undefined || typeof cell === 'bigint') return null;
    try {
      return textOf(cell.beginParse().loadAddress());
    } catch {
      throw unsound('no address of a jetton wallet');
    }
  }

  /** The code of which a jetton makes its wallets; null when the contract tells none. */
  async jettonCode(master: string): Promise<Cell | null> {
    const code = (await this.call(master, 'get_jetton_data', []))?.[4];
    return code === undefined || typeof code === 'bigint' ? null : code;
  }

  /** What a jetton's wallet holds; 0 when it is not deployed. */
  async jettonBalance(wallet: string): Promise<bigint> {
    const answer = await this.call(wallet, 'get_wallet_data', []);
    if (answer === null) return 0n;
    const [balance] = answer;
    if (typeof balance !== 'bigint' || balance < 0n) throw unsound('no balance of a jetton wallet');
    return balance;
  }

  /** Broadcasts a signed message. The answer proves nothing. */
  async send(raw: string): Promise<Broadcast> {
    const boc = Buffer.from(raw, 'hex').toString('base64');
    const answer = asObject(await this.#http.post('api/v3/message', { boc }), 'answer');
    const { error } = answer;
    if (error === undefined || error === null) {
      if (typeof answer.message_hash !== 'string') throw unsound('no hash of a message');
      return { outcome: 'accepted', code: null };
    }
    return refusalOf(typeof error === 'string' ? error : '');
  }

  async #get(call: string, params: Params): Promise<Readonly<Record<string, unknown>>> {
    return soundAnswer(await this.#http.get(`api/v3/${call}`, params, call), call);
  }

  /** As `#get`; null when the index says that it found nothing. */
  async #list(call: string, params: Params): Promise<Readonly<Record<string, unknown>> | null> {
    const answer = asObject(await this.#http.get(`api/v3/${call}`, params, call), 'answer');
    if (typeof answer.error === 'string' && /not found/i.test(answer.error)) return null;
    return soundAnswer(answer, call);
  }
}

type Params = Parameters<HttpNode['get']>[1];

function soundAnswer(value: unknown, call: string): Readonly<Record<string, unknown>> {
  const answer = asObject(value, 'answer');
  if (answer.error === undefined || answer.error === null) return answer;
  const text = typeof answer.error === 'string' ? printable(answer.error) : '';
  throw new NodeFault('node_refused', `refuses ${call}: ${text}`);
}

/** The node tries a message before it passes it on, and tells how the contract ended. */
function refusalOf(error: string): Broadcast {
  const exit = Number(/exit ?code[ =:]*(-?\d{1,6})/i.exec(error)?.[1] ?? Number.NaN);
  if (exit === exitUsed) return { outcome: 'known', code: 'query_used' };
  if (exit === exitTime) return { outcome: 'rejected', code: 'out_of_time' };
  return { outcome: 'uncertain', code: Number.isNaN(exit) ? 'refused' : `exit_${exit}` };
}

/** An address as the index is asked: the workchain and the hash in hexadecimal. */
function rawOf(address: string): string {
  return addressOf(address).toRawString();
}
