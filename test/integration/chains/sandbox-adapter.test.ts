import { randomBytes } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { Client } from 'pg';
import { ChainError, type SignedTx } from '../../../src/chains/chain-adapter.ts';
import { SandboxAdapter } from '../../../src/chains/sandbox/sandbox-adapter.ts';
import { SandboxChain } from '../../../src/chains/sandbox/sandbox-chain.ts';
import {
  decodePayload,
  encodePayload,
  openSandboxTx,
  type SandboxPayload,
  sandboxAddress,
  signSandboxTx,
} from '../../../src/chains/sandbox/sandbox-tx.ts';
import { createOrm } from '../../../src/db/orm.ts';
import { describeChainAdapter } from '../../support/chain-conformance.ts';
import { TestClock } from '../../support/clock.ts';
import { createDatabase } from '../../support/database.ts';

const coin = 100_000_000n;
const token = '0xtoken';
const clock = new TestClock();
let database: { url: string; drop(): Promise<void> };
let orm: MikroORM;
let node: SandboxChain;
let client: Client;
let statements = 0;

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

interface Account {
  readonly key: Uint8Array;
  readonly address: string;
}

function makeAccount(): Account {
  const key = randomBytes(32);
  return { key, address: sandboxAddress(ed25519.getPublicKey(key)) };
}

let chains = 0;

/** A chain of one's own with an account that has 1,000 coins and as many of a token. */
async function openChain(): Promise<{ chain: string; account: Account }> {
  chains += 1;
  const chain = `test-${chains}`;
  const account = makeAccount();
  await node.open([chain]);
  await node.fund(chain, account.address, null, 1_000n * coin);
  await node.fund(chain, account.address, token, 1_000n * coin);
  return { chain, account };
}

function signedBy({ key, address }: Account, chain: string, changes: Partial<SandboxPayload> & { nonce: number }) {
  const payload = encodePayload({
    chain,
    from: address,
    to: 'somebody',
    tag: null,
    contract: null,
    amount: '5',
    fee: '1000',
    ...changes,
  });
  const raw = signSandboxTx(payload, key);
  return { raw, txid: openSandboxTx(raw).txid };
}

async function rowsOf<Row extends object>(sql: string, values: unknown[]): Promise<Row[]> {
  return (await client.query<Row>(sql, values)).rows;
}

async function chainRow(chain: string): Promise<{ height: string; busy_until: string }> {
  const [row] = await rowsOf<{ height: string; busy_until: string }>(
    'select height, busy_until from sandbox_chain where chain = $1',
    [chain],
  );
  if (row === undefined) throw new Error(`no chain ${chain}`);
  return row;
}

describeChainAdapter('the sandbox', async () => {
  const { chain, account } = await openChain();
  const adapter = new SandboxAdapter({ chain, node, hotAddress: account.address, busyBlocks: 3 });
  let addresses = 0;
  return {
    adapter,
    token,
    tag: 'tag-7',
    address: () => {
      addresses += 1;
      return `address-${addresses}`;
    },
    pay: (to, tag, contract, amount) => node.pay(chain, { to, tag, contract, amount, busyBlocks: 3 }),
    mine: (blocks) => node.mine(chain, blocks),
    reorg: (depth, blocks = depth) => node.reorg(chain, depth, { blocks }),
    sign: async (_intent, { payload, reserves, expiresAt }) => {
      const raw = signSandboxTx(payload, account.key);
      return { raw, txid: openSandboxTx(raw).txid, reserves, expiresAt };
    },
    drop: async (txid) => {
      await node.drop(chain, txid);
    },
    conflict: async (tx): Promise<SignedTx> => {
      const { nonce } = decodePayload(tx.raw.split('#')[0] ?? '');
      const other = signedBy(account, chain, { nonce, to: 'another', fee: '2000' });
      expect((await node.submit(other.raw, 3)).outcome).toBe('accepted');
      return { ...other, reserves: tx.reserves, expiresAt: null };
    },
    refuse: (address) => node.refuse(chain, address),
    stop: async () => {},
  };
});

