import type { DestinationStream } from 'pino';
import type { ChainAdapter } from './chains/chain-adapter.ts';
import type { Signer } from './chains/signer.ts';
import type { Clock } from './clock.ts';
import type { PriceSource } from './rates/price-source.ts';
import type { OnBoundary } from './settlement/boundary.ts';
import type { LiquidityVenue } from './settlement/liquidity-venue.ts';

/** The outside world, which tests may replace. Our own classes are never replaced. */
export interface Surroundings {
  readonly clock?: Clock;
  readonly priceSource?: PriceSource;
  readonly logStream?: DestinationStream;
  /** Keeps the counters of several gateways on one Redis apart. */
  readonly limiterPrefix?: string;
  readonly onProgress?: (line: string) => void;
  /** Told of each SQL statement. */
  readonly onStatement?: (sql: string) => void;
  /** Stand between settlement and its ports. */
  readonly chain?: (adapter: ChainAdapter) => ChainAdapter;
  readonly venue?: (venue: LiquidityVenue) => LiquidityVenue;
  readonly signer?: (signer: Signer) => Signer;
  readonly onBoundary?: OnBoundary;
  /**
   * False leaves settlement to whoever calls `settlement.worker.tick`, the sandbox's blocks to commands, and the sums of
   * the statistics to `OrderStats.rollUp`.
   */
  readonly background?: boolean;
}
