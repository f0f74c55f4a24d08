import { resolve } from 'node:path';
import { type ExchangeAddress, exchangeNames } from './exchanges/exchange.ts';
import {
  type AssetUsd,
  assetUsd,
  BadSetting,
  bytes32,
  cidrList,
  coin,
  exchange,
  exchanges,
  flag,
  fraction,
  host,
  integer,
  isLoopback,
  issuer,
  oneOf,
  origin,
  type Pepper,
  peppers,
  rate,
  readableFile,
  shortIdPrefix,
  url,
} from './setting-parsers.ts';

export type { Pepper } from './setting-parsers.ts';

/** Thrown with every wrong setting at once, each with a good value. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`cannot start, ${problems.length === 1 ? 'one setting is' : 'these settings are'} wrong:`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

export type Role = 'all' | 'api' | 'worker';

interface Setting<T> {
  readonly parse: (text: string) => T;
  /** Used when the setting is absent or empty. */
  readonly fallback: T;
  /** How the default reads in .env.example; empty when there is none. */
  readonly shown: string;
  readonly good: string;
  /**
   * Never shown, and removed from the environment once it is read, so that no child process inherits it and no error report
   * or `process.env` shows it. The system keeps what the process was started with (/proc/<pid>/environ): a file is safer.
   */
  readonly secret?: true;
  readonly why: string;
}

function setting<T>(row: Setting<T>): Setting<T> {
  return row;
}

