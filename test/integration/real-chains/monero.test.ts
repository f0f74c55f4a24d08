import { hasMonerod, withoutMonerod, xmr } from '../../support/chains/monerod.ts';
import { paidOrders } from '../../support/gateway/paid-orders.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;

const declare = (): void => {
  beforeAll(async () => {
    gateway = await startRealGateway({ monero: true });
    // A private chain asks for higher fees than the public one, and a refund costs no more than it
    // charges.
    await gateway.query(`update currency set network_fee = 0.002 where coin = 'XMR'`);
    await gateway.app.catalogue.refresh();
  }, 600_000);
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    await gateway.mine('monero');
    await gateway.tick();
    expect(await gateway.differences()).toEqual([]);
  });

  const { status, expectPaid, exchanges } = paidOrders(() => gateway);

  it('shows each step of an order from XMR, which has a subaddress of the pool', async () => {
    const [order, other] = [await gateway.order('XMR', 'LTC', 1), await gateway.order('XMR', 'LTC', 1)];
    expect(order.depositAddress).not.toBe(other.depositAddress);
    expect(order.depositAddress).toMatch(/^8/);
    await gateway.tick();
    const txid = await gateway.pay(order);
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    await gateway.mine('monero', 2);
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ deposit_txid: txid });
    await gateway.settle(order);
    await expectPaid(order);
    expect(await status(other)).toBe('waiting_deposit');
  });

  it('pays XMR for LTC', async () => {
    await exchanges('LTC', 'XMR', 2);
  });

  it('refunds a deposit below the minimum after the window, less the fee', async () => {
    const order = await gateway.order('XMR', 'LTC', 1);
    await gateway.confirm(order, { amount: '0.02' });
    expect(await status(order)).toBe('waiting_deposit');
    await gateway.wait(1_801);
    expect(await status(order)).toBe('refunding');
    await gateway.settle(order);
    expect(await status(order)).toBe('refunded');
    const [refund] = await gateway.payments(order);
    expect(refund).toMatchObject({ kind: 'refund', state: 'confirmed' });
    expect(await gateway.balance('XMR', order.refundTo)).toBe(refund?.amount);
  });

  it('keeps a deposit that is locked for staff', async () => {
    const order = await gateway.order('XMR', 'LTC', 1);
    await gateway.tick();
    await gateway.chains.monero.pay([[order.depositAddress, xmr]], { unlock_time: 9_000 });
    await gateway.mine('monero', 4);
    await gateway.tick();
    expect(await status(order)).toBe('waiting_deposit');
    const rows = await gateway.query(
      `select order_id, problem, trim_scale(amount)::text as amount from deposit where chain = 'monero' and address = $1`,
      [order.depositAddress],
    );
    expect(rows).toEqual([{ order_id: null, problem: 'unusual_kind', amount: '1' }]);
  });
};

if (hasMonerod()) withRealChains(declare);
else it.skip(`${withoutMonerod}: no order was made on a real Monero`, () => {}); // CI requires it
