import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { type BatchBounds, Batcher, runAlone } from '../../../src/base/db/batcher.ts';
import { AppError } from '../../../src/base/errors.ts';

const bounds: BatchBounds = {
  items: 4,
  bytes: 1_000,
  undivided: 4,
  flights: 2,
  concurrent: { items: 1, ms: 0 },
  waiting: 100,
  waitMs: 1_000,
};

/** An error as node-postgres makes it from what PostgreSQL reports. */
function reported(code: string): Error {
  return Object.assign(new Error(`PostgreSQL reports ${code}`), { code });
}

interface Gate {
  readonly items: readonly number[];
  open(): void;
  fail(error: Error): void;
}

/** A batcher whose batches wait until the test opens their gates. */
function gated(changes: Partial<BatchBounds> = {}, keyOf?: (item: number) => string | null) {
  const gates: Gate[] = [];
  const batcher = new Batcher<number, number>({
    bounds: { ...bounds, ...changes },
    ...(keyOf ? { keyOf } : {}),
    run: (items) =>
      new Promise((resolve, reject) => {
        gates.push({ items, open: () => resolve(items.map((item) => item * 2)), fail: reject });
      }),
  });
  return { batcher, gates, batches: () => gates.map(({ items }) => items) };
}

/** Lets an ended batch answer, and the next ones be sent. */
async function turns(): Promise<void> {
  for (let passed = 0; passed < 3; passed++) await turn();
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: { code?: string; kind?: string }) => error.kind ?? error.code,
  );

describe('a batch', () => {
  it('holds the items that wait at the same turn of the event loop', async () => {
    const { batcher, gates, batches } = gated();
    const first = [batcher.add(1), batcher.add(2)];
    await turn();
    const second = batcher.add(3);
    await turn();
    expect(batches()).toEqual([[1, 2], [3]]);
    for (const gate of gates) gate.open();
    expect(await Promise.all([...first, second])).toEqual([2, 4, 6]);
  });

  it('of a lone item is sent at the next turn', async () => {
    const { batcher, batches } = gated();
    void batcher.add(1);
    await turn();
    expect(batches()).toEqual([[1]]);
  });

  it('holds at most as many items as the bound, and the rest goes into the next batches', async () => {
    const { batcher, gates, batches } = gated();
    const all = Array.from({ length: 10 }, (_, index) => batcher.add(index));
    await turn();
    expect(batches()).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
    gates[0]?.open();
    await turns();
    expect(batches()[2]).toEqual([8, 9]);
    gates[1]?.open();
    gates[2]?.open();
    expect(await Promise.all(all)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
  });

  it('holds at most as many bytes as the bound, unless one item alone has more', async () => {
    const sizes: number[][] = [];
    const batcher = new Batcher<number, number>({
      bounds: { ...bounds, flights: 9 },
      sizeOf: (item) => item,
      run: async (items) => {
        sizes.push([...items]);
        return items;
      },
    });
    await Promise.all([400, 500, 300, 2_000, 100].map((size) => batcher.add(size)));
    expect(sizes).toEqual([[400, 500, 100], [300], [2_000]]);
  });

  it('never holds two items of one key, nor do two batches at the same time', async () => {
    const { batcher, gates, batches } = gated({}, (item) => (item < 10 ? 'key' : null));
    const all = [1, 11, 2, 12].map((item) => batcher.add(item));
    await turn();
    expect(batches()).toEqual([[1, 11, 12]]);
    gates[0]?.open();
    await turns();
    expect(batches()[1]).toEqual([2]);
    gates[1]?.open();
    expect(await Promise.all(all)).toEqual([2, 22, 4, 24]);
  });
});

describe('the first batch', () => {
  const halves = { items: 8, undivided: 2, concurrent: { items: 8, ms: 60_000 } };
  const added = (batcher: Batcher<number, number>, count: number) =>
    Array.from({ length: count }, (_, item) => batcher.add(item));

  it('takes half of the items that wait, so that the other half is worked on meanwhile', async () => {
    const { batcher, gates, batches } = gated(halves);
    const all = added(batcher, 6);
    await turn();
    expect(batches()).toEqual([[0, 1, 2]]);
    gates[0]?.open();
    await turns();
    expect(batches()[1]).toEqual([3, 4, 5]);
    gates[1]?.open();
    expect(await Promise.all(all)).toEqual([0, 2, 4, 6, 8, 10]);
  });

  it('takes half of what waits and of what was just answered: unequal batches become equal', async () => {
    const { batcher, gates, batches } = gated(halves);
    const all = added(batcher, 1);
    await turn();
    all.push(...added(batcher, 7));
    gates[0]?.open();
    await turns();
    expect(batches().map(({ length }) => length)).toEqual([1, 4]);
    gates[1]?.open();
    await turns();
    expect(batches().map(({ length }) => length)).toEqual([1, 4, 3]);
    gates[2]?.open();
    await Promise.all(all);
  });

  it('is not divided when it is small, and not above its bound when it is large', async () => {
    const small = gated(halves);
    const two = added(small.batcher, 2);
    const large = gated(halves);
    const many = added(large.batcher, 40);
    await turn();
    expect(small.batches()).toEqual([[0, 1]]);
    expect(large.batches().map(({ length }) => length)).toEqual([8, 8]);
    let isDone = false;
    const all = Promise.all([...two, ...many]).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      for (const gate of [...small.gates, ...large.gates]) gate.open();
      await turns();
    }
    expect(await all).toHaveLength(42);
    expect(Math.max(...large.batches().map(({ length }) => length))).toBe(8);
  });
});

