import { Big } from '../../../src/base/money.ts';
import type { TreasuryCrashPoint } from '../../../src/settlement/treasury/crash-points.ts';
import { treasuryCrashPoints } from '../../../src/settlement/treasury/crash-points.ts';
import { WatchedGateway } from '../../support/exchanges/watched-account.ts';

describe('a withdrawal by hand from the exchange to a hot wallet', () => {
  let watched: WatchedGateway;
  /** What had arrived before a test. */
  let earlier: string;
  beforeAll(async () => {
    watched = await WatchedGateway.start();
    await watched.open();
  });
  beforeEach(async () => {
    await watched.next();
    earlier = await arrivedSum();
  });
  // Each test ends with books that agree, and nothing of it in transit.
  afterEach(async () => {
    expect(await watched.differences()).toEqual([]);
    expect(await watched.booked('transit', 'BTC')).toBe('0');
  });
  afterAll(() => watched?.stop());

  /** What has arrived at the hot wallet from outside. */
  async function arrivedSum(): Promise<string> {
    const [row] = await watched.gateway.query<{ amount: string }>(
      `select coalesce(sum(l.amount), 0)::text as amount
         from ledger_transaction x join ledger_line l on l.transaction_id = x.id
        where l.account = 'hot' and l.coin = 'BTC'
          and x.kind in ('transfer_in', 'transfer_in_reversal', 'funding', 'funding_reversal')`,
    );
    return row?.amount ?? '0';
  }

  /** Everything is booked once, and nothing of it as capital. */
  async function expectBookedOnce(arrived: string, fee: string): Promise<void> {
    expect(await watched.added('treasury_cost', 'BTC')).toBe(fee);
    expect(await watched.added('opening', 'BTC')).toBe('0');
    expect(await watched.booked('venue:kraken', 'BTC')).toBe(watched.account.balances.get('BTC')?.toFixed());
    expect(new Big(await arrivedSum()).minus(earlier).toFixed()).toBe(arrived);
  }

  it('is listed, then arrives', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    await watched.turn();
    expect(await watched.transfers()).toEqual([{ reference, state: 'asked', problem: null }]);
    const txid = await watched.arrive('BTC', 'BTC', '1');
    watched.account.change(reference, { txid, state: 'done', told: 'Success' });
    await watched.turn();
    await watched.mine('BTC');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
    expect(await watched.entries()).toEqual(['transfer_out', 'transfer_in']);
    await expectBookedOnce('1', '0.0005');
  });

  it('arrives before the list shows it', async () => {
    const txid = await watched.arrive('BTC', 'BTC', '1');
    await watched.mine('BTC');
    expect(await watched.entries()).toEqual([]);
    expect(await watched.differences()).toEqual([]);
    await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005', txid, state: 'done' });
    await watched.turn(2);
    expect(await watched.entries()).toEqual(['transfer_out', 'transfer_in']);
    await expectBookedOnce('1', '0.0005');
  });

  it('is left out of the list at first: capital, until it is listed', async () => {
    const txid = await watched.arrive('BTC', 'BTC', '1');
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005', txid, state: 'done' });
    watched.account.hidden.add(reference);
    await watched.mine('BTC');
    await watched.turn(3);
    expect(await watched.entries()).toEqual(['funding']);
    expect(await watched.differences()).toEqual(['venue_balance BTC on kraken -1.0005']);
    watched.account.hidden.clear();
    await watched.turn(2);
    expect(await watched.entries()).toEqual(['funding', 'transfer_out', 'transfer_match']);
    await expectBookedOnce('1', '0.0005');
  });

  it('is one of two in a transaction', async () => {
    const first = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    const second = await watched.withdraw('BTC', 'BTC', { gross: '0.5005', fee: '0.0005' });
    await watched.turn();
    const to = await watched.hotWallet('BTC');
    const output = (amount: bigint) => ({ to, tag: null, contract: null, amount });
    const txid = await watched.gateway.settlement.sandbox.pay('bitcoin', {
      ...output(50_000_000n),
      more: [output(100_000_000n)],
      busyBlocks: 10,
    });
    for (const reference of [first, second]) watched.account.change(reference, { txid, state: 'done' });
    await watched.mine('BTC');
    await watched.turn(3);
    expect(await watched.transfers()).toEqual([
      { reference: first, state: 'done', problem: null },
      { reference: second, state: 'done', problem: null },
    ]);
    await expectBookedOnce('1.5', '0.001');
  });

  it('is reorganised away, and mined again', async () => {
    await watched.mine('BTC', 6);
    const txid = await watched.arrive('BTC', 'BTC', '1');
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005', txid, state: 'done' });
    await watched.mine('BTC', 4);
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
    await watched.gateway.reorg('BTC', 5);
    await watched.turn();
    expect((await watched.transfers())[0]?.state).not.toBe('done');
    expect(await watched.booked('transit', 'BTC')).toBe('1');
    expect(await watched.differences()).toEqual([]);
    await watched.mine('BTC');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
    await expectBookedOnce('1', '0.0005');
  });

  it('arrives short: the rest stays in transit, for staff', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    const txid = await watched.arrive('BTC', 'BTC', '0.9');
    watched.account.change(reference, { txid, state: 'done' });
    await watched.mine('BTC');
    await watched.turn(3);
    expect(await watched.transfers()).toEqual([{ reference, state: 'arrived', problem: 'short_arrival' }]);
    expect(await watched.booked('transit', 'BTC')).toBe('0.1');
    expect(await watched.differences()).toEqual([]);
    const subject = { kind: 'withdrawal', reference };
    await expect(watched.classify(subject, 'capital')).rejects.toThrow("is a 'cost'");
    await watched.classify(subject, 'cost');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
    expect(await watched.added('treasury_cost', 'BTC')).toBe('0.1005');
    await expect(watched.classify(subject, 'cost')).rejects.toThrow(
      `the transfer of withdrawal ${reference} has no problem to decide`,
    );
  });

  it('arrives in two parts', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    const txid = await watched.arrive('BTC', 'BTC', '0.9');
    watched.account.change(reference, { txid, state: 'done' });
    await watched.mine('BTC');
    await watched.turn(2);
    expect((await watched.transfers())[0]?.problem).toBe('short_arrival');
    await watched.arrive('BTC', 'BTC', '0.1');
    await watched.mine('BTC');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
    await expectBookedOnce('1', '0.0005');
  });

  it('arrives short by a rounding, which is a cost', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    const txid = await watched.arrive('BTC', 'BTC', '0.99995');
    watched.account.change(reference, { txid, state: 'done' });
    await watched.mine('BTC');
    await watched.turn(3);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
    await expectBookedOnce('0.99995', '0.00055');
  });

  it('is paid by another transaction than the exchange told', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005', txid: 'ab'.repeat(32) });
    await watched.turn();
    await watched.arrive('BTC', 'BTC', '1');
    await watched.mine('BTC');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
    await expectBookedOnce('1', '0.0005');
  });

  it('tells its txid late: the arrival waits for it and is no capital', async () => {
    // Another fee is told at first, so that the amount decides nothing.
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0001' });
    await watched.turn();
    const txid = await watched.arrive('BTC', 'BTC', '1');
    await watched.mine('BTC');
    await watched.turn(3);
    expect(await watched.entries()).toEqual(['transfer_out']);
    expect(await watched.differences()).toEqual([]);
    watched.account.change(reference, { txid, fee: '0.0005', state: 'done' });
    await watched.turn(2);
    expect(await watched.entries()).toEqual(['transfer_out', 'transfer_fee', 'transfer_in']);
    await expectBookedOnce('1', '0.0005');
  });

  it('is given back by the exchange', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    await watched.turn();
    watched.account.change(reference, { state: 'returned', told: 'Failure' });
    watched.account.add('BTC', '1.0005');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'returned', problem: null }]);
    expect(await watched.entries()).toEqual(['transfer_out', 'transfer_reversal']);
    expect(await watched.booked('transit', 'BTC')).toBe('0');
    expect(await watched.added('treasury_cost', 'BTC')).toBe('0');
  });

  it('is given back, and arrives all the same', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    await watched.turn();
    const txid = await watched.arrive('BTC', 'BTC', '1');
    watched.account.change(reference, { state: 'returned', told: 'Failure', txid });
    await watched.mine('BTC');
    await watched.turn(3);
    expect(await watched.transfers()).toEqual([{ reference, state: 'returned', problem: 'arrived_after_end' }]);
    expect(await watched.booked('transit', 'BTC')).toBe('-1');
    // The account does not have the coins that it should have got back.
    expect(await watched.differences()).toEqual(['venue_balance BTC on kraken -1.0005']);
    await watched.classify({ kind: 'withdrawal', reference }, 'cost');
    await watched.classify({ coin: 'BTC', amount: '-1.0005' }, 'cost');
  });

  it('arrives before the list shows it, after one of the same amount was given back', async () => {
    const first = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    await watched.turn();
    watched.account.change(first, { state: 'returned', told: 'Failure' });
    watched.account.add('BTC', '1.0005');
    await watched.turn();
    const txid = await watched.arrive('BTC', 'BTC', '1');
    await watched.mine('BTC');
    await watched.match();
    const second = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005', txid, state: 'done' });
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([
      { reference: first, state: 'returned', problem: null },
      { reference: second, state: 'done', problem: null },
    ]);
    await expectBookedOnce('1', '0.0005');
  });

  it('counts coins that people really put in as capital', async () => {
    await watched.arrive('BTC', 'BTC', '2');
    await watched.mine('BTC');
    expect(await watched.entries()).toEqual([]);
    await watched.turn(2);
    expect(await watched.entries()).toEqual(['funding']);
    expect(await watched.added('opening', 'BTC')).toBe('-2');
  });

  it('counts an arrival as capital after half an hour, when the exchange is silent', async () => {
    watched.account.isSilent = true;
    await watched.arrive('BTC', 'BTC', '2');
    await watched.mine('BTC');
    await watched.turn(2);
    watched.gateway.clock.advance(25 * 60_000);
    await watched.turn();
    expect(await watched.entries()).toEqual([]);
    await watched.turn(4);
    expect(await watched.entries()).toEqual(['funding']);
    const [account] = await watched.gateway.query<{ failure: string }>('select failure from venue_account');
    expect(account?.failure).toBe('silent');
  });

  it.each(
    Object.keys(treasuryCrashPoints) as TreasuryCrashPoint[],
  )('is booked once by a worker killed at %s', async (point) => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    watched.killAt = point;
    await watched.turn();
    const txid = await watched.arrive('BTC', 'BTC', '1');
    watched.account.change(reference, { txid });
    watched.killAt ??= point;
    await watched.turn();
    await watched.mine('BTC');
    watched.account.change(reference, { state: 'done' });
    watched.killAt ??= point;
    await watched.turn();
    const spent = await watched.spend('BTC', 'BTC', '0.25');
    watched.killAt ??= point;
    await watched.mine('BTC');
    watched.credit('BTC', 'BTC', '0.25', { txid: spent });
    await watched.turn();
    watched.killAt = null;
    await watched.turn(3);
    expect((await watched.transfers()).map(({ state }) => state)).toEqual(['done', 'done']);
    await expectBookedOnce('1', '0.0005');
  });
});

