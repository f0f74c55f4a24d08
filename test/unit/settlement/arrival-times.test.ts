import fc from 'fast-check';
import { allNetworks } from '../../../src/chains/networks/networks.ts';
import type { BlockRef, ScanResult } from '../../../src/chains/port/chain-adapter.ts';
import { timelinessOf } from '../../../src/orders/deposit-role.ts';
import type { Deposit } from '../../../src/settlement/rows/deposit.entity.ts';
import {
  earlierBounds,
  type ScanTimes,
  timeBounds,
  withEffectiveTimes,
} from '../../../src/settlement/rules/arrival-times.ts';

const minute = 60_000;
/** Minutes after the order was made; its window ends at 30, and its grace at 40. */
const at = (minutes: number): Date => new Date(minutes * minute);
const order = { expiresAt: at(30) };

function ref(height: number, minutes?: number, fork = ''): BlockRef {
  const name = `${height}${fork}`;
  return {
    height,
    hash: name,
    parent: `${height - 1}`,
    ...(minutes === undefined ? {} : { timeMs: minutes * minute }),
  };
}

function scanned(blocks: readonly BlockRef[], orphaned: readonly BlockRef[] = []): ScanResult {
  return { orphaned, blocks: blocks.map((one) => ({ ref: one, transfers: [] })), cursor: { window: blocks }, head: 9 };
}

function effective(window: readonly BlockRef[], result: ScanResult, nowMinutes = 100): (number | undefined)[] {
  const { blocks, cursor } = withEffectiveTimes(window, result, at(nowMinutes));
  expect(blocks.map((block) => block.ref)).toEqual(cursor.window);
  return blocks.map((block) => block.ref.timeMs && block.ref.timeMs / minute);
}

describe('the effective time of a block', () => {
  it.each([
    ['is its own where times grow', [ref(0, 1)], [ref(1, 2), ref(2, 3)], [2, 3]],
    ['is no earlier than that of the blocks below it', [ref(0, 10)], [ref(1, 2), ref(2, 12), ref(3, 11)], [10, 12, 12]],
    ['is no time of the future', [ref(0, 1)], [ref(1, 500), ref(2, 99)], [100, 100]],
    ['goes by the blocks of the scan where the cursor has no times', [ref(0)], [ref(1, 5), ref(2, 4)], [5, 5]],
    [
      'leaves out what the cursor has of the future, from before the clock was set back',
      [ref(0, 900)],
      [ref(1, 5)],
      [5],
    ],
  ])('%s', (_title, window, blocks, times) => {
    expect(effective(window, scanned(blocks))).toEqual(times);
  });

  it('forgets the times of blocks that were reorganised away', () => {
    const window = [ref(0, 1), ref(1, 50, 'a')];
    expect(effective(window, scanned([ref(1, 2, 'b')], [ref(1, 50, 'a')]))).toEqual([2]);
  });
});

const look = (changes: Partial<ScanTimes> = {}): ScanTimes => ({
  began: at(60),
  now: at(61),
  readAt: at(20),
  toleranceSec: 600,
  isBelated: false,
  ...changes,
});
const minutes = ({ after, by }: ReturnType<typeof timeBounds>): (number | null)[] => [
  after && after.getTime() / minute,
  by.getTime() / minute,
];

