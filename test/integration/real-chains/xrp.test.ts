import type { XrpFaults } from '../../support/chains/xrp-node/faults.ts';
import { accountFlags } from '../../support/chains/xrp-node/state.ts';
import { paidOrders } from '../../support/gateway/paid-orders.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';
import { sharedAddressCases } from '../../support/gateway/shared-address-cases.ts';

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
  const { status, expectPaid } = paidOrders(() => gateway);

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

  sharedAddressCases<XrpFaults>({
    gateway: () => gateway,
    chain: 'ripple',
    coin: 'XRP',
    amount: 500,
    // The recipients have no account yet.
    pairs: [
      ['LTC', 'XRP', 2],
      ['ETH', 'XRP', 0.1],
      ['XRP', 'ETH', 500],
    ],
    late: ['XRP', 500],
    world: () => gateway.chains.xrp,
    losesPayments: { submit: { result: 'tesSUCCESS', reaches: false } },
    expire: () => gateway.mine('ripple', 76),
    keepsReservation: true,
    faults: [
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
    ],
  });

  it('an order pays a tag to a recipient that requires one', async () => {
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
});
