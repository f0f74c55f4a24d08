import { describeWithVm } from '../../support/chains/solana-calls.ts';
import { paidOrders } from '../../support/gateway/paid-orders.ts';
import {
  type RealCoin,
  type RealGateway,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;

const declare = (): void => {
  beforeAll(async () => {
    gateway = await startRealGateway({ solana: true });
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    gateway.chains.solana.heal();
    await gateway.mine('solana');
    await gateway.tick();
    expect(await gateway.differences()).toEqual([]);
  });

  const chain = () => gateway.chains.solana.chain;
  const { status, expectPaid, exchanges } = paidOrders(() => gateway);

  describe('an order', () => {
    it('from SOL shows each step, and has an address of the pool', async () => {
      const [order, other] = [await gateway.order('SOL', 'LTC', 2), await gateway.order('SOL', 'LTC', 2)];
      expect(order.depositAddress).not.toBe(other.depositAddress);
      expect(order.depositTag).toBeNull();
      const txid = await gateway.pay(order);
      await gateway.tick();
      expect(await status(order)).toBe('waiting_deposit');
      await gateway.mine('solana', 2);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ deposit_txid: txid });
      await gateway.settle(order);
      await expectPaid(order);
      expect(await status(other)).toBe('waiting_deposit');
    });

    it.each([
      ['LTC', 'SOL', 2],
      ['ETH', 'USDC-SOL', 0.1],
      ['USDC-SOL', 'ETH', 500],
      ['USDT-SOL', 'SOL', 500],
      ['SOL', 'USDT-SOL', 5],
    ] as const)('exchanges %s for %s', async (from, to, amount) => {
      await exchanges(from, to, amount);
    });

    it('that is underpaid is exchanged for less, and one after the window is refunded', async () => {
      const order = await gateway.order('SOL', 'LTC', 4);
      await gateway.confirm(order, { amount: '2' });
      await gateway.settle(order);
      await expectPaid(order);
      const late = await gateway.order('USDC-SOL', 'LTC', 500);
      await gateway.wait(1_801);
      await gateway.mine('solana');
      await gateway.tick();
      expect(await status(late)).toBe('expired');
      await gateway.confirm(late);
      await gateway.settle(late);
      expect(await status(late)).toBe('refunded');
    });
  });

  it('sweeps bring all coins and tokens to the wallet, which pays for them', async () => {
    for (let round = 0; round < 4; round += 1) {
      await gateway.wait(31);
      await gateway.settleAll();
    }
    const sweeps = await gateway.query<{ coin: string; state: string; sources: string[] }>(
      `select coin, state, sources from payment where kind in ('sweep', 'gas') and chain = 'solana' order by number`,
    );
    expect(sweeps.map(({ coin, state }) => `${coin} ${state}`).sort()).toEqual([
      ...['SOL confirmed', 'SOL confirmed', 'SOL confirmed'],
      ...['USDC confirmed', 'USDC confirmed', 'USDT confirmed'],
    ]);
    for (const { sources } of sweeps) expect(chain().balance(sources[0] ?? '')).toBe(0n);
    for (const coin of ['SOL', 'USDC-SOL', 'USDT-SOL'] satisfies RealCoin[]) {
      expect(await gateway.booked('deposits', coin)).toBe('0');
    }
  });

  describe('a payout', () => {
    const attemptsOf = async (orderId: string) =>
      gateway.query<{ attempt: number; txid: string; dead_why: string | null; reserves: string[] }>(
        `select a.attempt, a.txid, a.dead_why, a.reserves from payment_attempt a join payment p on p.id = a.payment_id
          where p.order_id = $1 order by a.attempt`,
        [orderId],
      );

    it('that no leader takes dies with its blockhash, and the next attempt uses the same marker', async () => {
      const order = await gateway.order('LTC', 'SOL', 2);
      await gateway.confirm(order);
      for (let block = 0; block < 40 && (await attemptsOf(order.id)).length === 0; block += 1) await gateway.tick();
      await gateway.tick();
      const [first] = await attemptsOf(order.id);
      chain().hold(first?.txid ?? '');
      await gateway.mine('solana', 200);
      await gateway.settle(order);
      await expectPaid(order);
      const [one, two, ...others] = await attemptsOf(order.id);
      expect([one?.dead_why, two?.dead_why, others]).toEqual(['expired', null, []]);
      expect(two?.reserves).toEqual(one?.reserves);
      // The first one after all, which its marker keeps from paying again.
      chain().release(first?.txid ?? '');
      await gateway.mine('solana', 2);
      await expectPaid(order);
    });

    it('to an address that gets less than an account must have waits until it is enough', async () => {
      const { solana } = gateway.chains;
      solana.chain.vm.rentPerByte = 1_000_000_000n;
      const order = await gateway.order('LTC', 'SOL', 2);
      await gateway.confirm(order);
      for (let round = 0; round < 5; round += 1) await gateway.wait(31);
      expect(await status(order)).toBe('sending');
      solana.chain.vm.rentPerByte = 5_080n;
      await gateway.settle(order);
      await expectPaid(order);
    });
  });
};

withRealChains(() => describeWithVm('Solana', declare));
