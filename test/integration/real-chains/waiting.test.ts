import { attention } from '../../../src/orders/read/attention.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;
const log = new LogSink();
const wide = { per_payment: '1000000', per_day: '100000000' };
const narrow = { ETH: { per_payment: '0.2', per_day: '0.2' }, USDT: wide };

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({
      isFunded: false,
      outside: { logStream: log },
    });
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    expect(await gateway.differences()).toEqual([]);
  });

  async function needs(): Promise<string[]> {
    const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
    return items.map(({ kind, detail }) => `${kind}: ${detail}`);
  }

  describe('a hot wallet with too small a balance', () => {
    it('is in the attention list, and its payments wait until it is funded', async () => {
      await gateway.query(
        `insert into wallet_level (chain, coin, network, balance, low, level, outside_since, seen_at)
         values ('ethereum', 'USDC', 'ERC20', 0, 1, 'low', '2020-01-01', '2020-01-01')`,
      );
      await gateway.wait(61);
      // And nothing about tokens that the networks do not name, or do not name any more.
      expect(await gateway.query('select coin from wallet_level order by coin')).toEqual([
        { coin: 'ETH' },
        { coin: 'LTC' },
        { coin: 'USDT' },
      ]);
      expect((await needs()).sort()).toEqual([
        'wallet_level: low: ETH on ETH',
        'wallet_level: low: LTC on LTC',
        'wallet_level: low: USDT on ERC20',
      ]);
      const ether = await gateway.order('LTC', 'ETH', 2);
      await gateway.confirm(ether);
      const litecoin = await gateway.order('USDT', 'LTC', 100);
      await gateway.confirm(litecoin);
      const token = await gateway.order('LTC', 'USDT', 3);
      await gateway.confirm(token);
      expect(await gateway.payments(ether)).toMatchObject([{ state: 'ready', problem: 'insufficient_funds' }]);
      expect(await gateway.payments(litecoin)).toMatchObject([{ state: 'ready', problem: 'hot_wallet_low' }]);
      expect(await gateway.payments(token)).toMatchObject([{ state: 'ready', problem: 'insufficient_funds' }]);
      expect(await needs()).toEqual(expect.arrayContaining(['payment_problem: insufficient_funds']));

      const { anvil, litecoind, token: contract } = gateway.chains;
      await anvil.sendToken(contract, gateway.hot.ethereum, 1_000n * 10n ** 6n);
      await gateway.mine('ethereum');
      await gateway.wait(61);
      // It has tokens, and no coins for gas.
      expect(await gateway.payments(token)).toMatchObject([{ state: 'ready', problem: 'no_gas' }]);
      await anvil.send(gateway.hot.ethereum, 2n * 10n ** 18n);
      await litecoind.pay(gateway.hot.litecoin, 20n * 10n ** 8n);
      await gateway.chains.mine();
      await gateway.wait(61);
      // Who sent it could still take it back, and the payment with it.
      expect(await gateway.payments(litecoin)).toMatchObject([{ state: 'ready', problem: 'hot_wallet_low' }]);
      await gateway.chains.mine();
      await gateway.wait(61);
      for (const order of [ether, litecoin, token]) {
        await gateway.settle(order);
        expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
        expect(await gateway.balance(order.to, order.recipient)).toBe((await gateway.payments(order))[0]?.amount);
      }
      await gateway.wait(61);
      expect(await needs()).toEqual([]);
      expect(await gateway.query('select 1 from wallet_level where outside_since is not null')).toEqual([]);
    });
  });

  describe('payments above the balance of the hot wallet', () => {
    it('are sent up to the balance, and the others once the wallet is funded', async () => {
      const { anvil, token: contract } = gateway.chains;
      const orders = [await gateway.order('LTC', 'USDT', 6), await gateway.order('LTC', 'USDT', 6)];
      for (const order of orders) await gateway.pay(order);
      await gateway.mine('litecoin', 2);
      await gateway.tick();
      const payouts = (await Promise.all(orders.map((order) => gateway.payments(order)))).flat();
      const has = Number(await gateway.balance('USDT', gateway.hot.ethereum));
      for (const { amount } of payouts) {
        expect(Number(amount)).toBeLessThan(has);
        expect(Number(amount) * 2).toBeGreaterThan(has);
      }
      expect(payouts.map(({ state, problem }) => `${state} ${problem}`).sort()).toEqual([
        'ready insufficient_funds',
        'sent null',
      ]);
      await gateway.mine('ethereum', 6);
      await gateway.wait(61);
      await anvil.sendToken(contract, gateway.hot.ethereum, 1_000n * 10n ** 6n);
      for (const order of orders) {
        await gateway.settle(order);
        expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
      }
    });
  });

  describe('a signer', () => {
    it('that refuses a payment lets the others through, and signs once its limit is raised', async () => {
      const { settlement, clock } = gateway;
      // Only the signer has the narrow limits. A gateway that knows them waits by itself.
      await gateway.signer.stop();
      await gateway.chains.writeNetworks({ ethereum: { limits: narrow } });
      await gateway.signer.start();
      const first = await gateway.order('LTC', 'ETH', 5);
      await gateway.confirm(first);
      await gateway.settle(first);
      const second = await gateway.order('LTC', 'ETH', 5);
      await gateway.confirm(second);
      expect(await gateway.payments(second)).toMatchObject([{ state: 'ready', problem: 'signer_refused' }]);
      expect(await gateway.show(second)).toMatchObject({ status: 'sending', payout_txid: null });
      expect(await needs()).toContain('payment_problem: signer_refused');
      const failed = log
        .lines()
        .map((line) => JSON.parse(line))
        .filter(({ event }) => event === 'signer_failed');
      expect(failed).toMatchObject([
        {
          code: 'refused',
          detail: 'the limit of the day (per_day) of the own coin of ethereum is reached until 00:00 UTC',
          order_id: second.id,
        },
      ]);
      const held = await gateway.query(
        `select 1 from payment_reservation where chain = 'ethereum' and released_at is null`,
      );
      expect(held).toEqual([]);

      const other = await gateway.order('LTC', 'USDT', 3);
      await gateway.confirm(other);
      await gateway.settle(other);
      expect(await gateway.show(other)).toMatchObject({ status: 'completed' });

      await gateway.signer.stop();
      await gateway.chains.writeNetworks({ ethereum: { limits: { ETH: wide, USDT: wide } } });
      await gateway.signer.start();
      clock.advance(300_000);
      await settlement.worker.tick();
      await gateway.settle(second);
      expect(await gateway.show(second)).toMatchObject({ status: 'completed' });
      expect(await gateway.balance('ETH', second.recipient)).toBe((await gateway.payments(second))[0]?.amount);
    });

    it('that cannot be reached delays payments', async () => {
      await gateway.signer.stop();
      const order = await gateway.order('ETH', 'USDT', 0.1);
      await gateway.confirm(order);
      expect(await gateway.payments(order)).toMatchObject([{ state: 'prepared', problem: 'signer_unavailable' }]);
      await gateway.wait(10);
      expect(await gateway.payments(order)).toMatchObject([{ state: 'prepared', problem: 'signer_unavailable' }]);
      await gateway.signer.start();
      await gateway.wait(10);
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    });
  });
});
