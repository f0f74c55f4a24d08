import type { Event, EventList } from './generated/contract.ts';
import { PartnerError } from './partner-error.ts';
import { pause } from './pause.ts';

/** The place from which a walk reads its next page. */
export interface EventPlace {
  readonly cursor: string | undefined;
  /** Where the feed begins again, when the gateway no longer knew the cursor. */
  readonly since: string | undefined;
}

export interface EventWalkParts {
  /** Reads the page at a place. Returns an error after which the walk goes on. */
  readonly read: (place: EventPlace) => Promise<EventList | PartnerError>;
  readonly cursor: string | undefined;
  /** The pause at a failure, and the shortest time from an empty page to the next. */
  readonly intervalMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The events of all orders, as they come: `for await (const event of events)`. It has no end: leave
 * the loop, or end it by the signal. A later loop goes on at `cursor`.
 */
export class EventWalk implements AsyncIterable<Event> {
  readonly #parts: EventWalkParts;
  #since: string | undefined;
  #cursor: string | undefined;

  constructor(parts: EventWalkParts) {
    this.#parts = parts;
    this.#cursor = parts.cursor;
  }

  /**
   * Where to go on after the current event. Store it once that event is handled. It changes at the
   * last event of a page, so a walk from it may repeat the page's earlier events, and misses none.
   * Undefined before the first page ends.
   */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const { read, intervalMs, signal } = this.#parts;
    for (;;) {
      const began = performance.now();
      const answer = await read({ cursor: this.#cursor, since: this.#since });
      if (answer instanceof PartnerError) {
        if (answer.code === 'cursor_expired') {
          this.#since = answer.body?.restart_from;
          this.#cursor = undefined;
        } else await pause(Math.max(answer.retryAfterMs ?? 0, intervalMs), signal);
        continue;
      }
      const { data, has_more: hasMore, next_cursor: next } = answer;
      const isNew = next !== this.#cursor;
      for (const event of data.slice(0, -1)) yield event;
      this.#cursor = next;
      yield* data.slice(-1);
      // A gateway that drains answers at once, without an event.
      if (!isNew || (data.length === 0 && !hasMore)) {
        await pause(Math.max(0, intervalMs - (performance.now() - began)), signal);
      }
    }
  }
}
