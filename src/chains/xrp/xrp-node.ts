import type { HttpNode } from '../nodes/http-node.ts';
import { asObject, NodeFault, unsound } from '../nodes/node-answer.ts';
import type { Broadcast } from '../port/chain-adapter.ts';
import { asDrops, readLedger, type XrpLedger } from './xrp-answer.ts';
import {
  type KnownTx,
  readAccount,
  readKnownTx,
  readState,
  readSubmit,
  readTickets,
  type XrpAccount,
  type XrpState,
} from './xrp-state.ts';

/** A server that takes and answers JSON. Numbers of its answers are kept as text. */
type PostNode = Pick<HttpNode, 'name' | 'post'>;

/** An account has at most 250 tickets, in pages of 200 or more. */
const maxPages = 3;

/** Refusals that mean an overloaded server, or one that is still following its network. */
const passing: ReadonlySet<string> = new Set(['tooBusy', 'slowDown', 'noNetwork', 'noCurrent', 'noClosed', 'notReady']);

/** A refusal of a server, by its word: 'actNotFound'. */
class Refusal extends NodeFault {
  readonly word: string;
  readonly answer: Readonly<Record<string, unknown>>;

  constructor(method: string, word: string, answer: Readonly<Record<string, unknown>>) {
    super(passing.has(word) ? 'busy' : 'node_refused', `refuses ${method}: ${word}`);
    this.word = word;
    this.answer = answer;
  }
}

/**
 * The calls to one server of the XRP Ledger. All of them ask about validated ledgers. Every answer
 * is checked before it is used. An invalid answer, or a question that the server refuses, is a
 * ChainError, so that another server can be asked.
 * https://xrpl.org/docs/references/http-websocket-apis
 */
export class XrpNode {
  readonly #node: PostNode;

  constructor(node: PostNode) {
    this.#node = node;
  }

  get name(): string {
    return this.#node.name;
  }

  /** `server_state` tells amounts in whole drops, which `server_info` does not. */
  async state(): Promise<XrpState> {
    return readState(await this.#ask('server_state'));
  }

  /** A validated ledger with its transactions; null when the network has none of this index yet. */
  async ledger(index: number): Promise<XrpLedger | null> {
    return this.#ledger(index, { transactions: true, expand: true });
  }

  /** The same without its transactions. */
  async header(index: number): Promise<XrpLedger | null> {
    return this.#ledger(index, {});
  }

  async #ledger(index: number, more: Readonly<Record<string, unknown>>): Promise<XrpLedger | null> {
    const answer = await this.#find('ledger', { ledger_index: index, ...more }, 'lgrNotFound');
    return answer === null ? null : readLedger(answer, index);
  }

  /** Null for an account that does not exist. */
  async account(address: string): Promise<XrpAccount | null> {
    const answer = await this.#find('account_info', { account: address, ...validated }, 'actNotFound');
    return answer === null ? null : readAccount(mustBeValidated(answer), address);
  }

  /** The tickets of an account, the smallest first. */
  async tickets(address: string): Promise<number[]> {
    const found: number[] = [];
    let marker: unknown = null;
    for (let page = 1; page <= maxPages; page += 1) {
      const next = marker === null ? {} : { marker };
      const question = { account: address, type: 'ticket', limit: 250, ...validated, ...next };
      const answer = await this.#find('account_objects', question, 'actNotFound');
      if (answer === null) return [];
      const { tickets, marker: more } = readTickets(mustBeValidated(answer), address);
      found.push(...tickets);
      if (more === null) return found.sort((a, b) => a - b);
      marker = more;
    }
    throw unsound('more tickets than an account can have');
  }

  /** Whether an account takes payments of a sender. */
  async takesFrom(address: string, sender: string): Promise<boolean> {
    const question = { source_account: sender, destination_account: address, ...validated };
    return mustBeValidated(await this.#ask('deposit_authorized', question)).deposit_authorized === true;
  }

  /** The fee that puts a transaction into the next ledger, in drops. */
  async openFee(): Promise<bigint> {
    const { drops } = await this.#ask('fee');
    return asDrops(asObject(drops, 'fees').open_ledger_fee, 'fee of the open ledger');
  }

  /** Broadcasts signed bytes. The answer proves nothing. */
  async submit(raw: string): Promise<Broadcast> {
    return readSubmit(await this.#ask('submit', { tx_blob: raw, fail_hard: true }));
  }

  /**
   * A transaction; null when the server does not know it.
   *
   * @param range The ledgers to search, at most 1,000.
   * @throws ChainError when the server lacks one of these ledgers and does not know the
   *   transaction.
   */
  async tx(
    txid: string,
    range: { readonly first: number; readonly last: number } | null = null,
  ): Promise<KnownTx | null> {
    const within = range === null ? {} : { min_ledger: range.first, max_ledger: range.last };
    try {
      return readKnownTx(await this.#ask('tx', { transaction: txid, binary: false, ...within }), txid);
    } catch (error) {
      if (!(error instanceof Refusal) || error.word !== 'txnNotFound') throw error;
      if (range !== null && error.answer.searched_all !== true) {
        throw new NodeFault('no_index', `lacks ledgers from ${range.first} to ${range.last}`);
      }
      return null;
    }
  }

  async #find(
    method: string,
    question: Readonly<Record<string, unknown>>,
    absent: string,
  ): Promise<Readonly<Record<string, unknown>> | null> {
    try {
      return await this.#ask(method, question);
    } catch (error) {
      if (error instanceof Refusal && error.word === absent) return null;
      throw error;
    }
  }

  /** A refusal comes as a result whose status is an error. */
  async #ask(
    method: string,
    question: Readonly<Record<string, unknown>> = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#node.post('', { method, params: [{ api_version: 2, ...question }] }, method);
    const result = asObject(asObject(answer, 'result').result, 'result');
    if (result.status === 'success') return result;
    const word = typeof result.error === 'string' && /^\w{1,64}$/.test(result.error) ? result.error : 'no word';
    throw new Refusal(method, word, result);
  }
}

const validated = { ledger_index: 'validated' } as const;

function mustBeValidated(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (answer.validated !== true) throw unsound('a state that is not validated');
  return answer;
}
