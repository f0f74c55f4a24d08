import { errorMembers, type Log } from '../../base/log.ts';
import type { OrderFeed } from './order-feed.ts';

/** How often a process asks the database for new events, while one of its readers waits. */
const pollMs = 250;
/** Most events that one poll reads. A poll that reads this many is followed by another at once. */
const batch = 1_000;

/** A reader that waits for events of a partner. */
export interface Watch {
  /**
   * Waits until events came since the last call, or since the watch began. Resolves also when the
   * time is over, or at once when the signal has aborted.
   */
  next(waitMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

interface Waiter {
  hasNews: boolean;
  wake: () => void;
}

/**
 * Tells waiting readers that events of their partner came. One poll of the feed serves all readers
 * of the process, and there is none while no reader waits. It only wakes: a reader then reads from
 * its own cursor, so that a wake too many costs a statement and a wake too few cannot be.
 */
export class FeedWatch {
  readonly #feed: OrderFeed;
  readonly #log: Log;
  readonly #waiters = new Map<string, Set<Waiter>>();
  /** The place of the poll, once it is known. Null while no poll runs. */
  #place: Promise<string> | null = null;
  #isStopped = false;

  constructor(feed: OrderFeed, log: Log) {
    this.#feed = feed;
    this.#log = log;
  }

  /**
   * Begins to watch. Every event that is readable after this call has returned, and was not before,
   * wakes the reader. So the reader reads once more after this call, and then waits.
   *
   * @throws the driver's error when the place in the feed cannot be read.
   */
  async open(partnerId: string): Promise<Watch> {
    const waiter: Waiter = { hasNews: false, wake: () => {} };
    const waiters = this.#waiters.get(partnerId) ?? new Set();
    this.#waiters.set(partnerId, waiters.add(waiter));
    const close = (): void => {
      waiters.delete(waiter);
      if (waiters.size === 0 && this.#waiters.get(partnerId) === waiters) this.#waiters.delete(partnerId);
    };
    try {
      await this.#begun();
    } catch (error) {
      close();
      throw error;
    }
    return { next: (waitMs, signal) => nextNews(waiter, waitMs, signal), close };
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Begins to poll unless a poll runs. Resolves when the place of the poll is known. */
  #begun(): Promise<string> {
    if (!this.#place) {
      const place = this.#feed.now();
      this.#place = place;
      place.then(
        (cursor) => this.#poll(cursor),
        () => {
          if (this.#place === place) this.#place = null;
        },
      );
    }
    return this.#place;
  }

  /** A separate loop and no `repeat`: it ends with the last waiter. */
  async #poll(from: string): Promise<void> {
    let cursor = from;
    while (this.#waiters.size > 0 && !this.#isStopped) {
      let isFull = false;
      try {
        const events = await this.#feed.since(cursor, batch);
        cursor = events.at(-1)?.cursor ?? cursor;
        isFull = events.length === batch;
        for (const partnerId of new Set(events.map((event) => event.partnerId))) this.#wake(partnerId);
      } catch (error) {
        this.#log.warn({ event: 'feed_watch_failed', ...errorMembers(error) }, 'waiting readers heard of no events');
      }
      if (!isFull) await new Promise((resolve) => setTimeout(resolve, pollMs).unref());
    }
    // Nothing runs between the last look at the waiters and this line.
    this.#place = null;
  }

  #wake(partnerId: string): void {
    for (const waiter of this.#waiters.get(partnerId) ?? []) {
      waiter.hasNews = true;
      waiter.wake();
    }
  }
}

function nextNews(waiter: Waiter, waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      waiter.wake = () => {};
      waiter.hasNews = false;
      resolve();
    };
    const timer = setTimeout(end, waitMs);
    signal.addEventListener('abort', end, { once: true });
    waiter.wake = end;
    if (waiter.hasNews || signal.aborted) end();
  });
}
