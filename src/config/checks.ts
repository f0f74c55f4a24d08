import { isLoopback } from './parsers.ts';
import { type Config, type SettingName, settings } from './settings.ts';

/**
 * Combinations of settings that would be unsafe, each with what to change. Empty when there is
 * none.
 */
export function unsafeCombinations(config: Config): string[] {
  return [
    ...tlsFaults(config),
    ...publicListenerFaults(config),
    ...loopbackFaults(config),
    ...processFaults(config),
    ...signInFaults(config),
    ...secretFileFaults(config),
    ...priceSourceFaults(config),
    ...venueFaults(config),
    ...fundingFaults(config),
  ];
}

/** The name of each setting that has no value, with an example. */
function examplesOfMissing(values: Partial<Config>, introduction: string): string[] {
  return (Object.entries(values) as [SettingName, unknown][])
    .filter(([, value]) => value === null)
    .map(([name]) => `${name} (${introduction} ${settings[name].good})`);
}

function tlsFaults({ TLS_CERT_FILE, TLS_KEY_FILE }: Config): string[] {
  const isHalf = (TLS_CERT_FILE === null) !== (TLS_KEY_FILE === null);
  return isHalf ? ['TLS_CERT_FILE and TLS_KEY_FILE belong together: set both or neither'] : [];
}

function publicListenerFaults(config: Config): string[] {
  if (isLoopback(config.HOST) || config.ROLE === 'worker') return [];
  const { DATABASE_URL, REDIS_URL, TLS_CERT_FILE, TLS_KEY_FILE, TRUSTED_PROXIES } = config;
  const missing = examplesOfMissing({ DATABASE_URL, REDIS_URL }, 'for example');
  if ((TLS_CERT_FILE === null || TLS_KEY_FILE === null) && TRUSTED_PROXIES.length === 0) {
    missing.push(`TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXIES (for example ${settings.TRUSTED_PROXIES.good})`);
  }
  if (missing.length === 0) return [];
  return [
    `HOST=${config.HOST} listens beyond this machine, which also needs ${missing.join('; ')}; or set HOST=127.0.0.1`,
  ];
}

/** Partners who may reach every service of a machine must be at that machine. */
function loopbackFaults({ WEBHOOK_ALLOW_LOOPBACK, HOST, ROLE, TRUSTED_PROXIES }: Config): string[] {
  const isAlone = isLoopback(HOST) && ROLE === 'all' && TRUSTED_PROXIES.length === 0;
  if (WEBHOOK_ALLOW_LOOPBACK === 'off' || isAlone) return [];
  return [
    'WEBHOOK_ALLOW_LOOPBACK=on lets partners reach every service of this machine, so that no other machine may reach the gateway: set HOST=127.0.0.1 and ROLE=all and unset TRUSTED_PROXIES; or unset WEBHOOK_ALLOW_LOOPBACK',
  ];
}

function processFaults(config: Config): string[] {
  const faults: string[] = [];
  if (config.ROLE !== 'all' && config.DATABASE_URL === null) {
    faults.push(
      `ROLE=${config.ROLE} is one of several processes and needs a shared database: set DATABASE_URL (for example ${settings.DATABASE_URL.good}), or ROLE=all`,
    );
  }
  // A worker is one process, also where it shares its settings with api processes.
  if (config.API_PROCESSES === 1 || config.ROLE === 'worker') return faults;
  const missing = [
    config.ROLE !== 'api' && 'ROLE=api (with a ROLE=worker process)',
    config.REDIS_URL === null && `REDIS_URL (for example ${settings.REDIS_URL.good}), where they count the same limits`,
  ].filter((part) => part !== false);
  if (missing.length > 0) {
    faults.push(
      `API_PROCESSES=${config.API_PROCESSES} starts several processes, which needs ${missing.join('; ')}; or set API_PROCESSES=1`,
    );
  }
  return faults;
}

function signInFaults({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, INTERNAL_PUBLIC_URL }: Config): string[] {
  if (OIDC_ISSUER === null && OIDC_CLIENT_ID === null && OIDC_CLIENT_SECRET === null) return [];
  const missing = examplesOfMissing({ OIDC_ISSUER, OIDC_CLIENT_ID, INTERNAL_PUBLIC_URL }, 'for example');
  if (missing.length === 0) return [];
  return [`sign-in at an identity provider also needs ${missing.join('; ')}; or unset all that begin with OIDC_`];
}

function secretFileFaults(config: Config): string[] {
  return (['SIGNER_SECRET', 'SIGNER_PASSPHRASE'] as const)
    .filter((name) => config[name] !== null && config[`${name}_FILE`] !== null)
    .map((name) => `${name} and ${name}_FILE are both set: unset one of them`);
}

