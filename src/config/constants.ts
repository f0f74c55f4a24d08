/** A figure that is the same for every gateway, and why it is what it is. */
interface Constant<T> {
  readonly value: T;
  readonly why: string;
}

function constant<T>(value: T, why: string): Constant<T> {
  return { value, why };
}

/**
 * What no operator tunes without reading the code. The environment never sets a constant: a start
 * with one of these names is refused. Tests pass other values to `loadConfig`. Relations among
 * constants are kept by `test/unit/config/constants.test.ts`.
 */
export const constants = {
  DATABASE_POOL_SIZE: constant(
    10,
    'most PostgreSQL connections of a process for requests; for more load, more processes serve better than more connections',
  ),
  STAFF_POOL_SIZE: constant(
    5,
    'most PostgreSQL connections of a process for the staff API, separate so that its queries never slow partners down',
  ),
  WORKER_POOL_SIZE: constant(
    10,
    'most PostgreSQL connections of a worker for settlement, separate so that settlement never waits for requests',
  ),
  WEBHOOK_POOL_SIZE: constant(
    4,
    'most PostgreSQL connections of a worker for webhooks; a delivery under way holds none',
  ),
  WEBHOOK_SENDERS: constant(100, 'webhook deliveries that a worker has under way at a time; more workers make more'),
  WEBHOOK_PORTS: constant<readonly number[]>([443], 'ports that webhook endpoints may have'),
  REQUIRE_DURABLE_COMMITS: constant(
    true,
    'refuses to start when PostgreSQL may lose an acknowledged commit (fsync or synchronous_commit off); false in tests only',
  ),
  DRAIN_GRACE_MS: constant(
    8_000,
    'milliseconds after a signal in which new requests are still answered, so that load balancers can move away',
  ),
  DRAIN_GRACE_LOCAL_MS: constant(
    1_000,
    'the same for a gateway that this machine alone reaches, without a proxy: no load balancer has to move away',
  ),
  PLAYGROUND: constant(
    true,
    'serves the GraphQL playground to signed-in staff at /playground of the internal listener',
  ),
  STAFF_SOCKETS_PER_ADDRESS: constant(
    100,
    'most WebSocket connections of staff from a client address in a process; a /48 of IPv6 has ten times as many',
  ),
  SHORT_ID_PREFIX: constant('XP', 'prefix of short order ids before the dash'),
  DEPOSIT_GRACE_SEC: constant(
    600,
    'seconds after the window in which a deposit that was seen in time must be mined; a fixed rate holds until then',
  ),
  FIXED_RATE_WINDOW_SEC: constant(60, 'seconds of the window in which fixed rates do not move'),
  FIXED_RATE_HOLD_SEC: constant(
    60,
    'seconds for which a binding quote holds, 300 at most; a partner may have its own hold',
  ),
  FIXED_MAX_DRIFT: constant(
    '0.002',
    'a fixed rate ends, and a new window begins, when the market moves away from it by more than this fraction',
  ),
  PRICE_REFRESH_SEC: constant(5, 'seconds between price refreshes'),
  PRICE_MAX_AGE_SEC: constant(60, 'a pair whose price is older is unavailable rather than wrong'),
  PRICE_MIN_SOURCES: constant(
    2,
    'number of PRICE_SOURCES that must give a fresh price of a coin and agree on it, so that none decides alone',
  ),
  PRICE_STALE_SEC: constant(20, 'seconds after which a price from an exchange no longer counts'),
  PRICE_OUTLIER: constant(
    '0.02',
    'an exchange whose price differs from the median by more than this fraction is left out',
  ),
  PRICE_DISAGREEMENT: constant(
    '0.01',
    'a coin is paused while the highest and the lowest of its remaining prices differ by more than this fraction',
  ),
  EXCHANGE_DEADLINE_SEC: constant(
    900,
    'seconds in which an exchange must find liquidity before a confirmed deposit is refunded',
  ),
  ACTION_DEADLINE_SEC: constant(
    86_400,
    'seconds in which a partner may answer what to do with a deposit; without an answer the deposit is refunded',
  ),
  PAYMENT_UNKNOWN_SEC: constant(
    600,
    'seconds for which the state of a payment may stay unknown before its order fails and staff decide',
  ),
  PAYMENT_GIVE_UP_SEC: constant(
    86_400,
    'seconds after which an unsigned payment that its recipient or token refuses is abandoned, so that its order fails and staff decide',
  ),
  REFUND_FEE_FACTOR: constant(
    2,
    'a refund waits while its transaction could cost more than the network fee charged to its user times this factor; the house loses at most that fee times the factor less one',
  ),
  FEE_SHARE_REFUNDS: constant(
    '0.25',
    "share of a network's fees_per_day that all refunds together may use; a missing fees_per_day is the network's default",
  ),
  FEE_SHARE_SWEEPS: constant(
    '0.5',
    "share of a network's fees_per_day that all sweeps to the hot wallet together may use",
  ),
  FEE_SHARE_PARTNER: constant(
    '0.5',
    "share of a network's fees_per_day that the payouts and refunds of one partner may use; for a single partner, fees_per_day is doubled instead",
  ),
  RECONCILE_EVERY_SEC: constant(
    3_600,
    'seconds between two comparisons of the ledger with chains, venue and orders, made by one worker for all; 0 turns them off',
  ),
  CHAIN_POLL_MS: constant(250, 'milliseconds between two polls of the chains; a network may have its own'),
  CHAIN_LEASE_MS: constant(
    10_000,
    'milliseconds after which another worker takes over the chains of a worker that stopped responding',
  ),
  SANDBOX_BLOCK_MS: constant(
    1_000,
    'milliseconds between two blocks of a sandbox chain with pending work; 0 makes blocks by command only',
  ),
  SANDBOX_RULES: constant(
    'usual',
    'what the sandbox chains do (src/chains/sandbox/sandbox-rules.ts); other rules imitate other kinds of chains, for tests only',
  ),
  SANDBOX_PRICE_SEED: constant('exchange', 'seed of the small movements of the sandbox prices'),
};

type ConstantTable = typeof constants;
export type ConstantName = keyof ConstantTable;
export type Constants = { readonly [Name in ConstantName]: ConstantTable[Name]['value'] };

/** Where an operator finds the value and the reason of a constant. */
const constantsFile = 'src/config/constants.ts';

export function constantValues(): Constants {
  const values = Object.entries(constants).map(([name, { value }]) => [name, value]);
  return Object.fromEntries(values) as unknown as Constants;
}

/** Settings that went into others, by the names that an operator may still have. */
const replaced = { WEBHOOK_DENY_CIDRS: 'WEBHOOK_DENY', WEBHOOK_DENY_HOSTS: 'WEBHOOK_DENY' };

/** The names in an environment that are no settings any more, each with what to do. */
export function refusedNames(environment: Readonly<Record<string, string | undefined>>): string[] {
  const refusals = [
    ...Object.entries(constants).map(([name, { value }]) => {
      return [name, `it is the constant ${value} in ${constantsFile}; unset it`] as const;
    }),
    ...Object.entries(replaced).map(([name, other]) => [name, `set ${other} instead`] as const),
  ];
  return refusals
    .filter(([name]) => (environment[name]?.trim() ?? '') !== '')
    .map(([name, advice]) => `${name} is not a setting: ${advice}`);
}
