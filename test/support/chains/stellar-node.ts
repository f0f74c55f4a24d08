import type { IncomingMessage } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { type Refusal, RpcServer } from './rpc-server.ts';
import { type AssetText, native } from './stellar-node/assets.ts';
import { most } from './stellar-node/balances.ts';
import { methods, type Params } from './stellar-node/calls.ts';
import { type StellarAccount, type TrustLine, trustFlags } from './stellar-node/entries.ts';
import { RpcError } from './stellar-node/errors.ts';
import { falsified, type StellarFaults } from './stellar-node/faults.ts';
import { failedPayment, openAccount, signNext, trade, type Unusual, unusualCredit } from './stellar-node/hands.ts';
import { accountOf, type Hash, keyOf, muxedAddress, type StellarKey } from './stellar-node/keys.ts';
import { StellarLedgers, type StellarOptions } from './stellar-node/ledgers.ts';
import { operations } from './stellar-node/operations.ts';
import type { Submission, Waiting } from './stellar-node/pool.ts';
import type { OpCode } from './stellar-node/results.ts';
import { checked } from './stellar-node/rules.ts';
import {
  type Draft,
  decodeTransaction,
  type Memo,
  type StellarTransaction,
  signFeeBump,
} from './stellar-node/transaction.ts';
import { View } from './stellar-node/view.ts';
import { isObject, stringify } from './xrp-node/json.ts';

/** What a test may choose of a payment. */
export interface PayOptions {
  readonly asset?: AssetText;
  readonly memo?: Memo;
  /** Makes the destination a muxed account. */
  readonly muxedId?: bigint;
  /** Fails in the ledger with this code, though no rule says so: `paymentNoTrust`. */
  readonly result?: OpCode;
  /** Other parts of the transaction, such as its fee or its times. */
  readonly draft?: Partial<Draft>;
}

/** One of several payments in a transaction. */
export interface Part {
  readonly to: string;
  readonly amount: bigint;
  readonly asset?: AssetText;
  readonly muxedId?: bigint;
}

interface Call {
  readonly method: string;
  readonly params: Params;
  readonly id: unknown;
}

/** A server of Stellar as the documentation of Stellar RPC describes it, which may lie. */
export class StellarNode {
  faults: StellarFaults;
  readonly #chain: StellarLedgers;
  readonly #server: RpcServer<Call>;

  constructor(chain: StellarLedgers, faults: StellarFaults) {
    this.#chain = chain;
    this.faults = faults;
    this.#server = new RpcServer<Call>({
      faults: () => this.faults,
      read: readCall,
      answer: (call) => this.#answer(call),
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

  #answer({ method, params, id }: Call): string {
    const { faults } = this;
    try {
      const { error, methods: failing = /^/, chain = this.#chain } = faults;
      if (error !== undefined && failing.test(method)) throw new RpcError(error, `simulated: ${error}`);
      const answer = methods.get(method);
      if (!answer) throw new RpcError('methodNotFound', 'method not found');
      const result = falsified(faults, method, answer(new View(chain, faults), params));
      return stringify({ jsonrpc: '2.0', id, result });
    } catch (thrown) {
      const known = thrown instanceof RpcError ? thrown : new RpcError('internal', String(thrown));
      const { rewrite: _ofResults, ...others } = faults;
      const error = falsified(others, method, { code: known.code, message: known.message });
      return stringify({ jsonrpc: '2.0', id, error });
    }
  }
}

/** A call with its parameters by name, or how a real server refuses the request. */
function readCall(text: string, request: IncomingMessage): Call | Refusal {
  if (request.method !== 'POST') return { status: 405, text: 'Method Not Allowed' };
  if (!request.headers['content-type']?.startsWith('application/json')) {
    return { status: 415, text: 'Unsupported Media Type' };
  }
  const refused = (code: number, message: string): Refusal => ({
    status: 200,
    text: stringify({ jsonrpc: '2.0', id: null, error: { code, message } }),
  });
  try {
    const call: unknown = JSON.parse(text);
    if (!isObject(call) || call.jsonrpc !== '2.0' || typeof call.method !== 'string') {
      return refused(-32_600, 'invalid request');
    }
    const { method, params = {}, id = null } = call;
    return isObject(params) ? { method, params, id } : refused(-32_602, 'invalid parameters');
  } catch {
    return refused(-32_700, 'invalid request message');
  }
}

/** A network of Stellar with the hands of a test. Amounts are in stroops. */
export class StellarChain extends StellarLedgers {
  readonly #nodes: StellarNode[] = [];
  #keys = 0;

