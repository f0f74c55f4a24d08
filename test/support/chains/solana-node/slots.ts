import { sha256 } from '@noble/hashes/sha2.js';
import { base58 } from '@scure/base';
import { forwarder, forwarderProgram } from './forwarder.ts';
import { keyOf, programs, type SolanaKey, type Text58 } from './keys.ts';
import { Pool } from './pool.ts';
import type { TxError } from './results.ts';
import { idOf, isSigned, type SolanaTransaction } from './transaction.ts';
import { type Outcome, Vm } from './vm.ts';

/** A transaction in a block. */
export interface Applied {
  readonly tx: SolanaTransaction;
  readonly outcome: Outcome;
}

/** A block. Not every slot has one, so that heights and slots differ. */
export interface SolanaBlock {
  readonly slot: number;
  readonly height: number;
  readonly hash: Text58;
  readonly timeMs: number;
  readonly parentSlot: number;
  readonly parentHash: Text58;
  readonly transactions: readonly Applied[];
}

export interface SolanaOptions {
  /** Names the network: its genesis and its keys depend on it. */
  readonly name?: string;
  /** Of the first block, in milliseconds since 1970. */
  readonly startTime?: number;
  readonly firstSlot?: number;
  readonly firstHeight?: number;
  readonly slotMs?: number;
  /** Lamports a byte, which has been 5,080 since November 2026. */
  readonly rentPerByte?: bigint;
}

/** Blocks after which a blockhash is too old, counted from the newest one. */
export const blockhashAge = 150;
const lamportsPerSignature = 5_000n;

/** The slots, blocks and accounts of a network. Amounts are in lamports. */
export class SolanaSlots {
  readonly genesis: Text58;
  /** Has the coins that tests give away. */
  readonly bank: SolanaKey;
  readonly vm = new Vm();
  readonly pool = new Pool();
  /** Blocks above the one of its blockhash when a server last took a transaction, by its id. */
  readonly agesWhenTaken = new Map<Text58, number>();
  readonly blocks: SolanaBlock[] = [];
  readonly lamportsPerSignature = lamportsPerSignature;
  /** How many of the newest blocks are not final yet. */
  unfinalized = 0;
  readonly #slotMs: number;
  readonly #bySlot = new Map<number, SolanaBlock>();
  readonly #heights = new Map<Text58, number>();
  readonly #mined = new Map<Text58, { readonly block: SolanaBlock; readonly applied: Applied }>();
  #nextSlot: number;
  #nextTime: number;

  constructor({
    name = 'tests',
    startTime = Date.UTC(2026, 10, 26),
    firstSlot = 460_000_000,
    firstHeight = 437_900_000,
    slotMs = 250,
    rentPerByte = 5_080n,
  }: SolanaOptions = {}) {
    this.genesis = base58.encode(sha256(new TextEncoder().encode(`genesis of ${name}`)));
    this.bank = keyOf(`bank of ${name}`);
    this.#slotMs = slotMs;
    this.#nextSlot = firstSlot;
    this.#nextTime = startTime;
    this.vm.rentPerByte = rentPerByte;
    this.vm.begin(firstSlot, startTime);
    this.vm.addProgram(forwarder, forwarderProgram());
    this.vm.setAccount(this.bank.address, { ...emptyAccount, lamports: 2n ** 62n });
    const parentHash = base58.encode(sha256(new TextEncoder().encode(`before ${name}`)));
    this.#close({ height: firstHeight, parentSlot: firstSlot - 1, parentHash });
  }

  /** The newest block, final or not. */
  get head(): SolanaBlock {
    const block = this.blocks.at(-1);
    if (!block) throw new Error('the network has no block');
    return block;
  }

  get nextSlot(): number {
    return this.#nextSlot;
  }

  /** The newest block that is final. */
  get finalized(): SolanaBlock {
    return this.blocks[Math.max(0, this.blocks.length - 1 - this.unfinalized)] ?? this.head;
  }

  at(slot: number): SolanaBlock | null {
    return this.#bySlot.get(slot) ?? null;
  }

  find(id: Text58): { readonly block: SolanaBlock; readonly applied: Applied } | null {
    return this.#mined.get(id) ?? null;
  }

  /** The height of the block with a hash, or null where no block has it. */
  heightOf(hash: Text58): number | null {
    return this.#heights.get(hash) ?? null;
  }

  /** Lets slots pass that have no block. */
  skip(slots = 1): void {
    this.#nextSlot += slots;
    this.#nextTime += slots * this.#slotMs;
  }

  /** A server gives a transaction to the leaders. */
  take(tx: SolanaTransaction): void {
    const height = this.heightOf(tx.blockhash);
    if (height !== null) this.agesWhenTaken.set(idOf(tx), this.head.height - height);
    this.pool.add(tx);
  }

  /** Sets the time of the next block. @throws Error before the newest one. */
  setTime(timeMs: number): void {
    if (timeMs < this.head.timeMs) throw new Error('time runs forward');
    this.#nextTime = timeMs;
  }

  /** Makes a block with what waits. */
  mine(): SolanaBlock {
    const { slot: parentSlot, hash: parentHash, height } = this.head;
    return this.#close({ height: height + 1, parentSlot, parentHash });
  }

  /**
   * Why a transaction can be in no block on top of another one, apart from what it executes. The
   * hash of block H is good in all blocks up to H + 151, one above `lastValidBlockHeight`.
   */
  refusal(tx: SolanaTransaction, parentHeight: number, checks = { signatures: true, blockhash: true }): TxError | null {
    if (checks.signatures && !isSigned(tx)) return 'SignatureFailure';
    const height = this.heightOf(tx.blockhash);
    const isFresh = height !== null && height <= parentHeight && parentHeight - height <= blockhashAge;
    if (checks.blockhash && !isFresh) return 'BlockhashNotFound';
    const mined = this.find(idOf(tx));
    return mined && mined.block.height <= parentHeight ? 'AlreadyProcessed' : null;
  }

  #close(place: Pick<SolanaBlock, 'height' | 'parentSlot' | 'parentHash'>): SolanaBlock {
    const [slot, timeMs] = [this.#nextSlot, this.#nextTime];
    this.skip();
    this.vm.begin(slot, timeMs);
    const transactions = this.#apply(place.height);
    const ids = transactions.map(({ tx }) => idOf(tx)).join();
    const hash = base58.encode(sha256(new TextEncoder().encode(`${this.genesis} ${place.parentHash} ${slot} ${ids}`)));
    const block = { ...place, slot, hash, timeMs, transactions };
    this.blocks.push(block);
    this.#bySlot.set(slot, block);
    this.#heights.set(hash, place.height);
    for (const applied of transactions) this.#mined.set(idOf(applied.tx), { block, applied });
    return block;
  }

  /** A leader tries again what cannot pay for itself, until its blockhash is too old. */
  #apply(height: number): Applied[] {
    const applied: Applied[] = [];
    const ids = new Set<Text58>();
    for (const tx of this.pool.next()) {
      const id = idOf(tx);
      if (ids.has(id) || this.refusal(tx, height - 1) !== null) {
        this.pool.drop(id);
        continue;
      }
      const outcome = this.vm.execute(tx);
      if (!outcome.isCharged) continue;
      this.pool.drop(id);
      ids.add(id);
      applied.push({ tx, outcome });
    }
    return applied;
  }
}

export const emptyAccount = { owner: programs.system, data: new Uint8Array(), executable: false };
