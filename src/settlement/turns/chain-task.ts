import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import type { ChainLease } from './chain-lease.ts';

/** A periodic task of a chain's lease holder, besides scanning and paying. */
export interface ChainTask {
  /** Seconds between two runs on the same chain. */
  readonly everySec: number;
  /**
   * Runs the task once.
   *
   * @throws LeaseLost when another process holds the chain now.
   * @throws ChainError when the node does not answer.
   */
  run(adapter: ChainAdapter, lease: ChainLease): Promise<void>;
}
