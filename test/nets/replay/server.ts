import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testConfig, testSettings } from '../../support/gateway/settings.ts';
import { startApp, startEmbeddedPostgres } from './product.ts';

/**
 * Starts the PostgreSQL of a day outside Jest, with the template that test databases are copies of.
 * Returns what ends it.
 */
export async function startServer(): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-replay-'));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    ephemeral: true,
    maxConnections: 200,
    database: 'template_gateway',
  });
  const stop = async (): Promise<void> => {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const config = testConfig({ DATA_DIR: dataDir, DATABASE_URL: postgres.url, ...testSettings, LOG_LEVEL: 'error' });
    const app = await startApp({ config, databaseUrl: postgres.url, embedded: true, outside: { background: false } });
    await app.stop();
  } catch (error) {
    await stop();
    throw error;
  }
  process.env.TEST_DATA_DIR = dataDir;
  process.env.TEST_POSTGRES_URL = postgres.url;
  return stop;
}