/**
 * Whether the sandbox makes up the prices. A source of another kind than exchanges has its setting
 * here.
 */
export function inventsPrices({ PRICE_SOURCES }: Pick<Config, 'PRICE_SOURCES'>): boolean {
  return PRICE_SOURCES.length === 0;
}

function priceSourceFaults({ PRICE_SOURCES, PRICE_MIN_SOURCES }: Config): string[] {
  if (PRICE_SOURCES.length === 0 || PRICE_SOURCES.length >= PRICE_MIN_SOURCES) return [];
  return [
    `PRICE_SOURCES names ${PRICE_SOURCES.length} exchange, and ${PRICE_MIN_SOURCES} must agree on a price: name more (for example ${settings.PRICE_SOURCES.good})`,
  ];
}

/** An imitated exchange has no address, no account of ours and no market prices. */
function sandboxVenueFaults(config: Config): string[] {
  const { VENUE, VENUE_KEY, VENUE_SECRET, VENUE_FUNDING_KEY, VENUE_FUNDING_SECRET, VENUE_CASH } = config;
  const faults: string[] = [];
  if (VENUE === 'inventory' || (VENUE !== null && VENUE.origin !== null)) {
    faults.push(
      'SANDBOX_VENUE=on imitates an exchange, so that VENUE is its name alone: kraken or binance; or unset VENUE, which means kraken',
    );
  }
  const keys = { VENUE_KEY, VENUE_SECRET, VENUE_FUNDING_KEY, VENUE_FUNDING_SECRET };
  const given = Object.entries(keys).filter(([, value]) => value !== null);
  if (given.length > 0) {
    faults.push(`SANDBOX_VENUE=on makes its own keys: unset ${given.map(([name]) => name).join(', ')}`);
  }
  if (VENUE !== null && VENUE !== 'inventory') faults.push(...cashFaults(VENUE.name, VENUE_CASH));
  return faults;
}

function cashFaults(name: string, cash: string): string[] {
  return name === 'binance' && cash === 'USD' ? ['VENUE_CASH=USD is no coin of binance: set VENUE_CASH=USDT'] : [];
}

function venueFaults(config: Config): string[] {
  return config.SANDBOX_VENUE === 'on' ? sandboxVenueFaults(config) : realVenueFaults(config);
}

function realVenueFaults(config: Config): string[] {
  const { ROLE, VENUE, VENUE_KEY, VENUE_SECRET, VENUE_CASH } = config;
  if (VENUE === null || VENUE === 'inventory') {
    return VENUE_KEY !== null || VENUE_SECRET !== null
      ? [`VENUE_KEY and VENUE_SECRET need VENUE (for example ${settings.VENUE.good}); or unset both`]
      : [];
  }
  const faults: string[] = [];
  if (inventsPrices(config)) {
    faults.push(
      `VENUE=${VENUE.name} spends money at prices that the sandbox makes up: set PRICE_SOURCES (for example ${settings.PRICE_SOURCES.good}), or unset VENUE`,
    );
  }
  // An api process does not trade.
  if (ROLE === 'api') return faults;
  const missing = examplesOfMissing({ VENUE_KEY, VENUE_SECRET }, 'a good value:');
  if (missing.length > 0) faults.push(`VENUE=${VENUE.name} also needs ${missing.join('; ')}; or unset VENUE`);
  return [...faults, ...cashFaults(VENUE.name, VENUE_CASH)];
}

function fundingFaults(config: Config): string[] {
  const { VENUE, SANDBOX_VENUE, VENUE_KEY, VENUE_FUNDING_KEY, VENUE_FUNDING_SECRET } = config;
  if (SANDBOX_VENUE === 'on' || (VENUE_FUNDING_KEY === null && VENUE_FUNDING_SECRET === null)) return [];
  if (VENUE === null || VENUE === 'inventory') {
    return [
      `VENUE_FUNDING_KEY and VENUE_FUNDING_SECRET need an exchange as VENUE (for example ${settings.VENUE.good}); or unset both`,
    ];
  }
  if (VENUE_FUNDING_KEY === null || VENUE_FUNDING_SECRET === null) {
    return ['VENUE_FUNDING_KEY and VENUE_FUNDING_SECRET belong together: set both or neither'];
  }
  if (VENUE_FUNDING_KEY !== VENUE_KEY) return [];
  return [
    `VENUE_FUNDING_KEY is VENUE_KEY: one key trades and another one reads, because requests of one key overtake each other, and because what reads needs no right to trade; make a second key at ${VENUE.name}`,
  ];
}
