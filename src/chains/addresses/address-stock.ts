import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemMs } from '../../base/clock.ts';
import { utxoNets } from '../networks/utxo-nets.ts';
import { type DerivedAddress, deriveDepositKey } from './deposit-address.ts';

/** An account with public derivation, and one of the networks that its addresses are for. */
export interface Account {
  readonly keychain: string;
  readonly networkId: string;
  readonly xpub: string;
}

/** Consecutive indexes that belong to the caller: from `from` to below `to`. */
export interface IndexBlock {
  readonly from: number;
  readonly to: number;
}

/** What the thread is asked to derive. */
export interface Derivation extends IndexBlock {
  readonly account: Account;
}

export interface IndexedAddress extends DerivedAddress {
  readonly index: number;
}

/** The answer of the thread. */
export interface DerivedAddresses {
  readonly account: Account;
  readonly addresses: IndexedAddress[];
}

export interface AddressStockOptions {
  /** Reserves indexes that no other caller and no other process gets. */
  readonly reserve: () => Promise<IndexBlock>;
  /** Told that the thread has ended by itself. Until it runs again, the stock gives no address. */
  readonly onEnd?: (reason: string) => void;
  /** The program of the thread, unless it is `derivation-thread`. */
  readonly program?: URL;
  /** How long the thread stays ended after its end, in milliseconds: ten seconds unless given. */
  readonly restartMs?: number;
  /** The most addresses of an account that are kept for a burst: 32,768 unless given. */
  readonly most?: number;
}

/** Fewer addresses of an account than this let the thread derive the next block at once. */
const least = 50;
/** Milliseconds between two blocks that are derived for later bursts: about a tenth of a core. */
const spareMs = 20;
/** A process whose event loop is busy for a larger part of the time derives for no later burst. */
const spareUtilization = 0.3;
const minuteMs = 60_000;

/** The addresses of one account that are ready, and how many of them orders take. */
interface Shelf {
  readonly account: Account;
  readonly ready: IndexedAddress[];
  /** Whether its next block is being derived. */
  isAsked: boolean;
  /** Addresses that were asked for in this minute, and in the minute before. */
  minute: number;
  asked: number;
  askedBefore: number;
}

// The file has this file's extension, compiled or not; Node strips the types itself.
const ownProgram = new URL(`./derivation-thread${extname(import.meta.filename)}`, import.meta.url);

/**
 * Deposit addresses that a thread derives before orders need them. The thread starts with the first
 * request, and each account gets its first addresses after its first order. Addresses that are
 * never taken leave gaps in their account, which cost nothing.
 *
 * An account that runs short gets its next block at once. In spare time the thread also prepares
 * for the next burst: as many addresses as orders asked for in this minute or the last one.
 */
export class AddressStock {
  readonly #options: Required<AddressStockOptions>;
  readonly #shelves = new Map<string, Shelf>();
  #thread: Worker | null = null;
  #startAtMs = 0;
  #isClosed = false;
  /** Runs while an account has fewer addresses than the next burst may take. */
  #spareTimer: NodeJS.Timeout | null = null;
  #usedUntil = performance.eventLoopUtilization();

  constructor(options: AddressStockOptions) {
    this.#options = { onEnd: () => {}, program: ownProgram, restartMs: 10_000, most: 32_768, ...options };
  }

  /** Takes an address of the account. Null while none is ready: the caller derives one itself. */
  take(account: Account): IndexedAddress | null {
    const shelf = this.#shelfOf(account);
    countAsked(shelf);
    const taken = shelf.ready.pop() ?? null;
    if (shelf.ready.length < least) void this.#refill(shelf);
    else if (this.#missing(shelf) > 0) this.#prepare();
    return taken;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endPreparing();
    await this.#thread?.terminate();
  }

  #shelfOf(account: Account): Shelf {
    const { keychain } = account;
    let shelf = this.#shelves.get(keychain);
    if (!shelf) {
      shelf = { account, ready: [], isAsked: false, minute: 0, asked: 0, askedBefore: 0 };
      this.#shelves.set(keychain, shelf);
    }
    return shelf;
  }

  async #refill(shelf: Shelf): Promise<void> {
    if (shelf.isAsked || this.#isClosed || systemMs() < this.#startAtMs) return;
    shelf.isAsked = true;
    try {
      const block = await this.#options.reserve();
      this.#running()?.postMessage({ account: shelf.account, ...block } satisfies Derivation);
    } catch {
      // The database is away: the creates that need an index tell of it. The next one asks again.
      shelf.isAsked = false;
      this.#endPreparing();
    }
  }

  /** How many addresses the account lacks for a burst like the last one. */
  #missing({ ready, asked, askedBefore }: Shelf): number {
    return Math.min(Math.max(asked, askedBefore), this.#options.most) - ready.length;
  }

  /** Derives a block from time to time, until no account is short. */
  #prepare(): void {
    if (this.#isClosed) return;
    this.#spareTimer ??= setInterval(() => {
      const used = performance.eventLoopUtilization(this.#usedUntil).utilization;
      this.#usedUntil = performance.eventLoopUtilization();
      if (used > spareUtilization) return;
      const short = [...this.#shelves.values()].filter((shelf) => this.#missing(shelf) > 0);
      const [shortest] = short.sort((a, b) => this.#missing(b) - this.#missing(a));
      if (shortest) void this.#refill(shortest);
      else this.#endPreparing();
    }, spareMs).unref();
  }

  #endPreparing(): void {
    if (this.#spareTimer) clearInterval(this.#spareTimer);
    this.#spareTimer = null;
  }

  #running(): Worker | null {
    if (this.#thread || this.#isClosed) return this.#thread;
    const thread = new Worker(this.#options.program, { env: {}, name: 'derivation', workerData: utxoNets() });
    this.#thread = thread;
    thread.on('message', (derived: DerivedAddresses) => this.#put(thread, derived));
    thread.on('error', (error) => this.#ended(thread, String(error)));
    thread.on('exit', (code) => this.#ended(thread, `exit ${code}`));
    // A process that has nothing else to do may end.
    thread.unref();
    return thread;
  }

  /** The first address of a block is derived again here: only the same code may give addresses. */
  async #put(thread: Worker, { account, addresses }: DerivedAddresses): Promise<void> {
    const [first] = addresses;
    if (first && !(await isOwn(account, first))) {
      this.#ended(thread, `derived another address than this process at index ${first.index}`);
    }
    if (this.#thread !== thread) return;
    const shelf = this.#shelfOf(account);
    shelf.isAsked = false;
    shelf.ready.push(...addresses);
    if (this.#missing(shelf) > 0) this.#prepare();
  }

  /** Only the first reason counts: an error, for example, is followed by the exit. */
  #ended(thread: Worker, reason: string): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    void thread.terminate();
    for (const shelf of this.#shelves.values()) shelf.isAsked = false;
    this.#startAtMs = systemMs() + this.#options.restartMs;
    if (!this.#isClosed) this.#options.onEnd(reason);
  }
}

function countAsked(shelf: Shelf): void {
  const minute = Math.floor(systemMs() / minuteMs);
  if (shelf.minute !== minute) {
    shelf.askedBefore = shelf.minute === minute - 1 ? shelf.asked : 0;
    shelf.minute = minute;
    shelf.asked = 0;
  }
  shelf.asked++;
}

async function isOwn({ networkId, xpub }: Account, { index, address }: IndexedAddress): Promise<boolean> {
  try {
    return (await deriveDepositKey(networkId, xpub, index)).address === address;
  } catch {
    return false;
  }
}
