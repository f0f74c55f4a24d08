import { Big } from '../../../src/base/money.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;

interface SweepRow {
  readonly id: string;
  readonly kind: string;
  readonly coin: string;
  readonly state: string;
  readonly amount: string;
  readonly sources: string[] | null;
}

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway();
  });
  afterAll(() => gateway?.stop());
  /** Accounts that stay in debit, because their deposits are gone for good. */
  let inDebit = 0;
  afterEach(async () => {
    await expectOnlyDebits();
  });

  /** The ledger agrees with the chains, but for the accounts that stay in debit. */
  async function expectOnlyDebits(): Promise<void> {
    const differences = await gateway.differences();
    expect(differences.filter(({ check }) => check !== 'debits')).toEqual([]);
    expect(differences).toHaveLength(inDebit);
  }

  const known = new Set<string>();
  /** Movements between our own addresses that were decided since the last look. */
  async function movements(): Promise<SweepRow[]> {
    const rows = await gateway.query<SweepRow>(
      `select id, kind, coin, state, trim_scale(amount)::text as amount, sources
         from payment where order_id is null and kind in ('sweep', 'gas') order by number`,
    );
    const fresh = rows.filter(({ id }) => !known.has(id));
    for (const { id, state } of fresh) if (state === 'confirmed' || state === 'dead') known.add(id);
    return fresh;
  }

  /** Final on both chains, and a turn of the sweeper. */
  async function sweep(): Promise<void> {
    await gateway.mine('ethereum', 4);
    await gateway.mine('litecoin', 3);
    await gateway.tick();
    await gateway.wait(31);
  }

  describe('the sweep of deposit addresses', () => {
    it('of ETH moves the whole balance to the hot wallet', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await gateway.confirm(order);
      await gateway.settle(order);
      const before = new Big(await gateway.balance('ETH', gateway.hot.ethereum));
      await sweep();
      await gateway.settleAll();
      expect(await movements()).toMatchObject([{ kind: 'sweep', coin: 'ETH', state: 'confirmed', amount: '0.5' }]);
      expect(await gateway.balance('ETH', order.depositAddress)).toBe('0');
      expect(await gateway.booked('deposits', 'ETH')).toBe('0');
      const brought = new Big(await gateway.balance('ETH', gateway.hot.ethereum)).minus(before);
      expect(brought.gt('0.499') && brought.lt('0.5')).toBe(true);
      expect(await gateway.booked('hot', 'ETH')).toBe(before.plus(brought).toFixed());
    });

    it('of a token follows a transfer of coins for its fee', async () => {
      const order = await gateway.order('USDT', 'LTC', 100);
      await gateway.confirm(order);
      await gateway.settle(order);
      await sweep();
      expect(await movements()).toMatchObject([{ kind: 'gas', coin: 'ETH' }]);
      await gateway.settleAll();
      await gateway.wait(31);
      await gateway.settleAll();
      expect(await movements()).toMatchObject([
        { kind: 'gas', coin: 'ETH', state: 'confirmed' },
        { kind: 'sweep', coin: 'USDT', state: 'confirmed', amount: '100' },
      ]);
      expect(await gateway.balance('USDT', order.depositAddress)).toBe('0');
      expect(await gateway.booked('deposits', 'USDT')).toBe('0');
      expect(await gateway.booked('deposits', 'ETH')).toBe(await gateway.balance('ETH', order.depositAddress));
      await gateway.wait(31);
      await gateway.wait(31);
      expect(await movements()).toEqual([]);
    });

    it('of UTXO outputs is one transaction, whose output pays the next orders', async () => {
      const orders = [
        await gateway.order('LTC', 'ETH', 200),
        await gateway.order('LTC', 'ETH', 150.5),
        await gateway.order('LTC', 'USDT', 1),
      ];
      for (const order of orders) await gateway.pay(order);
      await gateway.mine('litecoin', 2);
      for (const order of orders) await gateway.settle(order);
      await sweep();
      await gateway.settleAll();
      const [made, ...others] = await movements();
      expect(others).toEqual([]);
      expect(made).toMatchObject({ kind: 'sweep', coin: 'LTC', state: 'confirmed', amount: '351.5' });
      expect(made?.sources).toHaveLength(3);
      expect(await gateway.booked('deposits', 'LTC')).toBe('0');
      for (const order of orders) expect(await gateway.balance('LTC', order.depositAddress)).toBe('0');

      // More than the wallet had before the sweep.
      const next = await gateway.order('ETH', 'LTC', 20);
      await gateway.confirm(next);
      await gateway.settle(next);
      expect(await gateway.show(next)).toMatchObject({ status: 'completed' });
      const [payout] = await gateway.payments(next);
      expect(Number(payout?.amount)).toBeGreaterThan(500);
      expect(await gateway.balance('LTC', next.recipient)).toBe(payout?.amount);
      await sweep();
      await gateway.settleAll();
      await movements();
    });

    it('leaves a balance that is not worth its fee', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.0099);
      await gateway.confirm(order);
      await gateway.settle(order);
      await sweep();
      expect(await movements()).toEqual([]);
      expect(await gateway.balance('ETH', order.depositAddress)).toBe('0.0099');
    });

    it('waits while the gas price is above the setting', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.2);
      await gateway.confirm(order);
      await gateway.settle(order);
      await gateway.mine('ethereum', 4);
      await gateway.chains.anvil.setBaseFee(150n * 10n ** 9n);
      await gateway.mine('ethereum');
      for (let turns = 0; turns < 3; turns += 1) await gateway.wait(31);
      expect(await movements()).toEqual([]);
      await gateway.chains.anvil.setBaseFee(10n ** 9n);
      // It was refused, and is tried again after a pause.
      await gateway.wait(240);
      await sweep();
      await gateway.settleAll();
      expect(await movements()).toMatchObject([{ kind: 'sweep', coin: 'ETH', state: 'confirmed', amount: '0.2' }]);
    });

    it('waits until the deposit is final', async () => {
      const order = await gateway.order('LTC', 'ETH', 2);
      await gateway.confirm(order);
      await gateway.wait(31);
      expect(await gateway.payments(order)).toMatchObject([{ kind: 'payout' }]);
      expect(await movements()).toEqual([]);
      await gateway.mine('litecoin');
      await gateway.wait(31);
      expect(await movements()).toMatchObject([{ kind: 'sweep', coin: 'LTC', amount: '2' }]);
      await gateway.settle(order);
      await gateway.settleAll();
      expect(await movements()).toMatchObject([{ state: 'confirmed' }]);
    });

    it('leaves out a deposit that was double-spent after it counted', async () => {
      const lost = await gateway.order('LTC', 'ETH', 2);
      const kept = await gateway.order('LTC', 'ETH', 3);
      const txid = await gateway.pay(lost);
      await gateway.confirm(kept);
      await gateway.wait(31);
      await gateway.chains.litecoind.doubleSpend(txid, 2);
      inDebit += 1;
      await gateway.tick();
      await gateway.mine('litecoin', 4);
      await gateway.settle(kept);
      await gateway.wait(31);
      await gateway.settleAll();
      expect(await gateway.show(kept)).toMatchObject({ status: 'completed' });
      expect(await movements()).toMatchObject([{ kind: 'sweep', coin: 'LTC', state: 'confirmed', amount: '3' }]);
    });

    it.each([
      ['ETH', 'LTC', 'ethereum', 0.3],
      ['LTC', 'ETH', 'litecoin', 3],
    ] as const)('of %s moves the coins once when its transaction is reorganised away', async (from, to, chain, amount) => {
      const order = await gateway.order(from, to, amount);
      await gateway.confirm(order);
      await gateway.settle(order);
      await sweep();
      await gateway.mine(chain);
      await gateway.tick();
      expect(await movements()).toMatchObject([{ kind: 'sweep', coin: from, state: 'sent' }]);
      const node = chain === 'ethereum' ? gateway.chains.anvil : gateway.chains.litecoind;
      await node.reorg(1, 2);
      await expectOnlyDebits();
      await gateway.tick();
      expect(await gateway.balance(from, order.depositAddress)).toBe(`${amount}`);
      await gateway.settleAll();
      const [made, ...others] = await movements();
      expect([made?.state, others]).toEqual(['confirmed', []]);
      expect(await gateway.balance(from, order.depositAddress)).toBe('0');
      const [row] = await gateway.query<{ count: number }>(
        `select count(*)::int as count from ledger_transaction where kind = 'sweep' and reference = $1`,
        [made?.id],
      );
      expect(row).toEqual({ count: 1 });
    });
  });
});
