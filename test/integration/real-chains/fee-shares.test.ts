import { Big } from '../../../src/base/money.ts';
import { tronFinality } from '../../support/chains/real-tron.ts';
import { toHexAddress } from '../../support/chains/tron-node/crypto.ts';
import {
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

// What a signer may spend on fees in a day is shared out: refunds get a part of it, and a partner
// another.

/** Each part of the fees of a day, in ether: enough for some transactions of the test. */
const part = '0.0001';
let gateway: RealGateway;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({
      settings: { FEE_SHARE_REFUNDS: '0.01', FEE_SHARE_PARTNER: '0.04', MAX_REFUNDS_PER_ORDER: '100' },
      tron: true,
      networks: () => ({
        ethereum: { max_fee: '0.01', fees_per_day: '0.01' },
        // The share of a partner is 40 TRX, and a payout of USDT may cost 16.
        tron: { max_fee: '100', fees_per_day: '1000' },
      }),
    });
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    expect(await gateway.differences()).toEqual([]);
  });

  /** Fees of what was signed, in ether. */
  async function spent(kind: string): Promise<Big> {
    const [row] = await gateway.query<{ fee: string }>(
      `select coalesce(sum(a.fee), 0)::text as fee from payment_attempt a join payment p on p.id = a.payment_id
        where a.chain = 'ethereum' and p.kind = $1 and a.signed_at is not null`,
      [kind],
    );
    return new Big(row?.fee ?? '0');
  }
  const waiting = async (kind: string): Promise<number> =>
    (await gateway.query(`select 1 from payment where kind = $1 and problem = 'fee_share'`, [kind])).length;
  /** What a transaction costs is the same in each test. */
  const priceGas = async (): Promise<void> => {
    await gateway.chains.anvil.setBaseFee(10n ** 9n);
    await gateway.mine('ethereum');
  };
  const paid = async (count: number): Promise<RealOrder[]> => {
    const orders: RealOrder[] = [];
    for (let made = 0; made < count; made += 1) {
      const order = await gateway.order('LTC', 'ETH', 0.5);
      await gateway.pay(order);
      orders.push(order);
    }
    await gateway.mine('litecoin', 2);
    await gateway.tick();
    return orders;
  };

  it('refunds use no more than their share of the daily fees, payouts go on, and the other refunds follow the next day', async () => {
    const order = await gateway.order('ETH', 'LTC', 0.4);
    await gateway.confirm(order);
    await gateway.settle(order);
    await priceGas();
    for (let made = 0; made < 8; made += 1) await gateway.pay(order, { amount: '0.01' });
    await gateway.mine('ethereum', 2);
    await gateway.tick();
    await gateway.tick();
    expect(await waiting('refund')).toBeGreaterThan(0);
    expect(await waiting('refund')).toBeLessThan(8);
    expect((await spent('refund')).lte(part)).toBe(true);
    const [honest] = await paid(1);
    if (!honest) throw new Error('no order was made');
    await gateway.settle(honest);
    expect(await gateway.show(honest)).toMatchObject({ status: 'completed' });
    for (let day = 1; day <= 8 && (await waiting('refund')) > 0; day += 1) {
      await gateway.wait(86_400);
      await gateway.chains.mine(5);
    }
    await gateway.wait(600);
    await gateway.settleAll();
    expect(await gateway.payments(order)).toHaveLength(1 + 8);
    expect((await gateway.payments(order)).every(({ state }) => state === 'confirmed')).toBe(true);
  });

  it('the payouts of one partner use no more than its share of the daily fees', async () => {
    await gateway.wait(86_400);
    await gateway.app.prices.refresh(gateway.app.catalogue.coins());
    await priceGas();
    const before = await spent('payout');
    await paid(14);
    await gateway.tick();
    expect(await waiting('payout')).toBeGreaterThan(0);
    expect((await spent('payout')).minus(before).lte(new Big(part).times('4'))).toBe(true);
  });

  it('payouts of tokens that fail in their block cost no more than the share of their partner', async () => {
    const { chain } = gateway.chains.tron;
    const orders: RealOrder[] = [];
    for (let made = 0; made < 3; made += 1) {
      const order = await gateway.order('LTC', 'USDT-TRC20', 1);
      chain.failing.set(toHexAddress(order.recipient), 'OUT_OF_ENERGY');
      await gateway.pay(order);
      orders.push(order);
    }
    await gateway.mine('litecoin', 2);
    for (let round = 0; round < 6; round += 1) {
      await gateway.tick();
      await gateway.mine('tron', tronFinality + 1);
      await gateway.wait(700);
    }
    const payouts = (await Promise.all(orders.map((order) => gateway.payments(order)))).flat();
    expect(payouts.map(({ problem }) => problem).toSorted()).toEqual([
      'failed_on_chain',
      'failed_on_chain',
      'fee_share',
    ]);
  });
});
