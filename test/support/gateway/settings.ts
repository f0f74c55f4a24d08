import { ConfigError, loadConfig } from '../../../src/config/load-config.ts';

/** Settings of any gateway of a test: ports that are free, and nothing that makes it slow. */
export const testSettings = {
  PORT: '0',
  INTERNAL_PORT: '0',
  REQUIRE_DURABLE_COMMITS: 'false',
  DRAIN_GRACE_MS: '0',
  // What links to order pages begin with, as the ports are free ones.
  PUBLIC_URL: 'https://pay.example',
} as const;

/** What is wrong with an environment, as a start would say it. */
export function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** Limits on payouts that no load reaches. */
export const widePayouts = {
  PAYOUT_LIMIT_USD_PER_HOUR: '1000000000',
  PAYOUT_LIMIT_USD_PER_DAY: '1000000000',
  PAYOUT_LIMIT_ASSET_USD_PER_HOUR: '1000000000',
  PAYOUT_LIMIT_ASSET_USD_PER_DAY: '1000000000',
} as const;

/** Limits that no load of one partner reaches. */
export const loadSettings = {
  RATE_LIMIT_PUBLIC_PER_MIN: '1000000',
  RATE_LIMIT_PARTNER_PER_MIN: '1000000',
  RATE_LIMIT_ORDERS_PER_MIN: '1000000',
  RATE_LIMIT_QUOTES_PER_MIN: '1000000',
  RATE_LIMIT_LISTS_PER_MIN: '1000000',
  RATE_LIMIT_VALIDATIONS_PER_MIN: '1000000',
  RATE_LIMIT_CHANGES_PER_MIN: '1000000',
  RATE_LIMIT_PAGES_PER_MIN: '1000000',
  RATE_LIMIT_STAFF_PER_MIN: '1000000',
  RATE_LIMIT_AUTH_FAILURES_PER_MIN: '1000000',
  MAX_OPEN_ORDERS: '1000000',
  MAX_FIXED_EXPOSURE_USD: '1000000000',
  MAX_FIXED_DAY_USD: '1000000000',
  MAX_FIXED_ALL_USD: '9000000000',
  MAX_FLOAT_EXPOSURE_USD: '1000000000',
  MAX_FLOAT_ALL_USD: '9000000000',
  ...widePayouts,
} as const;
