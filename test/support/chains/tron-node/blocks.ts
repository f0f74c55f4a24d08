import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { keyOf, sign, signerOf, type TronKey } from './crypto.ts';
import { begin, execute, noEffect, type Outcome, type Prices, prices, Refused, type Site } from './execution.ts';
import { blockId, encodeHeader, type Header, merkleRoot } from './header.ts';
import { Ledger } from './ledger.ts';
import { type ContractResult, decodeTransaction, encodeMined, type TronTransaction } from './transaction.ts';
import type { TronVm } from './vm.ts';

export interface MinedTransaction {
  readonly tx: TronTransaction;
  readonly outcome: Outcome;
}

export interface TronBlock {
  readonly header: Header;
  /** 64 digits, the first 16 of which are its number. */
  readonly id: string;
  /** Hexadecimal digits. */
  readonly signature: string;
  readonly transactions: readonly MinedTransaction[];
  /** The accounts after it. */
  readonly ledger: Ledger;
  /** The block of the machine with the contracts after it. */
  readonly vmHeight: number;
}

export interface TronOptions {
  /** What all keys and the first block follow from: another text is another chain. */
  readonly seed?: string;
  /** Milliseconds; the time of this machine unless told. */
  readonly startTime?: number;
  /** How many blocks the newest final one is behind the head. */
  readonly solidLag?: number;
}

/** Time between two blocks. */
export const blockMs = 3_000;
const dayMs = 86_400_000n;
/** Blocks that a transaction may refer to. */
const referable = 65_536;

