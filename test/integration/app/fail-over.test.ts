import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { createOrm } from '../../../src/app/orm.ts';
import { advisoryLocks, sqlState, withAdvisoryLock } from '../../../src/base/db/database.ts';
import { takeLimiterLock } from '../../../src/base/db/limiter-lock.ts';
import { JobQueue } from '../../../src/base/jobs/job-queue.ts';
import { createLog } from '../../../src/base/log.ts';
import { healthChecks } from '../../../src/surfaces/internal/health.ts';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { FaultPostgres } from '../../support/faults/fault-postgres.ts';
import { FaultProxy } from '../../support/faults/fault-proxy.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { listen } from '../../support/http/local-server.ts';

const write = `insert into setting (name, value) values (gen_random_uuid()::text, '')`;

/** The SQLSTATE with which a call fails; 'none' when it succeeds. */
async function stateOf(call: Promise<unknown>): Promise<string | null> {
  return call.then(
    () => 'none',
    (error: unknown) => sqlState(error) ?? String(error),
  );
}

describe('a session whose server takes no more writes', () => {
  let database: TestDatabase;
  let orm: MikroORM;
  let pool: Pool;

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  beforeEach(async () => {
    orm = await createOrm({
      url: database.url,
      poolSize: 3,
      onPool: (opened) => {
        pool = opened;
      },
    });
  });
  afterEach(() => orm.close(true));

  const execute = (sql: string): Promise<unknown> => orm.em.fork().execute(sql);
  /** Three sessions at once, which are all that the pool may have. */
  const three = (sql: string): Promise<unknown[]> =>
    Promise.all([1, 2, 3].map(() => orm.em.fork().execute(`${sql}; select pg_sleep(0.2)`)));

  it('is destroyed by the first refusal, and the idle ones next to it', async () => {
    await three('set default_transaction_read_only = on');
    expect(pool.idleCount).toBe(3);
    expect(await stateOf(execute(write))).toBe('25006');
    expect(pool.totalCount).toBe(0);
    await three(write);
    expect(pool.totalCount).toBe(3);
  });

  it('stays, and the idle ones next to it, after a request that is malformed itself', async () => {
    await three('select 1');
    const malformed = orm.em.fork().execute('select ?', ['a\0b']);
    expect(await stateOf(malformed)).toBe('08P01');
    expect([pool.idleCount, pool.totalCount]).toEqual([3, 3]);
    await three(write);
  });

  it('gives its place in the pool back after a transaction', async () => {
    await three('set default_transaction_read_only = on');
    const writing = orm.em.fork().transactional(async (em) => {
      await em.execute('select 1');
      await em.execute(write);
    });
    expect(await stateOf(writing)).toBe('25006');
    expect(pool.totalCount).toBe(0);
    await three(write);
  });

  it('leaves a neighbour in a transaction alone', async () => {
    await orm.em.fork().transactional(async (em) => {
      await em.execute(write);
      await execute('set default_transaction_read_only = on');
      expect(await stateOf(execute(write))).toBe('25006');
      await em.execute(write);
    });
    await expect(execute('select 1')).resolves.toBeDefined();
  });

  it('is destroyed when an administrator ends it, and the idle ones next to it', async () => {
    await three('select 1');
    const [victim] = await orm.em.fork().execute<{ pid: number }[]>('select pg_backend_pid() as pid');
    const held = stateOf(execute('select pg_sleep(60)'));
    const [sleeper] = await query<{ pid: number }>(
      database.url,
      `select pid from pg_stat_activity where datname = current_database() and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`,
    );
    expect(sleeper?.pid).toBe(victim?.pid);
    await query(database.url, 'select pg_terminate_backend($1)', [sleeper?.pid]);
    expect(await held).toBe('57P01');
    expect(pool.idleCount).toBe(0);
  });
});

describe('a standby', () => {
  let folder: string;
  let primary: FaultPostgres;
  let standby: FaultPostgres;
  let proxy: FaultProxy;
  let url: string;
  const log = createLog('silent');

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fail-over-'));
    // Root's PostgreSQL runs as another user, who must get through.
    await chmod(folder, 0o711);
    primary = await FaultPostgres.open(folder);
    await primary.rows('create table setting (name text primary key, value text not null)');
    standby = await primary.standby(join(folder, 'standby'), { name: 'standby', isSynchronous: true });
    proxy = await FaultProxy.open(standby.socket);
    url = primary.urlThrough(proxy.port);
  });
  afterAll(async () => {
    await proxy.close();
    await primary.stop();
    await standby.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('is refused as a server, for reads and locks also', async () => {
    const orm = await createOrm({ url, poolSize: 2 });
    expect(await stateOf(orm.em.fork().execute('select 1'))).toBe('25006');
    await orm.close(true);
    expect(await stateOf(withAdvisoryLock(url, advisoryLocks.migrate, async () => {}))).toBe('25006');
    expect(await stateOf(takeLimiterLock(url, true, log))).toBe('25006');
    const jobs = new JobQueue(url, log);
    expect(await stateOf(jobs.start())).toBe('25006');
    await jobs.stop();
  });

  it('ends the start with advice', async () => {
    await expect(startGateway({ databaseUrl: url })).rejects.toThrow(
      /^PostgreSQL at DATABASE_URL is a standby, which takes no writes: name the primary, .* promote the standby/,
    );
  });

  it('makes /readyz 503 until it is promoted, and needs no restart then', async () => {
    const orm = await createOrm({ url, poolSize: 2 });
    const answers = healthChecks(orm, () => false);
    const server = createServer((req, res) => void answers(req, res));
    const port = await listen(server);
    const ready = async (): Promise<unknown> => (await fetch(`http://127.0.0.1:${port}/readyz`)).json();
    expect(await ready()).toEqual({ status: 'unavailable', reason: 'PostgreSQL takes no writes' });
    await primary.kill();
    await standby.promote();
    // The schema of the table is not the gateway's, which is the next thing that it checks.
    while (JSON.stringify(await ready()).includes('PostgreSQL'));
    expect(await ready()).toEqual({ status: 'unavailable', reason: 'migrations are missing' });
    expect(await stateOf(orm.em.fork().execute(write))).toBe('none');
    await new Promise((resolve) => server.close(resolve));
    await orm.close(true);
  });
});
