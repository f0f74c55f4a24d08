import type { Clock } from '../../../src/base/clock.ts';

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

/**
 * Real time plus what a test adds to it, for code that also depends on a clock outside the test.
 */
export class RunningClock extends TestClock {
  #aheadMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.#aheadMs);
  }

  override advance(ms: number): void {
    this.#aheadMs += ms;
  }

  setRight(): void {
    this.#aheadMs = 0;
  }
}
