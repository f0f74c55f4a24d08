import type { IncomingMessage } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { type Refusal, RpcServer } from './rpc-server.ts';
import { methods, type Params } from './xrp-node/calls.ts';
import { type Hash, keyOf, type XrpKey } from './xrp-node/crypto.ts';
import { RpcError } from './xrp-node/errors.ts';
import { falsified, type XrpFaults } from './xrp-node/faults.ts';
import {
  batch,
  failedPayment,
  partialPayment,
  type Tokens,
  tokenPayment,
  type Unusual,
  unusualCredit,
  usd,
} from './xrp-node/hands.ts';
import { isObject, stringify } from './xrp-node/json.ts';
import { XrpLedgers, type XrpOptions } from './xrp-node/ledgers.ts';
import type { Submission } from './xrp-node/pool.ts';
import { isApplied, type Result } from './xrp-node/results.ts';
import { withTickets } from './xrp-node/rules.ts';
import type { XrpAccount } from './xrp-node/state.ts';
import { decodeTransaction, signTransaction, type XrpTransaction } from './xrp-node/transaction.ts';
import { View } from './xrp-node/view.ts';

/** What a test may choose of a payment. */
export interface PayOptions {
  readonly tag?: number;
  /** The drops that a partial payment delivers; `amount` is what it asks for. */
  readonly delivered?: bigint;
  /** Fails in the ledger with this result, though no rule says so. */
  readonly result?: Result;
  /** Other members, in the ledger's own names. */
  readonly members?: Params;
}

interface Call {
  readonly method: string;
  readonly params: Params;
}

/** A server of the XRP Ledger as its documentation describes it, which may lie. */
export class XrpNode {
  faults: XrpFaults;
  readonly #chain: XrpLedgers;
  readonly #server: RpcServer<Call>;

  constructor(chain: XrpLedgers, faults: XrpFaults) {
    this.#chain = chain;
    this.faults = faults;
    this.#server = new RpcServer<Call>({
      faults: () => this.faults,
      read: readCall,
      answer: ({ method, params }) => {
        const result = falsified(this.faults, method, this.#answer(method, params));
        return `${stringify({ result })}\n`;
      },
    });
  }

  async start(): Promise<this> {
    await this.#server.start();
    return this;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** As settings name it. */
  get config(): NodeConfig {
    return this.#server.config;
  }

  /** The method of each call, in order. */
  get asked(): string[] {
    return this.#server.asked;
  }

  /** The result of a call; what went wrong stands in it, as in a real server's. */
  #answer(method: string, params: Params): Record<string, unknown> {
    try {
      const { error, methods: failing = /^/, chain = this.#chain } = this.faults;
      if (error !== undefined && failing.test(method)) throw new RpcError(error);
      const answer = methods.get(method);
      if (!answer) throw new RpcError('unknownCmd');
      // Version 1 has other shapes, which are not simulated.
      if (params.api_version !== 2) throw new RpcError('invalid_API_version');
      const { faults } = this;
      return { ...answer({ view: new View(chain, faults), params, faults }), status: 'success' };
    } catch (error) {
      const known = error instanceof RpcError ? error : new RpcError('internal', { error_message: String(error) });
      return { ...known.answer, request: { command: method, ...params } };
    }
  }
}

/** A call with one object of parameters, or how a real server refuses the request. */
function readCall(text: string, request: IncomingMessage): Call | Refusal {
  const refusal = { status: request.method === 'POST' ? 400 : 405, text: 'Unable to parse request: ' };
  if (request.method !== 'POST') return refusal;
  try {
    const call: unknown = JSON.parse(text);
    if (!isObject(call) || typeof call.method !== 'string') return refusal;
    const { method, params = [{}] } = call;
    if (!Array.isArray(params) || params.length > 1) return refusal;
    const [own = {}] = params;
    return isObject(own) ? { method, params: own } : refusal;
  } catch {
    return refusal;
  }
}

/** A network of the XRP Ledger with the hands of a test. Amounts are in drops. */
export class XrpChain extends XrpLedgers {
  readonly #nodes: XrpNode[] = [];
  #keys = 0;

