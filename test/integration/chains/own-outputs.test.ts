import type { MikroORM } from '@mikro-orm/postgresql';
import { createOrm } from '../../../src/app/orm.ts';
import { forgetOutputs, ownOutputs, recordOutputs } from '../../../src/chains/own-outputs.ts';
import { createDatabase } from '../../support/database/database.ts';

let database: { url: string; drop(): Promise<void> };
let orm: MikroORM;

beforeAll(async () => {
  database = await createDatabase();
  orm = await createOrm({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

it('finds the outputs of ours that a transaction spends, until its block is gone', async () => {
  const [made, spending] = ['a'.repeat(64), 'b'.repeat(64)];
  const output = { address: 'hot', amount: 5n, height: 7, blockHash: 'block-7', index: null };
  const found = [0, 1, 2].map((place) => ({ ...output, key: `${made}:${place}` }));
  const spends = [0, 1].map((place) => ({ key: `${made}:${place}`, txid: spending, height: 8, blockHash: 'block-8' }));
  for (const chain of ['litecoin', 'bitcoin']) await recordOutputs(orm.em.fork(), chain, found, []);
  await recordOutputs(orm.em.fork(), 'litecoin', [], spends);

  const outputs = ownOutputs(orm);
  const told = await outputs.spentBy('litecoin', spending);
  const spentBy = { txid: spending, height: 8, blockHash: 'block-8' };
  expect(told.toSorted((a, b) => (a.key < b.key ? -1 : 1))).toEqual(
    found.slice(0, 2).map((one) => ({ ...one, spentBy })),
  );
  expect(await outputs.spentBy('bitcoin', spending)).toEqual([]);
  expect(await outputs.spentBy('litecoin', made)).toEqual([]);
  await forgetOutputs(orm.em.fork(), 'litecoin', ['block-8']);
  expect(await outputs.spentBy('litecoin', spending)).toEqual([]);
});
