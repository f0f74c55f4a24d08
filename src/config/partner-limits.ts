import { fixedRateTimes } from './fixed-rates.ts';
import type { Config } from './settings.ts';

/** Default limits of a partner. Rates are per minute, values in US dollars. */
interface PartnerLimits {
  readonly requests: number;
  readonly orders: number;
  readonly lists: number;
  readonly quotes: number;
  readonly validations: number;
  readonly changes: number;
  readonly openOrders: number;
  readonly fixedExposureUsd: number;
  readonly fixedDayUsd: number;
  readonly floatExposureUsd: number;
  readonly markupBps: number;
  readonly quoteHoldSec: number;
}

/** The default limits of a partner, from the settings. */
export function partnerLimits(config: Config): PartnerLimits {
  return {
    requests: config.RATE_LIMIT_PARTNER_PER_MIN,
    orders: config.RATE_LIMIT_ORDERS_PER_MIN,
    lists: config.RATE_LIMIT_LISTS_PER_MIN,
    quotes: config.RATE_LIMIT_QUOTES_PER_MIN,
    validations: config.RATE_LIMIT_VALIDATIONS_PER_MIN,
    changes: config.RATE_LIMIT_CHANGES_PER_MIN,
    openOrders: config.MAX_OPEN_ORDERS,
    fixedExposureUsd: config.MAX_FIXED_EXPOSURE_USD,
    fixedDayUsd: config.MAX_FIXED_DAY_USD,
    floatExposureUsd: config.MAX_FLOAT_EXPOSURE_USD,
    markupBps: config.MAX_MARKUP_BPS,
    quoteHoldSec: fixedRateTimes(config).holdSec,
  };
}
