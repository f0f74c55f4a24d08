import { isVenueHeld } from '../../../src/settlement/treasury/held-coins.ts';
import { WatchedGateway } from '../../support/exchanges/watched-account.ts';

describe('the opening of the account at an exchange', () => {
  let watched: WatchedGateway;
  beforeEach(async () => {
    watched = await WatchedGateway.start();
  });
  afterEach(() => watched?.stop());

  it('takes the balances into the books once, and compares them from then on', async () => {
    await watched.turn(2);
    expect(await watched.differences()).toEqual([]);
    await watched.decide({ action: 'venue_opening', venue: 'kraken' });
    expect(await watched.booked('venue:kraken', 'BTC')).toBe('10');
    expect(await watched.booked('venue:kraken', 'USDT')).toBe('50000');
    expect(await watched.differences()).toEqual([]);
    await expect(watched.decide({ action: 'venue_opening', venue: 'kraken' })).rejects.toThrow(
      /^the account at kraken is in the books since /,
    );
  });

  it('refuses to open an account that is not read, or was read too long ago', async () => {
    await expect(watched.decide({ action: 'venue_opening', venue: 'kraken' })).rejects.toThrow(
      'the balances at kraken were not read yet',
    );
    await expect(watched.decide({ action: 'venue_opening', venue: 'binance' })).rejects.toThrow(
      "no account at 'binance' is read",
    );
    await watched.turn(2);
    watched.account.isSilent = true;
    await watched.turn(6);
    await expect(watched.decide({ action: 'venue_opening', venue: 'kraken' })).rejects.toThrow(
      /^the balance of BTC at kraken was not compared in the last five minutes/,
    );
  });

  it('counts transfers from before the opening', async () => {
    await watched.turn();
    const txid = await watched.arrive('BTC', 'BTC', '1');
    await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005', txid, state: 'done' });
    await watched.mine('BTC');
    await watched.turn(2);
    expect(await watched.booked('venue:kraken', 'BTC')).toBe('-1.0005');
    await watched.open();
    expect(await watched.booked('venue:kraken', 'BTC')).toBe('8.9995');
    expect(await watched.differences()).toEqual([]);
  });

  it('leaves out what had ended before the account was watched', async () => {
    const { clock } = watched.gateway;
    const atMs = clock.now().getTime() - 3_600_000;
    await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005', state: 'done', atMs });
    watched.credit('BTC', 'BTC', '3', { atMs });
    await watched.open();
    expect(await watched.transfers()).toEqual([]);
    expect(await watched.booked('venue:kraken', 'BTC')).toBe('11.9995');
    expect(await watched.differences()).toEqual([]);
  });

  it('takes earlier trades at the exchange along', async () => {
    const { query } = watched.gateway;
    await query(
      `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount, cash, valid_until, created_at,
                                outcome, bought, decided_at, squared_at)
       values ('00000000-0000-4000-8000-000000000001', 'kraken', 'BTC', 1, 'USDT', 60000, 1, 'USDT', now(), now(), 'filled', 60000, now(), now())`,
    );
    await query(
      `with booked as (
         insert into ledger_transaction (id, kind, reference, at)
         values ('00000000-0000-7000-8000-000000000002', 'trade', '00000000-0000-4000-8000-000000000001', now()) returning id)
       insert into ledger_line (transaction_id, line, account, coin, network, amount)
       select id, l.line, l.account, l.coin, l.network, l.amount
         from booked, (values (1, 'venue', 'BTC', 'BTC', -1), (2, 'trading', 'BTC', 'BTC', 1),
                              (3, 'venue', 'USDT', 'ERC20', 60000), (4, 'trading', 'USDT', 'ERC20', -60000))
              as l (line, account, coin, network, amount)`,
    );
    await watched.open();
    expect(await watched.booked('venue', 'BTC')).toBe('0');
    expect(await watched.booked('venue', 'USDT')).toBe('0');
    expect(await watched.booked('venue:kraken', 'BTC')).toBe('10');
    expect(await watched.booked('venue:kraken', 'USDT')).toBe('50000');
    expect(await watched.booked('opening', 'USDT')).not.toBe('0');
    expect((await watched.differences()).filter((line) => line.startsWith('venue_balance'))).toEqual([]);
  });

  it('compares every coin that no order of unknown fate touches', async () => {
    const { query } = watched.gateway;
    watched.account.add('LTC', '100');
    watched.account.add('BNB', '7');
    await watched.open();
    await query(
      `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount, cash, valid_until, created_at)
       values ('00000000-0000-4000-8000-000000000009', 'kraken', 'BTC', 1, 'USDT', 60000, 1, 'USDT', now(), now())`,
    );
    await query(
      `insert into venue_order (id, client_id, leg, number, base, quote, side, amount, limit_price, not_after, sent_at, state)
       values ('00000000-0000-4000-8000-000000000019', '00000000-0000-4000-8000-000000000009', 'main', 1, 'BTC', 'USDT', 'sell', 1, 1,
               now(), now(), 'sent')`,
    );
    // The exchange may have made the trade, and taken its fee in a separate coin.
    for (const coin of ['BTC', 'USDT', 'LTC', 'BNB']) watched.account.add(coin, '-1');
    await watched.turn(2);
    const rows = await query('select coin, differing from venue_balance order by coin');
    expect(rows).toEqual([
      { coin: 'BNB', differing: 2 },
      { coin: 'BTC', differing: 0 },
      { coin: 'LTC', differing: 2 },
      { coin: 'USDT', differing: 0 },
    ]);
    // It has taken fees in this coin before.
    await query(
      `insert into venue_order (id, client_id, leg, number, base, quote, side, amount, limit_price, not_after, sent_at, state, filled, cost, fees)
       values ('00000000-0000-4000-8000-000000000018', '00000000-0000-4000-8000-000000000009', 'main', 2, 'BTC', 'USDT', 'sell', 1, 1,
               now(), now(), 'closed', 0, 0, '[{"coin": "BNB", "amount": "0.01"}]')`,
    );
    const [before] = await query<{ at: Date }>(`select compared_at as at from venue_balance where coin = 'BNB'`);
    await watched.turn(2);
    const after = await query<{ coin: string; at: Date }>(
      'select coin, compared_at as at from venue_balance order by coin',
    );
    expect(after.filter(({ at }) => at.getTime() > (before?.at.getTime() ?? 0)).map(({ coin }) => coin)).toEqual([
      'LTC',
    ]);
  });
});

