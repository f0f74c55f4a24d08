import { Big } from '../../../src/base/money.ts';
import type { Deposit } from '../../../src/settlement/rows/deposit.entity.ts';
import type { TreasuryTransfer } from '../../../src/settlement/rows/treasury-transfer.entity.ts';
import type { VenueMovement } from '../../../src/settlement/rows/venue-movement.entity.ts';
import { chainOfName } from '../../../src/settlement/treasury/exchange-networks.ts';
import { type AwaitedTransfer, matchArrivals } from '../../../src/settlement/treasury/matching.ts';
import {
  bookCredit,
  bookSource,
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
