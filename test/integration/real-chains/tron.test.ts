import { Big } from '../../../src/base/money.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import { call } from '../../support/chains/anvil.ts';
import { tronFinality } from '../../support/chains/real-tron.ts';
import { toHexAddress } from '../../support/chains/tron-node/crypto.ts';
import type { TronFaults } from '../../support/chains/tron-node/faults.ts';
import { toEvm } from '../../support/chains/tron-node/vm.ts';
import { commandLine } from '../../support/gateway/built-process.ts';
import {
  type RealCoin,
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;
/** Seconds from the head until a payment that is in no block expires. */
const expireAfterSec = 300;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({ tron: true, networks: () => ({ tron: { expire_after_sec: expireAfterSec } }) });
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    gateway.chains.tron.heal();
    await gateway.mine('tron', tronFinality + 1);
    await gateway.tick();
    expect(await gateway.differences()).toEqual([]);
  });

  it('chain list shows how far Tron is read, by which worker, and how internal transfers are found', async () => {
    await gateway.wait(31);
    // The lease of a gateway that only ticks may end before the command reads it.
    await gateway.query(`update chain_state set lease_until = now() + interval '1 hour' where chain = 'tron'`);
    const { output } = await commandLine(gateway.databaseUrl, ['chain', 'list', '--json'], gateway.chains.environment);
    const { chains } = JSON.parse(output) as { chains: { chain: string }[] };
    const height = gateway.chains.tron.chain.head.header.number;
    expect(chains.find(({ chain }) => chain === 'tron')).toEqual({
      ...{ chain: 'tron', height, head: height, behind: 0, problem: null, since: null },
      ...{ internal_transfers: 'trace', worker: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      scanned_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  const status = async (order: RealOrder): Promise<string> => (await gateway.show(order)).status;

  /** The order was paid once, with the amount of its only payment. */
  async function expectPaid(order: RealOrder): Promise<void> {
    expect(await status(order)).toBe('completed');
    const [payout, ...others] = await gateway.payments(order);
    expect(others).toEqual([]);
    expect(payout).toMatchObject({ kind: 'payout', state: 'confirmed', address: order.recipient });
    expect(await gateway.balance(order.to, order.recipient)).toBe(payout?.amount);
  }

  async function exchanges(from: RealCoin, to: RealCoin, amount: number): Promise<RealOrder> {
    const order = await gateway.order(from, to, amount);
    await gateway.confirm(order);
    await gateway.settle(order);
    await expectPaid(order);
    return order;
  }

  describe('an order on Tron', () => {
    it('from USDT-TRC20 shows each step', async () => {
      const order = await gateway.order('USDT-TRC20', 'LTC', 150.25);
      const txid = await gateway.pay(order);
      await gateway.tick();
      // Nothing is known of a transaction before a block holds it.
      expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit', deposit_txid: null });
      await gateway.mine('tron');
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({
        status: 'confirming',
        deposit_txid: txid,
        deposit_confirmations: 1,
      });
      // It has the confirmations that its order asks for, and its block is not final.
      await gateway.mine('tron', tronFinality - 1);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'confirming', deposit_confirmations: 3 });
      await gateway.mine('tron');
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'sending' });
      await gateway.settle(order);
      await expectPaid(order);
    });

    it.each([
      ['TRX', 'LTC', 500],
      ['LTC', 'TRX', 2],
      ['ETH', 'USDT-TRC20', 0.1],
      ['TRX', 'USDT-TRC20', 1_000],
    ] as const)('exchanges %s for %s, to an address without account', async (from, to, amount) => {
      await exchanges(from, to, amount);
    });

    it('to USDT-TRC20 pays a holder of the token', async () => {
      const { chain, token } = gateway.chains.tron;
      const holder = chain.address();
      await chain.pay(holder, token, 5_000_000n);
      await gateway.mine('tron');
      const order = await gateway.order('LTC', 'USDT-TRC20', 2, { recipient_address: holder });
      await gateway.confirm(order);
      await gateway.settle(order);
      const [payout] = await gateway.payments(order);
      const paid = new Big(await gateway.balance('USDT-TRC20', holder)).minus('5');
      expect([payout?.state, paid.toFixed()]).toEqual(['confirmed', payout?.amount]);
    });

    it.each([
      ['USDT-TRC20', '100', '97'],
      ['TRX', '400', '398.5'],
    ] as const)('of %s after the window is refunded', async (from, amount, back) => {
      const order = await gateway.order(from, 'LTC', Number(amount));
      await gateway.wait(1_801);
      // The chain goes on, or its time would say that the deposit was in time.
      await gateway.mine('tron');
      await gateway.tick();
      expect(await status(order)).toBe('expired');
      await gateway.confirm(order);
      await gateway.settle(order);
      expect(await status(order)).toBe('refunded');
      expect(await gateway.balance(from, order.refundTo)).toBe(back);
    });

    it.each([
      ['USDT-TRC20', '10.5', '7.5'],
      ['TRX', '30', '28.5'],
    ] as const)('of %s below the minimum is refunded after the window', async (from, amount, back) => {
      const order = await gateway.order(from, 'LTC', 500);
      await gateway.confirm(order, { amount });
      expect(await status(order)).toBe('waiting_deposit');
      await gateway.wait(1_801);
      await gateway.mine('tron');
      await gateway.settle(order);
      await gateway.tick();
      await gateway.settle(order);
      expect(await status(order)).toBe('refunded');
      expect(await gateway.balance(from, order.refundTo)).toBe(back);
    });

    it('that is underpaid is exchanged for less', async () => {
      const order = await gateway.order('USDT-TRC20', 'LTC', 500);
      const { amount_to_expected: expected } = await gateway.show(order);
      await gateway.confirm(order, { amount: '200' });
      await gateway.settle(order);
      await expectPaid(order);
      const paid = new Big(await gateway.balance('LTC', order.recipient));
      expect(paid.gt('0') && paid.lt(new Big(String(expected)).div('2'))).toBe(true);
    });

    it('that two transfers of one transaction pay counts their sum', async () => {
      const { chain, token } = gateway.chains.tron;
      const order = await gateway.order('USDT-TRC20', 'LTC', 300);
      const to = toEvm(toHexAddress(order.depositAddress));
      await chain.call(token, call('transferTwice', to, to, 150_000_000n));
      await gateway.mine('tron', tronFinality + 1);
      await gateway.tick();
      await gateway.settle(order);
      await expectPaid(order);
      const rows = await gateway.query(
        `select trim_scale(amount)::text as amount, state from deposit where order_id = $1`,
        [order.id],
      );
      expect(rows).toEqual([{ amount: '300.000001', state: 'credited' }]);
    });
  });

  describe('a payout of Tron that nodes accept and drop', () => {
    it.each(['USDT-TRC20', 'TRX'] as const)('of %s dies by expiry: a second attempt pays it once', async (to) => {
      const { tron } = gateway.chains;
      for (const node of tron.nodes) node.faults = { broadcast: 'dropped' };
      const order = await gateway.order('LTC', to, 3);
      await gateway.confirm(order);
      await gateway.wait(3);
      await gateway.tick();
      const [payout] = await gateway.payments(order);
      const attempts = (): ReturnType<RealGateway['attempts']> => gateway.attempts(payout?.id ?? '');
      const [first] = await attempts();
      expect(first).toMatchObject({ attempt: 1, dead_why: null });
      const rows = await gateway.query<{ ms: string }>(
        `select extract(epoch from expires_at)::numeric * 1000 as ms from payment_attempt where payment_id = $1`,
        [payout?.id],
      );
      const expiresMs = Number(rows[0]?.ms);

      // To the last block in which it could come.
      while (tron.chain.head.header.timestamp + 60_000 < expiresMs) {
        await gateway.wait(60);
        await gateway.mine('tron');
        await gateway.tick();
        expect(await attempts()).toHaveLength(1);
      }
      for (const node of tron.nodes) node.faults = { broadcast: 'dropped' };
      gateway.clock.advance(expiresMs - gateway.clock.now().getTime());
      await gateway.mine('tron', tronFinality + 1);
      await gateway.wait(5);
      await gateway.tick();
      // The chain shows its death. The signer waits for another 120 s of its own clock.
      const shown = await attempts();
      expect(shown[0]).toMatchObject({ attempt: 1, dead_why: 'expired' });
      expect(shown.filter(({ txid }) => txid !== null)).toHaveLength(1);
      expect(await gateway.balance(to, order.recipient)).toBe('0');

      tron.heal();
      gateway.clock.advance(120_000);
      // Nothing is built on an old head, which the signer would refuse.
      await gateway.tick();
      expect(await attempts()).toHaveLength(1);
      for (let round = 0; round < 40 && (await status(order)) !== 'completed'; round += 1) {
        await gateway.mine('tron');
        await gateway.wait(20);
      }
      await gateway.settle(order);
      await expectPaid(order);
      expect(await attempts()).toMatchObject([
        { attempt: 1, dead_why: 'expired', mined_height: null },
        { dead_why: null, mined_height: expect.any(Number) },
      ]);
    });

    it('is paid by its first attempt when a later broadcast reaches the chain', async () => {
      const { tron } = gateway.chains;
      for (const node of tron.nodes) node.faults = { broadcast: 'dropped' };
      const order = await gateway.order('LTC', 'USDT-TRC20', 3);
      await gateway.confirm(order);
      for (let round = 0; round < 3; round += 1) {
        await gateway.wait(30);
        await gateway.mine('tron');
      }
      tron.heal();
      await gateway.settle(order);
      await expectPaid(order);
      const [payout] = await gateway.payments(order);
      expect(await gateway.attempts(payout?.id ?? '')).toHaveLength(1);
    });
  });

  const faults: readonly (readonly [name: string, faults: TronFaults])[] = [
    ['throttles', { transport: 429 }],
    ['lacks resources', { transport: 'busy' }],
    ['cuts its answers off', { transport: 'half' }],
    ['lacks results', { infos: 'lack' }],
    ['is behind', { lag: 6 }],
    ['accepts and drops', { broadcast: 'dropped' }],
    ['refuses what it takes', { broadcast: 'error-taken' }],
  ];
  /** With these a node answers nothing. */
  const silent = faults.slice(0, 3);

  /** With this a node answers, and its answers are refused. */
  const refused = faults.slice(3, 4);

  describe.each([...silent, ...refused])('while one node %s', (name, fault) => {
    it.each([0, 1])('a payout is final only once it answers again, with node %i as that one', async (index) => {
      const order = await gateway.order('LTC', 'TRX', 3);
      await gateway.confirm(order);
      const node = gateway.chains.tron.nodes[index];
      if (node) node.faults = { ...fault };
      for (let round = 0; round < 5; round += 1) {
        await gateway.mine('tron', tronFinality);
        await gateway.wait(5);
      }
      expect(await status(order)).toBe('sending');
      // Staff see why.
      const failing = (): Promise<object[]> =>
        gateway.query('select chain, failure from chain_state where failing_since is not null');
      if (silent.some(([one]) => one === name)) {
        expect(await failing()).toEqual([{ chain: 'tron', failure: 'no_second_node' }]);
        const items = await attention(gateway.app.orm.em.fork(), 100, new Date(gateway.clock.now().getTime() + 60_000));
        expect(items).toContainEqual(
          expect.objectContaining({ kind: 'chain_problem', subjectId: 'tron', detail: 'no_second_node' }),
        );
      }
      const [payout] = await gateway.payments(order);
      expect(payout?.state).toBe('sent');
      expect(await gateway.balance('TRX', order.recipient)).toBe(payout?.amount);
      gateway.chains.tron.heal();
      await gateway.settle(order);
      await expectPaid(order);
      await gateway.tick();
      expect(await failing()).toEqual([]);
    });
  });

  describe.each(faults.slice(4))('while one node %s', (_name, fault) => {
    it.each([0, 1])('an order in and out of Tron is paid, with node %i as that one', async (index) => {
      const node = gateway.chains.tron.nodes[index];
      if (node) node.faults = { ...fault };
      await exchanges('USDT-TRC20', 'TRX', 120);
    });
  });

  it.each(silent)('while both nodes fail at times (%s), an order is paid once', async (_name, fault) => {
    const { nodes } = gateway.chains.tron;
    for (const [index, node] of nodes.entries()) {
      let calls = index;
      const faults: TronFaults = {
        before: () => {
          calls += 1;
          if (calls % 41 === 0) Object.assign(faults, fault);
          else delete faults.transport;
        },
      };
      node.faults = faults;
    }
    await exchanges('TRX', 'USDT-TRC20', 900);
  });

  describe('the sweep of Tron', () => {
    interface SweepRow {
      readonly kind: string;
      readonly coin: string;
      readonly state: string;
      readonly address: string;
      readonly problem: string | null;
    }
    const movements = (address: string): Promise<SweepRow[]> =>
      gateway.query<SweepRow>(
        `select kind, coin, state, address, problem from payment
          where order_id is null and (sources = array[$1] or address = $1) order by number`,
        [address],
      );

    /** Final deposits, and turns of the sweeper until nothing moves. */
    async function sweep(): Promise<void> {
      for (let round = 0; round < 3; round += 1) {
        await gateway.mine('tron', tronFinality + 1);
        await gateway.tick();
        await gateway.wait(31);
        await gateway.settleAll();
      }
    }

    it('of TRX moves the whole balance to the hot wallet', async () => {
      const order = await exchanges('TRX', 'LTC', 400);
      await sweep();
      expect(await movements(order.depositAddress)).toMatchObject([{ kind: 'sweep', coin: 'TRX', state: 'confirmed' }]);
      expect(await gateway.balance('TRX', order.depositAddress)).toBe('0');
    });

    it('of USDT follows a payment of TRX for its fee', async () => {
      const order = await exchanges('USDT-TRC20', 'LTC', 100);
      await sweep();
      expect(await movements(order.depositAddress)).toMatchObject([
        { kind: 'gas', coin: 'TRX', state: 'confirmed', address: order.depositAddress },
        { kind: 'sweep', coin: 'USDT', state: 'confirmed', address: gateway.hot.tron, problem: null },
      ]);
      expect(await gateway.balance('USDT-TRC20', order.depositAddress)).toBe('0');
      // Of what the address was sent for the fee, only the room for more energy is left there.
      expect(new Big(await gateway.balance('TRX', order.depositAddress)).lt('2')).toBe(true);
      expect(await gateway.booked('hot', 'USDT-TRC20')).toBe(await gateway.balance('USDT-TRC20', gateway.hot.tron));
      expect(await gateway.booked('hot', 'TRX')).toBe(await gateway.balance('TRX', gateway.hot.tron));
    });
  });
});
