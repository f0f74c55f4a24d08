import { AppError } from '../base/errors.ts';
import type { TestResult } from './endpoint-service.ts';

/** How long a test waits for its result, and how often it reads. An attempt takes 15 s at most. */
const longestMs = 17_000;
const lookMs = 150;

/** Someone who waits, and may go away meanwhile. */
interface Waiter {
  readonly destroyed: boolean;
}

interface Wait {
  readonly waiters: Waiter[];
  readonly result: Promise<TestResult>;
}

/** Waits for the results of tests. All who wait for a test share one wait. */
export class TestWaits {
  readonly #waits = new Map<string, Wait>();

  /**
   * Waits until the test has a result, for 17 seconds at most, and no longer than someone waits.
   *
   * @param look reads the result so far. One read serves all who wait.
   */
  result(deliveryId: string, look: () => Promise<TestResult>, waiter: Waiter): Promise<TestResult> {
    const shared = this.#waits.get(deliveryId);
    if (shared) {
      shared.waiters.push(waiter);
      return shared.result;
    }
    const waiters = [waiter];
    const result = this.#wait(deliveryId, look, waiters);
    this.#waits.set(deliveryId, { waiters, result });
    return result;
  }

  async #wait(deliveryId: string, look: () => Promise<TestResult>, waiters: readonly Waiter[]): Promise<TestResult> {
    const endsMs = performance.now() + longestMs;
    try {
      for (;;) {
        const result = await look().catch(pendingWithoutTurn);
        const isOver = performance.now() >= endsMs || waiters.every(({ destroyed }) => destroyed);
        if (result.state !== 'pending' || isOver) return result;
        await new Promise((resolve) => setTimeout(resolve, lookMs));
      }
    } finally {
      this.#waits.delete(deliveryId);
    }
  }
}

/** The test is ordered already, so that no one may be told that it was not done. */
function pendingWithoutTurn(error: unknown): TestResult {
  if (error instanceof AppError && error.kind === 'rate_limited') {
    return { state: 'pending', status: null, ms: null, error: null };
  }
  throw error;
}
