import { AppError } from '../../../base/errors.ts';
import { errorMembers, type Log } from '../../../base/log.ts';

/** Most items that may wait for a slow subscriber. */
const mostWaiting = 1_000;

interface Subscriber<Item> {
  readonly waiting: Item[];
  wake: () => void;
  fault: Error | null;
}

/**
 * Polls a source while there is a subscriber, and hands its new items to every subscriber. The
 * source is PostgreSQL, so the process that made a change does not matter.
 */
export class Broadcast<Item> {
  readonly #open: () => Promise<() => Promise<Item[]>>;
  readonly #everyMs: number;
  readonly #log: Log;
  readonly #subscribers = new Set<Subscriber<Item>>();
  #isRunning = false;
  #isStopped = false;

  /**
   * @param open begins to watch at this moment, and returns the function that fetches the items
   * since its last call.
   */
  constructor(open: () => Promise<() => Promise<Item[]>>, everyMs: number, log: Log) {
    this.#open = open;
    this.#everyMs = everyMs;
    this.#log = log;
  }

  /** Yields the items from now on that `keep` accepts, until the reader returns. */
  subscribe(keep: (item: Item) => boolean): AsyncIterableIterator<Item> {
    const subscriber: Subscriber<Item> = { waiting: [], wake: () => {}, fault: null };
    this.#subscribers.add(subscriber);
    if (!this.#isRunning) void this.#run();
    const isOver = (): boolean => this.#isStopped || !this.#subscribers.has(subscriber);
    const iterator: AsyncIterableIterator<Item> = {
      [Symbol.asyncIterator]: () => iterator,
      next: async () => {
        while (!isOver()) {
          const item = subscriber.waiting.shift();
          if (item !== undefined) {
            if (keep(item)) return { done: false, value: item };
          } else {
            if (subscriber.fault) throw subscriber.fault;
            await new Promise<void>((resolve) => {
              subscriber.wake = resolve;
            });
          }
        }
        return { done: true, value: undefined };
      },
      // A generator would notice this only at its next item.
      return: async () => {
        this.#subscribers.delete(subscriber);
        subscriber.wake();
        return { done: true, value: undefined };
      },
    };
    return iterator;
  }

  /** Ends all subscriptions. */
  stop(): void {
    this.#isStopped = true;
    for (const { wake } of this.#subscribers) wake();
  }

  /** A separate loop and no `repeat`: it ends with the last subscriber. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    let news: (() => Promise<Item[]>) | null = null;
    while (this.#subscribers.size > 0 && !this.#isStopped) {
      try {
        news ??= await this.#open();
        for (const item of await news()) for (const subscriber of this.#subscribers) this.#tell(subscriber, item);
      } catch (error) {
        this.#log.warn({ event: 'live_failed', ...errorMembers(error) }, 'new items could not be sent to subscribers');
      }
      await new Promise((resolve) => setTimeout(resolve, this.#everyMs).unref());
    }
    this.#isRunning = false;
    // A subscriber may have come while the last wait ended.
    if (this.#subscribers.size > 0 && !this.#isStopped) void this.#run();
  }

  #tell(subscriber: Subscriber<Item>, item: Item): void {
    if (subscriber.waiting.length < mostWaiting) subscriber.waiting.push(item);
    else subscriber.fault ??= new AppError('unavailable', 'this subscription fell behind; subscribe again');
    subscriber.wake();
  }
}
