import type { MikroORM } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import { createOrm } from '../../../src/app/orm.ts';
import { sandboxIdentity } from '../../../src/chains/families/chain-identity.ts';
import { claimIdentity } from '../../../src/chains/families/identity-store.ts';
import { ChainLeases } from '../../../src/settlement/turns/chain-lease.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

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

/**
 * Claims the identities as a starting process does, in the order in which its settings name the
 * chains.
 */
async function start(named: readonly string[] = chains): Promise<void> {
  await orm.em.fork().transactional(async (em) => {
    for (const chain of named) expect(await claimIdentity(em, chain, sandboxIdentity)).toBeNull();
  });
}

describe('a process that starts', () => {
  it('does not wait for the workers that hold the chains', async () => {
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

  it('and one that renews its leases do not deadlock', async () => {
    const leases = new ChainLeases(orm, '00000000-0000-4000-8000-000000000001', 60_000, chains);
    await leases.open();
    for (let round = 0; round < 50; round++) {
      await Promise.all([leases.renew(), start(), start(chains.toReversed())]);
    }
  });

  it('refuses a chain whose identity differs from the stored one', async () => {
    const fault = await claimIdentity(orm.em.fork(), 'bitcoin', 'utxo:00');
    expect(fault).toMatch(/^bitcoin is the sandbox in this database, and utxo:00 by the settings/);
  });
});
