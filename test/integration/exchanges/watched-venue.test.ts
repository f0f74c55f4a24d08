import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { MovementKind } from '../../../src/exchanges/exchange.ts';
import { change } from '../../../src/exchanges/sandbox/account.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import type { VenueClass } from '../../../src/settlement/rows/staff-action.entity.ts';
import type { TreasuryCrashPoint } from '../../../src/settlement/treasury/crash-points.ts';
import { heldCoins } from '../../../src/settlement/treasury/held-coins.ts';
import { loopbackVenues } from '../../support/exchanges/venue-harness.ts';
import { WatchedVenue } from '../../support/exchanges/watched-venue.ts';
import { RunningClock, TestClock } from '../../support/gateway/clock.ts';

/** Lists are asked for by real time: what happens must be in its past. */
const halfDayMs = 43_200_000;

describe.each(loopbackVenues)('the books of an account at $name', ({ name, cash }) => {
  let watched: WatchedVenue;
  /** What the books had before a test. */
  let opening: Record<string, string>;
  let costs: Record<string, string>;
  let earlier: number;

  async function noteBooks(): Promise<void> {
    opening = await watched.sums('opening');
    costs = await watched.sums('treasury_cost');
    earlier = (await watched.transfers()).length;
  }

  /** Each coin is booked once, and the exchange, the chains and the books agree. */
  async function expectBookedOnce(): Promise<void> {
    expect(await watched.differences()).toEqual([]);
    expect(await watched.sums('transit')).toEqual({});
    expect(await watched.sums('opening')).toEqual(opening);
    expect(await watched.sums(`venue:${name}`)).toEqual(await watched.balances());
    const rows = await watched.gateway.query<{ coin: string; total: string }>(
      `select coin, trim_scale(compared_total)::text as total from venue_balance where compared_total <> 0 and differing = 0`,
    );
    expect(Object.fromEntries(rows.map(({ coin, total }) => [coin, total]))).toEqual(await watched.balances());
  }

  /** The transfers since the test began, by their references. */
  async function transfers(): Promise<readonly { reference: string; state: string; problem: string | null }[]> {
    const rows = await watched.transfers();
    return rows.slice(earlier).sort((one, other) => (one.reference < other.reference ? -1 : 1));
  }

  /** What transfers of a coin have cost since the test began. */
  async function cost(coin: string): Promise<string> {
    return new Big(await watched.booked('treasury_cost', coin)).minus(costs[coin] ?? '0').toFixed();
  }

  const classify = (kind: MovementKind, reference: string, to: VenueClass) => watched.classify({ kind, reference }, to);
  const classifyDifference = (coin: string, amount: string, to: VenueClass) => watched.classify({ coin, amount }, to);

  async function held(): Promise<string[]> {
    const coins = await heldCoins(watched.gateway.app.orm.em.fork(), name);
    return coins.map(({ coin, cause }) => `${cause} ${coin}`);
  }

  async function items(kind: string): Promise<number> {
    const found = await attention(watched.gateway.app.orm.em.fork(), 100, watched.gateway.clock.now());
    return found.filter((item) => item.kind === kind).length;
  }

  async function failure(): Promise<string | null> {
    const [row] = await watched.gateway.query<{ failure: string | null }>('select failure from venue_account');
    return row?.failure ?? null;
  }

  /** The exchange pays, and the payment is final before the account is read again. */
  async function pay(network: string): Promise<void> {
    await watched.step();
    await watched.mine(network);
  }

  describe('with time that the test makes', () => {
    beforeAll(async () => {
      watched = await WatchedVenue.open({ name, cash }, new TestClock(new Date(Date.now() - halfDayMs)));
    });
    afterAll(() => watched?.stop());
    beforeEach(noteBooks);
    afterEach(expectBookedOnce);

    const done = (reference: string) => ({ reference, state: 'done', problem: null });

    it.each([
      ['BTC', 'BTC', '0.51'],
      ['USDT', 'ERC20', '2500'],
    ] as const)('take a withdrawal of %s on %s to the hot wallet', async (coin, network, gross) => {
      const reference = await watched.withdraw(coin, network, gross);
      await watched.turn();
      expect(await transfers()).toMatchObject([{ reference, problem: null }]);
      expect(await watched.booked('transit', coin)).toBe(new Big(gross).minus(watched.fee(coin, network)).toFixed());
      expect(await watched.differences()).toEqual([]);
      await watched.mine(network);
      await watched.turn(2);
      expect(await transfers()).toEqual([done(reference)]);
      expect(await cost(coin)).toBe(watched.fee(coin, network));
    });

    it('take back a withdrawal that the exchange refuses late', async () => {
      await watched.set('reject_late');
      const reference = await watched.withdraw('BTC', 'BTC', '0.52');
      await watched.turn();
      expect(await transfers()).toEqual([{ reference, state: 'asked', problem: null }]);
      await watched.turn(2);
      expect(await transfers()).toEqual([{ reference, state: 'returned', problem: null }]);
      expect(await cost('BTC')).toBe('0');
    });

    it('lack the fee that the exchange kept, until two members call it a cost', async () => {
      await watched.set('return_without_fee');
      await watched.withdraw('BTC', 'BTC', '0.53');
      await watched.turn(3);
      const fee = watched.fee('BTC', 'BTC');
      expect(await transfers()).toMatchObject([{ state: 'returned', problem: null }]);
      expect(await watched.differences()).toEqual([`venue_balance BTC on ${name} -${fee}`]);
      expect(await held()).toEqual(['shortage BTC']);
      await classifyDifference('BTC', `-${fee}`, 'cost');
      expect(await held()).toEqual([]);
      expect(await cost('BTC')).toBe(fee);
      await watched.turn(2);
    });

    it('keep what a short withdrawal lacks in transit, until two members call it a cost', async () => {
      await watched.set('short');
      const reference = await watched.withdraw('BTC', 'BTC', '0.54');
      await watched.turn();
      await watched.mine('BTC');
      await watched.turn(2);
      expect(await transfers()).toEqual([{ reference, state: 'arrived', problem: 'short_arrival' }]);
      expect(await items('transfer_short')).toBe(1);
      expect(await watched.differences()).toEqual([]);
      const net = new Big('0.54').minus(watched.fee('BTC', 'BTC'));
      const lost = net.minus(net.times('0.99').round(8, 0)).toFixed();
      expect(await watched.booked('transit', 'BTC')).toBe(lost);
      await classify('withdrawal', reference, 'cost');
      await watched.turn(2);
      expect(await transfers()).toEqual([done(reference)]);
      expect(await cost('BTC')).toBe(new Big(watched.fee('BTC', 'BTC')).plus(lost).toFixed());
    });

    it.each([
      ['txid_late', '0.55'],
      ['replace', '0.56'],
      ['replace_untold', '0.57'],
    ] as const)('match a withdrawal by its amount: %s', async (fault, gross) => {
      await watched.set(fault);
      const reference = await watched.withdraw('BTC', 'BTC', gross);
      await watched.turn();
      await watched.mine('BTC');
      await watched.turn(5);
      expect(await transfers()).toEqual([done(reference)]);
      expect(await cost('BTC')).toBe(watched.fee('BTC', 'BTC'));
    });

    it('match two withdrawals that one transaction pays', async () => {
      await watched.set('two_in_one', 2);
      const first = await watched.withdraw('BTC', 'BTC', '0.58');
      await watched.turn();
      const second = await watched.withdraw('BTC', 'BTC', '0.59');
      await watched.turn();
      await watched.mine('BTC');
      await watched.turn(2);
      expect(await transfers()).toEqual([done(first), done(second)]);
      const txids = new Set((await watched.state()).movements.slice(-2).map(({ txid }) => txid));
      expect(txids.size).toBe(1);
    });

    it('call an arrival capital where a list lacks its withdrawal, until a list shows it', async () => {
      const reference = await watched.withdraw('BTC', 'BTC', '0.6');
      await pay('BTC');
      await watched.set('list_incomplete');
      await watched.turn();
      expect(await transfers()).toEqual([]);
      expect(await watched.sums('opening')).not.toEqual(opening);
      await watched.turn(2);
      expect(await transfers()).toEqual([done(reference)]);
      expect(await cost('BTC')).toBe(watched.fee('BTC', 'BTC'));
    });

    it.each([
      ['list_broken', ['0.061', '0.062', '0.063']],
      ['freeze', ['0.071', '0.072', '0.073']],
      ['key_refused', ['0.081', '0.082', '0.083']],
      ['lost_answer', ['0.091', '0.092', '0.093']],
    ] as const)('wait for an account that cannot be read: %s', async (fault, amounts) => {
      const reader = await watched.secondReader();
      const references: string[] = [];
      for (const gross of amounts) references.push(await watched.withdraw('BTC', 'BTC', gross));
      await pay('BTC');
      await watched.set(fault);
      watched.gateway.clock.advance(60_000);
      await reader.read();
      expect(await failure()).not.toBeNull();
      await watched.gateway.tick();
      expect(await transfers()).toEqual([]);
      expect(await watched.sums('opening')).toEqual(opening);
      watched.gateway.clock.advance(60_000);
      await reader.read();
      expect(await failure()).toBeNull();
      await watched.turn(2);
      expect(await transfers()).toEqual(references.map(done));
    });

    it('take a deposit by hand from the hot wallet', async () => {
      await watched.send('BTC', 'BTC', '0.25');
      await watched.turn();
      expect(await transfers()).toMatchObject([{ state: 'asked', problem: null }]);
      expect(await watched.differences()).toEqual([]);
      await watched.mine('BTC');
      await watched.turn(2);
      expect(await transfers()).toMatchObject([{ state: 'done', problem: null }]);
      expect(await cost('BTC')).toBe('0');
    });

    it('take a deposit of a token, whose fee is in the coin of the chain', async () => {
      const before = await watched.booked('network_cost', 'ETH');
      await watched.send('USDT', 'ERC20', '100');
      await watched.mine('ERC20');
      await watched.turn(3);
      expect(await transfers()).toMatchObject([{ state: 'done', problem: null }]);
      expect(new Big(await watched.booked('network_cost', 'ETH')).minus(before).toFixed()).toBe('0.000000000000001');
    });

    it.each([
      ['credit_late', 'sent', '0.25'],
      ['credit_locked', 'arrived', '0'],
    ] as const)('follow a deposit by hand that the exchange holds: %s', async (fault, state, transit) => {
      await watched.set(fault);
      await watched.send('BTC', 'BTC', '0.25');
      await watched.turn();
      await watched.mine('BTC');
      await watched.turn(3);
      expect(await transfers()).toMatchObject([{ state, problem: null }]);
      expect(await watched.booked('transit', 'BTC')).toBe(transit);
      expect(await watched.differences()).toEqual([]);
      await watched.set(fault, 0);
      await watched.turn(3);
      expect(await transfers()).toMatchObject([{ state: 'done', problem: null }]);
    });

    it('wait for the members about a deposit that a list shows', async () => {
      const reference = await watched.credit('BTC', 'BTC', '2');
      await watched.turn(2);
      expect(await watched.differences()).toEqual([]);
      expect(await items('venue_foreign')).toBe(0);
      watched.gateway.clock.advance(600_000);
      await watched.turn(3);
      expect(await items('venue_foreign')).toBe(1);
      expect(await watched.differences()).toEqual([`venue_balance BTC on ${name} 2`]);
      await classify('deposit', reference, 'trading');
      await watched.turn(2);
      expect(await items('venue_foreign')).toBe(0);
    });

    it('wait for the members about coins that no list shows', async () => {
      await watched.change((state) => change(state, 'BTC', new Big('3')));
      await watched.turn(2);
      expect(await watched.differences()).toEqual([`venue_balance BTC on ${name} 3`]);
      expect(await items('venue_difference')).toBe(1);
      await classifyDifference('BTC', '3', 'trading');
      await watched.turn(2);
      expect(await items('venue_difference')).toBe(0);
    });

    it('book nothing twice when two workers read at once', async () => {
      // Each stores what it read once both have read it.
      let waiting: (() => void) | null = null;
      const meet = (point: TreasuryCrashPoint): Promise<void> | void => {
        if (point !== 'venue.listed') return;
        if (waiting === null) {
          return new Promise((resolve) => {
            waiting = resolve;
          });
        }
        waiting();
        waiting = null;
      };
      const readers = [await watched.secondReader(meet), await watched.secondReader(meet)];
      const both = async (): Promise<void> => {
        watched.gateway.clock.advance(60_000);
        await watched.step();
        await Promise.all(readers.map((reader) => reader.read()));
        await watched.gateway.tick();
      };
      const references: string[] = [];
      for (const gross of ['0.11', '0.12', '0.13']) references.push(await watched.withdraw('BTC', 'BTC', gross));
      await watched.send('BTC', 'BTC', '0.25');
      await both();
      await watched.mine('BTC');
      for (let turn = 0; turn < 3; turn += 1) await both();
      const states = new Map((await transfers()).map((one) => [one.reference, one.state]));
      expect(references.map((reference) => states.get(reference))).toEqual(['done', 'done', 'done']);
      expect([...states.values()]).toEqual(['done', 'done', 'done', 'done']);
    });

    it('wait for the members about a withdrawal that moved inside the exchange', async () => {
      await watched.set('internal');
      const reference = await watched.withdraw('BTC', 'BTC', '0.14');
      await watched.turn(3);
      // Kraken has no word for it: there it looks like a withdrawal that will arrive.
      const isTold = name === 'binance';
      expect(await transfers()).toEqual(isTold ? [] : [{ reference, state: 'asked', problem: null }]);
      expect(await items('venue_foreign')).toBe(isTold ? 1 : 0);
      expect(await held()).toEqual(isTold ? ['foreign_withdrawal BTC', 'shortage BTC'] : []);
      expect(await watched.differences()).toEqual(isTold ? [`venue_balance BTC on ${name} -0.14`] : []);
      if (!isTold) {
        await expect(classify('withdrawal', reference, 'cost')).rejects.toThrow('has no problem to decide');
        watched.gateway.clock.advance(7_200_000);
        await watched.turn();
        expect(await items('transfer_slow')).toBe(1);
      }
      await classify('withdrawal', reference, 'cost');
      await watched.turn(2);
      expect(await held()).toEqual([]);
      expect(await items('transfer_slow')).toBe(0);
      expect(await cost('BTC')).toBe('0.14');
    });
  });

  describe('in real time, as the exchange trades', () => {
    // Each on a clock that is right: orders and lists are asked for by real time.
    beforeEach(async () => {
      watched = await WatchedVenue.open({ name, cash }, new RunningClock());
      await noteBooks();
    });
    afterEach(async () => {
      await expectBookedOnce().finally(() => watched?.stop());
    });

    const ordered = (from: string, to: string, amount: number) =>
      watched.gateway.order({
        ...{ coin_from: from, network_from: from, coin_to: to, network_to: to, amount_from: amount },
        recipient_address: addressExample(to),
      });

    it('agree with an order that was traded between two readings', async () => {
      const before = await watched.balances();
      const order = await ordered('LTC', 'ETH', 8);
      await watched.gateway.deposit(order);
      await watched.gateway.settle(order);
      expect((await watched.gateway.show(order)).status).toBe('completed');
      const { LTC = '0' } = await watched.balances();
      expect(new Big(LTC).minus(before.LTC ?? '0').toFixed()).toBe('-8');
      for (let reading = 0; reading < 2; reading += 1) await watched.read();
    });

    it('hold trades of a coin that someone else withdrew, and of no other', async () => {
      await watched.set('foreign_withdrawal');
      await watched.step();
      const taken = (await watched.state()).movements.at(-1);
      if (!taken) throw new Error('nothing was taken');
      const network = taken.payment?.network ?? '';
      await watched.gateway.mine(network, 10);
      await watched.step();
      await watched.read();
      expect(await held()).toEqual([`foreign_withdrawal ${taken.coin}`]);
      expect(await items('venue_foreign')).toBe(1);
      const [first = '', second = ''] = ['BTC', 'ETH', 'LTC'].filter((coin) => coin !== taken.coin);
      const free = await ordered(first, second, first === 'BTC' ? 0.05 : 2);
      const needing = await watched.gateway.order({
        ...{ coin_from: first, network_from: first, coin_to: taken.coin, network_to: network },
        amount_from: first === 'BTC' ? 0.05 : 2,
        recipient_address: addressExample(network),
      });
      for (const order of [free, needing]) await watched.gateway.deposit(order);
      await watched.gateway.settle(free);
      expect((await watched.gateway.show(free)).status).toBe('completed');
      // The exchange trades for one order at a time.
      watched.gateway.clock.advance(10_000);
      await watched.gateway.tick();
      expect((await watched.gateway.show(needing)).status).toBe('exchanging');
      const [trade] = await watched.gateway.query<{ problem: string }>(
        'select problem from trade where order_id = $1',
        [needing.id],
      );
      expect(trade?.problem).toBe('venue_held');
      watched.gateway.clock.advance(3_600_000);
      await watched.gateway.settle(needing);
      expect((await watched.gateway.show(needing)).status).toBe('refunded');
      await classify('withdrawal', taken.reference, 'trading');
      expect(await held()).toEqual([]);
      for (let reading = 0; reading < 2; reading += 1) await watched.read();
    });
  });
});
