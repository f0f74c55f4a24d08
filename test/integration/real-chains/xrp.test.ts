import type { XrpFaults } from '../../support/chains/xrp-node/faults.ts';
import { accountFlags } from '../../support/chains/xrp-node/state.ts';
import { paidOrders } from '../../support/gateway/paid-orders.ts';
import {
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;
const xrp = 1_000_000n;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({ xrp: true });
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    gateway.chains.xrp.heal();
    await gateway.mine('ripple');
    await gateway.tick();
    expect(await gateway.differences()).toEqual([]);
  });

  const chain = () => gateway.chains.xrp.chain;
  const { status, expectPaid, exchanges } = paidOrders(() => gateway);

  it('the wallet sets itself up: the flag that requires a tag, then tickets, each booked as its fee', async () => {
    for (let round = 0; round < 6; round += 1) {
      await gateway.wait(31);
      await gateway.mine('ripple');
      await gateway.tick();
    }
    const { flags, tickets } = chain().account(gateway.hot.ripple);
    expect(flags & accountFlags.requireDest).not.toBe(0);
    expect(tickets).toHaveLength(150);
    const rows = await gateway.query(
      `select setup, state, amount::int as amount from payment where kind = 'setup' order by number`,
    );
    expect(rows).toEqual([
      { setup: 'require_tag', state: 'confirmed', amount: 0 },
      { setup: 'tickets:150', state: 'confirmed', amount: 0 },
    ]);
    expect(await gateway.booked('network_cost', 'XRP')).toBe('0.00002');
  });

  describe('an order', () => {
    it('from XRP shows each step, and all orders share one address with a tag each', async () => {
      const [order, other] = [await gateway.order('XRP', 'LTC', 500), await gateway.order('XRP', 'LTC', 500)];
      expect(order.depositAddress).toBe(gateway.hot.ripple);
      expect(other.depositAddress).toBe(order.depositAddress);
      expect(other.depositTag).not.toBe(order.depositTag);
      const txid = await gateway.pay(order);
      await gateway.tick();
      expect(await status(order)).toBe('waiting_deposit');
      await gateway.mine('ripple');
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ deposit_txid: txid });
      await gateway.settle(order);
      await expectPaid(order);
      expect(await status(other)).toBe('waiting_deposit');
    });

    it.each([
      ['LTC', 'XRP', 2],
      ['ETH', 'XRP', 0.1],
      ['XRP', 'ETH', 500],
    ] as const)('exchanges %s for %s, to an address without account', async (from, to, amount) => {
      await exchanges(from, to, amount);
    });

    it('pays a tag to a recipient that requires one', async () => {
      const shop = chain().newAccount(5n * xrp);
      chain().setAccount(shop.address, { flags: accountFlags.requireDest });
      const order = await gateway.order('LTC', 'XRP', 2, {
        recipient_address: shop.address,
        recipient_address_tag: '77',
      });
      await gateway.confirm(order);
      await gateway.settle(order);
      expect(await status(order)).toBe('completed');
      const [attempt] = await gateway.query<{ txid: string }>(
        `select a.txid from payment_attempt a join payment p on p.id = a.payment_id where p.order_id = $1`,
        [order.id],
      );
      expect(chain().find(attempt?.txid ?? '')?.applied.tx.json).toMatchObject({ DestinationTag: 77 });
    });

    it('that is underpaid is exchanged for less, and one after the window is refunded', async () => {
      const order = await gateway.order('XRP', 'LTC', 800);
      await gateway.confirm(order, { amount: '400' });
      await gateway.settle(order);
      await expectPaid(order);
      const late = await gateway.order('XRP', 'LTC', 500);
      await gateway.wait(1_801);
      await gateway.mine('ripple');
      await gateway.tick();
      expect(await status(late)).toBe('expired');
      await gateway.confirm(late);
      await gateway.settle(late);
      expect(await status(late)).toBe('refunded');
    });
  });

  describe('coins that belong to no order', () => {
    const problems = () =>
      gateway.query<{ problem: string | null; amount: string }>(
        `select problem, trim_scale(amount)::text as amount from deposit where chain = 'ripple' and order_id is null
          and purpose = 'order' order by amount`,
      );

    it('with an unknown tag, or by an unusual kind, are in suspense', async () => {
      chain().pay(chain().bank, gateway.hot.ripple, 700n * xrp, { tag: 5 });
      chain().credit('EscrowFinish', gateway.hot.ripple, 800n * xrp);
      await gateway.mine('ripple', 2);
      await gateway.tick();
      expect(await problems()).toEqual([
        { problem: 'unknown_tag', amount: '700' },
        { problem: 'unusual_kind', amount: '800' },
      ]);
      expect(await gateway.booked('suspense', 'XRP')).toBe('-1500');
    });

    it('a partial payment is credited with what was delivered', async () => {
      const order = await gateway.order('XRP', 'LTC', 500);
      chain().pay(chain().bank, order.depositAddress, 500_000n * xrp, {
        tag: Number(order.depositTag),
        delivered: 500n * xrp,
      });
      await gateway.mine('ripple', 2);
      await gateway.tick();
      await gateway.settle(order);
      await expectPaid(order);
    });

    it('payments of issued currencies bring nothing', async () => {
      const order = await gateway.order('XRP', 'LTC', 500);
      chain().payTokens(order.depositAddress, { tag: Number(order.depositTag) });
      await gateway.mine('ripple', 2);
      await gateway.tick();
      expect(await status(order)).toBe('waiting_deposit');
    });
  });

  it('ten payouts at once go through tickets: with the first one stuck, nine arrive', async () => {
    const orders: RealOrder[] = [];
    for (let index = 0; index < 10; index += 1) orders.push(await gateway.order('ETH', 'XRP', 0.1));
    for (const order of orders) await gateway.pay(order);
    await gateway.mine('ethereum', 2);
    await gateway.tick();
    await gateway.wait(5);
    const sent = await gateway.query<{ order_id: string; txid: string; reserves: string[] }>(
      `select p.order_id, a.txid, a.reserves from payment p join payment_attempt a on a.payment_id = p.id
        where p.kind = 'payout' and p.state = 'sent' order by p.number`,
    );
    expect(sent).toHaveLength(10);
    expect(new Set(sent.flatMap(({ reserves }) => reserves)).size).toBe(10);
    const [stuck] = sent;
    chain().hold(stuck?.txid ?? '');
    await gateway.mine('ripple');
    await gateway.tick();
    const states = await Promise.all(orders.map(status));
    expect(states.filter((state) => state === 'completed')).toHaveLength(9);
    chain().release(stuck?.txid ?? '');
    for (const order of orders) await gateway.settle(order);
    for (const order of orders) await expectPaid(order);
  });

  it('a payout that no ledger takes expires, and its second attempt uses the same ticket and pays once', async () => {
    const order = await gateway.order('ETH', 'XRP', 0.1);
    for (const node of gateway.chains.xrp.nodes) node.faults = { submit: { result: 'tesSUCCESS', reaches: false } };
    await gateway.confirm(order);
    await gateway.wait(5);
    const [payout] = await gateway.payments(order);
    expect(payout?.state).toBe('sent');
    await gateway.mine('ripple', 76);
    await gateway.wait(5);
    gateway.chains.xrp.heal();
    await gateway.settle(order);
    await expectPaid(order);
    const attempts = await gateway.query<{ reserves: string[]; dead_why: string | null }>(
      `select reserves, dead_why from payment_attempt where payment_id = $1 order by attempt`,
      [payout?.id],
    );
    expect(attempts).toMatchObject([{ dead_why: 'expired' }, { dead_why: null }]);
    expect(attempts[0]?.reserves).toEqual(attempts[1]?.reserves);
  });

  const faults: readonly (readonly [name: string, faults: XrpFaults])[] = [
    ['throttles', { transport: 429 }],
    ['is too busy', { error: 'tooBusy' }],
    ['cuts its answers off', { transport: 'half' }],
    ['is behind', { lag: 6 }],
    ['is of another network', { networkId: 1 }],
    ['is out of date', { amendmentBlocked: true }],
    ['has not validated its ledgers', { validated: false }],
    ['gives ledgers that do not fit to their hash', { ledger: 'hash' }],
    ['gives amounts beyond all coins', { huge: true }],
    ['gives odd texts', { texts: 'odd' }],
  ];

  it.each(faults)('while one server %s, an order in and out of XRP is paid', async (_name, fault) => {
    const [node] = gateway.chains.xrp.nodes;
    node.faults = { ...fault };
    const order = await gateway.order('XRP', 'LTC', 500);
    await gateway.confirm(order);
    await gateway.settle(order);
    await expectPaid(order);
    const back = await gateway.order('LTC', 'XRP', 2);
    await gateway.confirm(back);
    await gateway.wait(5);
    await gateway.mine('ripple');
    gateway.chains.xrp.heal();
    await gateway.settle(back);
    await expectPaid(back);
  });
});