describe('SandboxChain', () => {
  it('opens a chain once, however many processes start', async () => {
    const names = ['open-b', 'open-a', 'open-c'];
    await Promise.all([node.open(names), node.open([...names].reverse()), node.open(names)]);
    const heads = await node.heads();
    for (const name of names) {
      expect(heads.get(name)).toEqual({
        height: 0,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        parent: '0'.repeat(64),
        timeMs: clock.now().getTime(),
      });
    }
    await node.open(names);
    expect(await node.heads()).toEqual(heads);
    expect(await node.head('open-a')).toEqual(heads.get('open-a'));
  });

  it('knows no chain that was not opened', async () => {
    for (const question of [
      () => node.head('nowhere'),
      () => node.range('nowhere', 0, 1),
      () => node.mine('nowhere'),
      () => node.pay('nowhere', { to: 'somebody', tag: null, contract: null, amount: 1n, busyBlocks: 1 }),
      () => node.facts('nowhere', 'a', 'b', 0),
      () => node.submit(signedBy(makeAccount(), 'nowhere', { nonce: 0 }).raw, 1),
    ]) {
      await expect(question()).rejects.toThrow(new ChainError('x', 'there is no sandbox chain nowhere').message);
    }
  });

  it('takes nothing that its sender did not sign', async () => {
    const { chain, account } = await openChain();
    const { raw } = signedBy(account, chain, { nonce: 0 });
    const [payload = '', signature = ''] = raw.split('#');
    const forgeries = [
      'nonsense',
      payload,
      `${raw.slice(0, -1)}x`,
      `${payload.replace('"amount":"5"', '"amount":"6"')}#${signature}`,
      signSandboxTx(payload, makeAccount().key),
    ];
    for (const forged of forgeries) {
      expect(await node.submit(forged, 3)).toEqual({ outcome: 'rejected', code: 'bad_signature' });
    }
    expect(await node.submit(raw, 3)).toEqual({ outcome: 'accepted', code: null });
  });

  it('says why it does not take a transaction', async () => {
    const { chain, account } = await openChain();
    const submit = async (nonce: number, changes: Partial<SandboxPayload> = {}) => {
      return (await node.submit(signedBy(account, chain, { nonce, ...changes }).raw, 3)).code;
    };
    expect(await submit(0)).toBeNull();
    expect(await submit(0, { to: 'another' })).toBe('underpriced');
    await node.mine(chain);
    expect(await submit(0, { to: 'another', fee: '9000' })).toBe('nonce_too_low');
    expect(await submit(1, { amount: '0' })).toBe('malformed');
    expect(await submit(1, { contract: '' })).toBe('malformed');
    const left = 1_000n * coin - 1_005n;
    expect(await submit(1, { amount: (left - 999n).toString() })).toBe('insufficient_funds');
    expect(await submit(1, { contract: token, amount: (1_000n * coin + 1n).toString() })).toBe('insufficient_funds');
    expect(await submit(1, { contract: 'unheard-of' })).toBe('insufficient_funds');
    expect(await submit(1, { amount: (left - 1_000n).toString() })).toBeNull();
    const stranger = signedBy(makeAccount(), chain, { nonce: 0 });
    expect((await node.submit(stranger.raw, 3)).code).toBe('insufficient_funds');
  });

  it('lets a higher fee replace what waits with the same nonce', async () => {
    const { chain, account } = await openChain();
    const low = signedBy(account, chain, { nonce: 0, to: 'low' });
    const high = signedBy(account, chain, { nonce: 0, to: 'high', fee: '1001' });
    await node.submit(low.raw, 3);
    expect(await node.submit(high.raw, 3)).toEqual({ outcome: 'accepted', code: null });
    expect((await node.mempool(chain)).map(({ txid }) => txid)).toEqual([high.txid]);
    expect(await node.submit(low.raw, 3)).toEqual({ outcome: 'rejected', code: 'underpriced' });
    await node.mine(chain);
    expect(
      await node.balances(
        chain,
        [
          { address: 'low', tag: null },
          { address: 'high', tag: null },
        ],
        null,
      ),
    ).toEqual([0n, 5n]);
  });

  it('mines what spends more than is left as a failure, and leaves what cannot pay its fee', async () => {
    const { chain, account } = await openChain();
    const most = (1_000n * coin - 1_500n).toString();
    const [first, second, third] = [0, 1, 2].map((nonce) =>
      signedBy(account, chain, { nonce, amount: most, fee: '500' }),
    );
    for (const tx of [first, second, third]) expect((await node.submit(tx?.raw ?? '', 3)).outcome).toBe('accepted');
    const fourth = signedBy(account, chain, { nonce: 3 });
    await node.submit(fourth.raw, 3);
    await node.mine(chain, 2);
    const facts = await Promise.all(
      [first, second, third, fourth].map((tx, nonce) => node.facts(chain, tx?.txid ?? '', account.address, nonce)),
    );
    expect(facts.map(({ tx }) => [tx?.state, tx?.success])).toEqual([
      ['mined', true],
      ['mined', false],
      ['mined', false],
      ['mempool', null],
    ]);
    await node.pay(chain, { to: account.address, tag: null, contract: null, amount: 2_000n, busyBlocks: 1 });
    await node.mine(chain, 2);
    expect((await node.facts(chain, fourth.txid, account.address, 3)).tx).toMatchObject({
      state: 'mined',
      success: true,
    });
  });

  it('gives an account what its address had received before', async () => {
    const { chain } = await openChain();
    const { address } = makeAccount();
    await node.pay(chain, { to: address, tag: null, contract: null, amount: 7n, busyBlocks: 1 });
    await node.pay(chain, { to: address, tag: 'x', contract: token, amount: 8n, busyBlocks: 1 });
    await node.mine(chain);
    await node.fund(chain, address, null, 100n);
    const whole = [{ address, tag: null }];
    expect([await node.balances(chain, whole, null), await node.balances(chain, whole, token)]).toEqual([[107n], [8n]]);
    await expectSound(chain);
  });

  it('funds in a block of its own, in the transaction of the caller', async () => {
    const { chain, account } = await openChain();
    const { height } = await node.head(chain);
    await node.pay(chain, { to: 'somebody', tag: null, contract: null, amount: 1n, busyBlocks: 1 });
    const failing = orm.em.fork().transactional(async (em) => {
      await node.fund(chain, account.address, null, 5n, em);
      throw new Error('the caller changed its mind');
    });
    await expect(failing).rejects.toThrow('changed its mind');
    expect((await node.head(chain)).height).toBe(height);
    await orm.em.fork().transactional((em) => node.fund(chain, account.address, null, 5n, em));
    expect((await node.head(chain)).height).toBe(height + 1);
    expect(await node.mempool(chain)).toHaveLength(1);
    await expectSound(chain);
  });

  it('takes payments again after a refusal has ended', async () => {
    const { chain, account } = await openChain();
    await node.refuse(chain, 'somebody');
    await node.submit(signedBy(account, chain, { nonce: 0 }).raw, 1);
    await node.mine(chain);
    await node.accept(chain, 'somebody');
    await node.submit(signedBy(account, chain, { nonce: 1 }).raw, 1);
    await node.pay(chain, { to: 'somebody', tag: null, contract: null, amount: 1n, busyBlocks: 1 });
    await node.mine(chain);
    expect(await node.balances(chain, [{ address: 'somebody', tag: null }], null)).toEqual([6n]);
  });

  it('takes 2,000 transactions a block, the oldest first', async () => {
    const { chain } = await openChain();
    await rowsOf(
      `insert into sandbox_tx (chain, txid, recipient, amount, fee, state, seen_at)
       select $1, 'tx-' || i, 'somebody', 1, 0, 'mempool', now() from generate_series(1, 2001) i`,
      [chain],
    );
    await node.mine(chain);
    expect((await node.mempool(chain)).map(({ txid }) => txid)).toEqual(['tx-2001']);
    await node.mine(chain);
    expect(await node.balances(chain, [{ address: 'somebody', tag: null }], null)).toEqual([2001n]);
  });

  it('drops the transactions of a reorganisation when told to', async () => {
    const { chain } = await openChain();
    await node.pay(chain, { to: 'somebody', tag: null, contract: null, amount: 1n, busyBlocks: 1 });
    await node.mine(chain);
    await node.reorg(chain, 1, { keep: false });
    await node.mine(chain, 2);
    expect(await node.balances(chain, [{ address: 'somebody', tag: null }], null)).toEqual([0n]);
  });

  it('leaves the first block of a chain where it is', async () => {
    const { chain } = await openChain();
    const genesis = (await node.range(chain, 0, 0)).blocks.get(0);
    await node.reorg(chain, 1_000, { blocks: 1 });
    expect((await node.range(chain, 0, 0)).blocks.get(0)).toEqual(genesis);
    expect((await node.head(chain)).height).toBe(1);
    await node.mine(chain);
    await expectSound(chain);
  });

  it('stays whole when everything happens at once', async () => {
    const { chain, account } = await openChain();
    const raws = Array.from({ length: 10 }, (_, nonce) => signedBy(account, chain, { nonce }).raw);
    await Promise.all([
      ...raws.map((raw) => node.submit(raw, 3)),
      ...raws.map((raw) => node.submit(raw, 3)),
      ...raws.map(() => node.mine(chain)),
      ...raws.map((_, i) => node.reorg(chain, i % 3)),
      ...raws.map(() => node.fund(chain, account.address, null, 1n)),
      ...raws.map(() =>
        node.pay(chain, { to: account.address, tag: null, contract: token, amount: 1n, busyBlocks: 1 }),
      ),
    ]);
    await node.mine(chain);
    await expectSound(chain);
    expect(await node.mempool(chain)).toEqual([]);
    expect(await node.nextNonce(chain, account.address)).toBe(10);
    const whole = [{ address: account.address, tag: null }];
    expect(await node.balances(chain, whole, null)).toEqual([1_000n * coin + 10n - 10n * 1_005n]);
    expect(await node.balances(chain, whole, token)).toEqual([1_000n * coin + 10n]);
  });

  it('reads many blocks at once, and an idle chain not at all', async () => {
    const { chain, account } = await openChain();
    const adapter = new SandboxAdapter({ chain, node, hotAddress: account.address, busyBlocks: 1 });
    const cursor = await adapter.start(0);
    await node.mine(chain, 50);
    // One more than the reads themselves: the question whether anything has happened, for all chains at once.
    statements = 0;
    const { cursor: next } = await adapter.scan(cursor, 100);
    expect(statements).toBeLessThanOrEqual(2);
    statements = 0;
    expect((await adapter.scan(next, 100)).cursor).toEqual(next);
    expect(statements).toBeLessThanOrEqual(1);
    await node.reorg(chain, 20);
    statements = 0;
    expect((await adapter.scan(next, 100)).orphaned).toHaveLength(20);
    expect(statements).toBeLessThanOrEqual(3);
  });

  it('says that it does not answer when the database does not', async () => {
    const away = await createOrm({ url: 'postgres://nobody@127.0.0.1:1/nothing', poolSize: 1 });
    try {
      const adapter = new SandboxAdapter({
        chain: 'bitcoin',
        node: new SandboxChain({ orm: away, clock }),
        hotAddress: 'hot',
        busyBlocks: 1,
      });
      await expect(adapter.head()).rejects.toMatchObject({ name: 'ChainError', code: 'unreachable', retryable: true });
      const tx = signedBy(makeAccount(), 'bitcoin', { nonce: 0 });
      expect(await adapter.broadcast({ ...tx, reserves: [], expiresAt: null })).toEqual({
        outcome: 'uncertain',
        code: 'unreachable',
      });
    } finally {
      await away.close();
    }
  });
});

