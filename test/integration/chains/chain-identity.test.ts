import type { MikroORM } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import { claimIdentity, sandboxIdentity } from '../../../src/chains/chain-identity.ts';
import { createOrm } from '../../../src/db/orm.ts';
import { ChainLeases } from '../../../src/settlement/chain-lease.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

const chains = ['bitcoin', 'ethereum', 'litecoin', 'tron'];
let database: TestDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await createDatabase();
  orm = await createOrm({ url: database.url, poolSize: 4 });
  await start();
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

/** As a process does that starts, in whatever order its settings name the chains. */
async function start(named: readonly string[] = chains): Promise<void> {
  await orm.em.fork().transactional(async (em) => {
    for (const chain of named) expect(await claimIdentity(em, chain, sandboxIdentity)).toBeNull();
  });
}

describe('a process that starts', () => {
  it('does not wait for those who work on the chains', async () => {
    const holder = new Client(database.url);
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from chain_state for update');
      await start();
      await holder.query('rollback');
    } finally {
      await holder.end();
    }
  });

  it('and one that renews its leases do not wait for each other in a circle', async () => {
    const leases = new ChainLeases(orm, '00000000-0000-4000-8000-000000000001', 60_000, chains);
    await leases.open();
    for (let round = 0; round < 50; round++) {
      await Promise.all([leases.renew(), start(), start(chains.toReversed())]);
    }
  });

  it('refuses a chain that is another one in this database', async () => {
    const fault = await claimIdentity(orm.em.fork(), 'bitcoin', 'utxo:00');
    expect(fault).toMatch(/^bitcoin is the sandbox in this database, and utxo:00 by the settings/);
  });
});
