import { Big } from '../../../src/base/money.ts';
import type { Deposit } from '../../../src/settlement/rows/deposit.entity.ts';
import type { TreasuryTransfer } from '../../../src/settlement/rows/treasury-transfer.entity.ts';
import type { VenueMovement } from '../../../src/settlement/rows/venue-movement.entity.ts';
import { type MarketStamp, movingCoins } from '../../../src/settlement/treasury/balances.ts';
import { hasMovementVanished, mayEndTransfer } from '../../../src/settlement/treasury/classifiable.ts';
import { chainOfName } from '../../../src/settlement/treasury/exchange-networks.ts';
import { type AwaitedTransfer, matchArrivals } from '../../../src/settlement/treasury/matching.ts';
import {
  bookCredit,
  bookSource,
  endTransfer,
  inTransit,
  settleTransfer,
} from '../../../src/settlement/treasury/transfer-entries.ts';

const now = new Date('2026-11-27T12:00:00Z');

function transfer(changes: Partial<TreasuryTransfer> = {}): TreasuryTransfer {
  return {
    id: 'T1',
    venue: 'kraken',
    movementKind: 'withdrawal',
    reference: 'W1',
    coin: 'BTC',
    network: 'BTC',
    chain: 'bitcoin',
    state: 'asked',
    amount: '1',
    gas: '0',
    bookedAmount: '0',
    bookedFee: '0',
    arrived: '0',
    writtenOff: '0',
    acceptedRest: '0',
    entries: 0,
    problem: null,
    createdAt: now,
    updatedAt: now,
    ...changes,
  };
}

const movement = (changes: Partial<VenueMovement> = {}): VenueMovement =>
  ({ txid: null, state: 'pending', changedAt: now, ...changes }) as VenueMovement;
const deposit = (id: string, amount: string, txid: string): Deposit =>
  ({ id, amount, txid, coin: 'BTC', network: 'BTC', minedAt: now }) as Deposit;

describe('the network that an exchange names', () => {
  it.each([
    ['BTC', 'bitcoin'],
    ['Bitcoin', 'bitcoin'],
    ['TRX', 'tron'],
    ['Tether USD (TRC20)', 'tron'],
    ['Tether USD (ERC20)', 'ethereum'],
    ['Ether (Hex)', 'ethereum'],
    ['USDC - Arbitrum One (Unified)', 'arbitrum'],
    ['MATIC', 'polygon'],
    ['Bitcoin Lightning', null],
    ['SEGWITBTC', null],
    [null, null],
  ])('%s is %s', (name, chain) => {
    expect(chainOfName(name)).toBe(chain);
  });
});

