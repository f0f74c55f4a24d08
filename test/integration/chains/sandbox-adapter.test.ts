import { randomUUID } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import fc from 'fast-check';
import { SandboxChain } from '../../../src/chains/sandbox/sandbox-chain.ts';
import { sandboxTraits } from '../../../src/chains/sandbox/sandbox-tx.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import { sandboxAbilities, sandboxHarness } from '../../support/chains/sandbox-harness.ts';
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
  token,
  withSandboxNode,
} from '../../support/chains/sandbox-node.ts';

withSandboxNode();

const family = { traits: sandboxTraits, abilities: sandboxAbilities, counts: { tried: 33, skipped: 13 } };
describeChainAdapter('the sandbox', family, () => sandboxHarness());

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
    await node.pay(chain, { to: 'stranger', tag: null, contract: null, amount: 1n, busyBlocks: 3 });
    for (let block = 1; block <= 3; block += 1) {
      expect(await tick()).toBeLessThanOrEqual(1);
      expect(await heightOf(chain)).toBe(start + block);
    }
    expect(await tick()).toBe(0);
    expect(await heightOf(chain)).toBe(start + 3);
  });

  it('makes no second block for a process that looked before and came late', async () => {
    const { chain } = await openChain();
    await node.pay(chain, { to: 'stranger', tag: null, contract: null, amount: 1n, busyBlocks: 5 });
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
    countAgain();
    expect(await node.mineDue(blockMs)).toEqual([]);
    expect(statements).toBe(1);
  });

  it('still makes the promised blocks after a transaction that waited long, and after a reorganisation', async () => {
    const { chain, account } = await openChain();
    await node.submit(chain, [signedBy(account, chain, { nonce: 1 }).raw], 3);
    await node.mine(chain, 10);
    await node.submit(chain, [signedBy(account, chain, { nonce: 0 }).raw], 0);
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
  it('are the sums over the transactions after any payments, blocks and reorgs', async () => {
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
            const next = waiting?.nonce ?? (await node.beforePayment(chain, from.address, randomUUID())).nextNonce;
            const amount = ((balance ?? 0n) * BigInt(one.share)) / 100n;
            const nonce = Number(next) + one.skip;
            const to = names[one.to] ?? '';
            const tx = signedBy(from, chain, { nonce, to, contract, amount: String(amount), fee: String(one.fee) });
            await node.submit(chain, [tx.raw], 1);
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
