import { createHash } from 'node:crypto';
import { type Address, beginCell, type Cell, Dictionary, loadMessage, type Message, type Transaction } from '@ton/core';
import { base64Of, type Hash64, hashOf, normalHash, type Raw, rawOf } from './names.ts';
import { type AccountRow, activeRow, emptyRow, isRejection, type Rejection, type TonVm } from './vm.ts';

export interface TonOptions {
  /** Tells networks apart: their hashes and the addresses of their contracts. */
  readonly name?: string;
  /** Of the first block, in milliseconds since 1970. */
  readonly startTime?: number;
  /** Between two blocks, unless told. */
  readonly blockMs?: number;
  readonly firstSeqno?: number;
  readonly globalId?: number;
  /** False has accounts keep all coins while they rest. */
  readonly storageFees?: boolean;
  /**
   * `same` executes all that follows from a message in one block, `next` lets each message wait for
   * the next block.
   */
  readonly hops?: 'same' | 'next';
}

/** A block of the masterchain, with the transactions of all shards that it made final. */
export interface TonBlock {
  readonly seqno: number;
  readonly timeMs: number;
  readonly startLt: bigint;
  readonly endLt: bigint;
  readonly rootHash: Hash64;
  readonly fileHash: Hash64;
  readonly executed: readonly Executed[];
}

/** A transaction that a block holds. */
export interface Executed {
  readonly account: Raw;
  readonly seqno: number;
  readonly tx: Transaction;
  readonly hash: Hash64;
  readonly inMessage: Cell;
  readonly outMessages: readonly Cell[];
  readonly before: AccountRow;
  readonly after: AccountRow;
  /** The hash of the transaction with which its chain of messages began. */
  readonly traceId: Hash64;
  /** The hash of the external message that began it. */
  readonly externalHash: Hash64 | null;
}

/** An external message that waits for a block. */
export interface Waiting {
  readonly cell: Cell;
  readonly hash: Hash64;
  readonly normalHash: Hash64;
  readonly to: Address;
}

interface Queued {
  readonly cell: Cell;
  readonly to: Address;
  readonly trace: { readonly id: Hash64; readonly external: Hash64 | null } | null;
  readonly external: Hash64 | null;
}

interface OpenBlock {
  timeMs: number;
  readonly startLt: bigint;
  lt: bigint;
  readonly executed: Executed[];
}

/** Logical times of blocks are multiples of it. */
const ltStep = 1_000_000n;
/** Larger than 2^45, as on the main network. */
const firstLt = 60_000_000_000_000n;
const mostInBlock = 10_000;

/**
 * A masterchain whose clock a test keeps, over the real virtual machine. A block's time is the
 * virtual machine's `now`. What a block holds is final.
 */
export class TonBlocks {
  readonly name: string;
  readonly globalId: number;
  readonly blocks: TonBlock[] = [];
  readonly vm: TonVm;
  /** Hashes of external messages that no block takes. */
  readonly held = new Set<Hash64>();
  hops: 'same' | 'next';
  waiting: Waiting[] = [];
  readonly #blockMs: number;
  readonly #rows = new Map<Raw, { readonly seqno: number; readonly row: AccountRow }[]>();
  #queue: Queued[] = [];
  #open: OpenBlock | null = null;
  #nextTimeMs: number | null = null;
  #busy: Promise<unknown> = Promise.resolve();

  protected constructor(vm: TonVm, options: TonOptions) {
    const { name = 'ton', startTime = 1_800_000_000_000, blockMs = 400, firstSeqno = 1_000 } = options;
    this.vm = vm;
    this.name = name;
    this.globalId = options.globalId ?? -239;
    this.hops = options.hops ?? 'same';
    this.#blockMs = blockMs;
    this.#append({ seqno: firstSeqno, timeMs: startTime, startLt: firstLt, endLt: firstLt + 1n, executed: [] });
  }

  get head(): TonBlock {
    return this.blocks.at(-1) as TonBlock;
  }

