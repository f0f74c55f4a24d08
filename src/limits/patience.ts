/** How often it is looked whether something has taken too long. */
const lookMs = 20;
/** Looks that a call gets at least: a busy event loop puts them off, and with them what the call waits for. */
const leastLooks = 3;

/**
 * Gives up what takes too long. One timer looks after all of it, as one for each call would cost more than some calls.
 * What arrived while the event loop was busy has still arrived in time, and what could only be sent afterwards has time to
 * be answered.
 */
export class Patience {
  readonly #limitMs: number;
  /** Oldest first. */
  readonly #waiting = new Set<{
    readonly sinceMs: number;
    readonly sinceLook: number;
    readonly giveUp: (error: Error) => void;
  }>();
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param limitMs after which a call is given up, within the next 20 milliseconds unless the event loop is busy. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Settles as the call does, or rejects when that takes too long. */
  within<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry = { sinceMs: performance.now(), sinceLook: this.#looks, giveUp: reject };
      this.#waiting.add(entry);
      this.#timer ??= setInterval(() => setImmediate(this.#look, performance.now()), lookMs).unref();
      call.then(
        (value) => {
          this.#waiting.delete(entry);
          resolve(value);
        },
        (error) => {
          this.#waiting.delete(entry);
          reject(error);
        },
      );
    });
  }

  /** After the event loop has taken in what had arrived. */
  readonly #look = (nowMs: number): void => {
    this.#looks++;
    for (const entry of this.#waiting) {
      if (nowMs - entry.sinceMs < this.#limitMs || this.#looks - entry.sinceLook < leastLooks) return;
      this.#waiting.delete(entry);
      entry.giveUp(new Error(`no answer within ${this.#limitMs} ms`));
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  };
}