/** Every setting of the gateway. `.env.example` is generated from this table. */
export const settings = {
  ROLE: setting<Role>({
    parse: oneOf('all', 'api', 'worker'),
    fallback: 'all',
    shown: 'all',
    good: 'all',
    why: 'what this process does: answer requests (api), work in the background (worker), or both (all)',
  }),
  API_PROCESSES: setting({
    parse: integer(1, 64),
    fallback: 1,
    shown: '1',
    good: '2',
    why: 'how many processes share the ports of ROLE=api, at best one for each core; more than one needs REDIS_URL',
  }),
  HOST: setting({
    parse: host,
    fallback: '127.0.0.1',
    shown: '127.0.0.1',
    good: '127.0.0.1',
    why: 'address of the public listener; one beyond this machine needs DATABASE_URL, REDIS_URL and TLS or a trusted proxy',
  }),
  PORT: setting({
    parse: integer(0, 65535),
    fallback: 8080,
    shown: '8080',
    good: '8080',
    why: 'port of the public listener; 0 takes a free one',
  }),
  INTERNAL_HOST: setting({
    parse: host,
    fallback: '127.0.0.1',
    shown: '127.0.0.1',
    good: '127.0.0.1',
    why: 'address of the internal listener: health and what staff use; never expose it to the internet',
  }),
  INTERNAL_PORT: setting({
    parse: integer(0, 65535),
    fallback: 8081,
    shown: '8081',
    good: '8081',
    why: 'port of the internal listener; 0 takes a free one',
  }),
  INTERNAL_PUBLIC_URL: setting<string | null>({
    parse: origin,
    fallback: null,
    shown: '',
    good: 'https://gateway.internal.example',
    why: 'scheme and host under which browsers reach the internal listener; needed behind a proxy and for OIDC_ISSUER',
  }),
  OIDC_ISSUER: setting<string | null>({
    parse: issuer,
    fallback: null,
    shown: '',
    good: 'https://login.example.com/realms/staff',
    why: 'OpenID Connect identity provider where staff may sign in; register INTERNAL_PUBLIC_URL/sign-in/oidc/callback there',
  }),
  OIDC_CLIENT_ID: setting<string | null>({
    parse: (text: string) => text,
    fallback: null,
    shown: '',
    good: 'exchange-gateway',
    why: 'client id that the identity provider gave this gateway',
  }),
  OIDC_CLIENT_SECRET: setting<string | null>({
    parse: (text: string) => text,
    fallback: null,
    shown: '',
    good: '<the secret that the identity provider shows>',
    secret: true,
    why: 'client secret of OIDC_CLIENT_ID; absent for a public client',
  }),
  PLAYGROUND: setting({
    parse: flag,
    fallback: true,
    shown: 'true',
    good: 'true',
    why: 'serve the GraphQL playground to signed-in staff at /playground of the internal listener',
  }),
  DATA_DIR: setting({
    parse: (text: string) => resolve(text),
    fallback: resolve('.data'),
    shown: '.data',
    good: '.data',
    why: 'folder for what the embedded defaults keep: the PostgreSQL cluster, the key pepper, the signer seed',
  }),
  DATABASE_URL: setting<string | null>({
    parse: url('postgres:', 'postgresql:'),
    fallback: null,
    shown: '',
    good: 'postgres://gateway:secret@127.0.0.1:5432/gateway',
    secret: true,
    why: 'PostgreSQL 15 or newer; absent, an embedded one starts in DATA_DIR',
  }),
  DATABASE_POOL_SIZE: setting({
    parse: integer(2, 200),
    fallback: 10,
    shown: '10',
    good: '10',
    why: 'most PostgreSQL connections that a process opens for requests; each of API_PROCESSES opens its own',
  }),
  STAFF_POOL_SIZE: setting({
    parse: integer(2, 200),
    fallback: 5,
    shown: '5',
    good: '5',
    why: 'most PostgreSQL connections that a process opens for the staff API, whose questions never slow partners down; each of API_PROCESSES opens its own',
  }),
  WORKER_POOL_SIZE: setting({
    parse: integer(2, 200),
    fallback: 10,
    shown: '10',
    good: '10',
    why: 'most PostgreSQL connections that this process opens for settlement, which never wait for those of requests',
  }),
  REQUIRE_DURABLE_COMMITS: setting({
    parse: flag,
    fallback: true,
    shown: 'true',
    good: 'true',
    why: 'refuse to start when PostgreSQL may lose an acknowledged commit (fsync or synchronous_commit off)',
  }),
  REDIS_URL: setting<string | null>({
    parse: url('redis:', 'rediss:'),
    fallback: null,
    shown: '',
    good: 'redis://127.0.0.1:6379',
    secret: true,
    why: 'Redis 7 or newer for rate-limit counters; absent, they are counted in memory, which is right for one process only',
  }),
  NODE_COUNT: setting({
    parse: integer(1, 1000),
    fallback: 1,
    shown: '1',
    good: '1',
    why: 'how many gateways share the limits, each with API_PROCESSES; while Redis is away each process counts its share',
  }),
  TRUSTED_PROXIES: setting<readonly string[]>({
    parse: cidrList,
    fallback: [],
    shown: '',
    good: '10.0.0.0/8,127.0.0.1/32',
    why: 'networks whose X-Forwarded-For and X-Forwarded-Proto are believed, as a comma-separated CIDR list',
  }),
  TLS_CERT_FILE: setting<string | null>({
    parse: readableFile,
    fallback: null,
    shown: '',
    good: '/etc/gateway/tls.crt',
    why: 'PEM certificate chain; with TLS_KEY_FILE the public listener speaks HTTPS itself',
  }),
  TLS_KEY_FILE: setting<string | null>({
    parse: readableFile,
    fallback: null,
    shown: '',
    good: '/etc/gateway/tls.key',
    why: 'PEM private key of TLS_CERT_FILE',
  }),
  RATE_LIMIT_PUBLIC_PER_MIN: setting({
    parse: integer(1, 1_000_000),
    fallback: 60,
    shown: '60',
    good: '60',
    why: 'requests a minute without a key, per client address',
  }),
  RATE_LIMIT_PARTNER_PER_MIN: setting({
    parse: integer(1, 1_000_000),
    fallback: 600,
    shown: '600',
    good: '600',
    why: 'requests a minute with a key, per partner account, unless the partner has its own figure',
  }),
  RATE_LIMIT_ORDERS_PER_MIN: setting({
    parse: integer(1, 1_000_000),
    fallback: 120,
    shown: '120',
    good: '120',
    why: 'orders created a minute, per partner account, unless the partner has its own figure',
  }),
  RATE_LIMIT_AUTH_FAILURES_PER_MIN: setting({
    parse: integer(1, 1_000_000),
    fallback: 20,
    shown: '20',
    good: '20',
    why: 'failed keys a minute, per client address',
  }),
  RATE_LIMIT_STAFF_PER_MIN: setting({
    parse: integer(1, 1_000_000),
    fallback: 300,
    shown: '300',
    good: '300',
    why: 'operations of the staff API a minute, per member',
  }),
  RATE_LIMIT_ICONS_PER_MIN: setting({
    parse: integer(1, 1_000_000),
    fallback: 600,
    shown: '600',
    good: '600',
    why: 'icons and documentation pages a minute, per client address',
  }),
  RATE_LIMIT_SIGN_IN_PER_MIN: setting({
    parse: integer(1, 1_000_000),
    fallback: 20,
    shown: '20',
    good: '20',
    why: 'attempts of staff to sign in a minute, per client address',
  }),
  MAX_OPEN_ORDERS: setting({
    parse: integer(1, 1_000_000_000),
    fallback: 500,
    shown: '500',
    good: '500',
    why: 'orders of a partner that may wait for their deposit at one time, unless the partner has its own figure',
  }),
  MAX_FIXED_EXPOSURE_USD: setting({
    parse: integer(1, 1_000_000_000),
    fallback: 250_000,
    shown: '250000',
    good: '250000',
    why: 'what the fixed orders of a partner created within an hour may be worth together, in US dollars, whatever became of them, unless the partner has its own figure',
  }),
  MAX_FIXED_DAY_USD: setting({
    parse: integer(1, 1_000_000_000),
    fallback: 300_000,
    shown: '300000',
    good: '300000',
    why: 'what the fixed orders of a partner created within a day may be worth together, in US dollars, unless the partner has its own figure; it bounds what a taker of options gains',
  }),
  MAX_FIXED_ALL_USD: setting({
    parse: integer(1, 9_000_000_000),
    fallback: 2_000_000,
    shown: '2000000',
    good: '2000000',
    why: 'what the fixed orders of all partners created within an hour may be worth together, in US dollars',
  }),
  MAX_FLOAT_EXPOSURE_USD: setting({
    parse: integer(1, 1_000_000_000),
    fallback: 2_000_000,
    shown: '2000000',
    good: '2000000',
    why: 'what the float orders of a partner that wait or are between deposit and payout may be worth together, in US dollars, unless the partner has its own figure',
  }),
  MAX_FLOAT_ALL_USD: setting({
    parse: integer(1, 9_000_000_000),
    fallback: 20_000_000,
    shown: '20000000',
    good: '20000000',
    why: 'what the float orders of all partners that wait or are between deposit and payout may be worth together, in US dollars',
  }),
  DEPOSIT_WINDOW_SEC: setting({
    parse: integer(1, 604_800),
    fallback: 1800,
    shown: '1800',
    good: '1800',
    why: 'seconds that an order waits for its deposit',
  }),
  DEPOSIT_GRACE_SEC: setting({
    parse: integer(0, 86_400),
    fallback: 600,
    shown: '600',
    good: '600',
    why: 'seconds after the window within which a deposit that was seen in time must be mined; a fixed rate holds as long',
  }),
  SHORT_ID_PREFIX: setting({
    parse: shortIdPrefix,
    fallback: 'XP',
    shown: 'XP',
    good: 'XP',
    why: 'what stands before the dash of a short order id; orders made under an earlier prefix are still found',
  }),
  FEE_RATE_FLOAT: setting({
    parse: rate,
    fallback: '0.005',
    shown: '0.005',
    good: '0.005',
    why: 'service fee on float orders as a fraction, unless the partner has its own',
  }),
  FEE_RATE_FIXED: setting({
    parse: rate,
    fallback: '0.01',
    shown: '0.01',
    good: '0.01',
    why: 'service fee on fixed orders as a fraction, unless the partner has its own',
  }),
  FIXED_RATE_HOLD_SEC: setting({
    parse: integer(5, 3600),
    fallback: 60,
    shown: '60',
    good: '60',
    why: 'length of the window in which fixed quotes keep their rate',
  }),
  FIXED_MAX_DRIFT: setting({
    parse: rate,
    fallback: '0.002',
    shown: '0.002',
    good: '0.002',
    why: 'a fixed rate is no longer quoted, and a new window begins, once the market has left it by more than this fraction',
  }),
  PRICE_REFRESH_SEC: setting({
    parse: integer(1, 3600),
    fallback: 5,
    shown: '5',
    good: '5',
    why: 'seconds between price refreshes',
  }),
  PRICE_MAX_AGE_SEC: setting({
    parse: integer(1, 86_400),
    fallback: 60,
    shown: '60',
    good: '60',
    why: 'a pair with an older price is unavailable rather than wrong',
  }),
  PRICE_SOURCES: setting<readonly ExchangeAddress[]>({
    parse: exchanges,
    fallback: [],
    shown: '',
    good: 'kraken,binance',
    why: `exchanges whose order books make the prices, of ${exchangeNames.join(', ')}; name=https://host takes another address; absent, the sandbox makes prices up`,
  }),
  PRICE_MIN_SOURCES: setting({
    parse: integer(1, 10),
    fallback: 2,
    shown: '2',
    good: '2',
    why: 'so many of PRICE_SOURCES must give a fresh price of a coin and agree on it',
  }),
  PRICE_STALE_SEC: setting({
    parse: integer(1, 3600),
    fallback: 20,
    shown: '20',
    good: '20',
    why: 'what an exchange said longer ago than so many seconds does not count',
  }),
  PRICE_OUTLIER: setting({
    parse: rate,
    fallback: '0.02',
    shown: '0.02',
    good: '0.02',
    why: 'an exchange whose price is farther from the median than this fraction is left out',
  }),
  PRICE_DISAGREEMENT: setting({
    parse: rate,
    fallback: '0.01',
    shown: '0.01',
    good: '0.01',
    why: 'a coin is paused while the highest and the lowest price of what is left are farther apart than this fraction',
  }),
  VENUE: setting<ExchangeAddress | 'inventory' | null>({
    parse: (text: string) => (text === 'inventory' ? text : exchange(text)),
    fallback: null,
    shown: '',
    good: 'kraken',
    why: `exchange where liquidity is bought, one of ${exchangeNames.join(', ')}; name=https://host takes another address; inventory exchanges from your own wallets at the market's price; absent, the sandbox does so`,
  }),
  VENUE_KEY: setting<string | null>({
    parse: (text: string) => text,
    fallback: null,
    shown: '',
    good: '<the API key that VENUE shows>, which may trade and look orders up and never withdraw',
    secret: true,
    why: 'API key of the account at VENUE; each worker needs its own and an api process none, as Kraken counts the requests of a key',
  }),
  VENUE_SECRET: setting<string | null>({
    parse: (text: string) => text,
    fallback: null,
    shown: '',
    good: '<the private half of VENUE_KEY>',
    secret: true,
    why: 'secret with which requests under VENUE_KEY are signed',
  }),
  VENUE_CASH: setting({
    parse: coin,
    fallback: 'USD',
    shown: 'USD',
    good: 'USD',
    why: 'coin between the two legs of an exchange at VENUE; USDT at binance, which has no dollars',
  }),
  MAX_SLIPPAGE: setting({
    parse: rate,
    fallback: '0.02',
    shown: '0.02',
    good: '0.02',
    why: 'what an exchange may lose at the liquidity venue, both legs and their fees together, as a fraction of its worth when it was decided',
  }),
  VENUE_DEPTH_SHARE: setting({
    parse: rate,
    fallback: '0.4',
    shown: '0.4',
    good: '0.4',
    why: "the part of what VENUE's order books hold near the price that one order may take, as a fraction: the limits of pairs follow it",
  }),
  VENUE_DEPTH_MAX_AGE_SEC: setting({
    parse: integer(10, 86_400),
    fallback: 300,
    shown: '300',
    good: '300',
    why: "a pair is unavailable when VENUE's order books of its coins were read longer ago than this and one window",
  }),
  EXCHANGE_DEADLINE_SEC: setting({
    parse: integer(1, 86_400),
    fallback: 900,
    shown: '900',
    good: '900',
    why: 'seconds for which liquidity is looked for before a confirmed deposit is refunded',
  }),
  PAYMENT_UNKNOWN_SEC: setting({
    parse: integer(1, 604_800),
    fallback: 600,
    shown: '600',
    good: '600',
    why: "seconds for which a payment's fate may stay unknown before its order fails and staff look at it",
  }),
  MAX_FEE_FACTOR: setting({
    parse: integer(1, 1000),
    fallback: 10,
    shown: '10',
    good: '10',
    why: "a payment waits while its transaction would cost more than so many times its chain's usual fee",
  }),
  REFUND_FEE_FACTOR: setting({
    parse: integer(1, 100),
    fallback: 2,
    shown: '2',
    good: '2',
    why: 'a refund waits while its transaction could cost more than so many times the network fee that its user is charged: what the house loses by one refund at most is that fee, times this less one',
  }),
  MAX_REFUNDS_PER_ORDER: setting({
    parse: integer(0, 1000),
    fallback: 3,
    shown: '3',
    good: '3',
    why: 'extra deposits of an order that are refunded by themselves; further ones wait for staff',
  }),
  PAYMENT_GIVE_UP_SEC: setting({
    parse: integer(60, 31_536_000),
    fallback: 86_400,
    shown: '86400',
    good: '86400',
    why: 'seconds after which a payment that its recipient or its token refuses is given up unsigned, so that its order fails and staff decide',
  }),
  FEE_SHARE_REFUNDS: setting({
    parse: fraction,
    fallback: '0.25',
    shown: '0.25',
    good: '0.25',
    why: "part of fees_per_day of a network that refunds together may use up; absent fees_per_day is the network's default",
  }),
  FEE_SHARE_SWEEPS: setting({
    parse: fraction,
    fallback: '0.5',
    shown: '0.5',
    good: '0.5',
    why: 'part of fees_per_day of a network that sweeps to the hot wallet together may use up',
  }),
  FEE_SHARE_PARTNER: setting({
    parse: fraction,
    fallback: '0.5',
    shown: '0.5',
    good: '0.5',
    why: 'part of fees_per_day of a network that the payouts and refunds of one partner may use up; 1 where there is only one partner',
  }),
  PAYOUT_LIMIT_USD_PER_HOUR: setting({
    parse: integer(0, 1_000_000_000),
    fallback: 3_000_000,
    shown: '3000000',
    good: '3000000',
    why: 'most US dollars that payouts and refunds of all assets together may begin to send in any hour; what is above waits',
  }),
  PAYOUT_LIMIT_USD_PER_DAY: setting({
    parse: integer(0, 1_000_000_000),
    fallback: 20_000_000,
    shown: '20000000',
    good: '20000000',
    why: 'the same in any 24 hours',
  }),
  PAYOUT_LIMIT_ASSET_USD_PER_HOUR: setting<AssetUsd>({
    parse: assetUsd,
    fallback: { each: 1_000_000, named: new Map() },
    shown: '1000000',
    good: '1000000,USDT/TRC20=2000000',
    why: 'most US dollars that payouts and refunds of one asset (a coin on a network) may begin to send in any hour, and of assets that are named',
  }),
  PAYOUT_LIMIT_ASSET_USD_PER_DAY: setting<AssetUsd>({
    parse: assetUsd,
    fallback: { each: 5_000_000, named: new Map() },
    shown: '5000000',
    good: '5000000,USDT/TRC20=10000000',
    why: 'the same in any 24 hours',
  }),
  PAYOUT_SHARE_REFUNDS: setting({
    parse: fraction,
    fallback: '0.25',
    shown: '0.25',
    good: '0.25',
    why: 'part of each PAYOUT_LIMIT_… that refunds together may use up: a refund costs its user little more than a network fee',
  }),
  PAYOUT_SHARE_PARTNER: setting({
    parse: fraction,
    fallback: '0.5',
    shown: '0.5',
    good: '0.5',
    why: 'part of each PAYOUT_LIMIT_… that the payouts and refunds of one partner may use up; 1 where there is only one partner',
  }),
  VENUE_LOSS_LIMIT_USD: setting({
    parse: integer(1, 1_000_000_000),
    fallback: 10_000,
    shown: '10000',
    good: '10000',
    why: 'payouts of the assets whose exchanges lost most are held while exchanges lost more than so many US dollars in 24 hours',
  }),
  SIGNER_SOCKET: setting<string | null>({
    parse: (text: string) => resolve(text),
    fallback: null,
    shown: '',
    good: '/run/gateway/signer.sock',
    why: 'unix socket of a signer process (npm run signer), which then holds all keys; absent, a worker signs with the seed in its DATA_DIR',
  }),
  SIGNER_SOCKET_OPENS_FOR: setting<'owner' | 'group'>({
    parse: oneOf('owner', 'group'),
    fallback: 'owner',
    shown: 'owner',
    good: 'owner',
    why: 'who may open the socket that a signer process makes: its own user, or also the group of the folder (with chmod g+s)',
  }),
  SIGNER_SECRET: setting<string | null>({
    parse: bytes32,
    fallback: null,
    shown: '',
    good: '<64 random hexadecimal digits>, made by: openssl rand -hex 32',
    secret: true,
    why: 'what a signer process and its gateways know each other by, the same for all; absent, signer-secret in DATA_DIR, which the first of them makes',
  }),
  SIGNER_SECRET_FILE: setting<string | null>({
    parse: readableFile,
    fallback: null,
    shown: '',
    good: '/run/credentials/signer/secret',
    why: 'file that holds SIGNER_SECRET',
  }),
  SIGNER_SEED: setting<string | null>({
    parse: bytes32,
    fallback: null,
    shown: '',
    good: '<the 64 hexadecimal digits of a signer-seed>',
    secret: true,
    why: 'the seed of all keys, for whoever signs; absent, signer-seed in DATA_DIR; a gateway with SIGNER_SOCKET must not have it',
  }),
  SIGNER_PASSPHRASE: setting<string | null>({
    parse: (text: string) => text,
    fallback: null,
    shown: '',
    good: '<the passphrase that signer-seed was sealed with>',
    secret: true,
    why: 'opens a sealed signer-seed; a file is better, as others may see variables; absent, it is asked for at the terminal',
  }),
  SIGNER_PASSPHRASE_FILE: setting<string | null>({
    parse: readableFile,
    fallback: null,
    shown: '',
    good: '/run/credentials/signer/passphrase',
    why: 'file or pipe that holds SIGNER_PASSPHRASE, read once',
  }),
  NETWORKS_FILE: setting<string | null>({
    parse: (text: string) => resolve(text),
    fallback: null,
    shown: '',
    good: 'networks.yaml',
    why: 'file of the real networks that are served, with their nodes and limits (networks.example.yaml explains it); absent, networks.yaml of the working folder, and where there is none every chain is the built-in sandbox',
  }),
  RECONCILE_EVERY_SEC: setting({
    parse: integer(0, 604_800),
    fallback: 3600,
    shown: '3600',
    good: '3600',
    why: 'seconds between two comparisons of the book with chains, venue and orders, by one worker for all; 0 for none',
  }),
  CHAIN_POLL_MS: setting({
    parse: integer(10, 60_000),
    fallback: 250,
    shown: '250',
    good: '250',
    why: 'milliseconds between two looks at the chains',
  }),
  CHAIN_LEASE_MS: setting({
    parse: integer(500, 600_000),
    fallback: 10_000,
    shown: '10000',
    good: '10000',
    why: 'milliseconds after which another worker takes over the chains of one that no longer answers',
  }),
  SANDBOX_BLOCK_MS: setting({
    parse: integer(0, 3_600_000),
    fallback: 1000,
    shown: '1000',
    good: '1000',
    why: 'milliseconds between two blocks of a sandbox chain with something to do; 0 makes blocks by command only',
  }),
  SANDBOX_PRICE_SEED: setting({
    parse: (text: string) => text,
    fallback: 'exchange',
    shown: 'exchange',
    good: 'exchange',
    why: 'seed of the small movements of the sandbox prices',
  }),
  KEY_PEPPER: setting<readonly Pepper[] | null>({
    parse: peppers,
    fallback: null,
    shown: '',
    good: '1:<64 random hexadecimal digits>, made by: openssl rand -hex 32',
    secret: true,
    why: 'secret under which keys are hashed, version:secret, newest first, comma-separated; the same for all processes; absent, one is made in DATA_DIR',
  }),
  DRAIN_GRACE_MS: setting({
    parse: integer(0, 8_000),
    fallback: 1000,
    shown: '1000',
    good: '1000',
    why: 'milliseconds after SIGTERM in which new requests are still answered, so that load balancers can turn away',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting<string | null>({
    parse: url('http:', 'https:'),
    fallback: null,
    shown: '',
    good: 'http://127.0.0.1:4318',
    why: 'OpenTelemetry collector that traces are sent to, by OTLP over HTTP; absent, nothing is traced',
  }),
  OTEL_TRACES_SAMPLER_ARG: setting({
    parse: fraction,
    fallback: '1',
    shown: '1',
    good: '0.1',
    why: 'fraction of traces that is recorded',
  }),
  LOG_LEVEL: setting({
    parse: oneOf('silent', 'error', 'warn', 'info', 'debug'),
    fallback: 'info',
    shown: 'info',
    good: 'info',
    why: 'least severe log line that is written',
  }),
} as const;

type Settings = typeof settings;
export type SettingName = keyof Settings;
export type Config = { readonly [Name in SettingName]: Settings[Name]['fallback'] };

/** Most US dollars in an hour and in a day. */
interface UsdLimit {
  readonly hour: number;
  readonly day: number;
}

/** The limits on what automatic payments begin to send: of all assets together, and of each. */
export interface PayoutRules {
  /** The parts of each limit that refunds together, and one partner, may use up: fractions. */
  readonly parts: { readonly refunds: string; readonly partner: string };
  readonly overall: UsdLimit;
  readonly asset: (asset: { readonly coin: string; readonly network: string }) => UsdLimit;
}

/** The limits of automatic payments, from the settings. */
export function payoutRules(config: Config): PayoutRules {
  const { PAYOUT_LIMIT_ASSET_USD_PER_HOUR: perHour, PAYOUT_LIMIT_ASSET_USD_PER_DAY: perDay } = config;
  return {
    parts: { refunds: config.PAYOUT_SHARE_REFUNDS, partner: config.PAYOUT_SHARE_PARTNER },
    overall: { hour: config.PAYOUT_LIMIT_USD_PER_HOUR, day: config.PAYOUT_LIMIT_USD_PER_DAY },
    asset: ({ coin, network }) => {
      const name = `${coin}/${network}`;
      return { hour: perHour.named.get(name) ?? perHour.each, day: perDay.named.get(name) ?? perDay.each };
    },
  };
}

/** What no single setting can tell: combinations that would be unsafe. */
function unsafeCombinations(config: Config): string[] {
  const problems: string[] = [];
  const tlsFiles = [config.TLS_CERT_FILE, config.TLS_KEY_FILE].filter((file) => file !== null).length;
  if (tlsFiles === 1) problems.push('TLS_CERT_FILE and TLS_KEY_FILE belong together: set both or neither');
  if (!isLoopback(config.HOST) && config.ROLE !== 'worker') {
    const missing = [
      config.DATABASE_URL === null && `DATABASE_URL (for example ${settings.DATABASE_URL.good})`,
      config.REDIS_URL === null && `REDIS_URL (for example ${settings.REDIS_URL.good})`,
      tlsFiles < 2 &&
        config.TRUSTED_PROXIES.length === 0 &&
        `TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXIES (for example ${settings.TRUSTED_PROXIES.good})`,
    ].filter((part) => part !== false);
    if (missing.length > 0) {
      problems.push(
        `HOST=${config.HOST} listens beyond this machine, which also needs ${missing.join('; ')}; or set HOST=127.0.0.1`,
      );
    }
  }
  if (config.ROLE !== 'all' && config.DATABASE_URL === null) {
    problems.push(
      `ROLE=${config.ROLE} is one of several processes and needs a shared database: set DATABASE_URL (for example ${settings.DATABASE_URL.good}), or ROLE=all`,
    );
  }
  // A worker is one process, whatever it shares its settings with.
  if (config.API_PROCESSES > 1 && config.ROLE !== 'worker') {
    const missing = [
      config.ROLE !== 'api' && 'ROLE=api (and a ROLE=worker beside it)',
      config.REDIS_URL === null &&
        `REDIS_URL (for example ${settings.REDIS_URL.good}), where they count the same limits`,
    ].filter((part) => part !== false);
    if (missing.length > 0) {
      problems.push(
        `API_PROCESSES=${config.API_PROCESSES} starts several processes, which needs ${missing.join('; ')}; or set API_PROCESSES=1`,
      );
    }
  }
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, INTERNAL_PUBLIC_URL } = config;
  if (OIDC_ISSUER !== null || OIDC_CLIENT_ID !== null || OIDC_CLIENT_SECRET !== null) {
    const missing = Object.entries({ OIDC_ISSUER, OIDC_CLIENT_ID, INTERNAL_PUBLIC_URL }).filter(
      ([, value]) => value === null,
    );
    if (missing.length > 0) {
      const advice = missing.map(([name]) => `${name} (for example ${settings[name as SettingName].good})`).join('; ');
      problems.push(`sign-in at an identity provider also needs ${advice}; or unset all that begin with OIDC_`);
    }
  }
  for (const name of ['SIGNER_SECRET', 'SIGNER_PASSPHRASE'] as const) {
    if (config[name] !== null && config[`${name}_FILE`] !== null) {
      problems.push(`${name} and ${name}_FILE are both set: unset one of them`);
    }
  }
  const { PRICE_SOURCES, PRICE_MIN_SOURCES, PRICE_STALE_SEC, VENUE, VENUE_KEY, VENUE_SECRET, VENUE_CASH } = config;
  if (PRICE_SOURCES.length > 0 && PRICE_SOURCES.length < PRICE_MIN_SOURCES) {
    problems.push(
      `PRICE_SOURCES names ${PRICE_SOURCES.length} of the ${PRICE_MIN_SOURCES} exchanges that PRICE_MIN_SOURCES asks for: name more (for example ${settings.PRICE_SOURCES.good}), or set PRICE_MIN_SOURCES=${PRICE_SOURCES.length}`,
    );
  }
  if (PRICE_SOURCES.length > 0 && PRICE_STALE_SEC < config.PRICE_REFRESH_SEC) {
    problems.push('PRICE_STALE_SEC is below PRICE_REFRESH_SEC, so every ticker would be too old: set it to 20');
  }
  const isExchange = VENUE !== null && VENUE !== 'inventory';
  if (!isExchange && (VENUE_KEY !== null || VENUE_SECRET !== null)) {
    problems.push(`VENUE_KEY and VENUE_SECRET need VENUE (for example ${settings.VENUE.good}); or unset both`);
  }
  if (isExchange && PRICE_SOURCES.length === 0) {
    problems.push(
      `VENUE=${VENUE.name} spends money at prices that the sandbox makes up: set PRICE_SOURCES (for example ${settings.PRICE_SOURCES.good}), or unset VENUE`,
    );
  }
  // An api process trades nothing.
  if (isExchange && config.ROLE !== 'api') {
    const missing = Object.entries({ VENUE_KEY, VENUE_SECRET }).filter(([, value]) => value === null);
    if (missing.length > 0) {
      const advice = missing
        .map(([name]) => `${name} (a good value: ${settings[name as SettingName].good})`)
        .join('; ');
      problems.push(`VENUE=${VENUE.name} also needs ${advice}; or unset VENUE`);
    }
    if (VENUE.name === 'binance' && VENUE_CASH === 'USD') {
      problems.push('VENUE_CASH=USD is no coin of binance: set VENUE_CASH=USDT');
    }
  }
  if (config.PRICE_MAX_AGE_SEC < config.PRICE_REFRESH_SEC) {
    problems.push('PRICE_MAX_AGE_SEC is below PRICE_REFRESH_SEC, so every price would be too old: set it to 60');
  }
  return problems;
}

/**
 * Reads all settings from the environment. Empty counts as absent. The result is frozen. Secrets are removed from
 * the process's own environment, so this reads it once.
 *
 * @throws ConfigError naming every wrong setting at once, each with a good value; secrets are never echoed.
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const problems: string[] = [];
  const entries = Object.entries(settings).map(([name, row]: [string, Setting<unknown>]) => {
    const text = environment[name]?.trim();
    if (text === undefined || text === '') return [name, row.fallback] as const;
    try {
      return [name, row.parse(text)] as const;
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error;
      const value = row.secret ? '' : `='${text.slice(0, 80)}'`;
      problems.push(`${name}${value} ${error.message}; a good value: ${row.good}`);
      return [name, row.fallback] as const;
    }
  });
  if (environment === process.env) forgetSecrets();
  const config = Object.freeze(Object.fromEntries(entries)) as unknown as Config;
  if (problems.length === 0) problems.push(...unsafeCombinations(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** The environment with its secrets, for processes like this one. `loadConfig` removes them, so it is taken before. */
export function wholeEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env };
}

function forgetSecrets(): void {
  for (const [name, row] of Object.entries(settings) as [string, Setting<unknown>][]) {
    if (row.secret) delete process.env[name];
  }
}

/** The text of `.env.example`: each setting with its default and why it exists. */
export function environmentExample(): string {
  const blocks = Object.entries(settings).map(
    ([name, row]: [string, Setting<unknown>]) => `# ${row.why}\n# a good value: ${row.good}\n${name}=${row.shown}\n`,
  );
  return `# Every setting of the gateway. None is needed: with all of them empty the embedded defaults start.\n\n${blocks.join('\n')}`;
}