  get first(): TonBlock {
    return this.blocks[0] as TonBlock;
  }

  /** The time of the newest block, as contracts see it. */
  get now(): number {
    return Math.floor(this.head.timeMs / 1_000);
  }

  at(seqno: number): TonBlock | null {
    return this.blocks[seqno - this.first.seqno] ?? null;
  }

  /** The next block has this time, in milliseconds since 1970. @throws Error for the past. */
  setTime(timeMs: number): void {
    if (timeMs < this.head.timeMs) throw new Error('time does not go back');
    this.#nextTimeMs = timeMs;
  }

  /** Makes blocks. The first one lies `afterMs` after the newest one. */
  async block(count = 1, afterMs?: number): Promise<void> {
    if (afterMs !== undefined) this.setTime(this.head.timeMs + afterMs);
    await this.#alone(async () => {
      for (let number = 0; number < count; number += 1) await this.#make();
    });
  }

  /** Makes blocks until no message waits any more. */
  async settle(): Promise<void> {
    do await this.block();
    while (this.#queue.length > 0 || this.waiting.some(({ hash }) => !this.held.has(hash)));
  }

  /** After a block, or after the newest one. */
  row(account: Raw, seqno = this.head.seqno): AccountRow {
    return this.#rows.get(account)?.findLast((one) => one.seqno <= seqno)?.row ?? emptyRow();
  }

  /** Puts a contract in its place by no transaction. */
  place(address: Address, code: Cell, data: Cell, coins: bigint): void {
    this.setRow(rawOf(address), activeRow(address, code, data, coins, this.now));
  }

  setRow(account: Raw, row: AccountRow): void {
    const rows = this.#rows.get(account) ?? [];
    rows.push({ seqno: this.head.seqno, row });
    this.#rows.set(account, rows);
  }

  /** What the virtual machine says of an external message now; null when it accepts. */
  async refusal(message: Message, cell: Cell): Promise<Rejection | null> {
    if (message.info.type !== 'external-in') return { error: 'not external', exitCode: null, vmLog: '' };
    const row = this.row(rawOf(message.info.dest));
    const result = await this.vm.execute(row, cell, { now: this.now, lt: this.head.endLt + 1n });
    return isRejection(result) ? result : null;
  }

  /** Lets an external message wait for a block, which takes it if the contract accepts it. */
  add(cell: Cell, place: 'last' | 'first' = 'last'): Waiting {
    const message = loadMessage(cell.beginParse());
    if (message.info.type !== 'external-in') throw new Error('no external message');
    const hash = hashOf(cell);
    const known = this.waiting.find((one) => one.hash === hash);
    if (known) return known;
    const one = { cell, hash, normalHash: normalHash(message), to: message.info.dest };
    this.waiting = place === 'first' ? [one, ...this.waiting] : [...this.waiting, one];
    return one;
  }

  /** Forgets an external message that waits, by either of its hashes. */
  drop(hash: Hash64): void {
    this.waiting = this.waiting.filter((one) => one.hash !== hash && one.normalHash !== hash);
  }

  /**
   * Executes an external message at once, and all that follows from it, for the next block. Nothing
   * of it is seen before that block. Returns nothing when the contract does not accept it.
   */
  execute(cell: Cell): Promise<readonly Executed[]> {
    return this.#alone(async () => {
      const message = loadMessage(cell.beginParse());
      if (message.info.type !== 'external-in') throw new Error('no external message');
      const { executed } = this.#opened();
      const before = executed.length;
      await this.#run([{ cell, to: message.info.dest, trace: null, external: hashOf(cell) }]);
      return executed.slice(before);
    });
  }

  /** The block that is being made. */
  #opened(): OpenBlock {
    const { head } = this;
    const startLt = (head.endLt / ltStep + 1n) * ltStep;
    this.#open ??= { timeMs: this.#nextTimeMs ?? head.timeMs + this.#blockMs, startLt, lt: startLt, executed: [] };
    return this.#open;
  }

  async #make(): Promise<void> {
    const open = this.#opened();
    if (this.#nextTimeMs !== null) open.timeMs = Math.max(open.timeMs, this.#nextTimeMs);
    const entering = this.waiting.filter(({ hash }) => !this.held.has(hash));
    this.waiting = this.waiting.filter(({ hash }) => this.held.has(hash));
    const queued = this.#queue;
    this.#queue = [];
    await this.#run([...queued, ...entering.map(({ cell, to, hash }) => ({ cell, to, trace: null, external: hash }))]);
    this.#nextTimeMs = null;
    this.#open = null;
    const { timeMs, startLt, lt, executed } = open;
    this.#append({ seqno: this.head.seqno + 1, timeMs, startLt, endLt: lt + 1n, executed });
  }

  async #run(todo: Queued[]): Promise<void> {
    const open = this.#opened();
    const seqno = this.head.seqno + 1;
    const now = Math.floor(open.timeMs / 1_000);
    for (let one = todo.shift(); one; one = todo.shift()) {
      if (open.executed.length > mostInBlock) throw new Error('the messages of a block do not end');
      const row = this.newest(rawOf(one.to));
      const result = await this.vm.execute(row, one.cell, { now, lt: open.lt + 1n });
      // A contract that no longer accepts an external message leaves no trace of it.
      if (isRejection(result)) continue;
      const { tx, after } = result;
      const done = this.#entry(one, { tx, seqno, before: row, after });
      open.executed.push(done);
      this.#store(done);
      open.lt = tx.lt + BigInt(tx.outMessagesCount) + 1n;
      (this.hops === 'same' ? todo : this.#queue).push(...following(done));
    }
  }

  /** One after another, also when a timer makes blocks. */
  #alone<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#busy.then(act);
    this.#busy = done.catch(() => {});
    return done;
  }

  #entry(one: Queued, parts: Pick<Executed, 'tx' | 'seqno' | 'before' | 'after'>): Executed {
    const { tx } = parts;
    const hash = hashOf(tx.raw);
    return {
      ...parts,
      hash,
      account: rawOf(one.to),
      inMessage: one.cell,
      outMessages: messagesOf(tx),
      traceId: one.trace?.id ?? hash,
      externalHash: one.trace?.external ?? one.external,
    };
  }

  /** With what the next block already holds. */
  newest(account: Raw): AccountRow {
    return this.#rows.get(account)?.at(-1)?.row ?? emptyRow();
  }

  #store({ account, seqno, after }: Executed): void {
    const rows = this.#rows.get(account) ?? [];
    rows.push({ seqno, row: after });
    this.#rows.set(account, rows);
  }

  #append(block: Omit<TonBlock, 'rootHash' | 'fileHash'>): void {
    const { seqno, timeMs, executed } = block;
    const parts = [this.name, seqno, timeMs, this.blocks.at(-1)?.rootHash ?? '', ...executed.map(({ hash }) => hash)];
    const rootHash = digest(parts.join(' '));
    this.blocks.push({ ...block, rootHash, fileHash: digest(`file ${rootHash}`) });
  }
}

/** The internal messages that a transaction sent, in the order of their logical times. */
function following({ tx, outMessages, traceId, externalHash }: Executed): Queued[] {
  const trace = { id: traceId, external: externalHash };
  return outMessages.flatMap((cell, index) => {
    const info = tx.outMessages.get(index)?.info;
    return info?.type === 'internal' ? [{ cell, to: info.dest, trace, external: null }] : [];
  });
}

/** The cells of the messages that a transaction sent, whose hashes are the messages'. */
function messagesOf({ raw }: Transaction): Cell[] {
  const parts = raw.beginParse().loadRef().beginParse();
  if (parts.loadBit()) parts.loadRef();
  const all = parts.loadDict(Dictionary.Keys.Uint(15), Dictionary.Values.Cell());
  return all.keys().map((key) => all.get(key) ?? beginCell().endCell());
}

function digest(text: string): Hash64 {
  return base64Of(createHash('sha256').update(text).digest());
}