/** A chain of blocks, what waits for one, and the rules of both. */
export class TronBlocks {
  readonly blocks: TronBlock[] = [];
  readonly pool = new Map<string, TronTransaction>();
  /** Transactions that no producer takes, though they wait. */
  readonly held = new Set<string>();
  /**
   * How a transfer of tokens to these recipients (42 digits) ends in a block, though a trial of it
   * succeeds. It uses all its energy.
   */
  readonly failing = new Map<string, ContractResult>();
  readonly prices: Prices = { ...prices };
  /** Of everything that is paid from outside. */
  readonly bank: TronKey;
  solidLag: number;
  /** Ids that nodes saw before. A refused one stays among them, as in java-tron. */
  protected readonly seen = new Set<string>();
  protected vm: TronVm | null = null;
  readonly #seed: string;
  readonly #planted: TronTransaction[] = [];
  /** Makes the blocks. Each reorganisation has another one, so that its blocks differ. */
  #producer: TronKey;
  #forks = 0;
  #nextTime: number | null = null;
  #solid = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ seed = 'tron', startTime = Date.now(), solidLag = 18 }: TronOptions = {}) {
    this.bank = keyOf(`bank of ${seed}`);
    this.#seed = seed;
    this.#producer = keyOf(`producer 0 of ${seed}`);
    this.solidLag = solidLag;
    const ledger = new Ledger();
    const time = startTime - (startTime % blockMs);
    ledger.set(this.bank.address, time, { balance: 90_000_000_000_000_000n });
    this.#append(time, [], ledger, 0);
  }

  get head(): TronBlock {
    const block = this.blocks.at(-1);
    if (!block) throw new Error('the chain has no block');
    return block;
  }

  /** Number of the newest final block, which never goes back. */
  get solidNumber(): number {
    this.#solid = Math.max(this.#solid, this.head.header.number - this.solidLag);
    return this.#solid;
  }

  get machine(): TronVm | null {
    return this.vm;
  }

  /** The block that holds a transaction, or null. */
  blockOf(txid: string): TronBlock | null {
    return this.blocks.find(({ transactions }) => transactions.some(({ tx }) => tx.txid === txid)) ?? null;
  }

  /** The next block has this time in milliseconds, and those after it follow. */
  setTime(time: number): void {
    if (time <= this.head.header.timestamp) throw new Error('a block must have a later time than its parent');
    this.#nextTime = time;
  }

  /**
   * Takes a transaction into the pool, as a node does. Returns its id.
   * @throws Refused with the code of the answer.
   */
  accept(bytes: Uint8Array): string {
    const tx = decodeTransaction(bytes);
    if (this.seen.has(tx.txid)) throw new Refused('DUP_TRANSACTION_ERROR', 'Transaction already exists.');
    this.seen.add(tx.txid);
    const site = this.#site(this.head.ledger.copy(), this.head.header.timestamp);
    for (const waiting of this.pool.values()) {
      try {
        begin(site, waiting);
      } catch {
        // The next block drops it.
      }
    }
    this.#check(tx, site.ledger);
    begin(site, tx);
    this.pool.set(tx.txid, tx);
    return tx.txid;
  }

  /** Puts a transaction of any kind into the next block, unchecked and without an effect. */
  plant(bytes: Uint8Array): void {
    this.#planted.push(decodeTransaction(bytes));
  }

  /** Adds blocks; the first one takes all that waits and is still possible. */
  mine(blocks = 1, stepMs = blockMs): Promise<void> {
    return this.#alone(async () => {
      for (let count = 0; count < blocks; count += 1) await this.#mineOne(stepMs);
    });
  }

  /**
   * Replaces the newest blocks by `blocks` empty ones. What they held waits again, or is forgotten.
   * @throws Error when a final block would be replaced and that is not asked for.
   */
  reorg(depth: number, blocks = depth, options: { forgets?: boolean; breaksFinality?: boolean } = {}): Promise<void> {
    return this.#alone(async () => {
      const kept = this.blocks.length - depth;
      if (kept < 1) throw new Error(`the chain has ${this.blocks.length} blocks, the first of which stays`);
      if (kept - 1 < this.solidNumber && !options.breaksFinality) {
        throw new Error(`block ${this.solidNumber} is final: a reorganisation of ${depth} blocks would replace it`);
      }
      const orphans = this.blocks.splice(kept).flatMap(({ transactions }) => transactions.map(({ tx }) => tx));
      await this.vm?.returnTo(this.head.vmHeight);
      const waiting = [...this.pool.values()];
      this.pool.clear();
      this.#forks += 1;
      this.#producer = keyOf(`producer ${this.#forks} of ${this.#seed}`);
      for (let count = 0; count < blocks; count += 1) await this.#mineOne(blockMs);
      if (options.forgets) for (const { txid } of orphans) this.seen.delete(txid);
      for (const tx of options.forgets ? waiting : [...orphans, ...waiting]) this.pool.set(tx.txid, tx);
    });
  }

  /** Every node forgets a transaction that waits, and takes it again when it comes again. */
  drop(txid: string): void {
    this.pool.delete(txid);
    this.seen.delete(txid);
  }

  /** Does something while no block is made. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Contracts or accounts that appear without a transaction: the next block has them. */
  protected change(work: (ledger: Ledger, time: number) => Promise<void>): Promise<void> {
    return this.#alone(async () => {
      const ledger = this.head.ledger.copy();
      const time = this.head.header.timestamp + blockMs;
      await work(ledger, time);
      this.#append(time, [], ledger, (await this.vm?.height()) ?? 0);
    });
  }

  async #mineOne(stepMs: number): Promise<void> {
    const time = this.#nextTime ?? this.head.header.timestamp + stepMs;
    this.#nextTime = null;
    const ledger = this.head.ledger.copy();
    const planted = this.#planted.splice(0);
    const mined: MinedTransaction[] = planted.map((tx) => ({ tx, outcome: noEffect }));
    for (const tx of [...this.pool.values()]) {
      const isLate = tx.expiration <= BigInt(this.head.header.timestamp);
      if (this.held.has(tx.txid) && !isLate) continue;
      this.pool.delete(tx.txid);
      const outcome = await this.#tried(tx, ledger, time, mined);
      if (outcome) mined.push({ tx, outcome });
    }
    this.#append(time, mined, ledger, (await this.vm?.height()) ?? 0);
  }

  /** The outcome in a block; null when it cannot hold the transaction, and changes nothing. */
  async #tried(
    tx: TronTransaction,
    ledger: Ledger,
    time: number,
    before: readonly MinedTransaction[],
  ): Promise<Outcome | null> {
    try {
      if (before.some((one) => one.tx.txid === tx.txid)) return null;
      this.#check(tx, ledger);
      begin(this.#site(ledger.copy(), time), tx);
      return await execute(this.#site(ledger, time), tx);
    } catch (error) {
      if (error instanceof Refused) return null;
      throw error;
    }
  }

  #site(ledger: Ledger, time: number): Site {
    return { ledger, time, prices: this.prices, vm: this.vm, failing: this.failing };
  }

  /** What is checked on top of the head, in a node and for a block. @throws Refused */
  #check(tx: TronTransaction, ledger: Ledger): void {
    const key = ledger.get(tx.call.owner)?.ownerKey ?? tx.call.owner;
    if (tx.permissionId !== 0n || tx.signatures.length !== 1 || signer(tx) !== key) {
      throw new Refused('SIGERROR', `Validate signature error: ${tx.call.owner} is not the signer`);
    }
    const number = this.#referred(tx.refBlockBytes);
    if (number < 0 || this.blocks[number]?.id.slice(16, 32) !== tx.refBlockHash) {
      throw new Refused('TAPOS_ERROR', 'Tapos check error.');
    }
    const headTime = BigInt(this.head.header.timestamp);
    if (tx.expiration <= headTime || tx.expiration > headTime + dayMs) {
      throw new Refused('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
    }
    if (this.blockOf(tx.txid)) throw new Refused('DUP_TRANSACTION_ERROR', 'Dup transaction.');
  }

  /** The newest block whose number ends with two bytes; below 0 when there is none. */
  #referred(bytes: string): number {
    const head = this.head.header.number;
    const low = /^[0-9a-f]{4}$/.test(bytes) ? Number.parseInt(bytes, 16) : Number.NaN;
    return head - ((((head - low) % referable) + referable) % referable);
  }

  #append(time: number, transactions: readonly MinedTransaction[], ledger: Ledger, vmHeight: number): void {
    const parent = this.blocks.at(-1);
    const header: Header = {
      number: (parent?.header.number ?? -1) + 1,
      timestamp: time,
      txTrieRoot: merkleRoot(transactions.map(({ tx, outcome }) => encodeMined(tx, outcome.result))),
      parentHash: parent?.id ?? '0'.repeat(64),
      witness: this.#producer.address,
      version: 36,
    };
    const signature = bytesToHex(sign(encodeHeader(header), this.#producer));
    this.blocks.push({ header, id: blockId(header), signature, transactions, ledger, vmHeight });
  }
}

function signer(tx: TronTransaction): string | null {
  try {
    return signerOf(tx.raw, tx.signatures[0] ?? hexToBytes(''));
  } catch {
    return null;
  }
}
