import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import type { ChainLease } from './chain-lease.ts';

/** A periodic task of a chain's lease holder, besides scanning and paying. */
export interface ChainTask {
  /** Seconds between two runs on the same chain. */
  readonly everySec: number;
  /**
   * Runs the task once. A long task stops once its time is over, because the chain's payments wait
   * for it. It then returns 'more' and goes on in the next round.
   *
   * @param hasTime Whether there is time to begin another part. Always true when turns are driven
   *   by hand.
   *
   * @throws LeaseLost when another process holds the chain now.
   * @throws ChainError when the node does not answer.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most tasks are done after one run.
  run(adapter: ChainAdapter, lease: ChainLease, hasTime: () => boolean): Promise<'more' | void>;
}
