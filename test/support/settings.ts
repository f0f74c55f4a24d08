import { ConfigError, loadConfig } from '../../src/config.ts';

/** Settings of any gateway of a test: ports that are free, and nothing that makes it slow. */
export const testSettings = {
  PORT: '0',
  INTERNAL_PORT: '0',
  REQUIRE_DURABLE_COMMITS: 'false',
  DRAIN_GRACE_MS: '0',
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
