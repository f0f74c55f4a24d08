import type { ChainAdapter } from '../chains/chain-adapter.ts';
import type { ChainLease } from './chain-lease.ts';

/** What the holder of a chain does from time to time beside scanning and paying. */
export interface ChainTask {
  /** Between two runs on the same chain. */
  readonly everySec: number;
  /** @throws LeaseLost when another process has the chain now; ChainError when the node does not answer. */
  run(adapter: ChainAdapter, lease: ChainLease): Promise<void>;
}
