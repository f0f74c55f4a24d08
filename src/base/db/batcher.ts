import { AppError } from '../errors.ts';
import { isDatabaseAway, sqlState } from './database.ts';

/** What a statement answers for an item that must be run again in a separate statement. */
export const runAlone: unique symbol = Symbol('runAlone');

/** How large, how many and how late the batches of one kind may be. */
export interface BatchBounds {
  readonly items: number;
  /** Bytes of one batch by `sizeOf`, 0 for each item unless given. A larger item goes alone. */
  readonly bytes: number;
  /**
   * A batch that runs alone takes half of the available items, or this many if that is
   * more. Available are the items that wait, and as many as the last batch had: its clients
   * come back. So the process works on one half while PostgreSQL works on the other.
   */
  readonly undivided: number;
  /** Batches that run at the same time. */
  readonly flights: number;
  /**
   * When a batch runs concurrently with another: when this many items wait, or the oldest has
   * waited this long. Small batches cost more for each item. A batch that waits for a lock delays
   * others no longer than this.
   */
  readonly concurrent: { readonly items: number; readonly ms: number };
  /** Items that wait. A further item is refused. */
  readonly waiting: number;
  /** How long an item waits before it is refused, in milliseconds. It has not been run then. */
  readonly waitMs: number;
}

