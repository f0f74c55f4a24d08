import type { IncomingMessage } from 'node:http';
import { type Address, beginCell, Cell, Dictionary } from '@ton/core';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { type Refusal, RpcServer } from './rpc-server.ts';
import {
  type Comment,
  codeOf,
  type JettonKind,
  keyOf,
  libraryCell,
  notificationBody,
  type WalletVersion,
} from './ton-contracts.ts';
import { TonBlocks, type TonOptions } from './ton-node/blocks.ts';
import { type Call, orders, paramsOf, questions } from './ton-node/calls.ts';
import { falsified, type TonFaults } from './ton-node/faults.ts';
import { Jetton } from './ton-node/jettons.ts';
import { type Hash64, type Raw, rawOf } from './ton-node/names.ts';
import { IndexError } from './ton-node/params.ts';
import { type PayOptions, type TokenOptions, TonUser } from './ton-node/users.ts';
import { View } from './ton-node/view.ts';
import { TonVm } from './ton-node/vm.ts';
import { stringify } from './xrp-node/json.ts';

/**
 * An imitated index of TON, Toncenter's version 3, over the real virtual machine.
 *
 * Endpoints, all below `/api/v3`: `masterchainInfo`, `blocks`, `transactions`,
 * `transactionsByMasterchainBlock`, `transactionsByMessage`, `adjacentTransactions`,
 * `accountStates`, `addressInformation`; by POST `message` and `runGetMethod`.
 *
 * Hands of a test: `TonChain` below, `TonUser` (pays coins and tokens), `Jetton` (mints, refuses),
 * and the messages in `ton-contracts.ts`. Nothing happens before `block()` or `settle()`.
 *
 * Switches: `TonFaults` in `ton-node/faults.ts`; `hold`, `drop` and `plant` of the chain for
 * external messages; `hops` for how many blocks a chain of messages takes.
 */

const ton = 1_000_000_000n;

interface Request extends Call {
  readonly apiKey: string | null;
}

/** A server of the index, which may lie. */
export class TonNode {
  faults: TonFaults;
  readonly #chain: TonBlocks;
  readonly #server: RpcServer<Request>;

