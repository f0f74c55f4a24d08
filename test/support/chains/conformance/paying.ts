import { type Bench, expectMined, transfersOf } from './bench.ts';

export function describePaying(bench: Bench): void {
  describe('paying', () => {
    bench.test('takes a payment from its preparation to its end', [], async () => {
      const cursor = await bench.startHere();
      const payment = bench.intent({ tag: bench.chain.tag });
      const hot = await bench.hotBalance();
      const tx = await bench.signed(payment);
      expect(await bench.adapter.status(tx)).toEqual(bench.unseen(tx));
      expect(await bench.adapter.broadcast(tx)).toEqual({ outcome: 'accepted', code: null });
      expect(await bench.adapter.status(tx)).toEqual(bench.pooled(tx));

      await bench.chain.mine(1);
      const first = expectMined(await bench.adapter.status(tx));
      const { height } = await bench.adapter.head();
      expect(first).toMatchObject({ height, confirmations: 1, success: true, final: bench.adapter.finalityDepth <= 1 });
      await bench.chain.mine(bench.adapter.finalityDepth - 1);
      const last = expectMined(await bench.adapter.status(tx));
      const confirmations = (await bench.adapter.head()).height - height + 1;
      expect(confirmations).toBeGreaterThanOrEqual(bench.adapter.finalityDepth);
      expect(last).toMatchObject({ height, confirmations, success: true, final: true });

      expect(await bench.balance(payment.to)).toBe(payment.amount);
      expect(await bench.hotBalance()).toBe(hot - payment.amount - last.fee);
      const paid = expect.objectContaining({ txid: tx.txid, tag: bench.chain.tag, amount: payment.amount });
      expect(await bench.foundAt(payment.to, cursor)).toEqual(bench.seesAll ? [paid] : []);
    });

    bench.test('pays in tokens and takes the fee in the own coin', ['token'], async () => {
      const contract = bench.chain.token;
      const payment = bench.intent({ contract });
      const [hot, hotToken] = [await bench.hotBalance(), await bench.hotBalance(contract)];
      const tx = await bench.signed(payment);
      await bench.adapter.broadcast(tx);
      await bench.chain.mine(1);
      const { fee } = expectMined(await bench.adapter.status(tx));
      expect(await bench.balance(payment.to, contract)).toBe(payment.amount);
      expect(await bench.balance(payment.to)).toBe(bench.family.forwarded ?? 0n);
      expect(await bench.hotBalance(contract)).toBe(hotToken - payment.amount);
      expect(await bench.hotBalance()).toBe(hot - fee);
    });

    bench.test('pays once, however often the same bytes are broadcast', [], async () => {
      const payment = bench.intent();
      const cursor = await bench.startHere();
      const tx = await bench.signed(payment);
      const tenTimes = async (): Promise<Set<string>> => {
        const outcomes = new Set<string>();
        for (let count = 0; count < 10; count += 1) outcomes.add((await bench.adapter.broadcast(tx)).outcome);
        return outcomes;
      };
      expect(await bench.adapter.broadcast(tx)).toEqual({ outcome: 'accepted', code: null });
      // A node that shows nothing of what waits may take the same bytes again.
      const again = bench.family.traits.mempool ? ['known'] : ['known', 'accepted'];
      for (const outcome of await tenTimes()) expect(again).toContain(outcome);
      for (const blocks of [1, bench.adapter.finalityDepth]) {
        await bench.chain.mine(blocks);
        expect(await tenTimes()).toEqual(new Set(['known']));
      }
      await bench.chain.mine(1);
      expect(expectMined(await bench.adapter.status(tx)).final).toBe(true);
      expect(await bench.balance(payment.to)).toBe(payment.amount);
      expect(await bench.foundAt(payment.to, cursor)).toHaveLength(bench.seesAll ? 1 : 0);
    });

    bench.test('pays amounts beyond 2^53 to the last unit', ['large amounts'], async () => {
      const amount = 2n ** 53n + 1n;
      await bench.chain.pay((await bench.adapter.hotWallet()).address, null, null, 2n * amount);
      await bench.chain.mine(bench.adapter.finalityDepth);
      const hot = await bench.hotBalance();
      const payment = bench.intent({ amount });
      const tx = await bench.signed(payment);
      await bench.adapter.broadcast(tx);
      await bench.chain.mine(1);
      const { fee, success } = expectMined(await bench.adapter.status(tx));
      expect(success).toBe(true);
      expect(await bench.balance(payment.to)).toBe(amount);
      expect(await bench.hotBalance()).toBe(hot - amount - fee);
    });

    bench.test('makes payments that share no inputs, and mines them in any order', [], async () => {
      const to = bench.chain.address();
      const first = await bench.signed(bench.intent({ to }));
      const second = await bench.signed(bench.intent({ to }));
      const third = await bench.signed(bench.intent({ to }));
      expect(new Set([first, second, third].flatMap(({ reserves }) => reserves)).size).toBe(bench.held.size);
      expect(new Set([first, second, third].map(({ txid }) => txid)).size).toBe(3);

      for (const tx of [third, second]) expect((await bench.adapter.broadcast(tx)).outcome).toBe('accepted');
      await bench.chain.mine(1);
      expect((await bench.adapter.status(third)).state).not.toBe('dead');
      expect((await bench.adapter.broadcast(first)).outcome).toBe('accepted');
      await bench.chain.mine(1);
      for (const tx of [first, second, third]) expectMined(await bench.adapter.status(tx));
      expect(bench.lessRent(await bench.balance(to), 3n * bench.unit)).toBe(3n * bench.unit);
    });

    bench.test('prepares the same transaction again while nothing of it is held', [], async () => {
      const payment = bench.intent();
      const first = await bench.adapter.prepare(payment, bench.held);
      expect((await bench.adapter.prepare(payment, bench.held)).reserves).toEqual(first.reserves);
    });

    bench.test('brings a dropped payment back with the same bytes', [], async () => {
      const payment = bench.intent();
      const tx = await bench.signed(payment);
      await bench.adapter.broadcast(tx);
      await bench.chain.drop(tx.txid);
      expect(await bench.adapter.status(tx)).toEqual(bench.unseen(tx));
      await bench.chain.mine(1);
      expect(await bench.adapter.status(tx)).toEqual(bench.unseen(tx));
      expect((await bench.adapter.broadcast(tx)).outcome).toBe('accepted');
      await bench.chain.mine(bench.adapter.finalityDepth);
      expect(expectMined(await bench.adapter.status(tx)).final).toBe(true);
      expect(await bench.balance(payment.to)).toBe(payment.amount);
    });

    bench.test('follows a payment that is mined, reorganised away and mined again', ['reorgs'], async () => {
      const payment = bench.intent();
      const hot = await bench.hotBalance();
      const tx = await bench.signed(payment);
      await bench.adapter.broadcast(tx);
      await bench.chain.mine(1);
      const first = expectMined(await bench.adapter.status(tx));
      await bench.chain.reorg(1);
      expect(await bench.adapter.status(tx)).toEqual(bench.pooled(tx));
      expect([await bench.balance(payment.to), await bench.hotBalance()]).toEqual([0n, hot]);
      await bench.chain.mine(bench.adapter.finalityDepth);
      const second = expectMined(await bench.adapter.status(tx));
      expect(second).toMatchObject({ success: true, final: true });
      expect(second.height).toBeGreaterThan(first.height);
      expect(await bench.balance(payment.to)).toBe(payment.amount);
    });

    bench.test('tells of a payment that was mined and moved nothing', ['refusal'], async () => {
      const payment = bench.intent();
      const hot = await bench.hotBalance();
      await bench.chain.refuse?.(payment.to);
      const cursor = await bench.startHere();
      const tx = await bench.signed(payment);
      await bench.adapter.broadcast(tx);
      await bench.chain.mine(bench.adapter.finalityDepth);
      const status = expectMined(await bench.adapter.status(tx));
      expect(status).toMatchObject({ success: false, final: true });
      expect(transfersOf(await bench.adapter.scan(cursor, 20))).toEqual([]);
      expect([await bench.balance(payment.to), await bench.hotBalance()]).toEqual([0n, hot - status.fee]);
      // What it reserved is spent all the same: the next payment takes something else.
      bench.held.clear();
      const next = await bench.adapter.prepare(bench.intent(), bench.held);
      expect(next.reserves.some((one) => tx.reserves.includes(one))).toBe(false);
    });
  });
}
