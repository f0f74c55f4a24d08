import { randomBytes } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import { ed25519 } from '@noble/curves/ed25519.js';
import { Client } from 'pg';
import { createOrm } from '../../../src/app/orm.ts';
import type { Broadcast } from '../../../src/chains/port/chain-adapter.ts';
import type { SigningKey } from '../../../src/chains/port/transaction-signer.ts';
import { SandboxChain } from '../../../src/chains/sandbox/sandbox-chain.ts';
import {
  encodePayload,
  openSandboxTx,
  type SandboxPayload,
  sandboxAddress,
  signSandboxTx,
} from '../../../src/chains/sandbox/sandbox-tx.ts';
import { createDatabase } from '../database/database.ts';
import { TestClock } from '../gateway/clock.ts';

export const coin = 100_000_000n;
export const token = '0xtoken';
export const clock = new TestClock();
export let database: { url: string; drop(): Promise<void> };
export let orm: MikroORM;
export let node: SandboxChain;
export let client: Client;
export let statements = 0;

/** Counts the statements of the node from 0 again. */
export function countAgain(): void {
  statements = 0;
}

export interface Account {
  readonly key: Uint8Array;
  readonly address: string;
}

export function makeAccount(): Account {
  const key = randomBytes(32);
  return { key, address: sandboxAddress(ed25519.getPublicKey(key)) };
}

export function signingKeyOf({ key }: Account): SigningKey {
  return { privateKey: key, publicKey: ed25519.getPublicKey(key) };
}

export let chains = 0;

/** A chain of one's own with an account that has 1,000 coins and as many of a token. */
export async function openChain(): Promise<{ chain: string; account: Account }> {
  chains += 1;
  const chain = `test-${chains}`;
  const account = makeAccount();
  await node.open([chain]);
  await node.fund(chain, account.address, null, 1_000n * coin);
  await node.fund(chain, account.address, token, 1_000n * coin);
  return { chain, account };
}

export function signedBy(
  { key, address }: Account,
  chain: string,
  changes: Partial<SandboxPayload> & { nonce: number },
) {
  const payload = encodePayload({
    chain,
    from: address,
    to: 'stranger',
    tag: null,
    contract: null,
    amount: '5',
    fee: '1000',
    ...changes,
  });
  const raw = signSandboxTx(payload, key);
  return { raw, txid: openSandboxTx(raw).txid };
}

/** Hands one transaction to the node of its chain. */
export async function submitOne(chain: string, raw: string): Promise<Broadcast> {
  const [answer] = await node.submit(chain, [raw], 3);
  if (!answer) throw new Error('the node gave no answer');
  return answer;
}

export async function rowsOf<Row extends object>(sql: string, values: unknown[]): Promise<Row[]> {
  return (await client.query<Row>(sql, values)).rows;
}

export async function chainRow(chain: string): Promise<{ height: string; busy_until: string }> {
  const [row] = await rowsOf<{ height: string; busy_until: string }>(
    'select height, busy_until from sandbox_chain where chain = $1',
    [chain],
  );
  if (row === undefined) throw new Error(`no chain ${chain}`);
  return row;
}

/** Balances and nonces are what the transactions in blocks make them, and the blocks join. */
export async function expectSound(chain: string): Promise<void> {
  const wrongBalances = await rowsOf(
    `with moved as (
       select recipient as address, coalesce(contract, '') as contract, amount
         from sandbox_tx where chain = $1 and state = 'mined' and success
       union all
       select sender, coalesce(contract, ''), -amount
         from sandbox_tx where chain = $1 and state = 'mined' and success and sender is not null
       union all
       select sender, '', -fee from sandbox_tx where chain = $1 and state = 'mined' and sender is not null
     ), summed as (
       select m.address, m.contract, sum(m.amount) as amount from moved m
         join sandbox_account a on a.chain = $1 and a.address = m.address
        group by m.address, m.contract
     )
     select * from summed s
       full join (select * from sandbox_balance where chain = $1) b
         on b.address = s.address and b.contract = s.contract
      where coalesce(s.amount, 0) <> coalesce(b.amount, 0)`,
    [chain],
  );
  expect(wrongBalances).toEqual([]);
  const wrongNonces = await rowsOf(
    `select * from sandbox_account a where chain = $1
        and nonce <> (select count(*) from sandbox_tx t
                       where t.chain = a.chain and t.sender = a.address and t.nonce is not null
                         and t.state = 'mined')`,
    [chain],
  );
  expect(wrongNonces).toEqual([]);
  const looseBlocks = await rowsOf(
    `select b.height from sandbox_block b
       left join sandbox_block p on p.chain = b.chain and p.height = b.height - 1
      where b.chain = $1 and b.height > 0 and p.hash is distinct from b.parent
     union all
     select c.height from sandbox_chain c
      where c.chain = $1 and c.height <> (select max(height) from sandbox_block where chain = $1)
     union all
     select t.height from sandbox_tx t join sandbox_chain c using (chain)
      where t.chain = $1 and t.height > c.height`,
    [chain],
  );
  expect(looseBlocks).toEqual([]);
}

/** Gives the tests of the file a database with sandbox chains, and a node. */
export function withSandboxNode(): void {
  beforeAll(async () => {
    database = await createDatabase();
    orm = await createOrm({
      url: database.url,
      poolSize: 10,
      onStatement: () => {
        statements += 1;
      },
    });
    node = new SandboxChain({ orm, clock });
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await orm?.close();
    await database?.drop();
  });
}
