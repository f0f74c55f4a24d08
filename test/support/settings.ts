/** Settings of any gateway of a test: ports that are free, and nothing that makes it slow. */
export const testSettings = {
  PORT: '0',
  INTERNAL_PORT: '0',
  REQUIRE_DURABLE_COMMITS: 'false',
  DRAIN_GRACE_MS: '0',
} as const;
