import { unsafeCombinations } from './checks.ts';
import { type Constants, constantValues, refusedNames } from './constants.ts';
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
 * @param others constants with other values, for tests. A program passes none.
 * @throws ConfigError naming every wrong setting at once, each with a good value; secrets are never
 *   echoed.
 */
export function loadConfig(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  others: Partial<Constants> = {},
): Config {
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
  const values = { ...Object.fromEntries(entries), ...constantValues(), ...others };
  const config = Object.freeze(values) as unknown as Config;
  if (problems.length === 0) problems.push(...unsafeCombinations(config));
  problems.push(...refusedNames(environment));
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
