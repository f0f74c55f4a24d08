import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemMs } from '../../clock.ts';
import { utxoNets } from '../utxo/utxo-nets.ts';
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
}

/** Fewer addresses of an account than this let the thread derive the next block. */
const least = 50;
// The file has this file's extension, compiled or not; Node strips the types itself.
const ownProgram = new URL(`./derivation-thread${extname(import.meta.filename)}`, import.meta.url);

/**
 * Deposit addresses that a thread derives before orders need them. The thread starts with the first
 * request, and each account gets its first addresses after its first order. Addresses that are
 * never taken leave gaps in their account, which cost nothing.
 */
export class AddressStock {
  readonly #options: Required<AddressStockOptions>;
  readonly #ready = new Map<string, IndexedAddress[]>();
  /** Keychains whose next block is being derived. */
  readonly #asked = new Set<string>();
  #thread: Worker | null = null;
  #startAtMs = 0;
  #isClosed = false;

  constructor(options: AddressStockOptions) {
    this.#options = { onEnd: () => {}, program: ownProgram, restartMs: 10_000, ...options };
  }

  /** Takes an address of the account. Null while none is ready: the caller derives one itself. */
  take(account: Account): IndexedAddress | null {
    const ready = this.#ready.get(account.keychain);
    const taken = ready?.shift() ?? null;
    if ((ready?.length ?? 0) < least) void this.#refill(account);
    return taken;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  async #refill(account: Account): Promise<void> {
    const { keychain } = account;
    if (this.#asked.has(keychain) || this.#isClosed || systemMs() < this.#startAtMs) return;
    this.#asked.add(keychain);
    try {
      const block = await this.#options.reserve();
      this.#running()?.postMessage({ account, ...block } satisfies Derivation);
    } catch {
      // The database is away: the creates that need an index tell of it.
      this.#asked.delete(keychain);
    }
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
    this.#asked.delete(account.keychain);
    this.#ready.set(account.keychain, [...(this.#ready.get(account.keychain) ?? []), ...addresses]);
  }

  /** Only the first reason counts: an error, for example, is followed by the exit. */
  #ended(thread: Worker, reason: string): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    void thread.terminate();
    this.#asked.clear();
    this.#startAtMs = systemMs() + this.#options.restartMs;
    if (!this.#isClosed) this.#options.onEnd(reason);
  }
}

async function isOwn({ networkId, xpub }: Account, { index, address }: IndexedAddress): Promise<boolean> {
  try {
    return (await deriveDepositKey(networkId, xpub, index)).address === address;
  } catch {
    return false;
  }
}
