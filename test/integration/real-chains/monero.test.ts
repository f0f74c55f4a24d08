import { hasMonerod, withoutMonerod } from '../../support/chains/monerod.ts';
import { paidOrders } from '../../support/gateway/paid-orders.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;

const declare = (): void => {
  beforeAll(async () => {
    gateway = await startRealGateway({ monero: true });
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

  it('refunds a deposit that came too late', async () => {
    const order = await gateway.order('XMR', 'LTC', 1);
    await gateway.wait(1_801);
    await gateway.mine('monero');
    await gateway.tick();
    expect(await status(order)).toBe('expired');
    await gateway.confirm(order);
    await gateway.settle(order).catch(async (e) => {
      console.log(
        JSON.stringify([
          await gateway.show(order),
          await gateway.payments(order),
          await gateway.history(order),
          await gateway.query(
            "select * from payment_attempt where payment_id in (select id from payment where state not in ('confirmed','dead'))",
          ),
        ]).slice(0, 6000),
      );
      throw e;
    });
    expect(await status(order)).toBe('refunded');
  });

  it('keeps a deposit that is locked for staff', async () => {
    const order = await gateway.order('XMR', 'LTC', 1);
    await gateway.tick();
    await gateway.chains.monero.pay([[order.depositAddress, 1_000_000_000_000n]], { unlock_time: 9_000 });
    await gateway.mine('monero', 4);
    await gateway.tick();
    expect(await status(order)).toBe('waiting_deposit');
    const rows = await gateway.query(`select * from deposit where chain = 'monero' and address = $1`, [
      order.depositAddress,
    ]);
    console.log(rows);
    expect(rows).toHaveLength(1);
  });
};

if (hasMonerod()) withRealChains(declare);
else it.skip(`${withoutMonerod}: no order was made on a real Monero`, () => {}); // CI requires it
