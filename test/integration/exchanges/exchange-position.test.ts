import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { ImitatedBook } from '../../../src/exchanges/sandbox/exchange-state.ts';
import { reconcile } from '../../../src/ledger/reconcile.ts';
import type { PriceSource } from '../../../src/market/rates/price-source.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import type { ExchangeVenue } from '../../../src/settlement/trade/exchange-venue.ts';
import { marketPrices, VenueHarness } from '../../support/exchanges/venue-harness.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';

type Member = Awaited<ReturnType<typeof newMember>>;

/** A whole gateway whose venue leaves positions: bids vanish while the purchase is on its way. */
describe('a position at the venue', () => {
  // USDT is no dollar: it costs 0.99.
  const harness = new VenueHarness({ name: 'binance', cash: 'USDT' });
  const { exchange, clock } = harness;
  const dollars: Record<string, string> = { ...marketPrices, USDT: '0.99' };
  let gateway: SettledGateway;
  let venue: ExchangeVenue;
  let operator: Member;
  let second: Member;

  const paused = new Set<string>();
  const priceSource: PriceSource = {
    name: 'fixed',
    paused: () => paused,
    fetch: async (coins) =>
      new Map(coins.flatMap((coin) => (dollars[coin] ? [[coin, { price: dollars[coin], at: clock.now() }]] : []))),
  };

  beforeAll(async () => {
    await harness.start();
    venue = harness.openVenue();
    gateway = await startSettledGateway({
      clock,
      databaseUrl: harness.databaseUrl,
      outside: { priceSource, venue: () => venue },
    });
    operator = await newMember(gateway, 'operator');
    second = await newMember(gateway, 'operator');
  });
  afterAll(async () => {
    await gateway?.stop();
    await harness.stop();
  });
  beforeEach(() => {
    harness.reset({ BTC: { bid: '64640', ask: '64650' }, LTC: { bid: '80.8', ask: '80.82' } });
    exchange.onRequest = null;
  });

  const mutation = `mutation ($id: ID!, $price: Decimal!) {
    orderVenuePrice(orderId: $id, price: $price, reason: "the bids will not come back") { id action state price } }`;
  const approve = 'mutation ($id: ID!) { actionApprove(id: $id, reason: "checked") { state } }';

  function bookOf(coin: string): ImitatedBook {
    const book = exchange.books[`${coin}/USDT`];
    if (!book) throw new Error(`no book of ${coin}`);
    return book;
  }

  /**
   * An order whose trade was asked of the venue once, at which all bids fell to a price during the
   * purchase.
   */
  async function unsold(bid: string): Promise<MadeOrder> {
    exchange.onRequest = () => {
      const asked = exchange.asked.at(-1) ?? '';
      if (!asked.startsWith('POST') || !asked.endsWith('/order')) return;
      exchange.onRequest = null;
      bookOf('LTC').bids = [[bid, '1000']];
    };
    const order = await gateway.order({
      coin_from: 'LTC',
      network_from: 'LTC',
      coin_to: 'BTC',
      network_to: 'BTC',
      amount_from: 8,
      refund_address: addressExample('LTC'),
      recipient_address: addressExample('BTC'),
    });
    await gateway.deposit(order);
    await gateway.mine('LTC', 100);
    await gateway.tick();
    return order;
  }

  async function differences(): Promise<unknown[]> {
    const { rows } = await reconcile({ orm: gateway.app.orm, adapters: gateway.settlement.adapters });
    return rows.filter(({ difference }) => difference !== '0');
  }

  function items(minutes: number) {
    const now = new Date(clock.now().getTime() + minutes * 60_000);
    return attention(gateway.app.orm.em.fork(), 100, now).then((found) =>
      found.filter(({ kind }) => kind === 'venue_position'),
    );
  }

  it('leaves the user paid, is reported after ten minutes, and is sold at the price of two members', async () => {
    const order = await unsold('70');
    const [trade] = await gateway.query(
      `select trim_scale(market_from)::text as "from", trim_scale(market_to)::text as "to", trim_scale(market_cash)::text as cash,
              trim_scale(t.max_loss)::text as loss, trim_scale(v.price_cash)::text as venue_cash
         from trade t join venue_trade v on v.client_id = t.order_id where t.order_id = $1`,
      [order.id],
    );
    expect(trade).toEqual({ from: '80', to: '64000', cash: '0.99', loss: '12.8', venue_cash: '0.99' });
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    expect(await differences()).toEqual([]);
    expect(await items(9)).toEqual([]);
    expect(await items(11)).toMatchObject([
      { orderId: order.id, subjectId: order.id, detail: 'to sell: 8 LTC on binance' },
    ]);
    const metrics = await fetch(`${gateway.app.internalUrl}/metrics`).then((answer) => answer.text());
    expect(metrics).toContain('gateway_venue_position_usd{coin="LTC"} 640');
    await venue.settleCash();
    expect(harness.gained('LTC')).toBe('0');

    // A price without sense, and one member alone, change nothing.
    const wild = await operator.ask(mutation, { id: order.id, price: '7' });
    expect(wild.errors).toMatchObject([{ extensions: { kind: 'invalid_value' } }]);
    const { orderVenuePrice } = await operator.data(mutation, { id: order.id, price: '70' });
    expect(orderVenuePrice).toMatchObject({ action: 'VENUE_PRICE', state: 'PROPOSED', price: '70' });
    const own = await operator.ask(approve, { id: orderVenuePrice.id });
    expect(own.errors).toMatchObject([{ extensions: { kind: 'second_member_needed' } }]);
    await venue.settleCash();
    expect(harness.gained('LTC')).toBe('0');

    expect((await second.data(approve, { id: orderVenuePrice.id })).actionApprove.state).toBe('DONE');
    await harness.square(order.id);
    expect(harness.gained('LTC')).toBe('-8');
    expect(await items(11)).toEqual([]);
    expect(await differences()).toEqual([]);
    const [result] = await gateway.query<{ usd: string }>('select usd::text from venue_result where order_id = $1', [
      order.id,
    ]);
    // 10.8 USDT less for each of 8 LTC, and the fees.
    expect(Number(result?.usd)).toBeLessThan(-80);
    const gone = await operator.ask(mutation, { id: order.id, price: '70' });
    expect(gone.errors).toMatchObject([{ extensions: { kind: 'action_not_possible' } }]);
  });

  it('closes by itself when the market comes back, and loses no more than the bound', async () => {
    const order = await unsold('70');
    await venue.settleCash();
    expect(await items(11)).toHaveLength(1);
    bookOf('LTC').bids = [['80.5', '1000']];
    await harness.square(order.id);
    expect(await items(11)).toEqual([]);
    expect(await differences()).toEqual([]);
    const [result] = await gateway.query<{ usd: string }>('select usd::text from venue_result where order_id = $1', [
      order.id,
    ]);
    expect(Number(result?.usd)).toBeGreaterThan(-12.8);
  });

  it('never begins while the price of the cash is unknown', async () => {
    const { prices } = gateway.settlement.settler.tools;
    paused.add('USDT');
    await prices.refresh(['LTC', 'BTC', 'USDT']);
    const order = await unsold('70');
    const trades = () => gateway.query('select 1 from trade where order_id = $1', [order.id]);
    expect(await trades()).toEqual([]);
    expect(exchange.orders).toEqual([]);
    paused.clear();
    await prices.refresh(['LTC', 'BTC', 'USDT']);
    await gateway.query('update exchange_order set next_action_at = created_at where id = $1', [order.id]);
    await gateway.tick();
    expect(await trades()).toHaveLength(1);
  });
});