describe('what two members decide about the account at an exchange', () => {
  let watched: WatchedGateway;
  beforeAll(async () => {
    watched = await WatchedGateway.start();
    await watched.open();
  });
  beforeEach(() => watched.next());
  // Each test ends with books that agree.
  afterEach(async () => {
    expect(await watched.differences()).toEqual([]);
  });
  afterAll(() => watched?.stop());

  const isHeld = (...coins: string[]) => isVenueHeld(watched.gateway.app.orm.em.fork(), 'kraken', coins);

  it('classifies a deposit from outside', async () => {
    const reference = watched.credit('USDT', 'TRC20', '500', { txid: 'ab'.repeat(32) });
    await watched.turn();
    watched.gateway.clock.advance(720_000);
    await watched.turn(3);
    expect(await watched.differences()).toEqual(['venue_balance USDT on kraken 500']);
    expect(await isHeld('USDT')).toBe(false);
    await watched.classify({ kind: 'deposit', reference }, 'capital');
    expect(await watched.differences()).toEqual([]);
    await watched.turn(2);
    expect(await watched.differences()).toEqual([]);
    await expect(watched.classify({ kind: 'deposit', reference }, 'capital')).rejects.toThrow(
      "only a movement that is none of ours is classified, and this one is 'classified'",
    );
  });

  it.each(['trading', 'cost'] as const)('classifies a difference that no list shows: %s', async (as) => {
    watched.account.add('USDT', as === 'cost' ? '-3' : '3');
    await watched.turn();
    // One reading alone decides nothing: something may have moved meanwhile.
    expect(await watched.differences()).toEqual([]);
    const amount = as === 'cost' ? '-3' : '3';
    await expect(watched.classify({ coin: 'USDT', amount }, as)).rejects.toThrow(/was not found twice in a row yet$/);
    await watched.turn();
    expect(await watched.differences()).toEqual([`venue_balance USDT on kraken ${amount}`]);
    expect(await isHeld('USDT')).toBe(as === 'cost');
    await expect(watched.classify({ coin: 'USDT', amount: '7' }, as)).rejects.toThrow(
      `the difference of USDT at kraken is ${amount}, not 7, or it was not found twice in a row yet`,
    );
    await watched.classify({ coin: 'USDT', amount }, as);
    expect(await watched.differences()).toEqual([]);
    expect(await isHeld('USDT')).toBe(false);
    await watched.turn(2);
    expect(await watched.differences()).toEqual([]);
  });

  it('holds trades of a coin after a withdrawal to a foreign address', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', {
      gross: '2',
      fee: '0.0005',
      address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    });
    await watched.turn();
    expect(await isHeld('ETH', 'BTC')).toBe(true);
    expect(await isHeld('ETH', 'USDT')).toBe(false);
    await expect(watched.classify({ kind: 'withdrawal', reference }, 'capital')).rejects.toThrow(
      "the withdrawal is not over at kraken ('Pending'); wait until it is",
    );
    watched.account.change(reference, { state: 'done', told: 'Success' });
    await watched.turn(2);
    expect(await watched.differences()).toEqual(['venue_balance BTC on kraken -2']);
    await expect(watched.classify({ coin: 'BTC', amount: '-2' }, 'capital')).rejects.toThrow(
      `withdrawal ${reference} of BTC is not classified yet and may be the difference; classify it first`,
    );
    await watched.classify({ kind: 'withdrawal', reference }, 'capital');
    expect(await isHeld('BTC')).toBe(false);
    expect(await watched.differences()).toEqual([]);
  });

  it('holds no trade after a foreign withdrawal that the exchange gave back', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '2', fee: '0.0005', isInternal: true });
    await watched.turn();
    expect(await isHeld('BTC')).toBe(true);
    watched.account.change(reference, { state: 'returned' });
    watched.account.add('BTC', '2');
    await watched.turn(2);
    expect(await isHeld('BTC')).toBe(false);
    expect(await watched.differences()).toEqual([]);
  });

  it('needs a second member, and a subject that is one', async () => {
    const { staffActions } = watched.gateway.settlement;
    const { member } = await watched.gateway.staff.create('alone@example.com', 'operator');
    watched.account.add('USDT', '3');
    await watched.turn(2);
    const { id } = await staffActions.propose({
      action: 'venue_classify',
      venue: 'kraken',
      venueSubject: { coin: 'USDT', amount: '3' },
      class: 'trading',
      staffId: member.id,
      reason: 'interest',
    });
    await expect(staffActions.approve(id, member.id)).rejects.toThrow(/ask another member$/);
    expect(await watched.differences()).toEqual(['venue_balance USDT on kraken 3']);
    const other = await watched.gateway.staff.create('other@example.com', 'operator');
    await staffActions.approve(id, other.member.id);
    await expect(watched.classify({ kind: 'gift', reference: 'x' }, 'trading')).rejects.toThrow(
      'the kind of a movement is deposit or withdrawal',
    );
    await expect(watched.classify({ kind: 'deposit', reference: 'x' }, 'trading')).rejects.toThrow(
      'there is no deposit x at kraken',
    );
    await expect(watched.classify({ coin: 'USDT', amount: '0' }, 'trading')).rejects.toThrow(
      'name a movement by its kind and reference, or a coin and its difference',
    );
  });
});
