import { type ConstantName, type Constants, constants } from '../../../src/config/constants.ts';
import { ConfigError, loadConfig } from '../../../src/config/load-config.ts';
import type { Config, SettingName } from '../../../src/config/settings.ts';

/** Settings of a gateway of a test, and constants with other values, all as texts. */
export type TestSettings = Readonly<Partial<Record<SettingName | ConstantName, string>>>;

/** The config of a gateway of a test. Its constants may have other values than in a real one. */
export function testConfig(texts: Readonly<Record<string, string | undefined>>): Config {
  const { environment, others } = withConstantsApart(texts);
  return loadConfig(environment, others);
}

/**
 * Texts of settings as an environment, and texts of constants as values. An empty one counts as
 * absent.
 */
export function withConstantsApart(texts: Readonly<Record<string, string | undefined>>): {
  readonly environment: Record<string, string | undefined>;
  readonly others: Partial<Constants>;
} {
  const all = Object.entries(texts);
  const others = all
    .filter(([name, text]) => name in constants && text !== undefined && text !== '')
    .map(([name, text]) => [name, constantFrom(name as ConstantName, text as string)]);
  return {
    environment: Object.fromEntries(all.filter(([name]) => !(name in constants))),
    others: Object.fromEntries(others) as Partial<Constants>,
  };
}

/** A text in the type that the constant has. */
function constantFrom(name: ConstantName, text: string): Constants[ConstantName] {
  const { value } = constants[name];
  if (typeof value === 'number') return Number(text);
  if (typeof value === 'boolean') return text === 'true';
  return typeof value === 'string' ? text : text.split(',').map(Number);
}

/** Settings of any gateway of a test: ports that are free, and nothing that makes it slow. */
export const testSettings = {
  PORT: '0',
  INTERNAL_PORT: '0',
  REQUIRE_DURABLE_COMMITS: 'false',
  DRAIN_GRACE_MS: '0',
  DRAIN_GRACE_LOCAL_MS: '0',
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
