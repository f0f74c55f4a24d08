import type { IncomingMessage } from 'node:http';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { type Refusal, RpcServer } from './rpc-server.ts';
import { methods } from './solana-node/calls.ts';
import { RpcError } from './solana-node/errors.ts';
import { falsified, type SolanaFaults } from './solana-node/faults.ts';
import {
  failing,
  giveDraft,
  type Mint,
  type MintOptions,
  memoAccount,
  mintDraft,
  type Site,
  tokenPayment,
  type UnusualCoins,
  type UnusualTokens,
  unusualCoins,
  unusualTokens,
} from './solana-node/hands.ts';
import { memo, system } from './solana-node/instructions.ts';
import { associatedAddress, keyOf, programs, type SolanaKey, type Text58 } from './solana-node/keys.ts';
import type { Params } from './solana-node/params.ts';
import { type Draft, signTransaction } from './solana-node/signing.ts';
import { blockhashAge, emptyAccount, type SolanaOptions, SolanaSlots } from './solana-node/slots.ts';
import { tokenAccountOf } from './solana-node/tokens.ts';
import { decodeTransaction, idOf, type SolanaTransaction } from './solana-node/transaction.ts';
import { View } from './solana-node/view.ts';
import { isObject, stringify } from './xrp-node/json.ts';

/** What a test may choose of a payment. */
export interface PayOptions {
  readonly mint?: Mint;
  readonly memo?: string;
  /** Fails after it moved all, so that only its fee is taken. */
  readonly isFailing?: boolean;
  /** Other parts of the transaction. */
  readonly draft?: Partial<Draft>;
}

/** One of several payments in a transaction. */
export interface Part {
  readonly to: Text58;
  readonly amount: bigint;
  readonly mint?: Mint | undefined;
}

interface Call {
  readonly method: string;
  readonly params: Params;
  readonly id: unknown;
  /** A request with several calls, this one being the first. */
  readonly all?: readonly Call[];
}

/** A server of Solana as its documentation describes it, which may lie. */
export class SolanaNode {
  faults: SolanaFaults;
  readonly #chain: SolanaSlots;
  readonly #server: RpcServer<Call>;

  constructor(chain: SolanaSlots, faults: SolanaFaults) {
    this.#chain = chain;
    this.faults = faults;
    this.#server = new RpcServer<Call>({
      faults: () => this.faults,
      read: readCalls,
      answer: (call) => stringify(call.all ? call.all.map((one) => this.#answer(one)) : this.#answer(call)),
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

  /** The method of each call, in order; of several calls at once, the methods with commas. */
  get asked(): string[] {
    return this.#server.asked;
  }

  #answer({ method, params, id }: Call): object {
    const { faults } = this;
    try {
      const { error, methods: failing = /^/, chain = this.#chain } = faults;
      if (error !== undefined && failing.test(method)) throw new RpcError(error, `simulated: ${error}`);
      const answer = methods.get(method);
      if (!answer) throw new RpcError('methodNotFound', 'Method not found');
      return { jsonrpc: '2.0', result: falsified(faults, method, answer(new View(chain, faults), params)), id };
    } catch (thrown) {
      const known = thrown instanceof RpcError ? thrown : new RpcError('internal', String(thrown));
      const { rewrite: _ofResults, ...others } = faults;
      const { code, message, data } = known;
      return { jsonrpc: '2.0', error: falsified(others, 'error', { code, message, data }), id };
    }
  }
}

/** A call or several with their parameters by place, or how a real server refuses the request. */
function readCalls(text: string, request: IncomingMessage): Call | Refusal {
  if (request.method !== 'POST') return { status: 405, text: 'Used HTTP Method is not allowed. POST is required' };
  try {
    const body: unknown = JSON.parse(text);
    const all = (Array.isArray(body) ? body : [body]).map(readCall);
    const [first] = all;
    if (!first || all.includes(null)) return refused(-32_600, 'Invalid request');
    const known = all.filter((one) => one !== null);
    return Array.isArray(body) ? { ...first, method: known.map(({ method }) => method).join(), all: known } : first;
  } catch {
    return refused(-32_700, 'Parse error');
  }
}

function readCall(call: unknown): Call | null {
  if (!isObject(call) || call.jsonrpc !== '2.0' || typeof call.method !== 'string') return null;
  const { method, params = [], id = null } = call;
  return Array.isArray(params) ? { method, params, id } : null;
}

function refused(code: number, message: string): Refusal {
  return { status: 200, text: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }) };
}

/** A network of Solana with the hands of a test. Amounts are in lamports and units of tokens. */
export class SolanaChain extends SolanaSlots {
  readonly #nodes: SolanaNode[] = [];
  #keys = 0;
  #units = 300_000;