describe('blocks made by the clock', () => {
  const blockMs = 1_000;
  const heightOf = async (chain: string): Promise<number> => (await node.head(chain)).height;

  it('makes one block an interval while there is something to do, however many ask', async () => {
    const { chain } = await openChain();
    const start = await heightOf(chain);
    const tick = async (): Promise<number> => {
      clock.advance(blockMs);
      const mined = await Promise.all(Array.from({ length: 8 }, () => node.mineDue(blockMs)));
      await node.mineDue(blockMs);
      return mined.flat().filter((one) => one === chain).length;
    };
    expect(await tick()).toBe(0);
    await node.pay(chain, { to: 'somebody', tag: null, contract: null, amount: 1n, busyBlocks: 3 });
    for (let block = 1; block <= 3; block += 1) {
      expect(await tick()).toBeLessThanOrEqual(1);
      expect(await heightOf(chain)).toBe(start + block);
    }
    expect(await tick()).toBe(0);
    expect(await heightOf(chain)).toBe(start + 3);
  });

  it('makes no second block for a process that looked before and came late', async () => {
    const { chain } = await openChain();
    await node.pay(chain, { to: 'somebody', tag: null, contract: null, amount: 1n, busyBlocks: 5 });
    clock.advance(blockMs);
    const before = await heightOf(chain);
    /** Between the look and the transaction of the late one, the other process makes the block. */
    const fork = () => {
      const em = orm.em.fork();
      return {
        execute: em.execute.bind(em),
        transactional: async (work: Parameters<typeof em.transactional>[0]) => {
          await node.mineDue(blockMs);
          return em.transactional(work);
        },
      };
    };
    const late = new SandboxChain({ orm: { em: { fork } } as unknown as MikroORM, clock });
    expect(await late.mineDue(blockMs)).not.toContain(chain);
    expect(await heightOf(chain)).toBe(before + 1);
  });

  it('asks one statement when nothing is due', async () => {
    clock.advance(blockMs);
    await node.mineDue(blockMs);
    statements = 0;
    expect(await node.mineDue(blockMs)).toEqual([]);
    expect(statements).toBe(1);
  });

  it('still makes the promised blocks after a transaction that waited long, and after a reorganisation', async () => {
    const { chain, account } = await openChain();
    await node.submit(signedBy(account, chain, { nonce: 1 }).raw, 3);
    await node.mine(chain, 10);
    await node.submit(signedBy(account, chain, { nonce: 0 }).raw, 0);
    const tick = async () => {
      clock.advance(blockMs);
      await node.mineDue(blockMs);
    };
    const before = await heightOf(chain);
    for (let i = 0; i < 10; i += 1) await tick();
    expect(await heightOf(chain)).toBe(before + 3);

    await node.reorg(chain, 3);
    for (let i = 0; i < 10; i += 1) await tick();
    expect(await heightOf(chain)).toBe(before + 6);
    expect(await chainRow(chain)).toEqual({ height: String(before + 6), busy_until: String(before + 6) });
  });
});

