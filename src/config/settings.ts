import { resolve } from 'node:path';
import { exchangeNames } from '../exchanges/exchange.ts';
import type { Constants } from './constants.ts';
import {
  asset,
  assetUsd,
  bytes32,
  cabinetOrigin,
  cidrList,
  coin,
  countryList,
  denyList,
  exchange,
  exchanges,
  fraction,
  host,
  integer,
  issuer,
  oneOf,
  origin,
  peppers,
  postgresUrl,
  rate,
  readableFile,
  redisUrl,
  url,
} from './parsers.ts';

export type { Pepper } from './parsers.ts';

export type Role = 'all' | 'api' | 'worker';

export interface Setting<T> {
  readonly parse: (text: string) => T;
  /** Used when the setting is absent or empty. */
  readonly fallback: T;
  /** The default as .env.example shows it; empty without a default. */
  readonly shown: string;
  readonly good: string;
  /**
   * Never shown. It is removed from the environment once it is read, so that no child process
   * inherits it and no error report shows it. The system keeps what the process was started with
   * (/proc/<pid>/environ), so a file is safer.
   */
  readonly secret?: true;
  readonly why: string;
}

type Parse<T> = (text: string) => T;

/** A setting with a default, which is also the good value unless another one is given. */
function setting<T>(parse: Parse<T>, shown: string, why: string, good = shown): Setting<T> {
  return { parse, fallback: parse(shown), shown, good, why };
}

/** A setting that is null when it is absent. */
function optional<T>(parse: Parse<T>, good: string, why: string): Setting<T | null> {
  return { parse, fallback: null, shown: '', good, why };
}

function secret<T>(parse: Parse<T>, good: string, why: string): Setting<T | null> {
  return { ...optional(parse, good, why), secret: true };
}

/** A setting that is an empty list when it is absent. */
function list<T>(parse: Parse<readonly T[]>, good: string, why: string): Setting<readonly T[]> {
  return { parse, fallback: [], shown: '', good, why };
}

/**
 * Every setting of the gateway. `environment-example` prints `.env.example` from this table. What
 * no operator tunes is in `constants.ts`.
 */
