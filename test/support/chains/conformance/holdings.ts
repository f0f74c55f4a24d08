import { type Bench, costsOf, expectMined, transfersOf } from './bench.ts';

export function describeHoldings(bench: Bench): void {
  bench.test('sweeps all that a deposit brought to the wallet that pays, less the fee', ['sweeps'], async () => {
    if (!bench.chain.depositAddress) throw new Error('nothing is swept');
    const cursor = await bench.startHere();
    const address = await bench.chain.depositAddress();
    const amount = 1_000_000_000n * bench.unit;
    await bench.chain.pay(address, null, null, amount);
    await bench.chain.mine(bench.adapter.finalityDepth);
    const [deposit] = transfersOf(await bench.adapter.scan(cursor, 20)).filter((found) => found.address === address);
    if (!deposit) throw new Error('the deposit was not found');
    const [before, { address: to }] = [await bench.hotBalance(), await bench.adapter.hotWallet()];
    const from = [bench.adapter.traits.ledger === 'accounts' ? address : deposit.key];
    const tx = await bench.signed(bench.intent({ from, to, amount }));
    expect((await bench.adapter.broadcast(tx)).outcome).toBe('accepted');
    await bench.chain.mine(bench.adapter.finalityDepth);
    const { fee, final, success } = expectMined(await bench.adapter.status(tx));
    expect([final, success]).toEqual([true, true]);
    expect(await bench.balance(address)).toBe(0n);
    expect(await bench.hotBalance()).toBe(before + amount - fee);
  });

  bench.test('pays from its deposits, of every tag', ['payment from deposits', 'tag'], async () => {
    const { address, tag: funding } = await bench.adapter.hotWallet();
    const { tag } = bench.chain;
    expect(funding).not.toBeNull();
    expect(funding).not.toBe(tag);
    const before = await bench.hotBalance();
    const cursor = await bench.startHere();
    await bench.chain.pay(address, tag, null, 3n * bench.unit);
    await bench.chain.pay(address, funding, null, 5n * bench.unit);
    await bench.chain.pay(address, null, null, 7n * bench.unit);
    await bench.chain.mine(bench.adapter.finalityDepth);
    const scanned = await bench.adapter.scan(cursor, 20);
    const found = transfersOf(scanned).filter((one) => one.address === address);
    expect(found.map((one) => [one.tag, one.amount])).toEqual([
      [tag, 3n * bench.unit],
      [funding, 5n * bench.unit],
      [null, 7n * bench.unit],
    ]);
    const after = before + 15n * bench.unit - costsOf(scanned);
    expect(await bench.hotBalance()).toBe(after);
    const payment = bench.intent({ amount: after - bench.unit });
    const tx = await bench.signed(payment);
    expect((await bench.adapter.broadcast(tx)).outcome).toBe('accepted');
    await bench.chain.mine(bench.adapter.finalityDepth);
    const { fee, success } = expectMined(await bench.adapter.status(tx));
    expect(success).toBe(true);
    expect(await bench.hotBalance()).toBe(bench.unit - fee);
  });

  bench.test('replaces a payment that waits, and pays once', ['replacement'], async () => {
    const { raiseFees } = bench.chain;
    if (!raiseFees || !bench.adapter.replace) throw new Error('nothing is replaced');
    const payment = bench.intent();
    const old = await bench.adapter.prepare(payment, bench.held);
    const oldTx = await bench.chain.sign(payment, old);
    await bench.adapter.broadcast(oldTx);
    expect(await bench.adapter.replace(payment, old, bench.held)).toBeNull();
    await raiseFees();
    const next = await bench.adapter.replace(payment, old, bench.held);
    if (!next) throw new Error('nothing takes its place');
    expect(await bench.adapter.replace(payment, old, bench.held)).toEqual(next);
    expect(next.fee).toBeGreaterThan(old.fee);
    for (const one of old.reserves) expect(next.reserves).toContain(one);
    const tx = await bench.chain.sign(payment, next);
    expect((await bench.adapter.broadcast(tx)).outcome).toBe('accepted');
    await bench.chain.mine(bench.adapter.finalityDepth);
    expect(expectMined(await bench.adapter.status(tx)).final).toBe(true);
    expect(await bench.adapter.status(oldTx)).toEqual({ state: 'dead', why: 'conflict', final: true });
    expect(await bench.balance(payment.to)).toBe(payment.amount);
  });

  bench.test('tells balances of a final block only', ['final balances'], async () => {
    if (!bench.adapter.finalBalances) throw new Error('there are no final balances');
    const to = bench.chain.address();
    await bench.chain.pay(to, null, null, bench.unit);
    await bench.chain.mine(bench.adapter.finalityDepth - 1);
    expect((await bench.adapter.finalBalances([to], null)).amounts).toEqual([0n]);
    await bench.chain.mine(1);
    const { block, amounts } = await bench.adapter.finalBalances([bench.chain.address(), to], null);
    expect(amounts).toEqual([0n, bench.unit]);
    expect((await bench.adapter.start(block.height)).window).toEqual([block]);
  });

  bench.test(
    'tells balances in the order asked, of whole addresses and of tags',
    ['balances of addresses'],
    async () => {
      const [rich, poor] = [bench.chain.address(), bench.chain.address()];
      await bench.chain.pay(rich, null, null, 2n * bench.unit);
      await bench.chain.pay(rich, null, null, 3n * bench.unit);
      if (bench.chain.tag !== null) await bench.chain.pay(rich, bench.chain.tag, null, 7n * bench.unit);
      if (bench.chain.token !== null) await bench.chain.pay(rich, null, bench.chain.token, 11n * bench.unit);
      await bench.chain.mine(1);
      const tagged = bench.chain.tag === null ? 0n : 7n * bench.unit;
      // A real chain does not tell what came with a tag.
      const perTag = bench.family.abilities.includes('balances of tags');
      const holdings = [
        { address: poor, tag: null },
        { address: rich, tag: null },
        ...(perTag ? [{ address: rich, tag: bench.chain.tag }] : []),
      ];
      const expected = [0n, 5n * bench.unit + tagged, ...(perTag ? [tagged] : [])];
      const told = await bench.adapter.balances(holdings, null);
      expect(told.map((balance, index) => bench.lessRent(balance, expected[index] ?? 0n))).toEqual(expected);
      expect(await bench.adapter.balances([], null)).toEqual([]);
      if (bench.chain.token !== null) {
        expect(await bench.adapter.balances(holdings.slice(0, 2), bench.chain.token)).toEqual([0n, 11n * bench.unit]);
      }
    },
  );
}