describe('balances of accounts', () => {
  it('are the sums over the transactions, whatever is paid, mined and reorganised', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('pay' as const),
        to: fc.integer({ min: 0, max: 2 }),
        isToken: fc.boolean(),
        amount: fc.bigInt({ min: 1n, max: 10n ** 30n }),
      }),
      fc.record({
        kind: fc.constant('send' as const),
        from: fc.integer({ min: 0, max: 1 }),
        to: fc.integer({ min: 0, max: 3 }),
        isToken: fc.boolean(),
        /** In percent of the balance, so that some cannot be paid once others have been. */
        share: fc.integer({ min: 1, max: 90 }),
        skip: fc.constantFrom(0, 0, 0, 1),
        fee: fc.integer({ min: 0, max: 5_000 }),
      }),
      fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 3 }) }),
      fc.record({
        kind: fc.constant('reorg' as const),
        depth: fc.integer({ min: 1, max: 6 }),
        keep: fc.boolean(),
        blocks: fc.integer({ min: 0, max: 6 }),
      }),
      fc.record({ kind: fc.constant('drop' as const), place: fc.nat(5) }),
      fc.record({ kind: fc.constantFrom('refuse' as const, 'accept' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const { chain, account } = await openChain();
        const accounts = [account, makeAccount()];
        await node.fund(chain, accounts[1]?.address ?? '', null, coin);
        const names = [...accounts.map(({ address }) => address), 'outsider', 'refusing'];
        for (const one of steps) {
          if (one.kind === 'pay') {
            const { to, isToken, amount } = one;
            await node.pay(chain, {
              to: names[to] ?? '',
              tag: null,
              contract: isToken ? token : null,
              amount,
              busyBlocks: 1,
            });
          } else if (one.kind === 'send') {
            const from = accounts[one.from] ?? account;
            const contract = one.isToken ? token : null;
            const [balance] = await node.balances(chain, [{ address: from.address, tag: null }], contract);
            const [waiting] = await rowsOf<{ nonce: string | null }>(
              `select (max(nonce) + 1)::text as nonce from sandbox_tx
                where chain = $1 and sender = $2 and state = 'mempool'`,
              [chain, from.address],
            );
            const next = waiting?.nonce ?? (await node.nextNonce(chain, from.address));
            const amount = ((balance ?? 0n) * BigInt(one.share)) / 100n;
            const nonce = Number(next) + one.skip;
            const to = names[one.to] ?? '';
            const tx = signedBy(from, chain, { nonce, to, contract, amount: String(amount), fee: String(one.fee) });
            await node.submit(tx.raw, 1);
          } else if (one.kind === 'mine') await node.mine(chain, one.blocks);
          else if (one.kind === 'reorg') await node.reorg(chain, one.depth, { keep: one.keep, blocks: one.blocks });
          else if (one.kind === 'drop') {
            const txid = (await node.mempool(chain))[one.place]?.txid;
            if (txid !== undefined) await node.drop(chain, txid);
          } else await node[one.kind](chain, 'refusing');
          await expectSound(chain);
        }
        await node.mine(chain, 2);
        await expectSound(chain);
      }),
      { numRuns: 25 },
    );
  });
});

/** Balances and nonces are what the transactions in blocks make them, and the blocks join. */
async function expectSound(chain: string): Promise<void> {
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
                       where t.chain = a.chain and t.sender = a.address and t.state = 'mined')`,
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
