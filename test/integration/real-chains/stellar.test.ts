import type { StellarFaults } from '../../support/chains/stellar-node/faults.ts';
import { paidOrders } from '../../support/gateway/paid-orders.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';
import { sharedAddressCases } from '../../support/gateway/shared-address-cases.ts';

let gateway: RealGateway;
const xlm = 10_000_000n;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({ stellar: true });
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    gateway.chains.stellar.heal();
    await gateway.mine('stellar');
    await gateway.tick();
    expect(await gateway.differences()).toEqual([]);
  });

  const chain = () => gateway.chains.stellar.chain;
  const { status, expectPaid } = paidOrders(() => gateway);

  it('the wallet sets itself up: memo, trust line and channels, each booked as its fee', async () => {
    for (let round = 0; round < 30; round += 1) {
      await gateway.wait(31);
      await gateway.mine('stellar');
      await gateway.tick();
    }
    const rows = await gateway.query<{ setup: string; state: string }>(
      `select setup, state from payment where kind = 'setup' order by number`,
    );
    const channels = Array.from({ length: 10 }, (_, index) => `channel:${index + 1}:2`);
    expect(rows.map(({ setup }) => setup)).toEqual(['require_memo', 'trust:USDC', ...channels]);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['confirmed']));
    expect(await gateway.booked('network_cost', 'XLM')).toBe('0.00012');
    const { tag } = (await gateway.settlement.adapters.get('stellar')?.hotWallet()) ?? {};
    gateway.chains.stellar.fund(gateway.hot.stellar, tag ?? '');
    await gateway.mine('stellar');
    await gateway.tick();
  });

  sharedAddressCases<StellarFaults>({
    gateway: () => gateway,
    chain: 'stellar',
    coin: 'XLM',
    amount: 1_000,
    pairs: [
      ['LTC', 'XLM', 2],
      ['ETH', 'USDC-XLM', 0.1],
      ['USDC-XLM', 'ETH', 500],
      ['XLM', 'USDC-XLM', 1_000],
    ],
    late: ['USDC-XLM', 500],
    world: () => gateway.chains.stellar,
    losesPayments: { send: { status: 'PENDING', reaches: false } },
    expire: () => gateway.mine('stellar', 62),
    keepsReservation: true,
    faults: [
      ['throttles', { transport: 429 }],
      ['refuses all questions', { error: 'internal' }],
      ['cuts its answers off', { transport: 'half' }],
      ['is behind', { lag: 6 }],
      ['is of another network', { passphrase: 'Another network ; 2026' }],
      ['gives ledgers that do not fit to their hash', { ledger: 'hash' }],
      ['leaves transactions out', { ledger: 'lack' }],
      ['gives amounts beyond all coins', { numbers: 'huge' }],
      ['gives odd texts', { texts: 'odd' }],
    ],
  });

  it('an order pays a memo to a recipient that asks for one', async () => {
    const shop = chain().newAccount(5n * xlm);
    chain().setData(shop.address, 'config.memo_required', Buffer.from('1'));
    const order = await gateway.order('LTC', 'XLM', 2, {
      recipient_address: shop.address,
      recipient_address_tag: 'shop 77',
    });
    await gateway.confirm(order);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    const [attempt] = await gateway.query<{ txid: string }>(
      `select a.txid from payment_attempt a join payment p on p.id = a.payment_id where p.order_id = $1`,
      [order.id],
    );
    const memo = chain()
      .find(attempt?.txid ?? '')
      ?.applied.tx.tx.memo();
    expect(memo?.text().toString()).toBe('shop 77');
  });

  describe('coins that belong to no order', () => {
    /** What came in ledgers above a height. */
    const problems = (height: number) =>
      gateway.query<{ problem: string | null; amount: string; coin: string }>(
        `select problem, coin, trim_scale(amount)::text as amount from deposit where chain = 'stellar'
          and order_id is null and purpose = 'order' and height > $1 order by amount`,
        [height],
      );

    it('with an unknown memo, two tags that differ, or by an unusual kind, are in suspense', async () => {
      const since = chain().head.seq;
      const { bank } = chain();
      const to = gateway.hot.stellar;
      const order = await gateway.order('XLM', 'LTC', 1_000);
      chain().pay(bank, to, 700n * xlm, { memo: 5n });
      chain().pay(bank, to, 710n * xlm, { memo: { hash: Buffer.alloc(32, 7) } });
      chain().pay(bank, to, 720n * xlm, { memo: BigInt(order.depositTag ?? ''), muxedId: 5n });
      chain().credit('account_merge', to, 800n * xlm);
      chain().credit('contract', to, 810n * xlm);
      chain().credit('contract', to, 820n * xlm, null, gateway.chains.stellar.asset);
      await gateway.mine('stellar', 2);
      await gateway.tick();
      expect(await problems(since)).toEqual([
        { problem: 'unknown_tag', coin: 'XLM', amount: '700' },
        { problem: 'unknown_tag', coin: 'XLM', amount: '710' },
        { problem: 'unknown_tag', coin: 'XLM', amount: '720' },
        { problem: 'unusual_kind', coin: 'XLM', amount: '800' },
        { problem: 'unusual_kind', coin: 'XLM', amount: '810' },
        { problem: 'unusual_kind', coin: 'USDC', amount: '820' },
      ]);
      expect(await status(order)).toBe('waiting_deposit');
    });

    it('in another token, in a claimable balance, or in a payment that failed, bring nothing', async () => {
      const since = chain().head.seq;
      const order = await gateway.order('USDC-XLM', 'LTC', 500);
      const { bank } = chain();
      const memo = BigInt(order.depositTag ?? '');
      chain().credit('claimable_balance', order.depositAddress, 500n * xlm, memo);
      chain().pay(bank, order.depositAddress, 500n * xlm, { memo, result: 'paymentLineFull' });
      await gateway.mine('stellar', 2);
      await gateway.tick();
      expect(await problems(since)).toEqual([]);
      expect(await status(order)).toBe('waiting_deposit');
    });

    it('that come to a channel are in suspense too', async () => {
      const since = chain().head.seq;
      const channels = await gateway.query<{ value: string }>(
        `select value from setting where name = 'hot_wallet_channels:stellar'`,
      );
      const [channel = ''] = (channels[0]?.value ?? '').split(' ');
      chain().pay(chain().bank, channel, 900n * xlm, { memo: 7n });
      await gateway.mine('stellar', 2);
      await gateway.tick();
      expect(await problems(since)).toEqual([{ problem: 'unusual_kind', coin: 'XLM', amount: '900' }]);
    });
  });

  describe('a deposit counts', () => {
    it.each([
      ['by the number in a muxed address', { muxed: true }],
      ['by the text of a memo that is the same number', { text: true }],
    ] as const)('%s', async (_how, how) => {
      const order = await gateway.order('XLM', 'LTC', 1_000);
      const tag = order.depositTag ?? '';
      const options = 'muxed' in how ? { muxedId: BigInt(tag) } : { memo: { text: tag } };
      chain().pay(chain().bank, order.depositAddress, 1_000n * xlm, options);
      await gateway.mine('stellar', 2);
      await gateway.tick();
      await gateway.settle(order);
      await expectPaid(order);
    });

    it.each(['send', 'receive'] as const)('of a path payment (strict %s) with what arrived', async (strict) => {
      const order = await gateway.order('USDC-XLM', 'LTC', 500);
      chain().pathPayment(order.depositAddress, {
        ...{ arrived: 500n * xlm, sent: 9_000n * xlm, asset: gateway.chains.stellar.asset, strict },
        memo: BigInt(order.depositTag ?? ''),
      });
      await gateway.mine('stellar', 2);
      await gateway.tick();
      await gateway.settle(order);
      await expectPaid(order);
    });

    it('with all that one transaction pays', async () => {
      const order = await gateway.order('XLM', 'LTC', 1_000);
      const to = order.depositAddress;
      const other = chain().newAccount().address;
      chain().payInMany(
        [
          { to, amount: 400n * xlm },
          { to: other, amount: 5n * xlm },
          { to, amount: 600n * xlm },
        ],
        { memo: BigInt(order.depositTag ?? '') },
      );
      await gateway.mine('stellar', 2);
      await gateway.tick();
      const deposits = await gateway.query<{ amount: string }>(
        `select trim_scale(amount)::text as amount from deposit where order_id = $1 order by amount`,
        [order.id],
      );
      expect(deposits).toEqual([{ amount: '1000' }]);
      await gateway.settle(order);
    });
  });

  it('a payout whose fee another account raised is found by the id inside', async () => {
    const order = await gateway.order('ETH', 'XLM', 0.1);
    for (const node of gateway.chains.stellar.nodes) node.faults = { send: { status: 'PENDING', reaches: false } };
    await gateway.confirm(order);
    await gateway.wait(5);
    const [attempt] = await gateway.query<{ raw: string }>(
      `select a.raw from payment_attempt a join payment p on p.id = a.payment_id where p.order_id = $1`,
      [order.id],
    );
    chain().feeBump(attempt?.raw ?? '', chain().newAccount(50n * xlm));
    gateway.chains.stellar.heal();
    await gateway.settle(order);
    await expectPaid(order);
  });
});
