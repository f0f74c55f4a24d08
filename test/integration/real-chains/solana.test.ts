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

    it.each([
      // The last third of a blockhash's life begins 100 blocks above its own.
      ['in time is sent', 60, 1],
      ['in the last third is not sent, and another one is built', 101, 2],
    ])('that a slow signer signs %s', async (_when, blocks, count) => {
      const order = await gateway.order('LTC', 'SOL', 2);
      await gateway.signer.stop();
      await gateway.confirm(order);
      for (let block = 0; block < 40 && (await attemptsOf(order.id)).length === 0; block += 1) await gateway.tick();
      expect(await attemptsOf(order.id)).toMatchObject([{ txid: null, dead_why: null }]);
      await gateway.mine('solana', blocks);
      await gateway.signer.start();
      await gateway.settle(order);
      await expectPaid(order);
      const attempts = await attemptsOf(order.id);
      expect(attempts.length).toBe(count);
      const sent = attempts.flatMap(({ txid }) => (txid === null ? [] : [chain().agesWhenTaken.get(txid)]));
      expect(sent).toEqual([expect.any(Number)]);
      expect(sent[0]).toBeGreaterThanOrEqual(count === 1 ? blocks : 0);
      expect(sent[0]).toBeLessThan(100);
    });

    /** Sends a payout whose newest transaction no leader takes. Returns its attempts. */
    const held = async (orderId: string, known = 0) => {
      for (let block = 0; block < 40 && (await attemptsOf(orderId)).length === known; block += 1) await gateway.tick();
      await gateway.tick();
      const attempts = await attemptsOf(orderId);
      chain().hold(attempts.at(-1)?.txid ?? '');
      return attempts;
    };
    /** A stranger makes the marker of the newest attempt before a leader takes that one. */
    const takeMarker = async (orderId: string): Promise<void> => {
      const last = (await attemptsOf(orderId)).at(-1);
      chain().pay(chain().bank, last?.reserves[0]?.replace('marker:', '') ?? '', 1_000_000n);
      await gateway.mine('solana');
      chain().release(last?.txid ?? '');
      await gateway.mine('solana', 2);
    };

    it('whose marker a stranger made fails, costs its fee, and is paid with the next marker', async () => {
      const order = await gateway.order('LTC', 'SOL', 2);
      await gateway.confirm(order);
      await held(order.id);
      await takeMarker(order.id);
      await gateway.settle(order);
      await expectPaid(order);
      const [one, two, ...others] = await attemptsOf(order.id);
      expect([one?.dead_why, two?.dead_why, others]).toEqual(['failed', null, []]);
      expect(two?.reserves).not.toEqual(one?.reserves);
      const booked = await gateway.query<{ reference: string }>(
        `select reference from ledger_transaction where kind = 'payment_fee' and order_id = $1`,
        [order.id],
      );
      expect(booked.map(({ reference }) => reference)).toEqual([expect.stringMatching(/:1$/)]);
    });

    it('whose marker a stranger made goes on only when both nodes say so', async () => {
      const order = await gateway.order('LTC', 'SOL', 2);
      await gateway.confirm(order);
      await held(order.id);
      gateway.chains.solana.nodes[1].faults = { error: 'internal', methods: /./ };
      await takeMarker(order.id);
      for (let round = 0; round < 5; round += 1) await gateway.wait(31);
      expect([await status(order), (await attemptsOf(order.id)).length]).toEqual(['sending', 1]);
      gateway.chains.solana.heal();
      await gateway.settle(order);
      await expectPaid(order);
    });

    it('whose marker an expired attempt had too is left to people when it fails', async () => {
      const order = await gateway.order('LTC', 'SOL', 2);
      await gateway.confirm(order);
      await held(order.id);
      await gateway.mine('solana', 200);
      expect((await held(order.id, 1)).length).toBe(2);
      await takeMarker(order.id);
      for (let round = 0; round < 5; round += 1) await gateway.wait(31);
      const [payment] = await gateway.query<{ state: string; problem: string }>(
        'select state, problem from payment where order_id = $1',
        [order.id],
      );
      expect(payment).toEqual({ state: 'dead', problem: 'failed_on_chain' });
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
