import { AppError } from '../errors.ts';

/** How much of a partner a process takes on at the same time. */
export interface LaneBounds {
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
interface Lane {
  working: number;
  downloads: number;
  readonly waiting: (() => void)[];
}

/**
 * Lets a few requests of each partner work at a time, and makes its others wait. So a partner whose
 * requests are many or slow, or wait for each other, leaves connections for all others.
 *
 * Work must not wait for other work of the same lanes: when all of a partner's places do, none
 * comes free.
 */
export class PartnerLanes {
  readonly #bounds: LaneBounds;
  readonly #lanes = new Map<string, Lane>();

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
  }

  /**
   * Does work when the partner's turn has come, and returns its result.
   *
   * @throws AppError rate_limited when too much of the partner waits already, or when the turn did
   *   not come within the time for it. The work was not begun then.
   */
  async work<Result>(partnerId: string, work: () => Promise<Result>): Promise<Result> {
    const lane = this.#laneOf(partnerId);
    if (lane.working < this.#bounds.working) lane.working++;
    else await this.#turn(lane);
    try {
      return await work();
    } finally {
      // The next one takes over the place, so that none comes in between.
      const next = lane.waiting.shift();
      if (next) next();
      else lane.working--;
      this.#leave(partnerId, lane);
    }
  }

  /**
   * Counts a download until its parts have ended, or are not asked for any more. Reading the next
   * part is work. A client that reads slowly keeps a part in memory, so few may be open.
   *
   * @throws AppError rate_limited when the partner has four of them open.
   */
  download(partnerId: string, parts: AsyncIterable<string>): AsyncIterable<string> {
    const lane = this.#laneOf(partnerId);
    if (lane.downloads >= mostDownloads) {
      throw refused(`${lane.downloads} downloads of this partner are open; let one of them end first`);
    }
    lane.downloads++;
    return this.#counted(partnerId, lane, parts[Symbol.asyncIterator]());
  }

  async *#counted(partnerId: string, lane: Lane, parts: AsyncIterator<string>): AsyncGenerator<string> {
    try {
      for (;;) {
        const { done, value } = await this.work(partnerId, () => parts.next());
        if (done) return;
        yield value;
      }
    } finally {
      lane.downloads--;
      this.#leave(partnerId, lane);
    }
  }

  #turn({ waiting }: Lane): Promise<void> {
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

  #laneOf(partnerId: string): Lane {
    const lane = this.#lanes.get(partnerId) ?? { working: 0, downloads: 0, waiting: [] };
    this.#lanes.set(partnerId, lane);
    return lane;
  }

  #leave(partnerId: string, { working, downloads }: Lane): void {
    if (working === 0 && downloads === 0) this.#lanes.delete(partnerId);
  }
}

function refused(detail: string): AppError {
  return new AppError('rate_limited', detail, { retryAfterSec: retrySec });
}
