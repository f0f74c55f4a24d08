import { addressOf } from '../../../src/chains/ton/ton-highload.ts';
import type { TonFaults } from '../../support/chains/ton-node/faults.ts';
import { rawOf } from '../../support/chains/ton-node/names.ts';
import { paidOrders } from '../../support/gateway/paid-orders.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';
import { sharedAddressCases } from '../../support/gateway/shared-address-cases.ts';

let gateway: RealGateway;
const ton = 1_000_000_000n;
const inBase64 = (hash: string): string => Buffer.from(hash, 'hex').toString('base64');

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
  const { status, expectPaid } = paidOrders(() => gateway);

  sharedAddressCases<TonFaults>({
    gateway: () => gateway,
    chain: 'ton',
    coin: 'TON',
    amount: 100,
    pairs: [
      ['LTC', 'TON', 2],
      ['ETH', 'USDT-TON', 0.1],
      ['USDT-TON', 'ETH', 500],
      ['TON', 'USDT-TON', 300],
      ['USDT-TON', 'TON', 500],
    ],
    late: ['USDT-TON', 500],
    world: () => ({
      nodes: gateway.chains.ton.nodes,
      heal: () => gateway.chains.ton.heal(),
      chain: {
        hold: (txid) => chain().hold(inBase64(txid)),
        release: (txid) => chain().release(inBase64(txid)),
      },
    }),
    losesPayments: { send: { reaches: false } },
    // The contract takes a payment for an hour.
    expire: async () => {
      await gateway.wait(3_700);
      await gateway.mine('ton', 3);
    },
    txidOf: (sent) => {
      const found = chain()
        .blocks.flatMap(({ executed }) => executed)
        .find(
          ({ externalHash, account }) =>
            externalHash === inBase64(sent) && account === rawOf(addressOf(gateway.hot.ton)),
        );
      return Buffer.from(found?.hash ?? '', 'base64').toString('hex');
    },
    keepsReservation: false,
    faults: [
      ['throttles', { transport: 429 }],
      ['refuses all questions', { error: 500 }],
      ['cuts its answers off', { transport: 'half' }],
      ['is behind', { lag: 6 }],
      ['lists transactions later than blocks', { behind: 3 }],
      ['leaves transactions out', { lacks: ({ seqno }) => seqno % 2 === 0 }],
      ['tells other blocks than its peer', { fork: true }],
      ['gives amounts beyond all coins', { numbers: 'huge' }],
      ['gives odd texts', { texts: 'odd' }],
    ],
  });

  it('an order pays a recipient with a comment', async () => {
    const order = await gateway.order('LTC', 'TON', 2, { recipient_address_tag: 'shop 77' });
    await gateway.confirm(order);
    await gateway.settle(order);
    await expectPaid(order);
    const received = chain()
      .blocks.flatMap(({ executed }) => executed)
      .findLast(({ account }) => account === addressOf(order.recipient).toRawString().toUpperCase());
    expect(received?.tx.inMessage?.body.beginParse().skip(32).loadStringTail()).toBe('shop 77');
  });

  it('an order whose recipient refuses tokens ends with the fee booked, and nothing paid', async () => {
    const { jetton } = gateway.chains.ton;
    const order = await gateway.order('LTC', 'USDT-TON', 2);
    jetton.refuse(addressOf(order.recipient));
    await gateway.confirm(order);
    await gateway.settle(order);
    expect(await status(order)).toBe('failed');
    expect(jetton.balance(addressOf(order.recipient))).toBe(0n);
  });

  it('has made each payment with a query id of its own', async () => {
    const rows = await gateway.query<{ reserves: string[] }>(
      `select reserves from payment_attempt where chain = 'ton' and signed_at is not null order by prepared_at`,
    );
    const ids = rows.flatMap(({ reserves }) => reserves);
    expect(ids.length).toBeGreaterThan(5);
    expect(new Set(ids).size).toBe(ids.length);
    const counts = ids.map((id) => Number(id.replace('query:', ''))).sort((one, other) => one - other);
    expect(counts).toEqual(counts.map((_count, index) => index));
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
