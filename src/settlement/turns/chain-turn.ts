import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import type { ChainLease } from './chain-lease.ts';

/** One turn of this process on the payments of a chain. */
export interface ChainTurn {
  readonly adapter: ChainAdapter;
  /** Its fencing token guards every write of the turn. */
  readonly lease: ChainLease;
  /**
   * False once the turn's time is over, or the process stops. A step that has begun still finishes.
   */
  readonly hasTime: () => boolean;
}
