import { publicUrl } from './public-url.ts';
import type { Config } from './settings.ts';

/** What a partner without its own terms gets. */
export function gatewayTerms(config: Config): {
  readonly feeRateFixed: string;
  readonly quoteHoldSec: number;
  readonly maxMarkupBps: number;
  readonly publicUrl: string | null;
} {
  return {
    feeRateFixed: config.FEE_RATE_FIXED,
    quoteHoldSec: fixedRateTimes(config).holdSec,
    maxMarkupBps: config.MAX_MARKUP_BPS,
    publicUrl: publicUrl(config),
  };
}

/** How long fixed rates do not change, and how long a binding quote is valid, in seconds. */
export function fixedRateTimes({
  FIXED_RATE_WINDOW_SEC,
  FIXED_RATE_HOLD_SEC,
}: Pick<Config, 'FIXED_RATE_WINDOW_SEC' | 'FIXED_RATE_HOLD_SEC'>): {
  readonly windowSec: number;
  readonly holdSec: number;
} {
  return { windowSec: FIXED_RATE_WINDOW_SEC, holdSec: FIXED_RATE_HOLD_SEC };
}