describe('arrivals are matched', () => {
  const awaited = (id: string, missing: string, txid: string | null, changes: Partial<VenueMovement> = {}) =>
    ({
      transfer: transfer({ id }),
      movement: movement({ txid, ...changes }),
      missing: new Big(missing),
    }) as AwaitedTransfer;
  const later = new Date(now.getTime() + 1);
  const pairs = (ones: AwaitedTransfer[], deposits: Deposit[], listedAt: Date | null = later): string[] =>
    matchArrivals(ones, deposits, now, listedAt).map((match) => `${match.transfer.id} ${match.deposit.id}`);

  it('by transaction and amount before anything else', () => {
    const ones = [awaited('T1', '1', 'AA'), awaited('T2', '0.5', 'aa'), awaited('T3', '0.5', null)];
    const deposits = [deposit('d1', '0.5', 'bb'), deposit('d2', '0.5', 'aa'), deposit('d3', '1', '0xaa')];
    expect(pairs(ones, deposits).toSorted()).toEqual(['T1 d3', 'T2 d2', 'T3 d1']);
  });

  it('by transaction where less arrived, and never where more arrived', () => {
    expect(pairs([awaited('T1', '1', 'aa')], [deposit('d1', '0.9', 'aa')])).toEqual(['T1 d1']);
    expect(pairs([awaited('T1', '1', 'aa')], [deposit('d1', '1.1', 'aa')])).toEqual([]);
  });

  it('by amount, with one that knows no transaction first, and each once', () => {
    const ones = [awaited('T1', '1', 'cc'), awaited('T2', '1', null)];
    expect(pairs(ones, [deposit('d1', '1', 'bb')])).toEqual(['T2 d1']);
    expect(pairs(ones, [deposit('d1', '1', 'bb'), deposit('d2', '1', 'dd')])).toEqual(['T2 d1', 'T1 d2']);
  });

  it('with one that has ended last, and only for a day', () => {
    const ended = awaited('T1', '1', null, { state: 'returned' });
    expect(pairs([ended, awaited('T2', '1', null)], [deposit('d1', '1', 'bb')])).toEqual(['T2 d1']);
    expect(pairs([ended], [deposit('d1', '1', 'bb')])).toEqual(['T1 d1']);
    // A later list may show to what it belongs.
    for (const listedAt of [now, null]) expect(pairs([ended], [deposit('d1', '1', 'bb')], listedAt)).toEqual([]);
    const earlier = awaited('T1', '1', null, { state: 'returned', changedAt: new Date(now.getTime() - 86_400_001) });
    expect(pairs([earlier], [deposit('d1', '1', 'bb')])).toEqual([]);
  });

  it('with a refused deposit whose coins are in transit before one that members ended', () => {
    const refused = (id: string, state: TreasuryTransfer['state']): AwaitedTransfer => ({
      ...awaited(id, '1', 'aa', { state: 'returned' }),
      transfer: transfer({ id, movementKind: 'deposit', state }),
    });
    const ones = [refused('T1', 'returned'), refused('T2', 'sent')];
    expect(pairs(ones, [deposit('d1', '0.99', 'bb')])).toEqual(['T2 d1']);
    expect(pairs(ones, [deposit('d1', '0.99', 'bb'), deposit('d2', '1', 'cc')])).toEqual(['T2 d1', 'T1 d2']);
  });

  it('of the same coin and network only', () => {
    const other = { ...deposit('d1', '1', 'aa'), network: 'LTC' } as Deposit;
    expect(pairs([awaited('T1', '1', 'aa')], [other])).toEqual([]);
  });
});

describe('the entries of a transfer', () => {
  it('balance, and leave in transit what its row says, in any order of events', () => {
    let seed = 1;
    const random = (n: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % n;
    };
    for (let run = 0; run < 300; run++) {
      const one = transfer({ movementKind: run % 2 === 0 ? 'withdrawal' : 'deposit', gas: '0.001' });
      const gas = one.movementKind === 'deposit' ? { coin: 'BTC', network: 'BTC', decimals: 8, networkFee: '0' } : null;
      let transit = new Big('0');
      for (let step = 0; step < 12; step++) {
        const state = (['pending', 'done', 'locked', 'returned'] as const)[random(4)] ?? 'done';
        const amount = new Big(String(random(3))).plus('0.5');
        const bookings = [
          ...(random(2) ? bookSource(one, { amount, fee: gas ? new Big('0') : new Big('0.01') }, gas, now) : []),
          ...(gas && random(2) ? bookCredit(one, new Big(String(random(3))), new Big('0'), now) : []),
          ...settleTransfer(one, { state, txid: null }, false, now),
        ];
        for (const { lines } of bookings) {
          const sum = lines.reduce((total, line) => total.plus(line.amount), new Big('0'));
          expect(sum.toFixed()).toBe('0');
          for (const line of lines) if (line.account === 'transit') transit = transit.plus(line.amount);
        }
        expect(inTransit(one).toFixed()).toBe(transit.toFixed());
      }
    }
  });
});