describe('a deposit by hand from a hot wallet at the exchange', () => {
  let watched: WatchedGateway;
  beforeAll(async () => {
    watched = await WatchedGateway.start();
    await watched.open();
  });
  beforeEach(() => watched.next());
  // Each test ends with books that agree, and nothing of it in transit.
  afterEach(async () => {
    expect(await watched.differences()).toEqual([]);
    expect(await watched.sums('transit')).toEqual({});
  });
  afterAll(() => watched?.stop());

  it('is listed while it waits, and credited later', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5', '0.0001');
    const reference = watched.credit('BTC', 'BTC', '0.5', { txid, state: 'pending', told: 'Pending' });
    await watched.turn();
    expect(await watched.transfers()).toEqual([{ reference, state: 'asked', problem: null }]);
    await watched.mine('BTC', 1);
    await watched.turn();
    expect(await watched.transfers()).toEqual([{ reference, state: 'sent', problem: null }]);
    expect(await watched.differences()).toEqual([]);
    await watched.mine('BTC');
    await watched.turn();
    expect(await watched.booked('transit', 'BTC')).toBe('0.5');
    expect(await watched.differences()).toEqual([]);
    watched.account.change(reference, { state: 'locked', told: 'credited' });
    watched.account.add('BTC', '0.5');
    await watched.turn();
    expect(await watched.transfers()).toEqual([{ reference, state: 'arrived', problem: null }]);
    expect(await watched.booked('transit', 'BTC')).toBe('0');
    watched.account.change(reference, { state: 'done', told: 'Success' });
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
    expect(await watched.entries()).toEqual(['transfer_out', 'transfer_in']);
    expect(await watched.added('network_cost', 'BTC')).toBe('0.0001');
  });

  it('is credited before it is final on its chain', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC', 1);
    const reference = watched.credit('BTC', 'BTC', '0.5', { txid });
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'sent', problem: null }]);
    expect(await watched.differences()).toEqual([]);
    await watched.mine('BTC');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
  });

  it('is credited short', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC');
    const reference = watched.credit('BTC', 'BTC', '0.4', { txid });
    await watched.turn(3);
    expect(await watched.transfers()).toEqual([{ reference, state: 'arrived', problem: 'short_arrival' }]);
    expect(await watched.booked('transit', 'BTC')).toBe('0.1');
    await watched.classify({ kind: 'deposit', reference }, 'cost');
  });

  it('is reorganised before it is final, and mined again', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC', 1);
    const reference = watched.credit('BTC', 'BTC', '0.5', { txid, state: 'pending' });
    await watched.turn();
    await watched.gateway.reorg('BTC', 1);
    await watched.turn();
    expect(await watched.transfers()).toEqual([{ reference, state: 'asked', problem: null }]);
    expect(await watched.differences()).toEqual([]);
    await watched.mine('BTC');
    watched.account.change(reference, { state: 'done' });
    watched.account.add('BTC', '0.5');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
  });

  it('is refused by the exchange, which sends the coins back less a fee', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC');
    const reference = watched.credit('BTC', 'BTC', '0.5', { txid, state: 'pending' });
    await watched.turn();
    watched.account.change(reference, { state: 'returned', told: 'Failure' });
    await watched.turn();
    expect(await watched.booked('transit', 'BTC')).toBe('0.5');
    await watched.arrive('BTC', 'BTC', '0.49');
    await watched.mine('BTC');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'arrived', problem: 'short_arrival' }]);
    expect(await watched.booked('transit', 'BTC')).toBe('0.01');
    await watched.classify({ kind: 'deposit', reference }, 'cost');
  });

  const lateMs = 3 * 86_400_000;

  /** Days later, the transfer has a problem, and only then members end it. */
  async function expectEndedByMembers(reference: string, rest: string): Promise<void> {
    await expect(watched.classify({ kind: 'deposit', reference }, 'cost')).rejects.toThrow('has no problem to decide');
    watched.gateway.clock.advance(lateMs);
    await watched.turn(2);
    expect(await watched.transfers()).toMatchObject([{ reference, problem: 'not_arrived' }]);
    expect(await watched.sums('transit')).toEqual(rest === '0' ? {} : { BTC: rest });
    await watched.classify({ kind: 'deposit', reference }, 'cost');
    await watched.turn(2);
    expect(await watched.sums('transit')).toEqual({});
    expect(await watched.added('treasury_cost', 'BTC')).toBe(rest);
  }

  it('is never credited: two members end it, and a credit counts all the same', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC');
    const reference = watched.credit('BTC', 'BTC', '0.5', { txid, state: 'pending' });
    await watched.turn(2);
    await expectEndedByMembers(reference, '0.5');
    expect(await watched.transfers()).toEqual([{ reference, state: 'done', problem: null }]);
    expect(await watched.differences()).toEqual([]);
    watched.account.change(reference, { state: 'done', told: 'Success' });
    watched.account.add('BTC', '0.5');
    await watched.turn(2);
    expect(await watched.added('treasury_cost', 'BTC')).toBe('0');
  });

  it('is refused by the exchange, which never sends the coins back: two members end it', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC');
    const reference = watched.credit('BTC', 'BTC', '0.5', { txid, state: 'returned', told: 'Failure' });
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'sent', problem: null }]);
    await expectEndedByMembers(reference, '0.5');
    expect(await watched.transfers()).toEqual([{ reference, state: 'returned', problem: null }]);
  });

  it('is never mined: two members end it, and nothing is booked', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.4');
    const reference = watched.credit('BTC', 'BTC', '0.4', { txid, state: 'pending' });
    await watched.turn();
    await watched.gateway.settlement.sandbox.drop('bitcoin', txid);
    await watched.turn();
    await expectEndedByMembers(reference, '0');
    expect(await watched.transfers()).toEqual([{ reference, state: 'returned', problem: null }]);
    expect(await watched.entries()).toEqual([]);
  });

  it('is refused by the exchange before it is final: what left is booked', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC', 1);
    const reference = watched.credit('BTC', 'BTC', '0.5', { txid, state: 'returned', told: 'Failure' });
    await watched.turn(2);
    await watched.mine('BTC');
    await watched.turn();
    expect(await watched.booked('transit', 'BTC')).toBe('0.5');
    await watched.arrive('BTC', 'BTC', '0.5');
    await watched.mine('BTC');
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([{ reference, state: 'returned', problem: null }]);
  });

  it('is one of two in a transaction', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.75');
    await watched.mine('BTC');
    watched.credit('BTC', 'BTC', '0.5', { txid });
    await watched.turn(2);
    watched.credit('BTC', 'BTC', '0.25', { txid });
    await watched.turn(3);
    expect((await watched.transfers()).map(({ state }) => state)).toEqual(['done', 'done']);
    expect(await watched.booked('transit', 'BTC')).toBe('0');
  });

  it('of a token pays its fee in the coin of the chain', async () => {
    const txid = await watched.spend('USDT', 'ERC20', '100', '0.001');
    await watched.mine('ERC20', 70);
    watched.credit('USDT', 'Tether USD (ERC20)', '100', { txid: txid.toUpperCase() });
    await watched.turn(3);
    expect((await watched.transfers()).map(({ state }) => state)).toEqual(['done']);
    expect(await watched.added('network_cost', 'ETH')).toBe('0.001');
  });
});
