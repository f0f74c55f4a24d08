import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { createOrm } from '../../../src/app/orm.ts';
import { givenRows, prepared, replanned } from '../../../src/base/db/prepared.ts';
import { sql, sqlRows } from '../../../src/base/db/sql.ts';
import { createDatabase } from '../../support/database/database.ts';

let database: { url: string; drop(): Promise<void> };
let orm: MikroORM;

beforeAll(async () => {
  database = await createDatabase();
  orm = await createOrm({ url: database.url, poolSize: 1 });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

const odd = ['a,"b"', '\\{}\n', 'NULL', '', '?', '$1'];
const text = 'select :texts::text[] as texts, :one::text as one, :hash::bytea as hash, :one::text is null as none';
const values = { texts: odd, one: '$2 ? :one', hash: Buffer.from([0, 255]) };
const row = { texts: odd, one: '$2 ? :one', hash: Buffer.from([0, 255]), none: false };

const places: [string, <T>(work: (em: EntityManager) => Promise<T>) => Promise<T>][] = [
  ['without a transaction', (work) => work(orm.em.fork())],
  ['in a transaction', (work) => orm.em.fork().transactional(work)],
];

describe.each(places)('a statement %s', (_place, run) => {
  it('takes values by place', async () => {
    const found = await run((em) => sql(em, 'select ?::text as a, ?::bytea as b', ['$1', values.hash]));
    expect(found).toEqual([{ a: '$1', b: values.hash }]);
  });

  it.each([
    ['prepared', prepared],
    ['replanned', replanned],
  ])('takes values by name when it is %s', async (name, make) => {
    const statement = make(`test_${name}`, text);
    expect(await run((em) => sql(em, statement, values))).toEqual([row]);
    const absent = await run((em) => sql(em, statement, { texts: [], one: null, hash: null }));
    expect(absent).toEqual([{ texts: [], one: null, hash: null, none: true }]);
  });

  it('takes rows', async () => {
    const statement = prepared(
      'test_rows',
      `with ${givenRows({ name: 'text', size: 'integer', hash: 'bytea' })} select * from asked order by n`,
    );
    const rows = odd.map((name, size) => ({ name, size, hash: size === 0 ? null : values.hash }));
    const found = await run((em) => sqlRows<{ n: unknown }>(em, statement, rows));
    expect(found.map(({ n: _n, ...one }) => one)).toEqual(rows);
  });
});

it('sees what its transaction has written, and is undone with it', async () => {
  const count = prepared('test_settings', `select count(*)::int as count from setting where name = 'of a test'`);
  const counted = (em: EntityManager) => sql<{ count: number }>(em, count, {});
  const undo = new Error('undo');
  const undone = orm.em.fork().transactional(async (em) => {
    await sql(em, `insert into setting (name, value) values ('of a test', '1')`);
    expect(await counted(em)).toEqual([{ count: 1 }]);
    throw undo;
  });
  await expect(undone).rejects.toBe(undo);
  expect(await counted(orm.em.fork())).toEqual([{ count: 0 }]);
});
