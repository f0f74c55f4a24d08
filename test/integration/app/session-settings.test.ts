import { createOrm } from '../../../src/app/orm.ts';
import { DatabaseClient } from '../../../src/base/db/database-client.ts';
import { sql } from '../../../src/base/db/sql.ts';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { orderBody } from '../../support/gateway/orders.ts';

/** What a database was altered to, and what sessions of ours have all the same. */
const altered = {
  DateStyle: ['German, DMY', 'ISO, MDY'],
  TimeZone: ['Asia/Kolkata', 'UTC'],
  IntervalStyle: ['sql_standard', 'postgres'],
  extra_float_digits: ['-15', '1'],
  bytea_output: ['escape', 'hex'],
  standard_conforming_strings: ['off', 'on'],
  array_nulls: ['off', 'on'],
  transform_null_equals: ['on', 'off'],
  default_transaction_isolation: ['serializable', 'read committed'],
  default_transaction_deferrable: ['on', 'off'],
  statement_timeout: ['1ms', '0'],
  lock_timeout: ['1ms', '0'],
  idle_in_transaction_session_timeout: ['1ms', '0'],
  idle_session_timeout: ['1s', '0'],
} as const;

const expected = Object.entries(altered).map(([name, [, setting]]) => ({ name, setting }));
const shown = Object.keys(altered)
  .map((name) => `select '${name}' as name, current_setting('${name}') as setting`)
  .join(' union all ');

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

/** Alters the settings, of which those of a role in a database are the strongest. */
async function alter(what: (name: string, database: string) => string): Promise<void> {
  const [own] = await query<{ name: string; role: string }>(
    database.url,
    'select current_database() as name, current_user as role',
  );
  const statements = Object.entries(altered).map(([name, [setting]]) => {
    return `${what(own?.name ?? '', own?.role ?? '')} set ${name} = '${setting}'`;
  });
  await query(database.url, statements.join('; '));
}

const ways: [string, (database: string, role: string) => string][] = [
  ['a database', (name) => `alter database ${name}`],
  ['a role in a database', (name, role) => `alter role ${role} in database ${name}`],
];

describe.each(ways)('sessions on %s with other settings', (_place, what) => {
  beforeEach(() => alter(what));

  it('have the settings that the gateway relies on: those of the mapper', async () => {
    const orm = await createOrm({ url: database.url, poolSize: 1, statementTimeoutMs: 0 });
    try {
      expect(await sql(orm.em.fork(), shown)).toEqual(expected);

      const values = ['2026-02-03T04:05:06.789Z', Buffer.from([0, 92, 255]), 0.1 + 0.2, '{NULL,a}'];
      const read = `select ?::timestamptz as at, ?::bytea as bytes, ?::float8 as float, ?::text[] as texts, '\\' as text`;
      expect(await sql(orm.em.fork(), read, values)).toEqual([
        { at: '2026-02-03 04:05:06.789+00', bytes: values[1], float: 0.1 + 0.2, texts: [null, 'a'], text: '\\' },
      ]);
    } finally {
      await orm.close();
    }
  });

  it('have them with options in the URL too, and keep these options', async () => {
    const url = `${database.url}?options=-c%20work_mem%3D7MB%20-c%20datestyle%3DSQL`;
    const client = new DatabaseClient({ connectionString: url });
    await client.connect();
    try {
      const { rows } = await client.query(`${shown} union all select 'work_mem', current_setting('work_mem')`);
      expect(rows).toEqual([...expected, { name: 'work_mem', setting: '7MB' }]);
    } finally {
      await client.end();
    }
  });

  it('create an order, and read it with its times', async () => {
    const gateway = await startGateway({ databaseUrl: database.url });
    try {
      const before = Date.now();
      const { key } = await gateway.partner();
      const created = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
      expect(created.status).toBe(201);
      const found = await gateway.call('GET', `/partner/orders/${created.json.id}`, { key });
      expect(found.json).toEqual(created.json);
      expect(Date.parse(found.json.created_at)).toBeGreaterThanOrEqual(before - 1);
      expect(Date.parse(found.json.created_at)).toBeLessThanOrEqual(Date.now());
    } finally {
      await gateway.stop();
    }
  });
});