interface BatcherOptions<Item, Result> {
  readonly bounds: BatchBounds;
  /**
   * Runs one batch as one transaction. Returns a result for each item, in the order of the items.
   * `runAlone` says that nothing was done for an item of several, and that it is to be run alone.
   */
  readonly run: (items: readonly Item[]) => Promise<readonly (Result | typeof runAlone)[]>;
  readonly sizeOf?: (item: Item) => number;
  /** Items of one key never run at the same time. Null for an item without a key. */
  readonly keyOf?: (item: Item) => string | null;
  /**
   * Called when a batch is sent, with its number of items, and how long the first of them has
   * waited.
   */
  readonly onBatch?: (items: number, waitedMs: number) => void;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly key: string | null;
  readonly size: number;
  readonly sinceMs: number;
  /** It was in a batch that failed, and is run alone now. */
  isAlone: boolean;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** PostgreSQL waited too long for a lock, and undid the statement. */
const lockNotAvailable = '55P03';

/**
 * Runs the work of requests that wait at the same turn of the event loop as one statement. A lone
 * item waits for no timer.
 *
 * - Each item gets its own result or its own error.
 * - An error that PostgreSQL reported undid the whole batch. Its items are then run again, each
 *   alone, and only the guilty one gets the error.
 * - After a lost connection or a timeout it is unknown whether the batch was committed. It is not
 *   run again, and every item gets the error.
 * - An item that finds the queue full, or waits too long, is refused before it is run.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #queue: Waiting<Item, Result>[] = [];
  readonly #busyKeys = new Set<string>();
  #flights = 0;
  /** Items of the batch that has just ended, whose clients may come back at once. */
  #landed = 0;
  #isScheduled = false;
  /** When the queue is looked at again, if no batch ends before. */
  #watcher: { readonly atMs: number; readonly timer: NodeJS.Timeout } | undefined;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /**
   * Adds an item to the next batch.
   *
   * @throws AppError 503 when too many items wait, or this one has waited too long.
   * @throws the error of the statement.
   */
  add(item: Item): Promise<Result> {
    const { bounds, sizeOf, keyOf } = this.#options;
    if (this.#queue.length >= bounds.waiting) return Promise.reject(tooBusy());
    return new Promise((resolve, reject) => {
      this.#queue.push({
        item,
        key: keyOf?.(item) ?? null,
        size: sizeOf?.(item) ?? 0,
        sinceMs: performance.now(),
        isAlone: false,
        resolve,
        reject,
      });
      this.#schedule();
    });
  }

  /** Runs what waits after the event loop has read all requests that have arrived. */
  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0) return;
    if (!this.#mayFly()) {
      this.#watch();
      return;
    }
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendAll();
    });
  }

  #mayFly(): boolean {
    const { flights, concurrent } = this.#options.bounds;
    if (this.#flights === 0 || this.#flights >= flights) return this.#flights === 0;
    const [oldest] = this.#queue;
    if (!oldest) return false;
    return this.#queue.length >= concurrent.items || performance.now() >= oldest.sinceMs + concurrent.ms;
  }

  #sendAll(): void {
    this.#refuseOverdue();
    while (this.#mayFly()) {
      const batch = this.#take();
      if (batch.length === 0) break;
      void this.#send(batch);
    }
    this.#watch();
  }

  /** Takes the next batch from the queue, oldest first. Items whose key is busy stay. */
  #take(): Waiting<Item, Result>[] {
    const { bytes } = this.#options.bounds;
    const items = this.#mostItems();
    const batch: Waiting<Item, Result>[] = [];
    const kept: Waiting<Item, Result>[] = [];
    let size = 0;
    for (const waiting of this.#queue) {
      const isFull = batch.length >= items || batch[0]?.isAlone || (batch.length > 0 && size + waiting.size > bytes);
      const isBusy = waiting.key !== null && this.#busyKeys.has(waiting.key);
      if (isFull || isBusy || (waiting.isAlone && batch.length > 0)) {
        kept.push(waiting);
        continue;
      }
      batch.push(waiting);
      size += waiting.size;
      if (waiting.key !== null) this.#busyKeys.add(waiting.key);
    }
    this.#queue.splice(0, this.#queue.length, ...kept);
    return batch;
  }

  #mostItems(): number {
    const { items, undivided } = this.#options.bounds;
    const half = Math.ceil((this.#queue.length + this.#landed) / 2);
    return this.#flights > 0 ? items : Math.min(items, Math.max(undivided, half));
  }

  async #send(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const { run, onBatch } = this.#options;
    this.#flights++;
    onBatch?.(batch.length, performance.now() - (batch[0]?.sinceMs ?? 0));
    try {
      const results = await run(batch.map(({ item }) => item));
      this.#land(batch, (_waiting, index) => results[index] === runAlone);
      for (const [index, waiting] of batch.entries()) {
        const result = results[index] as Result | typeof runAlone;
        if (result !== runAlone) waiting.resolve(result);
      }
    } catch (error) {
      const mayRepeat = batch.length > 1 && wasUndone(error);
      this.#land(batch, () => mayRepeat);
      if (!mayRepeat) for (const waiting of batch) waiting.reject(error);
    }
  }

  /**
   * Ends a batch, and sends what waited for it. That comes before the answers of the batch, so that
   * PostgreSQL works while they are written.
   */
  #land(
    batch: readonly Waiting<Item, Result>[],
    isAgain: (waiting: Waiting<Item, Result>, index: number) => boolean,
  ): void {
    for (const { key } of batch) if (key !== null) this.#busyKeys.delete(key);
    this.#flights--;
    this.#repeat(batch.filter(isAgain));
    this.#landed = batch.length;
    this.#sendAll();
    this.#landed = 0;
  }

  /** Puts items back, each to be run alone, before all that wait. */
  #repeat(batch: readonly Waiting<Item, Result>[]): void {
    for (const waiting of batch) waiting.isAlone = true;
    this.#queue.unshift(...batch);
  }

  #refuseOverdue(): void {
    const beforeMs = performance.now() - this.#options.bounds.waitMs;
    const kept = this.#queue.filter((waiting) => {
      const isOverdue = waiting.sinceMs <= beforeMs;
      if (isOverdue) waiting.reject(tooBusy());
      return !isOverdue;
    });
    if (kept.length < this.#queue.length) this.#queue.splice(0, this.#queue.length, ...kept);
  }

  /** While no batch ends: sends what may run concurrently, and refuses what waits too long. */
  #watch(): void {
    const [oldest] = this.#queue;
    if (!oldest) return;
    const { flights, concurrent, waitMs } = this.#options.bounds;
    const now = performance.now();
    const concurrentMs = oldest.sinceMs + concurrent.ms;
    const atMs = this.#flights < flights && now < concurrentMs ? concurrentMs : oldest.sinceMs + waitMs;
    if (this.#watcher && this.#watcher.atMs <= atMs) return;
    clearTimeout(this.#watcher?.timer);
    const timer = setTimeout(
      () => {
        this.#watcher = undefined;
        this.#refuseOverdue();
        this.#schedule();
      },
      Math.ceil(atMs - now),
    );
    this.#watcher = { atMs, timer: timer.unref() };
  }
}

/** Whether PostgreSQL itself reported that it undid the statement, and another try has a chance. */
function wasUndone(error: unknown): boolean {
  const state = sqlState(error);
  return state !== null && (state === lockNotAvailable || !isDatabaseAway(error));
}

function tooBusy(): AppError {
  const detail = 'the service has more requests than it can serve at this moment; try again in a second';
  return new AppError('unavailable', detail, { retryAfterSec: 1 });
}
