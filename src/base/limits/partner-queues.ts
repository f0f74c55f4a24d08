import { AppError } from '../errors.ts';

/** How much of a partner a process takes on at the same time. */
export interface QueueBounds {
  /** Requests that work, each with one connection at most. */
  readonly working: number;
  /** Requests that wait for those. */
  readonly waiting: number;
  /** How long each waits at most, in milliseconds. */
  readonly waitMs: number;
}

/** Downloads of a partner that may be open in a process at the same time. */
const mostDownloads = 4;
const retrySec = 2;

/** What a partner keeps busy now. */
interface Queue {
  working: number;
  downloads: number;
  readonly waiting: (() => void)[];
}

/**
 * Lets a few requests of each partner work at a time, and makes its others wait. So a partner whose
 * requests are many or slow, or wait for each other, leaves connections for all others.
 *
 * Work must not wait for other work of the same queues: when all of a partner's places do, none
 * comes free.
 */
export class PartnerQueues {
  readonly #bounds: QueueBounds;
  readonly #queues = new Map<string, Queue>();

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /**
   * Does work when the partner's turn has come, and returns its result.
   *
   * @throws AppError rate_limited when too much of the partner waits already, or when the turn did
   *   not come within the time for it. The work was not begun then.
   */
  async work<Result>(partnerId: string, work: () => Promise<Result>): Promise<Result> {
    const queue = this.#queueOf(partnerId);
    if (queue.working < this.#bounds.working) queue.working++;
    else await this.#turn(queue);
    try {
      return await work();
    } finally {
      // The next one takes over the place, so that none comes in between.
      const next = queue.waiting.shift();
      if (next) next();
      else queue.working--;
      this.#leave(partnerId, queue);
    }
  }

  /**
   * Counts a download until its parts have ended, or are not asked for any more. Reading the next
   * part is work. A client that reads slowly keeps a part in memory, so few may be open.
   *
   * @throws AppError rate_limited when the partner has four of them open.
   */
  download(partnerId: string, parts: AsyncIterable<string>): AsyncIterable<string> {
    const queue = this.#queueOf(partnerId);
    if (queue.downloads >= mostDownloads) {
      throw refused(`${queue.downloads} downloads of this partner are open; let one of them end first`);
    }
    queue.downloads++;
    return this.#counted(partnerId, queue, parts[Symbol.asyncIterator]());
  }

  async *#counted(partnerId: string, queue: Queue, parts: AsyncIterator<string>): AsyncGenerator<string> {
    try {
      for (;;) {
        const { done, value } = await this.work(partnerId, () => parts.next());
        if (done) return;
        yield value;
      }
    } finally {
      queue.downloads--;
      this.#leave(partnerId, queue);
    }
  }

  #turn({ waiting }: Queue): Promise<void> {
    if (waiting.length >= this.#bounds.waiting) throw refused('too many requests of this partner are under way');
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(turn), 1);
        reject(refused('the turn of this request did not come in time; this partner has slow requests under way'));
      }, this.#bounds.waitMs).unref();
      waiting.push(turn);
    });
  }

  #queueOf(partnerId: string): Queue {
    const queue = this.#queues.get(partnerId) ?? { working: 0, downloads: 0, waiting: [] };
    this.#queues.set(partnerId, queue);
    return queue;
  }

  #leave(partnerId: string, { working, downloads }: Queue): void {
    if (working === 0 && downloads === 0) this.#queues.delete(partnerId);
  }
}

function refused(detail: string): AppError {
  return new AppError('rate_limited', detail, { retryAfterSec: retrySec });
}