  /** One more server of the network, which another operator may run. */
  async node(faults: SolanaFaults = {}): Promise<SolanaNode> {
    const node = await new SolanaNode(this, faults).start();
    this.#nodes.push(node);
    return node;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  /** A key whose account does not exist yet. */
  newKey(): SolanaKey {
    this.#keys += 1;
    return keyOf(`${this.bank.address} ${this.#keys}`);
  }

  /** A key with coins. */
  newAccount(lamports = 1_000_000_000n): SolanaKey {
    const key = this.newKey();
    this.fund(key.address, lamports);
    return key;
  }

  /** Gives an account coins by no transaction. */
  fund(address: Text58, lamports: bigint): void {
    const account = this.vm.account(address) ?? { ...emptyAccount, lamports: 0n };
    this.vm.setAccount(address, { ...account, lamports: account.lamports + lamports });
  }

  /** In lamports; 0 when there is no account. */
  balance(address: Text58): bigint {
    return this.vm.account(address)?.lamports ?? 0n;
  }

  /** Tokens of all token accounts of an owner. */
  tokens(owner: Text58, mint: Mint | Text58): bigint {
    const of = typeof mint === 'string' ? mint : mint.address;
    const held = this.vm.tokenAccountsOf(owner, this.nextSlot).map((address) => {
      const account = this.vm.account(address);
      return account && tokenAccountOf(account);
    });
    return held.reduce((sum, one) => sum + (one?.mint === of ? one.amount : 0n), 0n);
  }

  /** A kind of token, of which the bank has plenty. Nothing of it stands in a block. */
  mint(name: string, options: MintOptions = {}): Mint {
    const { mint, draft } = mintDraft(name, this.bank.address, options, (space) => this.vm.minimum(space));
    this.setUp(draft);
    this.giveTokens(this.bank.address, mint, 2n ** 62n);
    return mint;
  }

  /** Makes tokens at the associated account of an owner, by a transaction that no block shows. */
  giveTokens(owner: Text58, mint: Mint, amount: bigint): void {
    this.setUp(giveDraft(this.bank.address, owner, mint, amount));
  }

  /** Makes the owner's associated account one that asks for memos; only of Token-2022. */
  requireMemos(owner: Text58, mint: Mint): void {
    const account = memoAccount(owner, mint.address, (space) => this.vm.minimum(space));
    this.vm.setAccount(associatedAddress(owner, mint.address, mint.program), account);
  }

  /** Executes a transaction of the bank at once, without a block. @throws Error when it fails. */
  setUp(draft: Draft): void {
    const { error, logs } = this.vm.execute(this.sign(this.bank, draft));
    if (error !== null) throw new Error(`the set-up failed: ${JSON.stringify(error)} ${logs.join('; ')}`);
  }

  /** Signs a transaction on the newest blockhash, or on another one. No two are the same. */
  sign(payer: SolanaKey, draft: Draft, blockhash: Text58 = this.head.hash): SolanaTransaction {
    this.#units += 1;
    return signTransaction(payer, blockhash, { units: this.#units, ...draft });
  }

  /** Signs a transaction and gives it to the leaders. Returns its id. */
  submit(payer: SolanaKey, draft: Draft): Text58 {
    const tx = this.sign(payer, draft);
    this.pool.add(tx);
    return idOf(tx);
  }

  /** Pays coins or tokens with the next block. Returns the id. */
  pay(from: SolanaKey, to: Text58, amount: bigint, options: PayOptions = {}): Text58 {
    const { mint, memo: words, isFailing = false, draft = {} } = options;
    const instructions = [
      ...(words === undefined ? [] : [memo(words)]),
      ...this.#partOf(from.address, { to, amount, mint }),
      ...(isFailing ? [failing()] : []),
    ];
    return this.submit(from, { instructions, ...draft });
  }

  /** One transaction of the bank with several payments. Returns the id. */
  payInMany(parts: readonly Part[]): Text58 {
    return this.submit(this.bank, { instructions: parts.flatMap((part) => this.#partOf(this.bank.address, part)) });
  }

  /** Brings coins otherwise than by a plain transfer. Returns the id. */
  creditCoins(kind: UnusualCoins, to: Text58, amount: bigint): Text58 {
    return this.submit(this.bank, unusualCoins(this.#site, kind, to, amount));
  }

  /** Brings tokens otherwise than to the associated account. Returns the id. */
  creditTokens(kind: UnusualTokens, to: Text58, mint: Mint, amount: bigint): Text58 {
    return this.submit(this.bank, unusualTokens(this.#site, kind, to, mint, amount));
  }

  /** No leader takes a transaction from now on. */
  hold(id: Text58): void {
    this.pool.held.add(id);
  }

  /** Lets in what was held. */
  release(id: Text58): void {
    this.pool.held.delete(id);
  }

  /** The leaders forget a transaction. */
  drop(id: Text58): void {
    this.pool.drop(id);
  }

  /** Puts signed bytes into the next block before all others, which no server saw. */
  plant(wire: Uint8Array): Text58 {
    const tx = decodeTransaction(wire);
    this.pool.plant(tx);
    return idOf(tx);
  }

  /**
   * Another transaction that makes the same account from a seed as these bytes, and pays something
   * else. Only one of the two can succeed. @throws Error for bytes that make none.
   */
  rivalOf(wire: Uint8Array, key: SolanaKey, to: Text58, amount: bigint): SolanaTransaction {
    const { instructions: known, keys } = decodeTransaction(wire);
    const made = known.find(({ program, data }) => keys[program] === programs.system && data[0] === 3);
    if (!made) throw new Error('the transaction makes no account from a seed');
    const accounts = made.accounts.map((index) => keys[index] ?? '');
    const instructions = [system.again(made.data, accounts), system.transfer(key.address, to, amount)];
    return this.sign(key, { instructions });
  }

  /** Makes blocks until a blockhash is too old for the next one. */
  expire(hash: Text58): void {
    const height = this.heightOf(hash);
    if (height === null) return;
    while (this.head.height - height <= blockhashAge) this.mine();
  }

  get #site(): Site {
    return {
      payer: this.bank,
      minimum: (space) => this.vm.minimum(space),
      setUp: (draft) => this.setUp(draft),
      setAccount: (address, account) => this.vm.setAccount(address, account),
      newKey: () => this.newKey(),
    };
  }

  #partOf(from: Text58, { to, amount, mint }: Part) {
    return mint ? tokenPayment(from, to, mint, amount) : [system.transfer(from, to, amount)];
  }
}

/**
 * Starts a network with its first block.
 *
 * @throws Error on a platform without the virtual machine.
 */
export function startSolana(options: SolanaOptions = {}): SolanaChain {
  return new SolanaChain(options);
}
