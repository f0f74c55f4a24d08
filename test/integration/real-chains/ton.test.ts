import { addressOf } from '../../../src/chains/ton/ton-highload.ts';
import { paidOrders } from '../../support/gateway/paid-orders.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;
const ton = 1_000_000_000n;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({ ton: true });
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    gateway.chains.ton.heal();
    await gateway.mine('ton', 3);
    await gateway.tick();
    expect(await gateway.differences()).toEqual([]);
  });

  const chain = () => gateway.chains.ton.chain;
  const { status, expectPaid, exchanges } = paidOrders(() => gateway);

  describe('an order on TON', () => {
    it('shares one address with all others, with a comment each', async () => {
      const [order, other] = [await gateway.order('TON', 'LTC', 100), await gateway.order('TON', 'LTC', 100)];
      expect(order.depositAddress).toBe(gateway.hot.ton);
      expect(other.depositAddress).toBe(order.depositAddress);
      expect(other.depositTag).not.toBe(order.depositTag);
      await gateway.pay(order);
      await gateway.tick();
      expect(await status(order)).toBe('waiting_deposit');
      await gateway.mine('ton');
      await gateway.settle(order);
      await expectPaid(order);
      expect(await status(other)).toBe('waiting_deposit');
    });

    it.each([
      ['LTC', 'TON', 2],
      ['ETH', 'USDT-TON', 0.1],
      ['USDT-TON', 'ETH', 500],
      ['TON', 'USDT-TON', 300],
      ['USDT-TON', 'TON', 500],
    ] as const)('exchanges %s for %s', async (from, to, amount) => {
      await exchanges(from, to, amount);
    });

    it('that is underpaid is exchanged for less, and one after the window is refunded', async () => {
      const order = await gateway.order('TON', 'LTC', 200);
      await gateway.confirm(order, { amount: '100' });
      await gateway.settle(order);
      await expectPaid(order);
      const late = await gateway.order('USDT-TON', 'LTC', 500);
      await gateway.wait(1_801);
      await gateway.mine('ton');
      await gateway.tick();
      expect(await status(late)).toBe('expired');
      await gateway.confirm(late);
      await gateway.settle(late);
      expect(await status(late)).toBe('refunded');
    });

    it('pays a recipient with a comment', async () => {
      const order = await gateway.order('LTC', 'TON', 2, { recipient_address_tag: 'shop 77' });
      await gateway.confirm(order);
      await gateway.settle(order);
      await expectPaid(order);
      const received = chain()
        .blocks.flatMap(({ executed }) => executed)
        .findLast(({ account }) => account === addressOf(order.recipient).toRawString().toUpperCase());
      expect(received?.tx.inMessage?.body.beginParse().skip(32).loadStringTail()).toBe('shop 77');
    });

    it('whose recipient refuses tokens ends with the fee booked, and nothing paid', async () => {
      const { jetton } = gateway.chains.ton;
      const order = await gateway.order('LTC', 'USDT-TON', 2);
      jetton.refuse(addressOf(order.recipient));
      await gateway.confirm(order);
      await gateway.settle(order);
      expect(await status(order)).toBe('failed');
      expect(jetton.balance(addressOf(order.recipient))).toBe(0n);
    });

    it('is paid once although the servers lose its payment first', async () => {
      const order = await gateway.order('LTC', 'TON', 2);
      for (const node of gateway.chains.ton.nodes) node.faults = { send: { reaches: false } };
      await gateway.confirm(order);
      for (let round = 0; round < 5; round += 1) {
        await gateway.mine('litecoin');
        await gateway.mine('ton', 2);
        await gateway.wait(5);
      }
      expect(gateway.chains.ton.received(order.recipient)).toBe(0n);
      gateway.chains.ton.heal();
      await gateway.wait(60);
      await gateway.settle(order);
      await expectPaid(order);
    });
  });

  it('has made each payment with a query id of its own', async () => {
    const rows = await gateway.query<{ reserves: string[] }>(
      `select reserves from payment_attempt where chain = 'ton' and signed_at is not null order by prepared_at`,
    );
    const ids = rows.flatMap(({ reserves }) => reserves);
    expect(ids.length).toBeGreaterThan(5);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.map((id) => Number(id.replace('query:', '')))).toEqual(ids.map((_id, index) => index));
  });

  it('coins without a known comment, and forged news of tokens, belong to no order', async () => {
    const since = chain().head.seqno;
    const order = await gateway.order('USDT-TON', 'LTC', 500);
    const to = addressOf(gateway.hot.ton);
    chain().pay(to, 70n * ton, { comment: 'unknown' });
    chain().pay(to, 71n * ton, { comment: `${order.depositTag} ` });
    chain().pay(to, 72n * ton);
    chain().forgeNotification(to, 500_000_000n, order.depositTag ?? '');
    await gateway.mine('ton', 2);
    await gateway.tick();
    const rows = await gateway.query<{ problem: string; amount: string }>(
      `select problem, trim_scale(amount)::text as amount from deposit where chain = 'ton'
        and order_id is null and purpose = 'order' and height > $1 and amount > 1 order by amount`,
      [since],
    );
    expect(rows).toEqual(['70', '71', '72'].map((amount) => ({ problem: 'unknown_tag', amount })));
    expect(await status(order)).toBe('waiting_deposit');
  });
});
