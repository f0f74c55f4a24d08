import { unsafeCombinations } from './checks.ts';
import { BadSetting } from './parsers.ts';
import { type Config, type Setting, settings } from './settings.ts';

/** Names every wrong setting at once, each with a good value. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`cannot start, ${problems.length === 1 ? 'one setting is' : 'these settings are'} wrong:`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads all settings from the environment. Empty counts as absent. The result is frozen. Secrets
 * are removed from the process's own environment, so this reads it once.
 *
 * @throws ConfigError naming every wrong setting at once, each with a good value; secrets are never
 *   echoed.
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
  if (config.WEBHOOK_ALLOW_LOOPBACK && environment.NODE_ENV === 'production') {
    problems.push('WEBHOOK_ALLOW_LOOPBACK=true is for tests, and NODE_ENV=production says that this is none: unset it');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/**
 * The environment with its secrets, for processes like this one. `loadConfig` removes them, so it
 * is taken before.
 */
export function wholeEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env };
}

function forgetSecrets(): void {
  for (const [name, row] of Object.entries(settings) as [string, Setting<unknown>][]) {
    if (row.secret) delete process.env[name];
  }
}