  /** One more server of the network, which another operator may run. */
  async node(faults: StellarFaults = {}): Promise<StellarNode> {
    const node = await new StellarNode(this, faults).start();
    this.#nodes.push(node);
    return node;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  /** A key whose account does not exist yet. */
  newKey(): StellarKey {
    this.#keys += 1;
    return keyOf(`${this.bank.address} ${this.#keys}`);
  }

  /** A new account with coins of the bank, in a separate empty ledger. */
  newAccount(stroops = 1_000_000_000n): StellarKey {
    const key = this.newKey();
    this.fund(key.address, stroops);
    return key;
  }

  /** Gives an account coins of the bank without a transaction, in a separate empty ledger. */
  fund(address: string, stroops: bigint): void {
    openAccount(this, address, stroops);
  }

  /** Changes an account without a transaction, in a separate empty ledger. */
  setAccount(address: string, changes: Partial<Omit<StellarAccount, 'kind' | 'address' | 'balance'>>): void {
    this.change((state, seq) => state.update(address, changes, seq));
  }

  /** After a ledger, or after the newest one. @throws Error when there is none. */
  account(address: string, seq = this.head.seq): StellarAccount {
    const ledger = this.at(seq);
    if (!ledger) throw new Error(`the network has no ledger ${seq}`);
    return ledger.state.existing(address);
  }

  /** In stroops; 0 when there is no account or no trust line. */
  balance(address: string, asset: AssetText = native, seq = this.head.seq): bigint {
    const state = this.at(seq)?.state;
    return (asset === native ? state?.account(address) : state?.trustLine(address, asset))?.balance ?? 0n;
  }

  /** The issuer of the asset with a code, which is made at first. */
  issuer(code: string): StellarKey {
    const key = keyOf(`issuer of ${code} ${this.passphrase}`);
    if (!this.head.state.account(key.address)) this.fund(key.address, 1_000_000_000n);
    return key;
  }

  /** The asset with a code. The bank has plenty of it. */
  asset(code: string): AssetText {
    const asset = `${code}:${this.issuer(code).address}`;
    if (!this.head.state.trustLine(this.bank.address, asset)) {
      this.trust(this.bank.address, asset, { balance: most / 4n });
    }
    return asset;
  }

  /** Makes or changes a trust line without a transaction, in a separate empty ledger. */
  trust(address: string, asset: AssetText, changes: Partial<Omit<TrustLine, 'kind' | 'address' | 'asset'>> = {}): void {
    this.change((state, lastModified) => {
      const line = state.trustLine(address, asset);
      const { numSubEntries } = state.existing(address);
      if (!line) state.update(address, { numSubEntries: numSubEntries + 1 }, lastModified);
      const amounts = { balance: 0n, limit: most, buying: 0n, selling: 0n };
      const fresh: TrustLine = {
        kind: 'trust',
        address,
        asset,
        flags: trustFlags.authorized,
        lastModified,
        ...amounts,
      };
      state.put({ ...(line ?? fresh), ...changes, lastModified });
    });
  }

  /** Adds tokens to a trust line without a transaction, in a separate empty ledger. */
  giveTokens(address: string, asset: AssetText, amount: bigint): void {
    this.trust(address, asset, { balance: this.balance(address, asset) + amount });
  }

  /** Sets a data entry without a transaction, or deletes it, in a separate empty ledger. */
  setData(address: string, name: string, value: Uint8Array | null): void {
    this.change((state, lastModified) => {
      const item = state.data(address, name);
      const { numSubEntries } = state.existing(address);
      const change = (value === null ? 0 : 1) - (item === null ? 0 : 1);
      if (value !== null) state.put({ kind: 'data', address, name, value, lastModified });
      else if (item) state.delete(item);
      state.update(address, { numSubEntries: numSubEntries + change }, lastModified);
    });
  }

  /** Signs a transaction of an account, which is the next one unless told otherwise. */
  sign(key: StellarKey, draft: Draft): StellarTransaction {
    return signNext(this, key, draft);
  }

  /** Signs a transaction and gives it to the servers, which may refuse it. */
  submit(key: StellarKey, draft: Draft): Submission {
    return this.pool.submit(this.sign(key, draft));
  }

  /**
   * Pays coins or tokens with the next ledger, also when the account has another transaction that
   * waits. Returns the txid. @throws Error when no ledger could hold it.
   */
  pay(from: StellarKey, to: string, amount: bigint, options: PayOptions = {}): Hash {
    const { asset = native, memo = null, muxedId, result, draft = {} } = options;
    const one = operations.payment(destinationOf(to, muxedId), amount, asset);
    const whole = { operations: [one], memo, ...draft };
    if (result !== undefined) return this.#add(failedPayment(this, from, whole, result));
    return this.#addChecked(this.sign(from, whole));
  }

  /** One transaction of the bank with several payments. Returns the txid. */
  payInMany(parts: readonly Part[], { memo = null }: { readonly memo?: Memo } = {}): Hash {
    const all = parts.map(({ to, amount, asset, muxedId }) =>
      operations.payment(destinationOf(to, muxedId), amount, asset),
    );
    return this.#addChecked(this.sign(this.bank, { operations: all, memo }));
  }

  /**
   * A path payment by a stranger, which the bank exchanges. What it sends are tokens, or coins when
   * tokens arrive. Returns the txid.
   */
  pathPayment(
    to: string,
    options: {
      readonly arrived: bigint;
      readonly asset?: AssetText;
      readonly sent?: bigint;
      readonly sentAsset?: AssetText;
      readonly memo?: Memo;
      readonly strict?: 'send' | 'receive';
    },
  ): Hash {
    const { arrived, asset = native, sent = arrived, memo = null, strict = 'send' } = options;
    const sentAsset = options.sentAsset ?? (asset === native ? this.asset('PATH') : native);
    const payer = this.newAccount(sentAsset === native ? sent * 10n + 1_000_000_000n : 1_000_000_000n);
    if (sentAsset !== native) this.giveTokens(payer.address, sentAsset, sent * 10n);
    const amounts = { sent: { asset: sentAsset, amount: sent }, arrived: { asset, amount: arrived } };
    return this.#add(trade(this, payer, { to, memo, strict, ...amounts }));
  }

  /** Brings coins, or by a contract also tokens, without a payment. Returns the txid. */
  credit(kind: Unusual, to: string, amount: bigint, memo: Memo = null, asset: AssetText = native): Hash {
    const leaver = kind === 'account_merge' ? this.newAccount(amount) : this.bank;
    return this.#add(unusualCredit(this, kind, { to, amount, memo, asset }, leaver));
  }

  /**
   * Puts a fee bump around a signed transaction, in whose place it waits. It pays twenty times the
   * base fee unless told. Returns the outer txid.
   */
  feeBump(innerEnvelope: string, feeSource: StellarKey, fee?: bigint): Hash {
    const inner = decodeTransaction(innerEnvelope, this.passphrase);
    const usual = this.fees.baseFee * 20n * BigInt(inner.operations.length + 1);
    const tx = signFeeBump(inner.envelope, feeSource, fee ?? usual, this.passphrase);
    this.pool.drop(inner.txid);
    return this.#add({ tx });
  }

  /** No validator takes a transaction from now on, though it waits. */
  hold(txid: Hash): void {
    this.pool.held.add(txid.toLowerCase());
  }

  /** Lets in what was held. */
  release(txid: Hash): void {
    this.pool.held.delete(txid.toLowerCase());
  }

  /** The servers forget a transaction that waits. */
  drop(txid: Hash): void {
    this.pool.drop(txid.toLowerCase());
  }

  /** Puts signed bytes into the next ledger before all others, which no server saw. */
  plant(envelope: string): Hash {
    const tx = decodeTransaction(envelope, this.passphrase);
    this.pool.plant(tx);
    return tx.txid;
  }

  #add(entry: Waiting): Hash {
    this.pool.add(entry);
    return entry.tx.txid;
  }

  #addChecked(tx: StellarTransaction): Hash {
    const { code } = checked(tx, this.siteOfNext(), { seqNum: tx.seqNum, isCharged: false });
    if (code !== 'txSuccess') throw new Error(`refused: ${code}`);
    return this.#add({ tx });
  }
}

function destinationOf(to: string, muxedId: bigint | undefined): string {
  return muxedId === undefined ? to : muxedAddress(accountOf(to), muxedId);
}

/** Starts a network with its first ledger. */
export function startStellar(options: StellarOptions = {}): StellarChain {
  return new StellarChain(options);
}
