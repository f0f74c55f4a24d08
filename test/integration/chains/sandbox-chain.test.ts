import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createOrm } from '../../../src/app/orm.ts';
import { type Broadcast, ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { SandboxAdapter } from '../../../src/chains/sandbox/sandbox-adapter.ts';
import { SandboxChain } from '../../../src/chains/sandbox/sandbox-chain.ts';
import { type SandboxPayload, signSandboxTx } from '../../../src/chains/sandbox/sandbox-tx.ts';
import {
  chainRow,
  clock,
  coin,
  countAgain,
  expectSound,
  makeAccount,
  node,
  openChain,
  orm,
  rowsOf,
  signedBy,
  statements,
  submitOne,
  token,
  withSandboxNode,
} from '../../support/chains/sandbox-node.ts';

withSandboxNode();

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
      () => node.pay('nowhere', { to: 'stranger', tag: null, contract: null, amount: 1n, busyBlocks: 1 }),
      () => node.facts('nowhere', [{ txid: 'a', from: 'b', nonce: 0 }], 2),
      () => node.submit('nowhere', [signedBy(makeAccount(), 'nowhere', { nonce: 0 }).raw], 1),
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
      expect(await node.submit(chain, [forged], 3)).toEqual([{ outcome: 'rejected', code: 'bad_signature' }]);
    }
    expect(await node.submit(chain, [raw], 3)).toEqual([{ outcome: 'accepted', code: null }]);
  });

  it('says why it does not take a transaction', async () => {
    const { chain, account } = await openChain();
    const submit = async (nonce: number, changes: Partial<Omit<SandboxPayload, 'nonce'>> = {}) => {
      return (await submitOne(chain, signedBy(account, chain, { nonce, ...changes }).raw)).code;
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
    expect((await submitOne(chain, stranger.raw)).code).toBe('insufficient_funds');
  });

  it('takes transactions together as it takes each by itself', async () => {
    const one = fc.record({
      kind: fc.constantFrom('sound', 'sound', 'sound', 'unsigned', 'elsewhere', 'again'),
      of: fc.nat(1),
      nonce: fc.nat(2),
      fee: fc.constantFrom('1000', '1001', '2000'),
      amount: fc.constantFrom('5', '6', '0', `${999n * coin}`),
      contract: fc.constantFrom(null, token, ''),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 8 }), fc.boolean(), async (list, hasBlock) => {
        const run = async (isTogether: boolean) => {
          const { chain, account } = await openChain();
          const other = makeAccount();
          await node.fund(chain, other.address, null, 10n * coin);
          const raws: string[] = [];
          for (const { kind, of, nonce, fee, amount, contract } of list) {
            const where = kind === 'elsewhere' ? 'test-elsewhere' : chain;
            const { raw } = signedBy(of === 0 ? account : other, where, { nonce, fee, amount, contract });
            raws.push(kind === 'unsigned' ? `${raw.slice(0, -1)}x` : kind === 'again' ? (raws.at(-1) ?? raw) : raw);
          }
          if (hasBlock) {
            await submitOne(chain, signedBy(account, chain, { nonce: 0, fee: '1001' }).raw);
            await node.mine(chain);
          }
          const answers: Broadcast[] = isTogether ? [...(await node.submit(chain, raws, 3))] : [];
          if (!isTogether) for (const raw of raws) answers.push(await submitOne(chain, raw));
          const waiting = await rowsOf(
            `select sender = $2 as is_account, nonce, fee, amount, contract, state from sandbox_tx
              where chain = $1 and sender is not null order by seq`,
            [chain, account.address],
          );
          const { height, busy_until: busy } = await chainRow(chain);
          await node.mine(chain, 2);
          await expectSound(chain);
          return { answers, waiting, busy: Number(busy) - Number(height) };
        };
        expect(await run(true)).toEqual(await run(false));
      }),
      { numRuns: 40 },
    );
  });

  it('takes a group in six statements, and tells of it in one', async () => {
    const { chain, account } = await openChain();
    const txs = Array.from({ length: 20 }, (_, nonce) => signedBy(account, chain, { nonce }));
    countAgain();
    const answers = await node.submit(
      chain,
      txs.map(({ raw }) => raw),
      3,
    );
    expect(answers).toEqual(txs.map(() => ({ outcome: 'accepted', code: null })));
    expect(statements).toBe(6);
    await node.mine(chain);
    countAgain();
    const facts = await node.facts(
      chain,
      txs.map(({ txid }, nonce) => ({ txid, from: account.address, nonce })),
      2,
    );
    expect(facts.map(({ tx }) => tx?.state)).toEqual(txs.map(() => 'mined'));
    expect(statements).toBe(1);
  });

  it('lets a higher fee replace a pending transaction with the same nonce', async () => {
    const { chain, account } = await openChain();
    const low = signedBy(account, chain, { nonce: 0, to: 'low' });
    const high = signedBy(account, chain, { nonce: 0, to: 'high', fee: '1001' });
    await node.submit(chain, [low.raw], 3);
    expect(await submitOne(chain, high.raw)).toEqual({ outcome: 'accepted', code: null });
    expect((await node.mempool(chain)).map(({ txid }) => txid)).toEqual([high.txid]);
    expect(await submitOne(chain, low.raw)).toEqual({ outcome: 'rejected', code: 'underpriced' });
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

  it('mines an overspending transaction as failed, and leaves one that cannot pay its fee', async () => {
    const { chain, account } = await openChain();
    const most = (1_000n * coin - 1_500n).toString();
    const [first, second, third] = [0, 1, 2].map((nonce) =>
      signedBy(account, chain, { nonce, amount: most, fee: '500' }),
    );
    for (const tx of [first, second, third]) expect((await submitOne(chain, tx?.raw ?? '')).outcome).toBe('accepted');
    const fourth = signedBy(account, chain, { nonce: 3 });
    await node.submit(chain, [fourth.raw], 3);
    await node.mine(chain, 2);
    const asked = [first, second, third, fourth].map((tx, nonce) => ({
      txid: tx?.txid ?? '',
      from: account.address,
      nonce,
    }));
    const facts = await node.facts(chain, asked, 2);
    expect(facts.map(({ tx }) => [tx?.state, tx?.success])).toEqual([
      ['mined', true],
      ['mined', false],
      ['mined', false],
      ['mempool', null],
    ]);
    await node.pay(chain, { to: account.address, tag: null, contract: null, amount: 2_000n, busyBlocks: 1 });
    await node.mine(chain, 2);
    expect((await node.facts(chain, asked.slice(3), 2))[0]?.tx).toMatchObject({
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

  it('funds in a separate block, in the transaction of the caller', async () => {
    const { chain, account } = await openChain();
    const { height } = await node.head(chain);
    await node.pay(chain, { to: 'stranger', tag: null, contract: null, amount: 1n, busyBlocks: 1 });
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
    await node.refuse(chain, 'stranger');
    await node.submit(chain, [signedBy(account, chain, { nonce: 0 }).raw], 1);
    await node.mine(chain);
    await node.accept(chain, 'stranger');
    await node.submit(chain, [signedBy(account, chain, { nonce: 1 }).raw], 1);
    await node.pay(chain, { to: 'stranger', tag: null, contract: null, amount: 1n, busyBlocks: 1 });
    await node.mine(chain);
    expect(await node.balances(chain, [{ address: 'stranger', tag: null }], null)).toEqual([6n]);
  });

  it('takes 2,000 transactions a block, the oldest first', async () => {
    const { chain } = await openChain();
    await rowsOf(
      `insert into sandbox_tx (chain, txid, recipient, amount, fee, state, seen_at)
       select $1, 'tx-' || i, 'recipient', 1, 0, 'mempool', now() from generate_series(1, 2001) i`,
      [chain],
    );
    await node.mine(chain);
    expect((await node.mempool(chain)).map(({ txid }) => txid)).toEqual(['tx-2001']);
    await node.mine(chain);
    expect(await node.balances(chain, [{ address: 'recipient', tag: null }], null)).toEqual([2001n]);
  });

  it('drops the transactions of a reorganisation when told to', async () => {
    const { chain } = await openChain();
    await node.pay(chain, { to: 'stranger', tag: null, contract: null, amount: 1n, busyBlocks: 1 });
    await node.mine(chain);
    await node.reorg(chain, 1, { keep: false });
    await node.mine(chain, 2);
    expect(await node.balances(chain, [{ address: 'stranger', tag: null }], null)).toEqual([0n]);
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

  describe('a transaction of the owner that the gateway did not make', () => {
    const byHand = { to: 'stranger', tag: null, contract: null, amount: 5n * coin, fee: 700n, busyBlocks: 2 };

    it('moves coins by the rules of the chain, and the hot wallet learns what it took', async () => {
      const { chain, account } = await openChain();
      const adapter = new SandboxAdapter({ chain, node, hotAddress: account.address, busyBlocks: 1 });
      const held = async (contract: string | null) => node.balances(chain, [await adapter.hotWallet()], contract);
      const txid = await node.spend(chain, { ...byHand, from: account.address, tag: 'memo' });
      expect(await node.mempool(chain)).toEqual([
        { key: `${txid}:0`, txid, address: 'stranger', tag: 'memo', contract: null, amount: 5n * coin },
      ]);
      const inToken = await node.spend(chain, { ...byHand, from: account.address, contract: token });
      const toItself = await node.spend(chain, { ...byHand, from: account.address, to: account.address });
      await node.mine(chain);
      await expectSound(chain);
      expect(await held(null)).toEqual([1_000n * coin - 5n * coin - 2_100n]);
      expect(await held(token)).toEqual([1_000n * coin - 5n * coin]);
      const { height } = await node.head(chain);
      const fee = 700n;
      const told = { fee, height, final: false };
      expect(await adapter.spent(txid)).toEqual({ ...told, amounts: [{ contract: null, amount: 5n * coin }] });
      expect(await adapter.spent(inToken)).toEqual({ ...told, amounts: [{ contract: token, amount: 5n * coin }] });
      expect(await adapter.spent(toItself)).toEqual({ ...told, amounts: [] });
    });

    it('is refused with nothing to send, and without the coins', async () => {
      const { chain, account } = await openChain();
      const spend = (changes: object) => node.spend(chain, { ...byHand, from: account.address, ...changes });
      await expect(spend({ amount: 0n })).rejects.toMatchObject({ code: 'malformed', isOfChain: true });
      for (const changes of [{ amount: 1_000n * coin }, { contract: 'unheard-of' }, { from: makeAccount().address }]) {
        await expect(spend(changes)).rejects.toMatchObject({ code: 'insufficient_funds', isOfChain: true });
      }
      expect(await node.mempool(chain)).toEqual([]);
      await expect(node.spend('nowhere', { ...byHand, from: account.address })).rejects.toMatchObject({
        code: 'unknown_chain',
      });
    });

    it('takes the first free nonce, so that it may kill a payment that is not broadcast yet', async () => {
      const { chain, account } = await openChain();
      const adapter = new SandboxAdapter({ chain, node, hotAddress: account.address, busyBlocks: 1 });
      const [first, second, third] = [0, 1, 2].map((nonce) => signedBy(account, chain, { nonce }));
      for (const tx of [first, third]) await submitOne(chain, tx?.raw ?? '');
      const txid = await node.spend(chain, { ...byHand, from: account.address, fee: 2_000n });
      const late = { txid: second?.txid ?? '', raw: second?.raw ?? '', reserves: [], expiresAt: null };
      expect(await adapter.broadcast(late)).toEqual({ outcome: 'rejected', code: 'underpriced' });
      await node.mine(chain, 2);
      expect(await node.mempool(chain)).toEqual([]);
      expect(await adapter.spent(txid)).toMatchObject({ fee: 2_000n, final: true });
      expect(await adapter.status(late)).toEqual({ state: 'dead', why: 'conflict', final: true });
      await expectSound(chain);
    });

    it('is gone after a reorganisation that drops it, and after a drop', async () => {
      const { chain, account } = await openChain();
      const adapter = new SandboxAdapter({ chain, node, hotAddress: account.address, busyBlocks: 1 });
      const spend = () => node.spend(chain, { ...byHand, from: account.address });
      const mined = await spend();
      await node.mine(chain);
      await node.reorg(chain, 1, { keep: false });
      const dropped = await spend();
      // The same coins by the same nonce are the same transaction, which comes again.
      expect(dropped).toBe(mined);
      expect(await adapter.spent(mined)).toMatchObject({ height: null, final: false });
      await node.drop(chain, dropped);
      expect(await adapter.spent(dropped)).toBeNull();
      await expectSound(chain);
    });
  });

  describe('a transaction from outside with several outputs', () => {
    it('has one txid and a key for each output, and is dropped as a whole', async () => {
      const { chain, account } = await openChain();
      const adapter = new SandboxAdapter({ chain, node, hotAddress: account.address, busyBlocks: 1 });
      const cursor = await adapter.start((await node.head(chain)).height);
      const output = { to: account.address, tag: null, contract: null, amount: 3n };
      const more = [
        { ...output, amount: 4n },
        { ...output, to: 'stranger', tag: 'memo' },
      ];
      const txid = await node.pay(chain, { ...output, more, busyBlocks: 1 });
      const transfers = [output, ...more].map(({ to, ...rest }, place) => {
        return { key: `${txid}:${place}`, txid, address: to, ...rest };
      });
      expect(await node.mempool(chain)).toEqual(transfers);
      expect((await adapter.pending?.([txid]))?.left).toEqual(new Set());
      await node.mine(chain);
      expect((await adapter.scan(cursor, 10)).blocks.flatMap((block) => block.transfers)).toEqual(transfers);
      expect(await node.balances(chain, [{ address: account.address, tag: null }], null)).toEqual([1_000n * coin + 7n]);
      // Next to the two that made the account.
      expect(await node.paymentsTo(chain, account.address, null)).toBe(3);
      await expectSound(chain);

      await node.reorg(chain, 1);
      expect(await node.mempool(chain)).toEqual(transfers);
      await node.mine(chain);
      expect(await node.dropMined(chain, txid, 3)).toBe(true);
      await node.mine(chain);
      expect([await node.mempool(chain), await node.paymentsTo(chain, 'stranger', 'memo')]).toEqual([[], 0]);
      await expectSound(chain);

      const waiting = await node.pay(chain, { ...output, more, busyBlocks: 1 });
      expect(await node.drop(chain, waiting)).toBe(true);
      expect(await node.mempool(chain)).toEqual([]);
      await expectSound(chain);
    });

    it('has ten of them at most', async () => {
      const { chain } = await openChain();
      const output = { to: 'stranger', tag: null, contract: null, amount: 1n };
      const pay = (count: number) => node.pay(chain, { ...output, more: Array(count).fill(output), busyBlocks: 1 });
      await pay(9);
      expect(await node.mempool(chain)).toHaveLength(10);
      await expect(pay(10)).rejects.toThrow(RangeError);
      expect(await node.mempool(chain)).toHaveLength(10);
    });
  });

  it('stays whole when everything happens at once', async () => {
    const { chain, account } = await openChain();
    const raws = Array.from({ length: 10 }, (_, nonce) => signedBy(account, chain, { nonce }).raw);
    await Promise.all([
      ...raws.map((raw) => node.submit(chain, [raw], 3)),
      ...raws.map((raw) => node.submit(chain, [raw], 3)),
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
    expect((await node.beforePayment(chain, account.address, randomUUID())).nextNonce).toBe(10);
    const whole = [{ address: account.address, tag: null }];
    expect(await node.balances(chain, whole, null)).toEqual([1_000n * coin + 10n - 10n * 1_005n]);
    expect(await node.balances(chain, whole, token)).toEqual([1_000n * coin + 10n]);
  });

  it('reads many blocks at once, and an idle chain not at all', async () => {
    const { chain, account } = await openChain();
    const adapter = new SandboxAdapter({ chain, node, hotAddress: account.address, busyBlocks: 1 });
    const cursor = await adapter.start(0);
    await node.mine(chain, 50);
    // One more than the reads themselves: the question whether anything has happened, for all
    // chains at once.
    countAgain();
    const { cursor: next } = await adapter.scan(cursor, 100);
    expect(statements).toBeLessThanOrEqual(2);
    countAgain();
    expect((await adapter.scan(next, 100)).cursor).toEqual(next);
    expect(statements).toBeLessThanOrEqual(1);
    await node.reorg(chain, 20);
    countAgain();
    expect((await adapter.scan(next, 100)).orphaned).toHaveLength(20);
    expect(statements).toBeLessThanOrEqual(3);
  });

  it('is reported as unavailable when the database is', async () => {
    const away = await createOrm({ url: 'postgres://absent@127.0.0.1:1/nothing', poolSize: 1 });
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