describe('the time bounds of a deposit', () => {
  it.each([
    ['by its block, give or take the tolerance', ref(1, 40), {}, [30, 50]],
    ['not before the chain was read without it', ref(1, 25), {}, [20, 35]],
    ['not before the chain was read without it, even when its block says so', ref(1, 1), {}, [20, 20]],
    ['not after now', ref(1, 58), {}, [48, 61]],
    ['by its block alone on a chain that was never read', ref(1, 40), { readAt: null }, [30, 50]],
    ['exactly where blocks state exact times', ref(1, 40), { toleranceSec: 0 }, [40, 40]],
    ['between two looks where its block states no time', ref(1), {}, [20, 61]],
    ['some time where nothing is known', ref(1), { readAt: null }, [null, 61]],
    ['when it was seen without a block', null, {}, [60, 61]],
    ['by its block where a balance shows it later', ref(1, 40), { isBelated: true }, [null, 50]],
  ])('are set %s', (_title, block, changes, bounds) => {
    expect(minutes(timeBounds(block, look(changes)))).toEqual(bounds);
  });

  it('are the earlier ones of several sightings', () => {
    const seen = { after: at(28), by: at(29) };
    const mined = { after: at(25), by: at(45) };
    expect(earlierBounds(seen, mined)).toBe(seen);
    expect(earlierBounds(mined, seen)).toBe(seen);
  });

  it('contain the true time, with any block time within the tolerance', () => {
    const time = fc.integer({ min: 0, max: 100_000 });
    fc.assert(
      fc.property(time, time, time, fc.integer({ min: -600, max: 600 }), (first, gap, delay, error) => {
        // Read at `first` without the block, which was made `gap` later and found after `delay`.
        const made = first + gap;
        const found = made + delay;
        const stated = { height: 1, hash: '1', parent: '0', timeMs: Math.min(made + error, found) * 1_000 };
        const { after, by } = timeBounds(
          stated,
          look({ readAt: new Date(first * 1_000), now: new Date(found * 1_000), toleranceSec: 600 }),
        );
        expect(after?.getTime()).toBeLessThanOrEqual(made * 1_000);
        expect(by.getTime()).toBeGreaterThanOrEqual(made * 1_000);
      }),
    );
  });
});

describe('the timeliness of a deposit', () => {
  type Times = Pick<Deposit, 'state' | 'arrivedAfter' | 'arrivedBy' | 'minedAfter'>;
  const mined = (after: number | null, by: number, minedAfter: number | null = after): Times => ({
    state: 'mined',
    arrivedAfter: after === null ? null : at(after),
    arrivedBy: at(by),
    minedAfter: minedAfter === null ? null : at(minedAfter),
  });
  const waiting = (seen: number): Times => ({
    state: 'mempool',
    arrivedAfter: at(seen),
    arrivedBy: at(seen),
    minedAfter: null,
  });

  it.each([
    ['in time', 'came before the window ended', mined(10, 20), 99],
    ['in time', 'came at the very end', mined(10, 30), 99],
    ['in time', 'was seen in time and is mined within the grace', mined(29, 29, 40), 99],
    ['late', 'was seen in time and is mined after the grace', mined(29, 29, 40.1), 99],
    ['late', 'came after the window', mined(30.1, 50), 99],
    ['late', 'was seen after the window', waiting(30.1), 31],
    ['uncertain', 'may have come before the end or after it', mined(20, 40), 99],
    ['uncertain', 'came by some time after the window', mined(null, 40), 99],
    ['in time', 'came by some time within the window', mined(null, 30), 99],
    ['in time', 'waits in the mempool, within the grace', waiting(29), 40],
    ['late', 'waits in the mempool when the chain was read after the grace', waiting(29), 40.1],
    ['in time', 'waits in the mempool of a chain that was not read since', waiting(29), 29],
  ] as const)('is %s that %s', (expected, _title, times, readAt) => {
    const found = timelinessOf(order, times, { graceSec: 600, readAt: at(readAt) });
    expect(found.replace('_', ' ')).toBe(expected);
  });
});

describe('the table of networks', () => {
  it('has a block time tolerance of ten minutes for mined chains, and of seconds for all others', () => {
    const tolerances = Object.groupBy(allNetworks(), ({ blockToleranceSec }) => blockToleranceSec);
    expect(Object.keys(tolerances)).toEqual(['15', '600']);
    expect(tolerances[600]?.map(({ id }) => id)).toEqual(['BTC', 'LTC', 'DOGE', 'BCH', 'DASH', 'ZEC', 'XMR']);
  });
});
