import { Big, fromUnits, toUnits } from '../../../src/base/money.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import { call } from '../../support/chains/anvil.ts';
import { tronFinality } from '../../support/chains/real-tron.ts';
import { toBase58, toHexAddress } from '../../support/chains/tron-node/crypto.ts';
import { type DepositCase, makeDeposits } from '../../support/chains/tron-node/deposits.ts';
import type { TronFaults } from '../../support/chains/tron-node/faults.ts';
import { toEvm } from '../../support/chains/tron-node/vm.ts';
import {
  type PaymentRow,
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

/** What can happen to money on Tron, with the deposits that show it. */
const rows: readonly (readonly [row: string, cases: readonly string[]])[] = [
  ['Coins and a listed token', ['coins', 'a token', 'coins of a contract']],
  [
    'A token of the same name sends a Transfer',
    ['another token of the same name', 'a log of a contract without a token', 'a log with four topics'],
  ],
  ['An approval in our favour', ['an approval']],
  [
    'A call that failed shows logs or a value',
    [
      'a transfer that was undone',
      'a transfer without enough energy',
      'coins of a call that was undone',
      'a token that is paused',
    ],
  ],
  ['An internal transfer is rejected in a transaction that succeeded', ['coins of an inner call that was undone']],
  ['A transferFrom of 0 to poison histories', ['a transfer of nothing']],
  ['A token prints absurd amounts', ['a token that prints an absurd amount']],
  ['TRC-10', ['a TRC-10 token', 'a TRC-10 token in a call']],
  ['Two logs to one address in one transaction', ['two transfers at once', 'a transfer in two halves']],
  ['USDT returns false', ['false although it worked', 'false without a transfer']],
  ['USDT sets its fee above 0: the deposit is the amount of the log', ['a token that keeps a fee']],
];

let gateway: RealGateway;
const decimals = 6;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({ tron: true });
  });
  afterAll(() => gateway?.stop());

  const honestly = async (): Promise<void> => {
    gateway.chains.tron.heal();
    await gateway.mine('tron', tronFinality + 1);
    await gateway.tick();
  };
  afterEach(async () => {
    await honestly();
    expect(await gateway.differences()).toEqual([]);
  });

  const status = async (order: RealOrder): Promise<string> => (await gateway.show(order)).status;
  const setToken = async (name: string, ...values: unknown[]): Promise<void> => {
    const { chain, token } = gateway.chains.tron;
    await chain.call(token, call(name, ...values));
    await gateway.mine('tron');
  };
  const payoutOf = async (order: RealOrder): Promise<PaymentRow> => {
    const [payout] = await gateway.payments(order);
    if (!payout) throw new Error('the order has no payment');
    return payout;
  };

  describe('a deposit on Tron', () => {
    let made: readonly DepositCase[];
    let order: RealOrder;
    beforeAll(async () => {
      const { tron } = gateway.chains;
      // The address gets its account by its order.
      order = await gateway.order('TRX', 'LTC', 400);
      await gateway.confirm(order);
      await gateway.settle(order);
      // Nodes that show the logs of calls that failed must not matter.
      for (const node of tron.nodes) node.faults = { logsOfFailures: true };
      made = await makeDeposits(tron.chain, tron.token, order.depositAddress);
      await gateway.mine('tron', tronFinality + 1);
      for (let round = 0; round < 3; round += 1) await gateway.wait(3);
    });

    it('is made in 21 ways, and each has its row', () => {
      const named = rows.flatMap(([, cases]) => cases);
      expect(named.toSorted()).toEqual(made.map(({ name }) => name).toSorted());
      expect(made).toHaveLength(21);
    });

    it.each(rows)('%s', async (_row, cases) => {
      for (const name of cases) {
        const {
          txid,
          credits,
          isTooLarge = false,
        } = made.find((one) => one.name === name) ?? { txid: '', credits: [] };
        const sums = new Map<string, bigint>();
        for (const { contract, amount } of isTooLarge ? [] : credits) {
          const asset = contract === null ? 'TRX' : 'USDT';
          sums.set(asset, (sums.get(asset) ?? 0n) + amount);
        }
        const expected = [...sums].map(([coin, units]) => ({ coin, amount: fromUnits(units, decimals) }));
        const deposits = await gateway.query(
          `select coin, trim_scale(sum(amount))::text as amount from deposit
            where txid = $1 and state = 'credited' group by coin`,
          [txid],
        );
        expect({ name, deposits }).toEqual({ name, deposits: expected });
        const booked = await gateway.query(
          `select l.coin, trim_scale(sum(l.amount))::text as amount
             from ledger_line l join ledger_transaction t on t.id = l.transaction_id
             join deposit d on t.reference = d.chain || ':' || d.key || ':' || d.credits
            where d.txid = $1 and t.kind = 'deposit' and l.account = 'deposits' group by l.coin`,
          [txid],
        );
        expect({ name, booked }).toEqual({ name, booked: expected });
        const leftOut = await gateway.query('select reason from left_out_transfer where txid = $1', [txid]);
        expect({ name, leftOut }).toEqual({ name, leftOut: isTooLarge ? [{ reason: 'too_large' }] : [] });
      }
    });

    it('is in the book with what the chain says that the address has', async () => {
      expect(await gateway.booked('deposits', 'TRX')).toBe(await gateway.balance('TRX', order.depositAddress));
      const printed = 2n ** 255n;
      const units = await gateway.chains.tron.chain.balance(order.depositAddress, gateway.chains.tron.token);
      expect(toUnits(await gateway.booked('deposits', 'USDT-TRC20'), decimals)).toBe(units - printed);
    });

    const faults: readonly (readonly [string, TronFaults])[] = [
      ['misses an id', { infos: 'lack' }],
      ['belongs to another block', { infos: 'other-block' }],
      ['names another block', { infos: 'misnumbered' }],
      ['is empty', { infos: 'none' }],
    ];
    it.each(faults)('The list of results %s: nothing counts before a node tells it rightly', async (_name, fault) => {
      const { nodes } = gateway.chains.tron;
      const next = await gateway.order('USDT-TRC20', 'LTC', 100);
      for (const node of nodes) node.faults = { ...fault };
      await gateway.confirm(next);
      expect(await status(next)).toBe('waiting_deposit');
      nodes[1].faults = {};
      await gateway.wait(3);
      await gateway.settle(next);
      expect(await status(next)).toBe('completed');
    });

    it('The block changes between two calls: it is read again, and the deposit counts once', async () => {
      const { chain, nodes } = gateway.chains.tron;
      const next = await gateway.order('USDT-TRC20', 'LTC', 100);
      await gateway.pay(next);
      await gateway.mine('tron');
      let changes = 0;
      for (const node of nodes) {
        node.faults = {
          before: async (path) => {
            if (changes > 0 || !path.endsWith('gettransactioninfobyblocknum')) return;
            changes += 1;
            await chain.reorg(1);
          },
        };
      }
      await gateway.tick();
      expect(changes).toBe(1);
      await gateway.mine('tron', tronFinality + 1);
      await gateway.tick();
      await gateway.settle(next);
      expect(await status(next)).toBe('completed');
      const counted = await gateway.query(`select state from deposit where order_id = $1 and state = 'credited'`, [
        next.id,
      ]);
      expect(counted).toHaveLength(1);
    });

    it('whose address is on the black list of USDT stays in deposits, and is swept once it is not', async () => {
      const next = await gateway.order('USDT-TRC20', 'LTC', 100);
      await gateway.confirm(next);
      const address = toEvm(toHexAddress(next.depositAddress));
      await setToken('setBlocked', address, true);
      await gateway.settle(next);
      const items = async (): Promise<string[]> => {
        const found = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
        return found.filter(({ kind }) => kind === 'sweep_refused').map(({ detail }) => detail);
      };
      const rounds = async (count: number, sec: number): Promise<void> => {
        for (let round = 0; round < count; round += 1) {
          await gateway.mine('tron', tronFinality + 1);
          await gateway.wait(sec);
          await gateway.settleAll();
        }
      };
      const tries = (): Promise<{ tries: number }[]> =>
        gateway.query('select tries from sweep_refusal where source = $1', [next.depositAddress]);
      await rounds(8, 31);
      const [{ tries: first } = { tries: 0 }] = await tries();
      // After 0, 1, 3 and 7 minutes.
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThan(5);
      await rounds(5, 240);
      expect(await items()).toEqual([`would_fail: USDT on TRC20 stays on ${next.depositAddress}`]);
      expect((await tries())[0]?.tries).toBeLessThan(8);
      const movements = () =>
        gateway.query<{ kind: string; state: string }>(
          `select kind, state from payment where chain = 'tron' and (sources = array[$1] or address = $1) order by number`,
          [next.depositAddress],
        );
      expect(await movements()).toEqual([]);
      expect(await gateway.balance('USDT-TRC20', next.depositAddress)).toBe('100');
      expect(await gateway.differences()).toEqual([]);

      await setToken('setBlocked', address, false);
      await rounds(1, 3_600);
      await rounds(3, 31);
      expect(await movements()).toEqual([
        { kind: 'gas', state: 'confirmed' },
        { kind: 'sweep', state: 'confirmed' },
      ]);
      expect(await gateway.balance('USDT-TRC20', next.depositAddress)).toBe('0');
      expect([await items(), await tries()]).toEqual([[], []]);
    });
  });

  describe('a payout on Tron', () => {
    it('while USDT is paused is not signed, and goes out once it is not', async () => {
      const order = await gateway.order('LTC', 'USDT-TRC20', 1);
      await setToken('setPaused', true);
      await gateway.confirm(order);
      await gateway.wait(3);
      const payout = await payoutOf(order);
      expect(payout).toMatchObject({ state: 'ready', problem: 'would_fail' });
      expect(await gateway.attempts(payout.id)).toEqual([]);
      await setToken('setPaused', false);
      await gateway.wait(600);
      await gateway.settle(order);
      expect(await status(order)).toBe('completed');
      expect(await gateway.balance('USDT-TRC20', order.recipient)).toBe(payout.amount);
    });

    it('while our wallet is on the black list of USDT is not signed', async () => {
      const hot = toEvm(toHexAddress(gateway.hot.tron));
      const order = await gateway.order('LTC', 'USDT-TRC20', 1);
      await setToken('setBlocked', hot, true);
      await gateway.confirm(order);
      await gateway.wait(3);
      expect(await payoutOf(order)).toMatchObject({ state: 'ready', problem: 'would_fail' });
      await setToken('setBlocked', hot, false);
      await gateway.wait(600);
      await gateway.settle(order);
      expect(await status(order)).toBe('completed');
    });

    it('of TRX to a recipient without account pays for the account too', async () => {
      const order = await gateway.order('LTC', 'TRX', 1);
      await gateway.confirm(order);
      await gateway.settle(order);
      const payout = await payoutOf(order);
      expect(await gateway.balance('TRX', order.recipient)).toBe(payout.amount);
      expect((await gateway.attempts(payout.id))[0]?.fee).toBe('1.1');
    });

    it('of TRX to a contract is refused before it is signed', async () => {
      const contract = await gateway.chains.tron.chain.deploy('Forwarder');
      const order = await gateway.order('LTC', 'TRX', 1, { recipient_address: contract });
      await gateway.confirm(order);
      await gateway.wait(3);
      const payout = await payoutOf(order);
      expect(payout).toMatchObject({ state: 'ready', problem: 'would_fail' });
      expect(await gateway.attempts(payout.id)).toEqual([]);
    });

    it('that ends with OUT_OF_ENERGY moves nothing, and its fee is a cost', async () => {
      const { chain } = gateway.chains.tron;
      const order = await gateway.order('LTC', 'USDT-TRC20', 1);
      chain.failing.set(toHexAddress(order.recipient), 'OUT_OF_ENERGY');
      const costs = new Big(await gateway.booked('network_cost', 'TRX'));
      await gateway.confirm(order);
      await gateway.settle(order);
      expect(await payoutOf(order)).toMatchObject({ state: 'dead', problem: 'failed_on_chain' });
      expect(await status(order)).toBe('failed');
      expect(await gateway.balance('USDT-TRC20', order.recipient)).toBe('0');
      const after = await gateway.booked('network_cost', 'TRX');
      expect(costs.eq(after)).toBe(false);
      // The order costs one fee: without staff nothing is sent again.
      for (let day = 0; day < 3; day += 1) {
        await gateway.mine('tron');
        await gateway.wait(86_400);
        await gateway.settleAll();
      }
      expect(await gateway.payments(order)).toHaveLength(1);
      expect(await gateway.attempts((await payoutOf(order)).id)).toHaveLength(1);
      expect(await gateway.booked('network_cost', 'TRX')).toBe(after);
    });

    const broadcasts = ['dup-taken', 'expired-taken', 'error-taken', 'dup-dropped', 'SERVER_BUSY'] as const;
    it.each(broadcasts)('whose broadcast both nodes answer with %s is paid once', async (broadcast) => {
      const { tron } = gateway.chains;
      const order = await gateway.order('LTC', 'USDT-TRC20', 1);
      for (const node of tron.nodes) node.faults = { broadcast };
      await gateway.confirm(order);
      await gateway.wait(3);
      await gateway.mine('tron');
      await gateway.wait(5);
      tron.heal();
      await gateway.settle(order);
      const payout = await payoutOf(order);
      expect([await status(order), payout.state]).toEqual(['completed', 'confirmed']);
      expect(await gateway.attempts(payout.id)).toHaveLength(1);
      expect(await gateway.balance('USDT-TRC20', order.recipient)).toBe(payout.amount);
    });

    it('that waits with a foretold SUCCESS is not mined until a block holds it', async () => {
      const { chain, nodes } = gateway.chains.tron;
      const order = await gateway.order('LTC', 'USDT-TRC20', 1);
      await gateway.confirm(order);
      await gateway.wait(3);
      const payout = await payoutOf(order);
      const [attempt] = await gateway.attempts(payout.id);
      chain.held.add(attempt?.txid ?? '');
      for (const node of nodes) node.faults = { pool: 'as-mined' };
      for (let round = 0; round < 4; round += 1) {
        await gateway.mine('tron', tronFinality);
        await gateway.wait(5);
      }
      expect(await gateway.show(order)).toMatchObject({ status: 'sending', payout_txid: null });
      expect(await gateway.attempts(payout.id)).toMatchObject([{ mined_height: null, dead_why: null }]);
      chain.held.clear();
      await gateway.settle(order);
      expect(await status(order)).toBe('completed');
      expect(await gateway.attempts(payout.id)).toHaveLength(1);
    });

    it('stops while another key signs for our wallet, and goes on with ours', async () => {
      const { chain } = gateway.chains.tron;
      const { tron: hot } = gateway.hot;
      const order = await gateway.order('LTC', 'USDT-TRC20', 1);
      await chain.setOwner(hot, toBase58(chain.bank.address));
      await gateway.mine('tron', tronFinality + 1);
      await gateway.confirm(order);
      await gateway.wait(3);
      const payout = await payoutOf(order);
      expect(payout).toMatchObject({ state: 'ready', problem: 'permission_changed' });
      expect(await gateway.attempts(payout.id)).toEqual([]);
      const reports = await gateway.settlement.adapters.get('tron')?.check?.();
      expect(JSON.stringify(reports)).toContain('owner permission');
      const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
      expect(items.some(({ detail }) => detail.includes('permission_changed'))).toBe(true);
      await chain.setOwner(hot, hot);
      await gateway.mine('tron', tronFinality + 1);
      await gateway.wait(600);
      await gateway.settle(order);
      expect(await status(order)).toBe('completed');
    });

    it('moves nothing when USDT sets its fee above 0 after it was signed: its energy does not suffice', async () => {
      const { chain } = gateway.chains.tron;
      const order = await gateway.order('LTC', 'USDT-TRC20', 1);
      await gateway.confirm(order);
      await gateway.wait(3);
      const payout = await payoutOf(order);
      const [attempt] = await gateway.attempts(payout.id);
      chain.held.add(attempt?.txid ?? '');
      await setToken('setFee', 100n);
      chain.held.clear();
      await gateway.mine('tron');
      await setToken('setFee', 0n);
      await gateway.settle(order);
      expect(await status(order)).toBe('failed');
      expect(await payoutOf(order)).toMatchObject({ state: 'dead', problem: 'failed_on_chain' });
      expect(await gateway.balance('USDT-TRC20', order.recipient)).toBe('0');
    });
  });
});
