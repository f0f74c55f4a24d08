import {
  ChainError,
  type PaymentIntent,
  type PreparedTx,
  type SignedTx,
  type TxStatus,
} from '../../../../src/chains/port/chain-adapter.ts';
import { type Bench, earlierOf, expectMined, transfersOf } from './bench.ts';

function hasPaid(status: TxStatus): boolean {
  return status.state === 'mined' && status.success;
}

export function describeDeaths(bench: Bench): void {
  describe('attempts', () => {
    bench.test(
      'calls a payment dead when another one spent what it reserves, for good only after the depth',
      ['conflict'],
      async () => {
        const payment = bench.intent();
        const tx = await bench.signed(payment);
        const other = await bench.chain.conflict(tx);
        expect(await bench.adapter.status(tx)).toEqual(bench.unseen(tx));
        await bench.chain.mine(1);
        expectMined(await bench.adapter.status(other));
        expect(await bench.adapter.status(tx)).toEqual({
          state: 'dead',
          why: 'conflict',
          final: bench.adapter.finalityDepth <= 1,
        });
        // A node may say that it knows the bytes: the answer proves nothing.
        expect((await bench.adapter.broadcast(tx)).outcome).not.toBe('accepted');
        await bench.chain.mine(bench.adapter.finalityDepth - 1);
        expect(await bench.adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: true });
        expect(await bench.balance(payment.to)).toBe(0n);
      },
    );

    bench.test(
      'takes a payment that was replaced for alive until the other one is mined',
      ['conflict', 'reorgs'],
      async () => {
        const tx = await bench.signed(bench.intent());
        await bench.adapter.broadcast(tx);
        const other = await bench.chain.conflict(tx);
        expect((await bench.adapter.status(tx)).state).not.toBe('dead');
        await bench.chain.mine(1);
        expect((await bench.adapter.status(tx)).state).toBe('dead');
        await bench.chain.reorg(1);
        await bench.chain.drop(other.txid);
        expect((await bench.adapter.status(tx)).state).not.toBe('dead');
        expect((await bench.adapter.broadcast(tx)).outcome).toBe('accepted');
        await bench.chain.mine(bench.adapter.finalityDepth);
        expect(expectMined(await bench.adapter.status(tx)).final).toBe(true);
        expect(await bench.adapter.status(other)).toEqual({ state: 'dead', why: 'conflict', final: true });
      },
    );

    const hand = <T>(given: T | undefined): T => {
      if (given === undefined) throw new Error('the harness lacks a hand that the traits ask for');
      return given;
    };
    const expiryOf = ({ expiresAt }: Pick<SignedTx, 'expiresAt'>) => hand(expiresAt ?? undefined);

    bench.test('may confirm until they expire, then are dead, and for good after the depth', ['expiry'], async () => {
      const payment = bench.intent();
      const tx = await bench.signed(payment);
      const until = expiryOf(tx);
      await hand(bench.chain.mineBefore)(until);
      expect(await bench.adapter.status(tx)).toEqual(bench.unseen(tx));
      await hand(bench.chain.mineAt)(until);
      const dead = { state: 'dead', why: 'expired' };
      expect(await bench.adapter.status(tx)).toEqual({ ...dead, final: bench.adapter.finalityDepth <= 1 });
      // A node may say that it knows the bytes: the answer proves nothing.
      expect((await bench.adapter.broadcast(tx)).outcome).not.toBe('accepted');
      await bench.chain.mine(bench.adapter.finalityDepth - 1);
      expect(await bench.adapter.status(tx)).toEqual({ ...dead, final: true });
      await bench.chain.mine(1);
      expect(await bench.balance(payment.to)).toBe(0n);
    });

    bench.test('that wait for a block die like attempts that no node has', ['expiry'], async () => {
      const payment = bench.intent();
      const first = await bench.signed(bench.intent());
      const tx = await bench.signed(payment);
      // On a chain of accounts the second one waits for the first one, which no node has.
      if (first.reserves.some((one) => one.startsWith('nonce:'))) {
        expect((await bench.adapter.broadcast(tx)).outcome).toBe('accepted');
      }
      await hand(bench.chain.mineBefore)(expiryOf(tx));
      expect((await bench.adapter.status(tx)).state).not.toBe('dead');
      await hand(bench.chain.mineAt)(expiryOf(tx));
      expect(await bench.adapter.status(tx)).toMatchObject({ state: 'dead', why: 'expired' });
      await bench.chain.mine(bench.adapter.finalityDepth);
      expect(await bench.adapter.status(tx)).toEqual({ state: 'dead', why: 'expired', final: true });
      expect(await bench.balance(payment.to)).toBe(0n);
    });

    bench.test('confirm in the last block before they expire', ['expiry'], async () => {
      const payment = bench.intent();
      const tx = await bench.signed(payment);
      const until = expiryOf(tx);
      await hand(bench.chain.mineBefore)(until);
      expect((await bench.adapter.broadcast(tx)).outcome).toBe('accepted');
      await bench.chain.mine(1);
      const { height } = await bench.adapter.head();
      // Where heights are missing, the next block may be above the expiry already.
      const isLate = 'height' in until && bench.adapter.lateHeight === undefined && height > until.height;
      if (isLate) expect(await bench.adapter.status(tx)).toMatchObject({ state: 'dead', why: 'expired' });
      else expect(expectMined(await bench.adapter.status(tx))).toMatchObject({ height, success: true });
      await hand(bench.chain.mineAt)(until);
      expect(await bench.balance(payment.to)).toBe(isLate ? 0n : payment.amount);
    });

    bench.test('after one that expired use what that one reserved', ['expiry', 'exclusion'], async () => {
      const payment = bench.intent();
      const first = await bench.adapter.prepare(payment, bench.held);
      await bench.signed(bench.intent());
      await hand(bench.chain.mineAt)(expiryOf(first));
      const second = await bench.adapter.prepare({ ...payment, attempt: 2 }, new Map(), [earlierOf(first)]);
      expect(second.reserves).toEqual(first.reserves);
      expect(second.payload).not.toBe(first.payload);
      if (!bench.family.traits.death.conflict) return;
      const conflicted = { ...earlierOf(first), why: 'conflict' as const };
      const held = new Map([...bench.held, ...reservedBy(payment, first)]);
      const other = await bench.adapter.prepare({ ...payment, attempt: 2 }, held, [conflicted]);
      expect(other.reserves.some((one) => first.reserves.includes(one))).toBe(false);
    });

    const orders = ['first, second', 'second, first', 'first, block, second', 'second, block, first'];
    for (const order of orders) {
      bench.test(`two of one payment, broadcast as ${order}: paid once`, ['exclusion'], async () => {
        const cursor = await bench.startHere();
        const payment = bench.intent();
        const first = await bench.adapter.prepare(payment, bench.held);
        const second = await secondAttempt(bench, payment, first);
        const txs = {
          first: await bench.chain.sign(payment, first),
          second: await bench.chain.sign({ ...payment, attempt: 2 }, second),
        };
        for (const step of order.split(', ')) {
          if (step === 'block') await bench.chain.mine(1);
          else await bench.adapter.broadcast(txs[step as keyof typeof txs]);
        }
        await bench.chain.mine(1);
        for (const tx of [txs.second, txs.first]) await bench.adapter.broadcast(tx);
        await bench.chain.mine(bench.adapter.finalityDepth);
        const statuses = await Promise.all([txs.first, txs.second].map((tx) => bench.adapter.status(tx)));
        const mined = statuses.filter(({ state }) => state === 'mined');
        if (txs.first.txid !== txs.second.txid) {
          expect(mined.filter(hasPaid)).toHaveLength(1);
          const lost = statuses.find((status) => !hasPaid(status));
          if (bench.family.traits.death.conflict) expect(lost).toEqual({ state: 'dead', why: 'conflict', final: true });
          // Where nothing conflicts, the chain executes the other one too, which then fails.
          else expect(['mined', 'waiting']).toContain(lost?.state);
        }
        const isAlone = bench.family.traits.death.conflict || txs.first.txid === txs.second.txid;
        for (const status of mined) expect(status).toMatchObject({ ...(isAlone && { success: true }), final: true });
        const found = transfersOf(await bench.adapter.scan(cursor, 30)).filter(({ address }) => address === payment.to);
        expect(found.map(({ amount }) => amount)).toEqual(bench.seesAll ? [payment.amount] : []);
        expect(await bench.balance(payment.to)).toBe(payment.amount);
      });
    }

    bench.test(
      'are not prepared while an earlier one can live, or was paid',
      ['attempts that do not exclude each other', 'expiry'],
      async () => {
        const payment = bench.intent();
        const first = await bench.adapter.prepare(payment, bench.held);
        const next = { ...payment, attempt: 2 };
        const further = () => bench.adapter.prepare(next, bench.held, [earlierOf(first)]);
        await expect(further()).rejects.toThrow(ChainError);
        await hand(bench.chain.mineBefore)(expiryOf(first));
        await expect(further()).rejects.toThrow(ChainError);
        await hand(bench.chain.mineAt)(expiryOf(first));
        if (bench.adapter.finalityDepth > 1) await expect(further()).rejects.toThrow(ChainError);
        await bench.chain.mine(bench.adapter.finalityDepth - 1);
        const second = await further();
        expect(second.reserves.some((one) => first.reserves.includes(one))).toBe(false);

        const tx = await bench.chain.sign(next, second);
        await bench.adapter.broadcast(tx);
        await bench.chain.mine(1);
        await hand(bench.chain.mineAt)(expiryOf(second));
        await bench.chain.mine(bench.adapter.finalityDepth);
        const third = bench.adapter.prepare({ ...payment, attempt: 3 }, bench.held, [first, second].map(earlierOf));
        await expect(third).rejects.toThrow(ChainError);
        expect(await bench.balance(payment.to)).toBe(payment.amount);
      },
    );
  });
}

function reservedBy({ contract, amount }: PaymentIntent, { reserves, fee }: PreparedTx) {
  return reserves.map((one) => [one, { contract, amount, fee }] as const);
}

/** Another attempt that reserves the same, while the first one can still confirm. */
async function secondAttempt(bench: Bench, payment: PaymentIntent, first: PreparedTx): Promise<PreparedTx> {
  const next = { ...payment, attempt: 2 };
  if (bench.chain.secondAttempt) return bench.chain.secondAttempt(next, first);
  await bench.chain.mine(1);
  return bench.adapter.prepare(next, bench.held, [earlierOf(first)]);
}
