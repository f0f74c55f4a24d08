import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import type { ImitatedBook, ImitatedLevel } from '../../../src/exchanges/sandbox/exchange-state.ts';
import { type ReconcileRow, reconcile } from '../../../src/ledger/reconcile.ts';
import type { PriceSource } from '../../../src/market/rates/price-source.ts';
import type { ExchangeVenue } from '../../../src/settlement/trade/exchange-venue.ts';
import type { CrashPoint } from '../../../src/settlement/turns/crash-point.ts';
import { loopbackVenues, VenueHarness } from '../../support/exchanges/venue-harness.ts';
import { Faults } from '../../support/faults/faults.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

const dollars: Readonly<Record<string, string>> = { BTC: '64000', ETH: '3200', LTC: '80', USDT: '1' };
const deadlineSec = 20;
/** Past the deadline by so much, the venue has the last word. */
const graceSec = 31;

/**
 * A whole gateway whose venue is an exchange: the book is compared with the account at every step
 * of every trade.
 */
describe.each(loopbackVenues)('the book of a gateway at $name', ({ name, cash, place }) => {
  const harness = new VenueHarness({ name, cash });
  const { exchange, clock } = harness;
  const faults = new Faults();
  const wrong: object[] = [];
  let checks = 0;
  let gateway: SettledGateway;
  let venue: ExchangeVenue;

  const priceSource: PriceSource = {
    name: 'fixed',
    fetch: async (coins) =>
      new Map(coins.flatMap((coin) => (dollars[coin] ? [[coin, { price: dollars[coin], at: clock.now() }]] : []))),
  };

  beforeAll(async () => {
    await harness.start();
    venue = harness.openVenue();
    gateway = await startSettledGateway({
      clock,
      databaseUrl: harness.databaseUrl,
      settings: { EXCHANGE_DEADLINE_SEC: String(deadlineSec) },
      outside: { ...faults.outside(), priceSource, venue: () => venue, onCrashPoint: atTrade },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await harness.stop();
  });
  beforeEach(() => reset());
  afterEach(() => {
    faults.signing = null;
    expect(wrong.splice(0)).toEqual([]);
  });

  function reset(changes: Record<string, Partial<ImitatedBook>> = {}): void {
    exchange.reset(harness.first, harness.books(changes));
    exchange.onRequest = (_number, path) => check(path);
  }

  /** Compares the ledger with everything except the chains, while work is in progress. */
  async function check(step: string): Promise<void> {
    checks += 1;
    const { rows } = await reconcile({ orm: gateway.app.orm, adapters: new Map() });
    note(
      step,
      rows.filter((row) => row.check !== 'deposits' && row.check !== 'hot'),
    );
  }

  async function checkAll(step: string): Promise<void> {
    note(step, (await reconcile({ orm: gateway.app.orm, adapters: gateway.settlement.adapters })).rows);
  }

  function note(step: string, rows: readonly ReconcileRow[]): void {
    wrong.push(...rows.filter(({ difference }) => difference !== '0').map((row) => ({ step, ...row })));
  }

  async function atTrade(step: CrashPoint): Promise<void> {
    if (step.startsWith('trade.')) await check(step);
  }

  /** An order whose deposit is confirmed, after the venue was asked once. */
  async function traded(changes: Record<string, unknown> = {}): Promise<MadeOrder> {
    const order = await gateway.order({
      coin_from: 'LTC',
      network_from: 'LTC',
      coin_to: 'BTC',
      network_to: 'BTC',
      amount_from: 8,
      recipient_address: addressExample(String(changes.network_to ?? 'BTC')),
      ...changes,
    });
    await gateway.deposit(order);
    await gateway.mine(order.networkFrom, 100);
    await gateway.tick();
    return order;
  }

  /** Asks the venue again. */
  async function again({ id }: MadeOrder): Promise<void> {
    await gateway.query('update exchange_order set next_action_at = created_at where id = $1', [id]);
    await gateway.tick();
  }

  async function tradeOf({ id }: MadeOrder): Promise<Record<string, string | null> | undefined> {
    const [row] = await gateway.query<Record<string, string | null>>(
      `select t.state, v.outcome, case when v.squared_at is null then 'open' else 'squared' end as cash
         from trade t left join venue_trade v on v.client_id = t.order_id where t.order_id = $1`,
      [id],
    );
    return row;
  }

  interface VenueLine {
    readonly kind: string;
    readonly coin: string;
    readonly network: string;
    readonly amount: string;
  }

  function venueLines({ id }: MadeOrder): Promise<VenueLine[]> {
    return gateway.query<VenueLine>(
      `select t.kind, l.coin, l.network, trim_scale(l.amount)::text as amount
         from ledger_line l join ledger_transaction t on t.id = l.transaction_id
        where t.order_id = $1 and l.account = 'venue:${name}' order by t.kind, l.coin`,
      [id],
    );
  }

  /**
   * What the book says of a trade that is over is what the account at the exchange has, coin by
   * coin.
   */
  async function expectBooked(order: MadeOrder): Promise<void> {
    await checkAll('the end');
    const booked = new Map<string, Big>();
    for (const { coin, amount } of await venueLines(order)) {
      booked.set(coin, (booked.get(coin) ?? new Big('0')).plus(amount));
    }
    const coins = new Set([...booked.keys(), ...Object.keys(exchange.balances)]);
    const shown = [...coins].map((coin) => [coin, (booked.get(coin) ?? new Big('0')).toFixed()]);
    expect(shown).toEqual([...coins].map((coin) => [coin, harness.gained(coin)]));
  }

  const pairs = [
    { coin_from: 'LTC', network_from: 'LTC', coin_to: 'BTC', network_to: 'BTC', amount_from: 8 },
    { coin_from: 'ETH', network_from: 'ETH', coin_to: 'LTC', network_to: 'LTC', amount_from: 0.123456789012 },
    { coin_from: 'USDT', network_from: 'TRC20', coin_to: 'BTC', network_to: 'BTC', amount_from: 700.123456 },
    { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'ERC20', amount_from: 0.01234567 },
  ].filter(({ coin_from, coin_to }) => name === 'binance' || ![coin_from, coin_to].includes('USDT'));
  it.each(pairs)('is what the account has after $coin_from for $coin_to', async (pair) => {
    const order = await traded({ ...pair, refund_address: addressExample(pair.network_from) });
    expect(await tradeOf(order)).toEqual({ state: 'filled', outcome: 'filled', cash: 'squared' });
    expect(exchange.orders.length).toBeGreaterThan(0);
    await expectBooked(order);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    await checkAll('paid');
  });

  it('books the networks of the order, and the venue for coins that the order does not name', async () => {
    const order = await traded();
    const lines = await venueLines(order);
    const cashLines = lines.filter(({ kind }) => kind === 'venue_cash');
    expect(lines.filter(({ kind }) => kind === 'trade').map(({ network }) => network)).toEqual(['BTC', 'LTC']);
    expect(cashLines.find(({ coin }) => coin === cash)).toEqual({
      kind: 'venue_cash',
      coin: cash,
      network: name,
      amount: harness.gained(cash),
    });
  });

  /** More than is there when an order arrives. */
  const shown = { asks: [['64000', '5']] satisfies ImitatedLevel[] };

  it('waits for the rest of what is filled in part', async () => {
    reset({ BTC: { depth: '0.006', shown } });
    const order = await traded();
    expect(await tradeOf(order)).toEqual({ state: 'intended', outcome: null, cash: 'open' });
    expect(new Big(harness.gained('BTC')).gt('0')).toBe(true);
    await checkAll('in part');
    expect(await venueLines(order)).toEqual([]);
    const book = exchange.books[`BTC/${cash}`];
    if (book) book.depth = null;
    await again(order);
    expect(await tradeOf(order)).toEqual({ state: 'filled', outcome: 'filled', cash: 'squared' });
    await expectBooked(order);
  });

  it('knows a fill before its sale, and the cash after it', async () => {
    let placed = 0;
    exchange.onRequest = (_number, path) => {
      if (exchange.asked.at(-1)?.startsWith('POST') && path.endsWith(`/${place}`)) placed += 1;
      if (placed === 2) exchange.faults.push({ path: place, method: 'POST', kind: 'lose_request' });
      return check(path);
    };
    const order = await traded();
    expect(await tradeOf(order)).toEqual({ state: 'filled', outcome: 'filled', cash: 'open' });
    expect((await venueLines(order)).map(({ kind }) => kind)).toEqual(['trade', 'trade']);
    expect(harness.gained('LTC')).toBe('0');
    await checkAll('not sold');
    exchange.faults.length = 0;
    exchange.onRequest = (_number, path) => check(path);
    harness.outlast();
    // Two processes at a time, as in life.
    await Promise.all([venue.settleCash(), harness.openVenue().settleCash()]);
    await venue.settleCash();
    expect(await tradeOf(order)).toEqual({ state: 'filled', outcome: 'filled', cash: 'squared' });
    await expectBooked(order);
  });

  it('does not know a fill before its answer is recorded', async () => {
    exchange.faults.push({ path: place, method: 'POST', kind: 'lose_answer' });
    const order = await traded();
    expect(await tradeOf(order)).toEqual({ state: 'intended', outcome: null, cash: 'open' });
    await checkAll('answer lost');
    // A process fills and squares the trade at the venue, and ends before it records the answer.
    await venue.find(order.id);
    await venue.settleCash();
    expect(await tradeOf(order)).toEqual({ state: 'intended', outcome: 'filled', cash: 'squared' });
    await checkAll('not recorded');
    expect((await venueLines(order)).every(({ kind }) => kind === 'venue_cash')).toBe(true);
    await again(order);
    expect(await tradeOf(order)).toEqual({ state: 'filled', outcome: 'filled', cash: 'squared' });
    await expectBooked(order);
  });

  it('keeps the venue apart when an exchange is taken into our own book', async () => {
    faults.signing = () => Promise.reject(new SignerError('refused', 'above a limit'));
    const order = await traded();
    const [first, second] = await Promise.all(
      ['first', 'second'].map(async (who) => (await gateway.staff.create(`${who}@example.com`, 'operator')).member.id),
    );
    const { staffActions } = gateway.settlement;
    const asked = { staffId: first ?? '', orderId: order.id, reason: 'cannot be paid' };
    await staffActions.propose({ action: 'mark_failed', ...asked });
    const recipient = { address: addressExample('LTC'), tag: null };
    const { id } = await staffActions.propose({ action: 'refund', recipient, ...asked });
    await staffActions.approve(id, second ?? '');
    expect(await tradeOf(order)).toEqual({ state: 'unwound', outcome: 'filled', cash: 'squared' });
    await expectBooked(order);
  });

  const sold = (change: string): string =>
    `update venue_order set cost = cost ${change} where client_id = '$order' and side = 'sell'`;
  const bought = (change: string): string =>
    `update venue_order set filled = filled ${change} where client_id = '$order' and side = 'buy'`;
  const booked = (reference: string): string =>
    `set session_replication_role = replica;
     update ledger_transaction set reference = '${reference}' where order_id = '$order' and kind = 'venue_cash';
     update ledger_line set account = '${reference === '$order' ? `venue:${name}` : 'opening'}'
      where coin = '${cash}' and account in ('venue:${name}', 'opening')
        and transaction_id in (select id from ledger_transaction where order_id = '$order' and kind = 'venue_cash')`;
  it.each([
    [
      'the sale brought more',
      sold('+ 1'),
      sold('- 1'),
      [`accounts: trading, ${cash} on ${name}: -1`, `venue: ${cash}: 1`, `trades: *, ${cash} on ${name}, left: 1`],
    ],
    [
      'less was bought',
      bought('- 0.001'),
      bought('+ 0.001'),
      [
        'accounts: trading, BTC on BTC: 0.001',
        'venue: BTC: -0.001',
        'trades: *, BTC: -0.001',
        'trades: *, BTC on BTC, left: -0.001',
      ],
    ],
    [
      'what it left is booked elsewhere',
      booked('unknown'),
      booked('$order'),
      [`venue: ${cash}: left`, `trades: *, ${cash} on ${name}, left: left`],
    ],
  ])('is found wrong when %s', async (_what, corrupt, mend, differences) => {
    const order = await traded();
    await gateway.query(corrupt.replaceAll('$order', order.id));
    await checkAll('corrupted');
    const found = wrong.splice(0) as { check: string; subject: string; difference: string }[];
    expect(
      found.map(({ check: kind, subject, difference }) => {
        const amount = difference === harness.gained(cash) ? 'left' : difference;
        return `${kind}: ${subject.replace(/^[A-Z]+-\w+/, '*')}: ${amount}`;
      }),
    ).toEqual(differences);
    await gateway.query(mend.replaceAll('$order', order.id));
    await checkAll('mended');
  });

  // The clock goes on by most of the minute that Kraken takes orders ahead for: what places more
  // comes before these.
  it('books the cost of selling back a short fill', async () => {
    reset({ BTC: { depth: '0.006', shown } });
    const order = await traded();
    clock.advance((deadlineSec + 1) * 1_000);
    // No order buys at first. The trade is rejected all the same, and what it bought is a position.
    await again(order);
    expect(await tradeOf(order)).toEqual({ state: 'intended', outcome: 'rejected', cash: 'open' });
    await checkAll('not given back');
    expect(await venueLines(order)).toEqual([]);
    const book = exchange.books[`BTC/${cash}`];
    if (book) book.depth = null;
    await venue.settleCash();
    await venue.settleCash();
    expect(await tradeOf(order)).toEqual({ state: 'intended', outcome: 'rejected', cash: 'squared' });
    const lines = await venueLines(order);
    expect(lines.find(({ coin }) => coin === cash)).toMatchObject({ kind: 'venue_cash', network: name });
    expect(new Big(harness.gained(cash)).lt('0')).toBe(true);
    await expectBooked(order);
    clock.advance(graceSec * 1_000);
    await again(order);
    expect(await tradeOf(order)).toMatchObject({ state: 'abandoned', outcome: 'rejected' });
    // Asked again with more time, it stays rejected: what giving back cost is booked.
    const validUntil = new Date(clock.now().getTime() + 60_000);
    const terms = { sellCoin: 'LTC', sellAmount: '8', buyCoin: 'BTC', minBuyAmount: '0.009', validUntil };
    expect(await venue.trade({ clientId: order.id, bound: null, ...terms })).toEqual({
      outcome: 'rejected',
      code: 'too_late',
    });
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    await expectBooked(order);
  });

  it('knows nothing of a trade that traded nothing', async () => {
    reset({ BTC: { bid: '70000', ask: '70001' } });
    const order = await traded();
    clock.advance((deadlineSec + graceSec) * 1_000);
    await again(order);
    expect(await tradeOf(order)).toMatchObject({ state: 'abandoned' });
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    expect(await venueLines(order)).toEqual([]);
    await checkAll('refunded');
  });

  it('was compared at every step', () => {
    expect(checks).toBeGreaterThan(100);
  });
});
