import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { seededOrders, seedOrders } from '../../support/database/seed-orders.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

/** Every index and constraint of the database. */
const schema = (): Promise<object[]> =>
  query(
    database.url,
    `select indexdef as made from pg_indexes where schemaname = 'public'
     union all
     select conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace
     order by made`,
  );

async function count(sql: string): Promise<number> {
  const [row] = await query<{ count: number }>(database.url, `select count(*)::int as count ${sql}`);
  return row?.count ?? -1;
}

describe('seeded orders', () => {
  it('leave the schema unchanged, whether indexes are made again or filled', async () => {
    const before = await schema();
    await seedOrders(database.url, { count: 50_010, partners: 3, days: 30, lean: true, jobs: 2 });
    expect(await schema()).toEqual(before);
    await seedOrders(database.url, { count: 40, partners: 3, days: 1, jobs: 1 });
    expect(await schema()).toEqual(before);
    expect(await seededOrders(database.url)).toBe(50_050);
    expect(await count('from exchange_order')).toBe(50_050);
  });

  it('have the history that their status says, an address and a partner each', async () => {
    expect(
      await count(
        `from exchange_order o
         join deposit_address d on d.id = o.deposit_address_id and d.leased_at is not null
         join partner p on p.id = o.partner_id
         join order_event e on e.order_id = o.id and e.seq = o.event_seq and e.to_status = o.status
        where (select count(*) from order_event x where x.order_id = o.id) = o.event_seq`,
      ),
    ).toBe(50_050);
  });

  it('get the indexes that a killed run left out', async () => {
    const before = await schema();
    await query(
      database.url,
      `create table seed_index as
       select 'exchange_order_short_id_key' as name, 'exchange_order' as "table", true as "unique",
              pg_get_indexdef('exchange_order_short_id_key'::regclass) as definition`,
    );
    await query(database.url, 'alter table exchange_order drop constraint exchange_order_short_id_key');
    expect(await schema()).not.toEqual(before);
    await seedOrders(database.url, { count: 0, partners: 0, days: 1, lean: true });
    expect(await schema()).toEqual(before);
  });
});
