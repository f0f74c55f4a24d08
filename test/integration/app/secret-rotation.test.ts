import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { hasPostgresPrograms, PackagedPostgres } from '../../support/database/packaged-postgres.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../../support/database/redis.ts';
import { type SteadyLoad, steadyLoad } from '../../support/faults/steady-load.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';

// Skipped on a machine without a packaged PostgreSQL.
const itWithPostgres = hasPostgresPrograms() ? it : it.skip;

const older = `1:${'a'.repeat(64)}`;
const newer = `2:${'b'.repeat(64)}`;

describeWithRedis('a secret that is changed under load, process by process', () => {
  let redis: TestRedis;
  let database: TestDatabase;
  let serving: { gateway: TestGateway; load: SteadyLoad }[] = [];
  const failures: string[] = [];
  let answered = 0;
  let key: string | undefined;

  const settingsOf = (settings: Record<string, string>) => ({
    REDIS_URL: redis.url,
    NODE_COUNT: '2',
    ROLE: 'all',
    ...settings,
  });

  /**
   * A process with these settings takes the place of another one: it is asked first, then the other
   * one ends.
   */
  async function replace(settings: Record<string, string>, databaseUrl = database.url): Promise<void> {
    const gateway = await startGateway({
      databaseUrl,
      settings: settingsOf(settings),
      outside: { background: false },
    });
    key ??= (await gateway.partner()).key;
    const load = steadyLoad(
      `${gateway.app.restUrl}/api/v1/partner/rates?coin_from=BTC&coin_to=USDT&network_to=TRC20`,
      2,
      {
        Authorization: `Bearer ${key}`,
      },
    );
    serving.push({ gateway, load });
    while (load.answered === 0 && load.failures.length === 0) await sleep(10);
    if (serving.length > 2) await end(serving.shift());
  }

  async function end(process: (typeof serving)[number] | undefined): Promise<void> {
    if (!process) return;
    await process.load.stop();
    failures.push(...process.load.failures);
    answered += process.load.answered;
    await process.gateway.stop();
  }

  const versions = async (): Promise<number[]> =>
    (await query<{ version: number }>(database.url, 'select pepper_version as version from api_key')).map(
      ({ version }) => version,
    );

  beforeEach(async () => {
    key = undefined;
    failures.length = 0;
    answered = 0;
    redis = await startRedis();
    database = await createDatabase();
  });
  afterEach(async () => {
    for (const process of serving) await end(process);
    serving = [];
    await database?.drop();
    await redis?.stop();
  });

  it('may be the pepper: keys move to the new one by being used, and the old one goes', async () => {
    await query(database.url, `delete from setting where name like 'pepper:%'`);
    await query(database.url, 'update staff_member set revoked_at = now()');
    await query(database.url, 'delete from api_key');
    for (let i = 0; i < 2; i++) await replace({ KEY_PEPPER: older });
    for (const KEY_PEPPER of [`${older},${newer}`, `${newer},${older}`]) {
      for (let i = 0; i < 2; i++) await replace({ KEY_PEPPER });
    }
    // A process that ends writes what it knows.
    await replace({ KEY_PEPPER: `${newer},${older}` });
    expect(await versions()).toEqual([2]);
    for (let i = 0; i < 2; i++) await replace({ KEY_PEPPER: newer });
    for (const process of serving.splice(0)) await end(process);
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(7);
  });

  itWithPostgres("may be the database's password: a second role takes over, and the first one ends", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-rotation-'));
    await chmod(folder, 0o711);
    const postgres = await PackagedPostgres.create(join(folder, 'cluster'));
    try {
      const settings = { KEY_PEPPER: older };
      for (let i = 0; i < 2; i++) await replace(settings, postgres.url());
      // As docs/secrets.md says.
      await query(postgres.superuserUrl(), `create role gateway_2 login password 'second' in role gateway`);
      await query(postgres.superuserUrl(), 'alter role gateway_2 set role gateway');
      const second = postgres.url({ user: 'gateway_2', password: 'second' });
      for (let i = 0; i < 2; i++) await replace(settings, second);
      await query(postgres.superuserUrl(), 'alter role gateway nologin');
      await expect(query(postgres.url(), 'select 1')).rejects.toThrow('not permitted to log in');
      for (let i = 0; i < 2; i++) await replace(settings, second);
      for (const process of serving.splice(0)) await end(process);
      expect(failures).toEqual([]);
      expect(answered).toBeGreaterThan(5);
      // What the second one makes belongs to the first.
      await query(second, 'create table made_later ()');
      const owners = await query<{ tableowner: string }>(
        second,
        `select distinct tableowner from pg_tables where schemaname = 'public'`,
      );
      expect(owners).toEqual([{ tableowner: 'gateway' }]);
    } finally {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
