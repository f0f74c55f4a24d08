import { ConfigError, environmentExample, loadConfig, settings } from '../../src/config.ts';

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  it('needs no setting', () => {
    expect(loadConfig({})).toMatchObject({
      PORT: 8080,
      INTERNAL_PORT: 8081,
      HOST: '127.0.0.1',
      ROLE: 'all',
      RATE_LIMIT_PUBLIC_PER_MIN: 60,
    });
  });

  it('is frozen', () => {
    expect(Object.isFrozen(loadConfig({}))).toBe(true);
  });

  it('names every wrong setting at once, each with a good value', () => {
    const problems = problemsOf({
      PORT: 'eighty',
      ROLE: 'boss',
      DATABASE_URL: 'mysql://x',
      TRUSTED_PROXIES: 'true',
      LOG_LEVEL: 'loud',
    });
    expect(problems).toHaveLength(5);
    for (const problem of problems) expect(problem).toContain('a good value: ');
  });

  it('never echoes a secret', () => {
    expect(problemsOf({ DATABASE_URL: 'hunter2', KEY_PEPPER: 'short-secret' }).join()).not.toMatch(
      /hunter2|short-secret/,
    );
  });

  it.each([
    'true',
    '1',
    '2',
    'loopback',
    '10.0.0.0',
    '10.0.0.0/33',
    'fe80::/200',
  ])('refuses %s as trusted proxies', (text) => {
    expect(problemsOf({ TRUSTED_PROXIES: text })).toHaveLength(1);
  });

  it('refuses a public address without a shared database, Redis and TLS or a proxy, and says what to set', () => {
    const [problem = ''] = problemsOf({ HOST: '0.0.0.0' });
    expect(problem).toMatch(/DATABASE_URL.*REDIS_URL.*TLS_CERT_FILE.*TRUSTED_PROXIES/);
    expect(
      problemsOf({
        HOST: '0.0.0.0',
        DATABASE_URL: 'postgres://db/x',
        REDIS_URL: 'redis://r',
        TRUSTED_PROXIES: '10.0.0.0/8',
      }),
    ).toEqual([]);
  });

  it('refuses a split role on an embedded database', () => {
    expect(problemsOf({ ROLE: 'worker' })[0]).toContain('DATABASE_URL');
  });

  it('reads versioned peppers, newest first', () => {
    const config = loadConfig({ KEY_PEPPER: `2:${'a'.repeat(32)},1:${'b'.repeat(32)}` });
    expect(config.KEY_PEPPER?.map((pepper) => pepper.version)).toEqual([2, 1]);
    expect(problemsOf({ KEY_PEPPER: `1:${'a'.repeat(32)},1:${'b'.repeat(32)}` })).toHaveLength(1);
  });

  it('explains every setting in .env.example', () => {
    for (const name of Object.keys(settings)) expect(environmentExample()).toContain(`\n${name}=`);
  });

  it('accepts the good value that it recommends, where it is literal', () => {
    for (const [name, row] of Object.entries(settings)) {
      if (['KEY_PEPPER', 'TLS_CERT_FILE', 'TLS_KEY_FILE', 'REDIS_URL'].includes(name)) continue;
      expect(() => row.parse(row.good)).not.toThrow();
    }
  });
});
