import type { DestinationStream } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { ChainAdapter } from '../chains/port/chain-adapter.ts';
import type { Signer } from '../chains/port/signer.ts';
import type { PriceSource } from '../market/rates/price-source.ts';
import type { LiquidityVenue } from '../settlement/rows/liquidity-venue.ts';
import type { OnTreasuryCrashPoint } from '../settlement/treasury/crash-points.ts';
import type { OnCrashPoint } from '../settlement/turns/crash-point.ts';
import type { StreamTimes } from '../surfaces/rest/api/event-stream.ts';
import type { OnWebhookCrashPoint } from '../webhooks/crash-points.ts';
import type { EgressOptions } from '../webhooks/egress.ts';

/** Parts of the outside world that tests may replace. Tests never replace our own classes. */
export interface OutsideWorld {
  readonly clock?: Clock;
  readonly priceSource?: PriceSource;
  readonly logStream?: DestinationStream;
  /** Separates the counters of several gateways on one Redis. */
  readonly limiterPrefix?: string;
  /** How long Redis may take to count a request, in milliseconds. */
  readonly limiterReplyMs?: number;
  readonly onProgress?: (line: string) => void;
  /** Called with the text of each SQL statement. */
  readonly onStatement?: (sql: string) => void;
  /** `chain`, `venue` and `signer` each wrap a port of settlement. */
  readonly chain?: (adapter: ChainAdapter) => ChainAdapter;
  readonly venue?: (venue: LiquidityVenue) => LiquidityVenue;
  readonly signer?: (signer: Signer) => Signer;
  readonly onCrashPoint?: OnCrashPoint;
  /** How long a client may leave its answers unread, in milliseconds. */
  readonly unreadMs?: number;
  /** How old the cached row of a partner key may be, in milliseconds. */
  readonly keyRowMs?: number;
  /** Shorter times of streams of events. */
  readonly streamTimes?: Partial<StreamTimes>;
  /** The names, the certificates and the patience of the world that webhooks go to. */
  readonly receivers?: Partial<Pick<EgressOptions, 'resolve' | 'ca' | 'connectMs' | 'totalMs'>>;
  readonly onWebhookCrashPoint?: OnWebhookCrashPoint;
  readonly onTreasuryCrashPoint?: OnTreasuryCrashPoint;
  /** Whether each answer of REST is checked by its contract, as in tests and `npm run dev`. */
  readonly checksAnswers?: boolean;
  /** Most readers that wait for events in the process. */
  readonly mostWaits?: number;
  /**
   * False starts no background work. Then the caller runs settlement (`settlement.worker.tick`),
   * sandbox blocks (by command) and the sums of the statistics (`OrderStats.rollUp`), and webhooks
   * (`webhooks.dispatcher`, `webhooks.sender`).
   */
  readonly background?: boolean;
}
