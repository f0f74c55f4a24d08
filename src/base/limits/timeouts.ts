/** How often the timer checks for calls that exceeded their timeout. */
const lookMs = 20;
/**
 * Timer checks that a call survives at least. A busy event loop delays the checks, and the replies
 * with them.
 */
const leastLooks = 3;

/**
 * Rejects calls that exceed their timeout. One shared timer is cheaper than one for each call. A
 * reply that arrived while the event loop was busy is in time. A call that the busy loop sent late
 * still gets time for its reply.
 */
export class Timeouts {
  readonly #limitMs: number;
  /** Waiting calls, oldest first. */
  readonly #waiting = new Set<{
    readonly sinceMs: number;
    readonly sinceLook: number;
    readonly giveUp: (error: Error) => void;
  }>();
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param limitMs Timeout of a call. It rejects within 20 milliseconds after it, unless the event
   *   loop is busy.
   */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Settles as the call does, or rejects at its timeout. */
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

  /** Runs after the event loop has read the replies that had arrived. */
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
