import { type ConstantName, constants, constantValues } from '../../../src/config/constants.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { drainGraceMs } from '../../../src/config/public-url.ts';
import { settings } from '../../../src/config/settings.ts';
import { problemsOf } from '../../support/gateway/settings.ts';

const names = Object.keys(constants) as ConstantName[];

describe('a constant', () => {
  it.each(names)('%s is refused in the environment, with its value and where it is', (name) => {
    const { value } = constants[name];
    const refusal = `${name} is not a setting: it is the constant ${value} in src/config/constants.ts; unset it`;
    for (const text of [String(value), '1', ' x ']) expect(problemsOf({ [name]: text })).toEqual([refusal]);
    for (const text of ['', '  ']) expect(problemsOf({ [name]: text })).toEqual([]);
  });

  it('is refused together with all others and with settings that are wrong', () => {
    const environment = Object.fromEntries(names.map((name) => [name, '1']));
    const problems = problemsOf({ ...environment, PORT: 'eighty', ROLE: 'boss' });
    expect(problems.map((problem) => /^\w+/.exec(problem)?.[0])).toEqual(['ROLE', 'PORT', ...names]);
  });

  it.each([
    'WEBHOOK_DENY_CIDRS',
    'WEBHOOK_DENY_HOSTS',
  ])('or an earlier name, %s, is refused with the setting to use', (name) => {
    expect(problemsOf({ [name]: '198.51.100.0/24' })).toEqual([`${name} is not a setting: set WEBHOOK_DENY instead`]);
  });

  it('is no setting, and has its value in every config', () => {
    expect(names.filter((name) => name in settings)).toEqual([]);
    expect(loadConfig({})).toMatchObject(constantValues());
  });
});

describe('the constants', () => {
  const of = constantValues();

  it('keep money and partners safe', () => {
    expect(of).toMatchObject({ REQUIRE_DURABLE_COMMITS: true, WEBHOOK_PORTS: [443] });
    // One exchange alone never makes a price.
    expect(of.PRICE_MIN_SOURCES).toBeGreaterThanOrEqual(2);
    // 0 would turn the comparisons off.
    expect(of.RECONCILE_EVERY_SEC).toBeGreaterThan(0);
    for (const name of ['FEE_SHARE_REFUNDS', 'FEE_SHARE_SWEEPS', 'FEE_SHARE_PARTNER'] as const) {
      expect(Number(of[name])).toBeGreaterThan(0);
      expect(Number(of[name])).toBeLessThanOrEqual(0.5);
    }
  });

  it('let no user choose between an old price and the market', () => {
    expect(of.PRICE_REFRESH_SEC).toBeLessThanOrEqual(of.PRICE_STALE_SEC);
    expect(of.PRICE_STALE_SEC).toBeLessThanOrEqual(of.PRICE_MAX_AGE_SEC);
    expect(of.PRICE_MAX_AGE_SEC).toBeLessThanOrEqual(300);
    expect(of.DEPOSIT_GRACE_SEC).toBeLessThanOrEqual(3_600);
    expect(Number(of.FIXED_MAX_DRIFT)).toBeLessThanOrEqual(0.02);
    expect(of.FIXED_RATE_WINDOW_SEC).toBeLessThanOrEqual(of.FIXED_RATE_HOLD_SEC);
    expect(of.FIXED_RATE_HOLD_SEC).toBeLessThanOrEqual(300);
  });

  it('leave exchanges out before a coin is paused, and take the drift of a window as agreement', () => {
    expect(Number(of.PRICE_DISAGREEMENT)).toBeLessThanOrEqual(Number(of.PRICE_OUTLIER));
    expect(Number(of.FIXED_MAX_DRIFT)).toBeLessThan(Number(of.PRICE_DISAGREEMENT));
  });

  it('poll a chain many times within a lease, and end a drain before the process is killed', () => {
    expect(of.CHAIN_POLL_MS * 10).toBeLessThanOrEqual(of.CHAIN_LEASE_MS);
    // 25 seconds after a signal a process ends itself.
    expect(of.DRAIN_GRACE_MS).toBeLessThanOrEqual(8_000);
    expect(of.DRAIN_GRACE_LOCAL_MS).toBeLessThanOrEqual(of.DRAIN_GRACE_MS);
  });
});

describe('the grace of a drain', () => {
  it('is short only where this machine alone reaches the gateway, without a proxy', () => {
    const graceOf = (environment: Record<string, string>): number => drainGraceMs(loadConfig(environment));
    expect(graceOf({})).toBe(constants.DRAIN_GRACE_LOCAL_MS.value);
    expect(graceOf({ TRUSTED_PROXIES: '127.0.0.1/32' })).toBe(constants.DRAIN_GRACE_MS.value);
    const shared = { DATABASE_URL: 'postgres://db/x', REDIS_URL: 'redis://r', TRUSTED_PROXIES: '10.0.0.0/8' };
    expect(graceOf({ ...shared, HOST: '0.0.0.0' })).toBe(constants.DRAIN_GRACE_MS.value);
  });
});
