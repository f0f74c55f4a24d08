import { pools } from '../../../src/app/open-database.ts';
import { loadConfig } from '../../../src/config/load-config.ts';

it.each([
  'requests',
  'replays',
  'cabinet',
  'staff',
] as const)('a statement of %s gives up a lock before it is ended itself', (use) => {
  const { lockTimeoutMs = Number.POSITIVE_INFINITY, statementTimeoutMs = 0 } = pools[use](loadConfig({}));
  expect(lockTimeoutMs).toBeLessThan(statementTimeoutMs);
});
