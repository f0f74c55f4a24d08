import { spawnSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp } from '../../../src/app/app.ts';
import { startEmbeddedPostgres } from '../../../src/base/db/embedded/embedded-postgres.ts';
import { query } from '../database/database.ts';
import { testConfig, testSettings } from '../gateway/settings.ts';

/**
 * The one PostgreSQL of a test run, and a database in it that is migrated and seeded, from which
 * tests clone theirs.
 */
export default async function setup(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    ephemeral: true,
    maxConnections: 200,
    database: 'template_gateway',
  });
  const config = testConfig({
    DATA_DIR: dataDir,
    DATABASE_URL: postgres.url,
    ...testSettings,
    LOG_LEVEL: 'error',
  });
  const app = await startApp({ config, databaseUrl: postgres.url, embedded: true });
  await filledPools(postgres.url);
  await app.stop();

  const redis = spawnSync('redis-server', ['--version']).status === 0;
  if (!redis) {
    process.stderr.write(
      '\nThere is no redis-server here: the tests of Redis-backed limits do not run. To run them: apt-get install redis-server\n\n',
    );
  }
  process.env.TEST_DATA_DIR = dataDir;
  process.env.TEST_POSTGRES_URL = postgres.url;
  process.env.TEST_HAS_REDIS = redis ? 'yes' : 'no';
  (globalThis as { stopTestPostgres?: () => Promise<void> }).stopTestPostgres = async () => {
    await postgres.stop();
  };
}

/**
 * A first start is ready with few deposit addresses, and makes the others while it serves requests.
 */
async function filledPools(databaseUrl: string): Promise<void> {
  const sql = `select keychain, count(*)::int from deposit_address where leased_at is null group by keychain`;
  for (let i = 0; i < 3_000; i++) {
    const pools = await query<{ count: number }>(databaseUrl, sql);
    if (pools.length > 0 && pools.every(({ count }) => count === 300)) return;
    await sleep(100);
  }
  throw new Error('the pools of deposit addresses were not filled');
}
