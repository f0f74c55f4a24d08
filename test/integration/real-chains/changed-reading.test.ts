import { openNetworks } from '../../../src/app/open-networks.ts';
import { openLiveAdapter } from '../../../src/chains/families/live-adapters.ts';
import type { ChainAdapter } from '../../../src/chains/port/chain-adapter.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { call } from '../../support/chains/anvil.ts';
import {
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

const ether = 10n ** 18n;
type Way = 'balances' | 'trace';

withRealChains(() => {
  let gateway: RealGateway;
  let forwarder: string;
  /** What reads the chain in the other way, once the test says so. */
  const other = new Map<Way, ChainAdapter>();
  let way: Way = 'balances';

  /** The parts of an adapter that differ between the ways of reading. */
  const reading: ReadonlySet<string | symbol> = new Set(['scan', 'missesInternalTransfers', 'internalTransfers']);
  const readBy = (adapter: ChainAdapter): ChainAdapter =>
    new Proxy(adapter, {
      get(target, name) {
        const one = (reading.has(name) && adapter.chain === 'ethereum' && other.get(way)) || target;
        const value = Reflect.get(one, name, one);
        return typeof value === 'function' ? value.bind(one) : value;
      },
    });

  beforeAll(async () => {
    gateway = await startRealGateway({ outside: { chain: readBy } });
    const { live } = await openNetworks(loadConfig(gateway.chains.environment));
    const network = live.get('ethereum');
    if (network?.kind !== 'evm') throw new Error('ethereum is not live');
    for (const each of ['balances', 'trace'] as const) {
      const changed = { ...network, internalTransfers: each };
      other.set(each, await openLiveAdapter(changed, gateway.hot.ethereum, gateway.app.orm));
    }
    forwarder = await gateway.chains.anvil.deploy('Forwarder');
  });
  afterAll(() => gateway?.stop());

  async function forward({ depositAddress }: RealOrder, amount: bigint): Promise<void> {
    await gateway.chains.anvil.send(forwarder, amount, { data: call('forward', depositAddress), gas: 200_000 });
  }

  async function found(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      await gateway.mine('ethereum', 3);
      await gateway.wait(31);
    }
  }

  async function readAnew(from: number): Promise<void> {
    await gateway.query(
      `update chain_state set rescan_from = $1, fence = fence + 1, lease_owner = null, lease_until = null
        where chain = 'ethereum'`,
      [from],
    );
    await gateway.wait(31);
    await found();
    await gateway.settleAll();
  }

  /** Every deposit of the order counts, and its payments are these. */
  async function isPaid(order: RealOrder, deposits: readonly string[], payments: readonly string[]): Promise<void> {
    const rows = await gateway.query<{ deposit: string }>(
      `select state || ' ' || trim_scale(amount) as deposit from deposit where order_id = $1 order by seen_at, id`,
      [order.id],
    );
    expect(rows.map(({ deposit }) => deposit)).toEqual(deposits.map((amount) => `credited ${amount}`));
    expect((await gateway.payments(order)).map(({ kind, state }) => `${kind} ${state}`).sort()).toEqual(payments);
    expect(await gateway.differences()).toEqual([]);
  }

  describe.each([
    ['balances', 'trace'],
    ['trace', 'balances'],
  ] as const)('coins that a contract sent on, found by %s and read again by %s', (before, after) => {
    let start: number;
    beforeEach(async () => {
      way = before;
      await gateway.mine('ethereum', 6);
      await gateway.wait(31);
      start = await gateway.chains.anvil.height();
    });

    it('are credited once after the order was paid out', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await forward(order, ether / 2n);
      await found();
      await gateway.settle(order);
      await isPaid(order, ['0.5'], ['payout confirmed']);
      way = after;
      await readAnew(start);
      await isPaid(order, ['0.5'], ['payout confirmed']);
      expect(await gateway.balance('ETH', order.refundTo)).toBe('0');
    });

    it('are credited once after they were refunded', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await gateway.wait(1_801);
      await forward(order, ether / 10n);
      await found();
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'refunded' });
      way = after;
      await readAnew(start);
      await isPaid(order, ['0.1'], ['refund confirmed']);
      expect(await gateway.balance('ETH', order.refundTo)).toBe('0.0995');
    });

    it('in several transfers are credited once from any height, together with an ordinary payment and a sweep', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.5);
      await gateway.pay(order, { amount: '0.5' });
      await forward(order, ether / 10n);
      await gateway.mine('ethereum');
      const between = await gateway.chains.anvil.height();
      await forward(order, ether / 5n);
      await gateway.mine('ethereum', 8);
      await gateway.wait(31);
      await gateway.settleAll();
      await found();
      await gateway.settleAll();
      expect(await gateway.balance('ETH', order.depositAddress)).toBe('0');
      const deposits = before === 'balances' ? ['0.5', '0.3'] : ['0.5', '0.1', '0.2'];
      const payments = ['payout confirmed', ...deposits.slice(1).map(() => 'refund confirmed')];
      await isPaid(order, deposits, payments);
      const returned = await gateway.balance('ETH', order.refundTo);
      for (const [next, from] of [
        [after, between],
        [before, start],
        [after, start],
        [after, between],
      ] as const) {
        way = next;
        await readAnew(from);
        await isPaid(order, deposits, payments);
      }
      expect(await gateway.balance('ETH', order.refundTo)).toBe(returned);
      // What comes later is a separate deposit again.
      await forward(order, ether / 4n);
      await found();
      await gateway.settleAll();
      await found();
      await isPaid(order, [...deposits, '0.25'], [...payments, 'refund confirmed']);
    });
  });
});