  constructor(chain: TonBlocks, faults: TonFaults) {
    this.#chain = chain;
    this.faults = faults;
    this.#server = new RpcServer<Request>({
      faults: () => this.faults,
      read: readRequest,
      answer: (request) => this.#answer(request),
    });
  }

  async start(): Promise<this> {
    await this.#server.start();
    return this;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** As settings name it: the address without `/api/v3`. */
  get config(): NodeConfig {
    return this.#server.config;
  }

  get url(): string {
    return this.config.url;
  }

  /** The method of each call, in order. */
  get asked(): string[] {
    return this.#server.asked;
  }

  async #answer(request: Request): Promise<string | Refusal> {
    const { faults } = this;
    const { method, body } = request;
    try {
      if (faults.delayMs) await new Promise((resolve) => setTimeout(resolve, faults.delayMs));
      const { error, methods: failing = /^/, apiKey } = faults;
      if (apiKey !== undefined && apiKey !== request.apiKey) throw new IndexError(401, 'API key does not exist');
      if (error !== undefined && failing.test(method)) throw new IndexError(error, `simulated: ${error}`);
      const answer = (body === null ? questions : orders).get(method);
      if (!answer) throw new IndexError(500, `internal server error: Cannot find /api/v3/${method}`);
      const result = await answer(new View(this.#chain, faults), paramsOf(request), body);
      return stringify(falsified(faults, method, result));
    } catch (thrown) {
      const known = thrown instanceof IndexError ? thrown : new IndexError(500, `internal server error: ${thrown}`);
      const { rewrite: _ofResults, ...others } = faults;
      return { status: known.status, text: stringify(falsified(others, method, { error: known.message })) };
    }
  }
}

/** A request by its method and parameters, or how the index refuses it. */
function readRequest(text: string, request: IncomingMessage): Request | Refusal {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const method = /^\/api\/v3\/(\w+)$/.exec(pathname)?.[1];
  const error = `internal server error: Cannot ${request.method} ${pathname}`;
  if (method === undefined) return { status: 500, text: JSON.stringify({ error }) };
  const apiKey = request.headers['x-api-key'] ?? query.get('api_key');
  const key = typeof apiKey === 'string' ? apiKey : null;
  if (request.method === 'GET') return { method, query, body: null, apiKey: key };
  if (request.method !== 'POST') return { status: 500, text: JSON.stringify({ error }) };
  try {
    return { method, query, body: JSON.parse(text) ?? {}, apiKey: key };
  } catch {
    return { status: 422, text: JSON.stringify({ error: 'invalid character in the body' }) };
  }
}

/** A network of TON with the hands of a test. Amounts are in nanotons and units of tokens. */
export class TonChain extends TonBlocks {
  /** A wallet with plenty of coins, which is the admin of all tokens. */
  readonly bank: TonUser;
  /** Another one, whose payments are in the next block at once. */
  readonly teller: TonUser;
  readonly #nodes: TonNode[] = [];
  readonly #libraries = Dictionary.empty(Dictionary.Keys.Buffer(32), Dictionary.Values.Cell());
  #users = 0;
  #timer: NodeJS.Timeout | null = null;

  private constructor(vm: TonVm, options: TonOptions) {
    super(vm, options);
    this.bank = new TonUser(this, keyOf(`bank of ${this.name}`), 'v3r2');
    this.teller = new TonUser(this, keyOf(`teller of ${this.name}`), 'v4r2');
    for (const { address, init } of [this.bank, this.teller]) {
      this.place(address, init.code as Cell, init.data as Cell, 2_000_000_000n * ton);
    }
  }

  /** Starts a network with its first block. */
  static async start(options: TonOptions = {}): Promise<TonChain> {
    return new TonChain(await TonVm.load(options), options);
  }

  /** One more server of the network, which another operator may run. */
  async node(faults: TonFaults = {}): Promise<TonNode> {
    const node = await new TonNode(this, faults).start();
    this.#nodes.push(node);
    return node;
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  /** Makes a block each so many milliseconds, with the time of the machine or of a clock. */
  auto(everyMs = 400, clock: { now(): Date } = { now: () => new Date() }): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      const now = clock.now().getTime();
      if (now > this.head.timeMs) this.setTime(now);
      void this.block();
    }, everyMs);
  }

  /** A person whose wallet does not exist yet. */
  newUser(version: WalletVersion = 'v4r2'): TonUser {
    this.#users += 1;
    return new TonUser(this, keyOf(`user ${this.#users} of ${this.name}`), version);
  }

  /** A person with coins of the bank, which arrive with the next block. */
  user(nanotons = 100n * ton, version: WalletVersion = 'v4r2'): TonUser {
    const user = this.newUser(version);
    this.bank.pay(user.address, nanotons);
    return user;
  }

  /**
   * A kind of token, of which the bank and the teller have plenty. Makes blocks.
   *
   * @param library Its wallets name their code by a hash, as those of USDT do.
   * @param kind `governed` for wallets whose data are as those of USDT, and which can be locked.
   */
  async jetton(
    name: string,
    { library = false, kind = 'standard' }: { readonly library?: boolean; readonly kind?: JettonKind } = {},
  ): Promise<Jetton> {
    const code = codeOf(kind === 'governed' ? 'governedWallet' : 'jettonWallet');
    if (library) this.#addLibrary(code);
    const walletCode = library ? libraryCell(code) : code;
    const jetton = new Jetton(this, { name, kind, admin: this.bank.address, walletCode });
    for (const { address } of [this.bank, this.teller]) this.mint(jetton, address, 10n ** 18n);
    await this.settle();
    return jetton;
  }

  /** Makes tokens of an owner with the next block, by a message of the master. */
  mint(jetton: Jetton, to: Address, amount: bigint, options: Parameters<Jetton['mintMessage']>[2] = {}): Hash64 {
    return this.bank.send(jetton.mintMessage(to, amount, options));
  }

  /** The issuer of a governed jetton locks what a wallet sends or receives, with the next block. */
  lock(jetton: Jetton, owner: Address, lock: Parameters<Jetton['lockMessage']>[1]): Hash64 {
    return this.bank.send(jetton.lockMessage(owner, lock));
  }

  /** Pays coins of the bank with the next block. */
  pay(to: Address, amount: bigint, options: PayOptions = {}): Hash64 {
    return this.bank.pay(to, amount, options);
  }

  /** Pays tokens of the bank with the next block. */
  payTokens(jetton: Jetton, to: Address, amount: bigint, options: TokenOptions = {}): Hash64 {
    return this.bank.payTokens(jetton, to, amount, options);
  }

  /**
   * Pays coins or tokens with the next block, whose transactions are known at once. Returns the
   * hash of the transaction of the account that is credited, in hexadecimal. For tokens that is the
   * jetton wallet.
   *
   * @throws Error when the payment does not arrive.
   */
  async credit(
    to: Address,
    amount: bigint,
    { jetton, comment = null }: { readonly jetton?: Jetton | null; readonly comment?: Comment } = {},
  ): Promise<string> {
    const { teller } = this;
    const message = jetton
      ? teller.tokenMessage(jetton, to, amount, { comment })
      : teller.message(to, amount, { comment });
    const credited = rawOf(jetton ? jetton.walletOf(to) : to);
    const executed = await this.execute(teller.external(message));
    const found = executed.findLast(({ account }) => account === credited);
    if (!found) throw new Error('the payment does not arrive');
    return Buffer.from(found.hash, 'base64').toString('hex');
  }

  /** A stranger tells an owner of tokens that never came. */
  forgeNotification(to: Address, amount: bigint, comment: string): Hash64 {
    const body = notificationBody(amount, this.bank.address, { amount: 1n, comment });
    return this.bank.pay(to, 50_000_000n, { body });
  }

  /** In nanotons; 0 when there is no account. */
  balance(account: Address | Raw): bigint {
    const raw = typeof account === 'string' ? account : rawOf(account);
    return this.row(raw).account.account?.storage.balance.coins ?? 0n;
  }

  /** No block takes an external message from now on. */
  hold(hash: Hash64): void {
    this.held.add(hash);
  }

  /** Lets in what was held. */
  release(hash: Hash64): void {
    this.held.delete(hash);
  }

  /** Puts signed bytes into the next block before all others, which no server saw. */
  plant(boc: string): Hash64 {
    return this.add(Cell.fromBase64(boc), 'first').hash;
  }

  #addLibrary(code: Cell): void {
    this.#libraries.set(code.hash(), code);
    this.vm.setLibraries(beginCell().storeDictDirect(this.#libraries).endCell());
  }
}

/** Starts a network with its first block. */
export function startTon(options: TonOptions = {}): Promise<TonChain> {
  return TonChain.start(options);
}

/** A network with one server. `close` stops both. */
export interface StartedTon {
  readonly url: string;
  readonly chain: TonChain;
  readonly node: TonNode;
  close(): Promise<void>;
}

/** Starts a network and one server of it. @param faults How the server misbehaves at first. */
export async function startTonNode(options: TonOptions = {}, faults: TonFaults = {}): Promise<StartedTon> {
  const chain = await startTon(options);
  const node = await chain.node(faults);
  return { url: node.url, chain, node, close: () => chain.stop() };
}