describe('a batch concurrent with another', () => {
  it('is sent when enough items wait', async () => {
    const { batcher, gates, batches } = gated({ concurrent: { items: 3, ms: 60_000 } });
    const all = [batcher.add(1)];
    await turn();
    all.push(batcher.add(2), batcher.add(3));
    await turns();
    expect(batches()).toEqual([[1]]);
    all.push(batcher.add(4));
    await turn();
    expect(batches()).toEqual([[1], [2, 3, 4]]);
    for (const gate of gates) gate.open();
    expect(await Promise.all(all)).toEqual([2, 4, 6, 8]);
  });

  it('is sent when the oldest item has waited long enough, though the other does not end', async () => {
    const { batcher, gates, batches } = gated({ concurrent: { items: 3, ms: 20 } });
    const stuck = batcher.add(1);
    await turn();
    const late = batcher.add(2);
    await turn();
    expect(batches()).toEqual([[1]]);
    while (gates.length < 2) await turn();
    gates[1]?.open();
    expect(await late).toBe(4);
    gates[0]?.open();
    expect(await stuck).toBe(2);
  });

  it('is not waited for when the other ends first', async () => {
    const { batcher, gates, batches } = gated({ concurrent: { items: 3, ms: 60_000 } });
    const all = [batcher.add(1)];
    await turn();
    all.push(batcher.add(2));
    gates[0]?.open();
    await turns();
    expect(batches()).toEqual([[1], [2]]);
    gates[1]?.open();
    expect(await Promise.all(all)).toEqual([2, 4]);
  });
});

describe('an error', () => {
  it('that PostgreSQL reports reaches the guilty item alone, and the others are run again', async () => {
    const runs: number[][] = [];
    const batcher = new Batcher<number, number>({
      bounds,
      run: async (items) => {
        runs.push([...items]);
        if (items.includes(2)) throw reported('23505');
        return items;
      },
    });
    expect(await Promise.all([1, 2, 3].map((item) => codeOf(batcher.add(item))))).toEqual([1, '23505', 3]);
    expect(runs).toEqual([[1, 2, 3], [1], [2], [3]]);
  });

  it('of a lock timeout reaches the waiting item alone', async () => {
    const batcher = new Batcher<number, number>({
      bounds,
      run: async (items) => {
        if (items.includes(2)) throw reported('55P03');
        return items;
      },
    });
    expect(await Promise.all([1, 2].map((item) => codeOf(batcher.add(item))))).toEqual([1, '55P03']);
  });

  it.each([
    '57P01',
    '57014',
    '08006',
    'ECONNRESET',
    '53300',
  ])('%s reaches all items of the batch, and none is run again', async (code) => {
    let runs = 0;
    const batcher = new Batcher<number, number>({
      bounds,
      run: () => {
        runs++;
        return Promise.reject(reported(code));
      },
    });
    expect(await Promise.all([1, 2].map((item) => codeOf(batcher.add(item))))).toEqual([code, code]);
    expect(runs).toBe(1);
  });

  it('does not stop later batches', async () => {
    const { batcher, gates } = gated({ flights: 1 });
    const lost = codeOf(batcher.add(1));
    await turn();
    const next = batcher.add(2);
    gates[0]?.fail(reported('ECONNRESET'));
    expect(await lost).toBe('ECONNRESET');
    await turn();
    gates[1]?.open();
    expect(await next).toBe(4);
  });
});

