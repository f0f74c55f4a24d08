import type { Clock } from '../../src/clock.ts';

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  #ms: number;

  constructor(start = new Date('2026-01-01T00:00:00Z')) {
    this.#ms = start.getTime();
  }

  now(): Date {
    return new Date(this.#ms);
  }

  advance(ms: number): void {
    this.#ms += ms;
  }
}