describe('a transfer to the exchange', () => {
  const days = (count: number) => new Date(now.getTime() + count * 86_400_000);
  const sent = (changes: Partial<TreasuryTransfer> = {}) =>
    transfer({ movementKind: 'deposit', state: 'sent', bookedAmount: '1', entries: 1, ...changes });

  it.each([
    ['pending', 2, 'sent', null],
    ['pending', 3, 'sent', 'not_arrived'],
    ['unknown', 3, 'sent', 'not_arrived'],
    ['returned', 2, 'sent', null],
    ['returned', 3, 'sent', 'not_arrived'],
  ] as const)('that the exchange calls %s has after %i days the state %s and the problem %s', (told, age, ...found) => {
    const one = sent();
    settleTransfer(one, movement({ state: told }), false, days(age));
    expect([one.state, one.problem]).toEqual(found);
  });

  it('that was credited waits for its chain without a problem', () => {
    const one = sent({ bookedAmount: '0', entries: 0 });
    settleTransfer(one, movement({ state: 'done' }), false, days(9));
    expect([one.state, one.problem]).toEqual(['sent', null]);
  });

  it('that members ended before it left stays ended', () => {
    const one = sent({ state: 'asked', bookedAmount: '0', entries: 0 });
    settleTransfer(one, movement(), false, days(3));
    expect(one.problem).toBe('not_arrived');
    expect(endTransfer(one, movement(), days(3))).toEqual([]);
    settleTransfer(one, movement(), false, days(9));
    expect([one.state, one.problem]).toEqual(['returned', null]);
  });

  it('that members ended as lost is a cost, until it is credited', () => {
    const one = sent();
    settleTransfer(one, movement(), false, days(3));
    endTransfer(one, movement(), days(3));
    expect([one.state, one.writtenOff, inTransit(one).toFixed()]).toEqual(['done', '1', '0']);
    bookCredit(one, new Big('1'), new Big('0'), days(4));
    settleTransfer(one, movement({ state: 'done' }), false, days(4));
    expect([one.state, one.writtenOff, inTransit(one).toFixed()]).toEqual(['done', '0', '0']);
  });
});

describe('the coins that orders may have moved during a reading', () => {
  const stamp = (orders: Record<string, readonly ['sent' | 'closed' | 'void', ...string[]]>): MarketStamp =>
    new Map(Object.entries(orders).map(([id, [state, ...coins]]) => [id, { state, coins }]));

  it.each([
    ['none without orders', {}, {}, []],
    ['none of an order that had ended before', { a: ['closed', 'BTC', 'USD'] }, { a: ['closed', 'BTC', 'USD'] }, []],
    ['those of an order of unknown fate', { a: ['sent', 'BTC', 'USD'] }, { a: ['sent', 'BTC', 'USD'] }, ['BTC', 'USD']],
    [
      'those of an order that ended meanwhile, with its fees',
      { a: ['sent', 'BTC', 'USD'], b: ['void', 'LTC', 'USD'] },
      { a: ['closed', 'BTC', 'USD', 'BNB'], b: ['void', 'LTC', 'USD'] },
      ['BTC', 'USD', 'BNB'],
    ],
    ['those of a new order', {}, { a: ['closed', 'ETH', 'BTC'] }, ['ETH', 'BTC']],
    ['those of an order whose trade ended', { a: ['closed', 'ETH', 'BTC'] }, {}, ['ETH', 'BTC']],
  ] as const)('are %s', (_what, before, after, coins) => {
    expect([...movingCoins(stamp(before), stamp(after))]).toEqual(coins);
  });
});

describe('what members may decide', () => {
  const day = 86_400_000;

  it('is a movement that no whole list has shown for a day, unless it has ended', () => {
    const since = (ms: number) => new Date(now.getTime() + ms);
    const vanished = (state: VenueMovement['state'], whole: Date | null) =>
      hasMovementVanished({ state, readAt: now }, whole);
    expect([vanished('pending', since(day + 1)), vanished('unknown', since(day + 1))]).toEqual([true, true]);
    expect([vanished('pending', since(day)), vanished('pending', null)]).toEqual([false, false]);
    expect([vanished('locked', since(2 * day)), vanished('done', since(2 * day))]).toEqual([false, false]);
  });

  it('is a transfer with a problem, or a withdrawal that is done and unseen for two hours', () => {
    const may = (
      changes: Partial<TreasuryTransfer>,
      kind: VenueMovement['kind'],
      state: VenueMovement['state'],
      ms = 0,
    ) => mayEndTransfer(transfer(changes), { kind, state }, new Date(now.getTime() + ms));
    expect(may({ problem: 'short_arrival' }, 'deposit', 'pending')).toBe(true);
    expect(may({}, 'withdrawal', 'done', 7_200_000)).toBe(true);
    expect(may({}, 'withdrawal', 'done', 7_199_999)).toBe(false);
    expect(may({}, 'withdrawal', 'pending', day)).toBe(false);
    expect(may({ state: 'done' }, 'withdrawal', 'done', day)).toBe(false);
    expect(may({}, 'deposit', 'done', day)).toBe(false);
  });
});
