import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../../src/app/app.ts';
import { createOrm } from '../../../src/app/orm.ts';
import { schemaState } from '../../../src/base/db/database.ts';
import { startEmbeddedPostgres } from '../../../src/base/db/embedded/embedded-postgres.ts';
import { testConfig, testSettings } from '../gateway/settings.ts';

/** A migrated database with currencies. */
export interface BenchDatabase {
  readonly url: string;
  /** Where the keys of its gateway are. */
  readonly dataDir: string;
  close(): Promise<void>;
}

/**
 * DATABASE_URL's database, with the keys in DATA_DIR so that it can be used again, or one that ends
 * with the benchmark.
 */
export async function openBenchDatabase(): Promise<BenchDatabase> {
  const own = process.env.DATA_DIR === undefined ? await mkdtemp(join(tmpdir(), 'gateway-bench-')) : null;
  const dataDir = process.env.DATA_DIR ?? own ?? '';
  const given = process.env.DATABASE_URL;
  const postgres = given === undefined ? await startEmbeddedPostgres({ dataDir }) : null;
  const url = given ?? postgres?.url ?? '';
  const orm = await createOrm({ url, poolSize: 1 });
  const state = await schemaState(orm);
  await orm.close(true);
  // The first start makes the schema and the currencies. A database that has them keeps its own
  // keys.
  if (state !== 'current') {
    const config = testConfig({
      DATA_DIR: dataDir,
      DATABASE_URL: url,
      ...testSettings,
      LOG_LEVEL: 'warn',
    });
    const app = await startApp({ config, databaseUrl: url, embedded: true, outside: { background: false } });
    await app.stop();
  }
  return {
    url,
    dataDir,
    close: async () => {
      await postgres?.stop();
      if (own !== null) await rm(own, { recursive: true, force: true });
    },
  };
}