export const settings = {
  ROLE: setting(
    oneOf('all', 'api', 'worker'),
    'all',
    'what this process does: answer requests (api), settle orders in the background (worker), or both (all)',
  ),
  API_PROCESSES: setting(
    integer(1, 64),
    '1',
    'number of processes that share the ports of ROLE=api, best one for each core; more than one needs REDIS_URL',
    '2',
  ),
  HOST: setting(
    host,
    '127.0.0.1',
    'address of the public listener; an address beyond this machine needs DATABASE_URL, REDIS_URL and TLS or a trusted proxy',
  ),
  PORT: setting(integer(0, 65535), '8080', 'port of the public listener; 0 takes a free one'),
  PUBLIC_URL: optional(
    origin,
    'https://pay.example.com',
    'scheme and host at which the public listener is reached, for links to order pages; without it only HOST and PORT of this machine are known',
  ),
  CABINET_URL: optional(
    cabinetOrigin,
    'https://cabinet.example.com',
    'scheme and host at which browsers of partners reach the public listener; switches the partner cabinet on; passkeys belong to this host',
  ),
  INTERNAL_HOST: setting(
    host,
    '127.0.0.1',
    'address of the internal listener: health, metrics and the pages of staff; never expose it to the internet',
  ),
  INTERNAL_PORT: setting(integer(0, 65535), '8081', 'port of the internal listener; 0 takes a free one'),
  INTERNAL_PUBLIC_URL: optional(
    origin,
    'https://gateway.internal.example',
    'scheme and host at which browsers reach the internal listener; needed behind a proxy and for OIDC_ISSUER',
  ),
  OIDC_ISSUER: optional(
    issuer,
    'https://login.example.com/realms/staff',
    'OpenID Connect identity provider where staff sign in; register INTERNAL_PUBLIC_URL/sign-in/oidc/callback there',
  ),
  OIDC_CLIENT_ID: optional(
    (text: string) => text,
    'exchange-gateway',
    'client id that the identity provider gave this gateway',
  ),
  OIDC_CLIENT_SECRET: secret(
    (text: string) => text,
    '<the secret that the identity provider shows>',
    'client secret of OIDC_CLIENT_ID; leave it empty for a public client',
  ),
  DATA_DIR: setting(
    (text: string) => resolve(text),
    '.data',
    'folder for the data of the embedded defaults: the PostgreSQL cluster, the key pepper, the signer seed',
  ),
  DATABASE_URL: secret(
    postgresUrl,
    'postgres://gateway:secret@127.0.0.1:5432/gateway',
    'PostgreSQL 15 or newer, by one address that leads to the primary; without it an embedded PostgreSQL starts in DATA_DIR',
  ),
  REDIS_URL: secret(
    redisUrl,
    'redis://127.0.0.1:6379',
    'Redis 7 or newer for rate-limit counters; without it they are counted in memory, which suits a single process only',
  ),
  NODE_COUNT: setting(
    integer(1, 1000),
    '1',
    'number of gateways that share the limits, each with API_PROCESSES; while Redis is down each process counts its share',
  ),
  TRUSTED_PROXIES: list(
    cidrList,
    '10.0.0.0/8,127.0.0.1/32',
    'networks whose X-Forwarded-For and X-Forwarded-Proto are believed, as a comma-separated CIDR list',
  ),
  TLS_CERT_FILE: optional(
    readableFile,
    '/etc/gateway/tls.crt',
    'PEM certificate chain; with TLS_KEY_FILE the public listener serves HTTPS itself',
  ),
  TLS_KEY_FILE: optional(readableFile, '/etc/gateway/tls.key', 'PEM private key of TLS_CERT_FILE'),
  RATE_LIMIT_PUBLIC_PER_MIN: setting(
    integer(1, 1_000_000),
    '60',
    'requests without a key each minute, for a client address',
  ),
  RATE_LIMIT_PARTNER_PER_MIN: setting(
    integer(1, 1_000_000),
    '600',
    'requests with a key each minute, for a partner account; a partner may have its own limit',
  ),
  RATE_LIMIT_ORDERS_PER_MIN: setting(
    integer(1, 1_000_000),
    '120',
    'orders created each minute, for a partner account; a partner may have its own limit',
  ),
  RATE_LIMIT_QUOTES_PER_MIN: setting(
    integer(1, 1_000_000),
    '1200',
    'binding quotes each minute, for a partner account, apart from its other requests',
  ),
  RATE_LIMIT_LISTS_PER_MIN: setting(
    integer(1, 1_000_000),
    '120',
    'lists of orders read each minute, for a partner account; a partner may have its own limit',
  ),
  RATE_LIMIT_VALIDATIONS_PER_MIN: setting(
    integer(1, 1_000_000),
    '120',
    'validations of addresses and orders each minute, for a partner account',
  ),
  RATE_LIMIT_CHANGES_PER_MIN: setting(
    integer(1, 1_000_000),
    '120',
    'changes of orders each minute, for a partner account: cancels, refund addresses, metadata',
  ),
  RATE_LIMIT_AUTH_FAILURES_PER_MIN: setting(
    integer(1, 1_000_000),
    '20',
    'requests with a wrong key each minute, for a client address',
  ),
  RATE_LIMIT_STAFF_PER_MIN: setting(
    integer(1, 1_000_000),
    '300',
    'operations of the staff API each minute, for a member',
  ),
  RATE_LIMIT_ICONS_PER_MIN: setting(
    integer(1, 1_000_000),
    '600',
    'requests of icons and documentation pages each minute, for a client address',
  ),
  RATE_LIMIT_PAGES_PER_MIN: setting(
    integer(1, 1_000_000),
    '240',
    'requests of order pages each minute, for a client address; an open page asks six times a minute',
  ),
  RATE_LIMIT_SIGN_IN_PER_MIN: setting(
    integer(1, 1_000_000),
    '20',
    'wrong tokens of staff, and attempts of partners to sign in to the cabinet, each minute, for a client address',
  ),
  RATE_LIMIT_CABINET_PER_MIN: setting(
    integer(1, 1_000_000),
    '300',
    'requests of the partner cabinet each minute, for a session; a member has three times as many',
  ),
  MAX_OPEN_ORDERS: setting(
    integer(1, 1_000_000_000),
    '500',
    'most orders of a partner that wait for their deposit; a partner may have its own limit',
  ),
  MAX_FIXED_EXPOSURE_USD: setting(
    integer(1, 1_000_000_000),
    '250000',
    "most US dollars of a partner's fixed orders created within an hour, in any status; a partner may have its own limit",
  ),
  MAX_FIXED_DAY_USD: setting(
    integer(1, 1_000_000_000),
    '300000',
    "most US dollars of a partner's fixed orders created within a day, in any status; it bounds the gain of users who pay only the orders that the market made cheap; a partner may have its own limit",
  ),
  MAX_FIXED_ALL_USD: setting(
    integer(1, 9_000_000_000),
    '2000000',
    'most US dollars of the fixed orders of all partners created within an hour',
  ),
  MAX_FLOAT_EXPOSURE_USD: setting(
    integer(1, 1_000_000_000),
    '2000000',
    "most US dollars of a partner's float orders that wait or are between deposit and payout; a partner may have its own limit",
  ),
  MAX_FLOAT_ALL_USD: setting(
    integer(1, 9_000_000_000),
    '20000000',
    'most US dollars of the float orders of all partners that wait or are between deposit and payout',
  ),
  LATE_REFUND_LIMIT_USD: setting(
    integer(0, 1_000_000_000),
    '1000',
    "most US dollars within 24 hours that a partner's refunds to addresses set after the create may pay without staff; 0 leaves them all to staff; it bounds what a stolen key can redirect",
  ),
  DEPOSIT_WINDOW_SEC: setting(integer(1, 604_800), '1800', 'seconds that an order waits for its deposit'),
  WEBHOOK_DENY: list(
    denyList,
    '198.51.100.0/24,api.example.com',
    'public networks of yours that webhooks never connect to, and names of yours that are no webhook endpoints, with all names below them, separated by commas; private and special networks are always refused',
  ),
  WEBHOOK_PROXY: optional(
    url('http:'),
    'http://10.0.0.9:3128',
    'HTTP proxy that webhooks leave by, with CONNECT to addresses; without it they connect directly',
  ),
  WEBHOOK_ALLOW_LOOPBACK: setting(
    oneOf('off', 'on'),
    'off',
    'on: webhook endpoints may be on this machine, also as http://localhost:3000/; for a sandbox of your own only, because partners then reach every service of this machine',
    'on',
  ),
  FEE_RATE_FLOAT: setting(rate, '0.005', 'service fee on float orders as a fraction; a partner may have its own fee'),
  FEE_RATE_FIXED: setting(rate, '0.01', 'service fee on fixed orders as a fraction; a partner may have its own fee'),
  MAX_MARKUP_BPS: setting(
    integer(0, 500),
    '500',
    'largest markup of a partner on an order, in basis points (hundredths of a percent)',
  ),
  RESTRICTED_COUNTRIES: list(
    countryList,
    'KP,IR',
    'countries whose users are refused when a partner names their country, as ISO 3166 codes of two letters separated by commas',
  ),
  PRICE_SOURCES: list(
    exchanges,
    'kraken,binance',
    `exchanges whose order books make the prices: ${exchangeNames.join(', ')}; name=https://host sets another address; without it the sandbox invents prices`,
  ),
  VENUE: optional(
    (text: string) => (text === 'inventory' ? text : exchange(text)),
    'kraken',
    `exchange where liquidity is bought: ${exchangeNames.join(', ')}; name=https://host sets another address; inventory exchanges from your own wallets at the market's price; without it the sandbox exchanges`,
  ),
  VENUE_KEY: secret(
    (text: string) => text,
    '<the API key that VENUE shows>, which may trade and query orders but not withdraw',
    'API key of the account at VENUE; each worker needs its own key, because Kraken counts the requests of a key; an api process needs none (docs/secrets.md says who holds it)',
  ),
  VENUE_SECRET: secret(
    (text: string) => text,
    '<the private half of VENUE_KEY>',
    'secret that signs the requests under VENUE_KEY',
  ),
  VENUE_FUNDING_KEY: secret(
    (text: string) => text,
    '<another API key that VENUE shows>, which may query balances, deposits and withdrawals, and nothing else',
    'API key that reads what the account at VENUE holds and moves, one for all workers; without it nothing of that is in the books; an api process needs none',
  ),
  VENUE_FUNDING_SECRET: secret(
    (text: string) => text,
    '<the private half of VENUE_FUNDING_KEY>',
    'secret that signs the requests under VENUE_FUNDING_KEY',
  ),
  VENUE_CASH: setting(
    coin,
    'USD',
    'coin between the two legs of an exchange at VENUE; USDT at binance, which has no dollars',
  ),
  SANDBOX_VENUE: setting(
    oneOf('off', 'on'),
    'off',
    'on: liquidity is bought at an exchange that the gateway imitates itself, over HTTP in the words of VENUE (kraken unless it names binance), with an account and keys of its own; only where every network is of the sandbox',
    'on',
  ),
  MAX_SLIPPAGE: setting(
    rate,
    '0.02',
    'most that an exchange may lose at the venue, as a fraction of its value when it was decided; both legs and their fees count together',
  ),
  VENUE_DEPTH_SHARE: setting(
    rate,
    '0.4',
    "share of the depth of VENUE's order books near the price that one order may take, as a fraction; it sets the limits of pairs",
  ),
  VENUE_DEPTH_MAX_AGE_SEC: setting(
    integer(10, 86_400),
    '300',
    'a pair is unavailable when the depth of its coins at VENUE was read longer ago than this plus one window',
  ),
  MAX_FEE_FACTOR: setting(
    integer(1, 1000),
    '10',
    "a payment waits while its transaction would cost more than its chain's usual fee times this factor",
  ),
  MAX_REFUNDS_PER_ORDER: setting(
    integer(0, 1000),
    '3',
    'extra deposits of an order that are refunded automatically; further ones wait for staff',
  ),
  PAYOUT_LIMIT_USD_PER_HOUR: setting(
    integer(0, 1_000_000_000),
    '3000000',
    'most US dollars of payouts, refunds and commission of all assets together that begin within any hour; further payments wait',
  ),
  PAYOUT_LIMIT_USD_PER_DAY: setting(
    integer(0, 1_000_000_000),
    '20000000',
    'most US dollars of payouts, refunds and commission of all assets together that begin within any 24 hours; further payments wait',
  ),
  PAYOUT_LIMIT_ASSET_USD_PER_HOUR: setting(
    assetUsd,
    '1000000',
    'most US dollars of payouts, refunds and commission of one asset (a coin on a network) that begin within any hour, then limits of named assets',
    '1000000,USDT/TRC20=2000000',
  ),
  PAYOUT_LIMIT_ASSET_USD_PER_DAY: setting(
    assetUsd,
    '5000000',
    'most US dollars of payouts, refunds and commission of one asset that begin within any 24 hours, then limits of named assets',
    '5000000,USDT/TRC20=10000000',
  ),
  PAYOUT_SHARE_REFUNDS: setting(
    fraction,
    '0.25',
    'share of each PAYOUT_LIMIT_… that all refunds together may use, because a refund costs its user little more than a network fee',
  ),
  PAYOUT_SHARE_PARTNER: setting(
    fraction,
    '0.5',
    'share of each PAYOUT_LIMIT_… that the payments of one partner may use, and share of PAYOUT_SHARE_REFUNDS that its refunds may use; 1 when there is a single partner',
  ),
  PAYOUT_SHARE_COMMISSION: setting(
    fraction,
    '0.1',
    'share of each PAYOUT_LIMIT_… that the commission of all partners together may use',
  ),
  COMMISSION_ASSET: setting(
    asset,
    'USDC/ERC20',
    'the coin and network in which commission is counted for partners that have no payout address yet',
  ),
  COMMISSION_MIN_USD: setting(
    integer(0, 1_000_000),
    '50',
    'US dollars of commission below which a month is not paid and counts in the next one',
  ),
  VENUE_LOSS_LIMIT_USD: setting(
    integer(1, 1_000_000_000),
    '10000',
    'while exchanges lost more than this many US dollars within 24 hours, payouts of the assets with the largest losses are held',
  ),
  SIGNER_SOCKET: optional(
    (text: string) => resolve(text),
    '/run/gateway/signer.sock',
    'unix socket of a signer process (npm run signer) that holds all keys; without it a worker signs with the seed in its DATA_DIR',
  ),
  SIGNER_SOCKET_OPENS_FOR: setting(
    oneOf('owner', 'group'),
    'owner',
    'who may open the socket of a signer process: its own user, or also the group of the folder (with chmod g+s)',
  ),
  SIGNER_SECRET: secret(
    bytes32,
    '<64 random hexadecimal digits>, made by: openssl rand -hex 32',
    'shared secret with which a signer process and its gateways authenticate each other; without it signer-secret in DATA_DIR, which the first of them makes',
  ),
  SIGNER_SECRET_FILE: optional(readableFile, '/run/credentials/signer/secret', 'file that holds SIGNER_SECRET'),
  SIGNER_SEED: secret(
    bytes32,
    '<the 64 hexadecimal digits of a signer-seed>',
    'seed of all keys, for the process that signs; without it signer-seed in DATA_DIR; a gateway with SIGNER_SOCKET must not have it',
  ),
  SIGNER_PASSPHRASE: secret(
    (text: string) => text,
    '<the passphrase that sealed signer-seed>',
    'passphrase of a sealed signer-seed; a file is safer, because others may see variables; without both it is asked for at the terminal',
  ),
  SIGNER_PASSPHRASE_FILE: optional(
    readableFile,
    '/run/credentials/signer/passphrase',
    'file or pipe that holds SIGNER_PASSPHRASE, read once',
  ),
  NETWORKS_FILE: optional(
    (text: string) => resolve(text),
    'networks.yaml',
    'file of the real networks with their nodes and limits (see networks.example.yaml); without it networks.yaml of the working folder; when neither exists every chain is the built-in sandbox',
  ),
  KEY_PEPPER: secret(
    peppers,
    '1:<64 random hexadecimal digits>, made by: openssl rand -hex 32',
    'secret under which keys are hashed: version:secret, newest first, comma-separated; the same for all processes; without it one is made in DATA_DIR',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    url('http:', 'https:'),
    'http://127.0.0.1:4318',
    'OpenTelemetry collector that receives traces, by OTLP over HTTP; without it nothing is traced',
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(fraction, '1', 'fraction of traces that are recorded', '0.1'),
  LOG_LEVEL: setting(
    oneOf('silent', 'error', 'warn', 'info', 'debug'),
    'info',
    'lowest severity of log lines that are written',
  ),
};

type Settings = typeof settings;
export type SettingName = keyof Settings;
/** The settings as they were read, and the constants, which no environment sets. */
export type Config = { readonly [Name in SettingName]: Settings[Name]['fallback'] } & Constants;