  /** One more server of the network, which another operator may run. */
  async node(faults: XrpFaults = {}): Promise<XrpNode> {
    const node = await new XrpNode(this, faults).start();
    this.#nodes.push(node);
    return node;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  /** A key whose account does not exist yet. */
  newKey(): XrpKey {
    this.#keys += 1;
    return keyOf(`${this.bank.address} ${this.#keys}`);
  }

  /** A new account with drops of the bank, in a separate empty ledger. */
  newAccount(drops = 100_000_000n): XrpKey {
    const key = this.newKey();
    this.fund(key.address, drops);
    return key;
  }

  /** Gives an account drops of the bank without a transaction, in a separate empty ledger. */
  fund(address: string, drops: bigint): void {
    this.change((state, index) => {
      state.add(this.bank.address, -drops, index);
      state.add(address, drops, index);
    });
  }

  /** Changes an account without a transaction, in a separate empty ledger. */
  setAccount(address: string, changes: Partial<Omit<XrpAccount, 'address' | 'balance'>>): void {
    this.change((state) => {
      state.existing(address);
      state.set(address, changes);
    });
  }

  /** Gives an account tickets by no transaction, in a separate empty ledger. Returns them. */
  makeTickets(address: string, count: number): number[] {
    this.change((state) => state.set(address, withTickets(state.existing(address), count)));
    return this.account(address).tickets.slice(-count);
  }

  /** After a ledger with this index, or after the newest one. @throws Error when there is none. */
  account(address: string, index = this.head.header.ledger_index): XrpAccount {
    const ledger = this.at(index);
    if (!ledger) throw new Error(`the network has no ledger ${index}`);
    return ledger.state.existing(address);
  }

  /** In drops; 0 when there is no account. */
  balance(address: string, index = this.head.header.ledger_index): bigint {
    return this.at(index)?.state.get(address)?.balance ?? 0n;
  }

  /** Signs a transaction of an account; its sequence is the next one unless told otherwise. */
  sign(key: XrpKey, members: Params): XrpTransaction {
    const hasTicket = 'TicketSequence' in members;
    const Sequence = hasTicket ? 0 : (this.pool.open.get(key.address)?.sequence ?? this.openIndex);
    const network = this.networkId > 1_024 ? { NetworkID: this.networkId } : {};
    return signTransaction({ Account: key.address, Fee: '10', Sequence, ...network, ...members }, key);
  }

  /** Signs a transaction and gives it to the servers, which may refuse it. */
  submit(key: XrpKey, members: Params, failHard = false): Submission {
    return this.pool.submit(this.sign(key, members).blob, failHard);
  }

  /**
   * Pays coins with the next ledger. Returns the txid.
   * @throws Error when the servers refuse it.
   */
  pay(from: XrpKey, to: string, amount: bigint, { tag, delivered, result, members }: PayOptions = {}): Hash {
    const credit = { to, amount, tag };
    if (delivered !== undefined) return this.#add(partialPayment(this, from, credit, { delivered }));
    if (result !== undefined) return this.#add(failedPayment(this, from, credit, result));
    const tagged = tag === undefined ? {} : { DestinationTag: tag };
    const payment = { TransactionType: 'Payment', Destination: to, Amount: String(amount), ...tagged };
    const submission = this.submit(from, { ...payment, ...members });
    if (!isApplied(submission.result) && !submission.isKept) throw new Error(`refused: ${submission.result}`);
    return submission.tx.txid;
  }

  /** Pays tokens, ten of the bank unless told otherwise. Moves no coins. Returns the txid. */
  payTokens(to: string, { tokens = usd(this), tag }: { readonly tokens?: Tokens; readonly tag?: number } = {}): Hash {
    return this.#add(tokenPayment(this, this.bank, to, tokens, tag));
  }

  /** Brings coins without a payment. An account that is to be deleted takes a separate ledger. */
  credit(kind: Unusual, to: string, amount: bigint, tag?: number): Hash {
    const leaver = kind === 'AccountDelete' ? this.newAccount(amount + this.fees.reserveInc) : this.bank;
    return this.#add(unusualCredit(this, kind, { to, amount, tag }, leaver));
  }

  /** Pays as a part of a batch, together with a payment to a new account. Returns both txids. */
  payInBatch(to: string, amount: bigint, tag?: number): { readonly outer: Hash; readonly inner: Hash } {
    const other = { to: this.newKey().address, amount: this.fees.reserveBase };
    const entry = batch(this, [{ to, amount, tag }, other]);
    this.pool.add(entry);
    return { outer: entry.tx.txid, inner: entry.then?.tx.txid ?? '' };
  }

  /** No validator takes a transaction from now on, which the servers go on showing. */
  hold(txid: Hash): void {
    this.pool.held.add(txid.toUpperCase());
  }

  /** Lets in what was held. */
  release(txid: Hash): void {
    this.pool.held.delete(txid.toUpperCase());
  }

  /** The servers forget a transaction that waits. */
  drop(txid: Hash): void {
    this.pool.drop(txid);
  }

  /** Puts signed bytes into the next ledger before all others, which no server saw. */
  plant(blob: string): Hash {
    const tx = decodeTransaction(blob);
    this.pool.plant(tx);
    return tx.txid;
  }

  #add(entry: Parameters<XrpLedgers['pool']['add']>[0]): Hash {
    this.pool.add(entry);
    return entry.tx.txid;
  }
}

/** Starts a network with its first ledger. */
export function startXrp(options: XrpOptions = {}): XrpChain {
  return new XrpChain(options);
}
