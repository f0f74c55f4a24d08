import { Big } from '../../../src/base/money.ts';
import {
  type RealCoin,
  type RealGateway,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway();
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    expect(await gateway.differences()).toEqual([]);
  });

  describe('the life of an order on real chains', () => {
    const pairs: readonly (readonly [from: RealCoin, to: RealCoin, amount: number])[] = [
      ['ETH', 'LTC', 0.5],
      ['LTC', 'USDT', 3],
      ['USDT', 'LTC', 150.25],
      ['ETH', 'USDT', 0.123456789],
    ];
    it.each(pairs)('exchanges %s for %s', async (from, to, amount) => {
      const order = await gateway.order(from, to, amount);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit', deposit_txid: null });

      const txid = await gateway.pay(order);
      await gateway.tick();
      // What a call to a token will move is not known before a block executes it.
      const isHinted = from !== 'USDT';
      expect(await gateway.show(order)).toMatchObject(
        isHinted
          ? { status: 'confirming', deposit_txid: txid, deposit_confirmations: 0 }
          : { status: 'waiting_deposit', deposit_txid: null },
      );
      const [chain, other] = from === 'LTC' ? (['litecoin', 'ethereum'] as const) : (['ethereum', 'litecoin'] as const);
      await gateway.mine(chain);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({
        status: 'confirming',
        deposit_txid: txid,
        deposit_confirmations: 1,
        deposit_confirmations_required: 2,
        payout_txid: null,
      });
      await gateway.mine(chain);
      await gateway.tick();
      const sending = await gateway.show(order);
      expect(sending).toMatchObject({ status: 'sending', deposit_confirmations: 2, payout_txid: null });
      await gateway.wait(3);
      await gateway.mine(to === 'LTC' ? 'litecoin' : 'ethereum');
      if (to !== 'LTC') await gateway.mine(other);
      await gateway.tick();
      const paid = await gateway.show(order);
      expect(paid).toMatchObject({ status: 'sending', payout_txid: expect.any(String) });

      await gateway.settle(order);
      const done = await gateway.show(order);
      expect(done).toMatchObject({ status: 'completed', payout_txid: paid.payout_txid });
      const [payout, ...others] = await gateway.payments(order);
      expect(others).toEqual([]);
      expect(payout).toMatchObject({ kind: 'payout', state: 'confirmed', coin: to });
      expect(await gateway.balance(to, order.recipient)).toBe(payout?.amount);
      const [trade] = await gateway.query(
        'select trim_scale(amount_to)::text as bought from trade where order_id = $1',
        [order.id],
      );
      expect(trade).toEqual({ bought: payout?.amount });
      const [attempt] = await gateway.attempts(payout?.id ?? '');
      expect(done.payout_txid).toBe(attempt?.txid);
      expect(await gateway.history(order)).toEqual([
        'created',
        'deposit_seen',
        'deposit_confirmed',
        'liquidity_bought',
        'payout_confirmed',
      ]);
    });
  });

  describe('coins that arrive at a hot wallet from outside', () => {
    it.each([
      ['ETH', 'ethereum'],
      ['LTC', 'litecoin'],
    ] as const)('are booked in %s, taken back with their block, and booked again', async (coin, chain) => {
      const { chains, hot } = gateway;
      const before = new Big(await gateway.booked('opening', coin));
      const opened = async (): Promise<string> => before.minus(await gateway.booked('opening', coin)).toFixed();
      if (coin === 'ETH') await chains.anvil.send(hot.ethereum, 7n * 10n ** 18n);
      else await chains.litecoind.pay(hot.litecoin, 7n * 10n ** 8n);
      await gateway.mine(chain);
      await gateway.tick();
      expect(await opened()).toBe('0');
      // They count once the chain is final.
      await gateway.mine(chain, 3);
      await gateway.tick();
      expect(await opened()).toBe('7');
      expect(await gateway.differences()).toEqual([]);

      await (coin === 'ETH' ? chains.anvil : chains.litecoind).reorg(4, 5);
      expect(await gateway.differences()).toEqual([]);
      await gateway.tick();
      expect(await opened()).toBe('0');
      expect(await gateway.differences()).toEqual([]);
      await gateway.mine(chain, 4);
      await gateway.tick();
      expect(await opened()).toBe('7');
      const [row] = await gateway.query<{ count: number }>(
        `select count(*)::int as count from ledger_transaction where kind = 'funding_reversal' and reference like $1`,
        [`${chain}:%`],
      );
      expect(row).toEqual({ count: 1 });
    });
  });
});
