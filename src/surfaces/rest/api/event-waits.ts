import { AppError } from '../../../base/errors.ts';

/** How a reader waits: a long poll ends with its answer, a stream lasts. */
type WaitKind = 'poll' | 'stream';

/** Most readers of one partner that wait in one process. */
const mostOfPartner: Readonly<Record<WaitKind, number>> = { poll: 10, stream: 5 };
/** Most readers of all partners that wait in one process. */
const mostOfProcess = 2_000;
/** When a refused reader may try again. */
const retrySec = { busy: 5, partner: 1 };
/**
 * How long a reader may wait while the process drains. Its connection ends with the answer, so that
 * it comes back to another process. Without any wait it could ask many times a second until then.
 */
const drainWaitMs = 1_000;

/** A place among the waiting readers. */
export interface WaitPlace {
  /** Aborts when the process drains. */
  readonly drained: AbortSignal;
  /** The longest wait of now. */
  longestMs(waitMs: number): number;
  close(): void;
}

/** Counts the readers that wait in this process, and ends their waits when the process drains. */
export class EventWaits {
  readonly #counts = new Map<string, number>();
  readonly #most: number;
  #all = 0;
  #drain = new AbortController();
  #isDraining = false;

  /** @param most Most readers of the process. */
  constructor(most: number = mostOfProcess) {
    this.#most = most;
  }

  get count(): number {
    return this.#all;
  }

  /**
   * Admits a reader. The caller closes the place.
   *
   * @throws AppError rate_limited when the partner has too many readers here, and unavailable when
   * the process has.
   */
  admit(partnerId: string, kind: WaitKind): WaitPlace {
    const key = `${kind} ${partnerId}`;
    const own = this.#counts.get(key) ?? 0;
    if (own >= mostOfPartner[kind]) {
      const what = kind === 'poll' ? 'requests that wait for events' : 'streams of events';
      const detail = `${own} ${what} of this partner account are open already; end one of them first`;
      throw new AppError('rate_limited', detail, { retryAfterSec: retrySec.partner });
    }
    if (this.#all >= this.#most) {
      const detail = 'too many requests wait for events now; retry in a few seconds, or leave out wait';
      throw new AppError('unavailable', detail, { retryAfterSec: retrySec.busy });
    }
    this.#counts.set(key, own + 1);
    this.#all++;
    let isOpen = true;
    return {
      drained: this.#drain.signal,
      longestMs: (waitMs) => (this.#isDraining ? Math.min(waitMs, drainWaitMs) : waitMs),
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#all--;
        const left = (this.#counts.get(key) ?? 1) - 1;
        if (left > 0) this.#counts.set(key, left);
        else this.#counts.delete(key);
      },
    };
  }

  /** Ends all waits. Later ones are short. */
  beginDrain(): void {
    this.#isDraining = true;
    this.#drain.abort();
    this.#drain = new AbortController();
  }
}