it('an item that the batch left out is run alone, before later items', async () => {
  const runs: number[][] = [];
  const batcher = new Batcher<number, number>({
    bounds: { ...bounds, flights: 1 },
    run: async (items) => {
      runs.push([...items]);
      return items.map((item) => (item === 2 && items.length > 1 ? runAlone : item));
    },
  });
  const first = Promise.all([1, 2, 3].map((item) => batcher.add(item)));
  await turn();
  const later = batcher.add(4);
  expect(await first).toEqual([1, 2, 3]);
  expect(await later).toBe(4);
  expect(runs).toEqual([[1, 2, 3], [2], [4]]);
});

describe('an item is refused with 503 before it is run', () => {
  it('when too many wait', async () => {
    const { batcher, gates, batches } = gated({ items: 1, flights: 1, waiting: 2 });
    const running = batcher.add(1);
    await turn();
    const all = [2, 3, 4].map((item) => codeOf(batcher.add(item)));
    expect(await all[2]).toBe('unavailable');
    for (const gate of [0, 1, 2]) {
      gates[gate]?.open();
      await turns();
    }
    expect(await running).toBe(2);
    expect(await Promise.all(all)).toEqual([4, 6, 'unavailable']);
    expect(batches()).toEqual([[1], [2], [3]]);
  });

  it('when it waited too long behind batches that do not end', async () => {
    const { batcher, gates, batches } = gated({ flights: 1, waitMs: 20 });
    const running = batcher.add(1);
    await turn();
    const refused = await batcher.add(2).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AppError);
    expect(refused).toMatchObject({ kind: 'unavailable', extras: { retryAfterSec: 1 } });
    gates[0]?.open();
    expect(await running).toBe(2);
    await turn();
    expect(batches()).toEqual([[1]]);
  });
});

it('each item gets its own answer once, in any order in which batches end or fail', async () => {
  const item = fc.record({
    // A guilty item breaks each batch that holds it. A batch of several leaves a lonely item out.
    kind: fc.constantFrom('good', 'guilty', 'lonely'),
    key: fc.option(fc.constantFrom('a', 'b')),
    turnBefore: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 8 }),
      fc.scheduler(),
      async (items, most, flights, concurrent, scheduler) => {
        const done: number[] = [];
        const running = new Set<string>();
        let flying = 0;
        const batcher = new Batcher<number, number>({
          bounds: { ...bounds, items: most, flights, concurrent: { items: concurrent, ms: 60_000 }, waitMs: 60_000 },
          keyOf: (index) => items[index]?.key ?? null,
          run: async (indexes) => {
            flying++;
            expect(flying).toBeLessThanOrEqual(flights);
            expect(indexes.length).toBeLessThanOrEqual(most);
            const keys = indexes.flatMap((index) => items[index]?.key ?? []);
            for (const key of keys) {
              expect(running.has(key)).toBe(false);
              running.add(key);
            }
            await scheduler.schedule(Promise.resolve());
            for (const key of keys) running.delete(key);
            flying--;
            if (indexes.some((index) => items[index]?.kind === 'guilty')) throw reported('23514');
            return indexes.map((index) => {
              if (indexes.length > 1 && items[index]?.kind === 'lonely') return runAlone;
              done.push(index);
              return index;
            });
          },
        });
        const answers: Promise<unknown>[] = [];
        for (const [index, { turnBefore }] of items.entries()) {
          if (turnBefore) await turn();
          answers.push(codeOf(batcher.add(index)));
        }
        const all = Promise.all(answers);
        for (let isOver = false; !isOver; ) {
          await turn();
          while (scheduler.count() > 0) {
            await scheduler.waitOne();
            await turn();
          }
          isOver = (await Promise.race([all, turn('not yet')])) !== 'not yet';
        }
        expect(await all).toEqual(items.map(({ kind }, index) => (kind === 'guilty' ? '23514' : index)));
        expect(done.length).toBe(new Set(done).size);
      },
    ),
    { numRuns: 150 },
  );
});
