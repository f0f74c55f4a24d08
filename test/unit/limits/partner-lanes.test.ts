import { PartnerLanes } from '../../../src/base/limits/partner-lanes.ts';

const refused = expect.objectContaining({ kind: 'rate_limited' });
const bounds = { working: 2, waiting: 30, waitMs: 60_000 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function* parts(): AsyncGenerator<string> {
  yield 'a';
  yield 'b';
}

describe('the requests of a partner', () => {
  it('work two at a time, in their order, and thirty wait', async () => {
    const lanes = new PartnerLanes(bounds);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const done = Array.from({ length: 32 }, (_, i) =>
      lanes.work('one', () => {
        begun.push(i);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    expect(begun).toEqual([0, 1]);
    await expect(lanes.work('one', async () => 1)).rejects.toEqual(refused);
    expect(await lanes.work('other', async () => 1)).toBe(1);
    for (let end = ends.shift(); end; end = ends.shift()) {
      end();
      await settled();
    }
    await Promise.all(done);
    expect(begun).toEqual(Array.from({ length: 32 }, (_, i) => i));
    expect(await lanes.work('one', async () => 1)).toBe(1);
  });

  it('that wait for too long are refused, and their places are used by others', async () => {
    const lanes = new PartnerLanes({ working: 1, waiting: 2, waitMs: 20 });
    let end = (): void => {};
    const slow = lanes.work('one', () => new Promise<void>((resolve) => (end = resolve)));
    let begun = 0;
    const waiting = [1, 2].map(() => lanes.work('one', async () => begun++));
    expect(await Promise.allSettled(waiting)).toEqual(Array(2).fill({ status: 'rejected', reason: refused }));
    const later = lanes.work('one', async () => 'done');
    end();
    await slow;
    expect(await later).toBe('done');
    expect(begun).toBe(0);
    expect(await lanes.work('one', async () => 'free')).toBe('free');
  });

  it('that fail make place', async () => {
    const lanes = new PartnerLanes(bounds);
    for (let i = 0; i < 40; i++) {
      const failing = lanes.work('one', () => Promise.reject(new Error('away')));
      await expect(failing).rejects.toThrow('away');
    }
  });
});

describe('the downloads of a partner', () => {
  it('are four at a time, apart from those of others, and make place when they end', async () => {
    const lanes = new PartnerLanes(bounds);
    const open = Array.from({ length: 4 }, () => lanes.download('one', parts())[Symbol.asyncIterator]());
    expect(() => lanes.download('one', parts())).toThrow(refused);
    lanes.download('other', parts());
    const [first] = open;
    expect([await first?.next(), await first?.next()].map((part) => part?.value)).toEqual(['a', 'b']);
    expect(() => lanes.download('one', parts())).toThrow(refused);
    expect((await first?.next())?.done).toBe(true);
    expect(() => lanes.download('one', parts())).not.toThrow();
  });

  it('make place when the client goes away, and when they fail', async () => {
    const lanes = new PartnerLanes(bounds);
    const broken = async function* (): AsyncGenerator<string> {
      yield 'a';
      throw new Error('the database is away');
    };
    for (let i = 0; i < 10; i++) {
      for await (const part of lanes.download('one', parts())) if (part === 'a') break;
      const failing = lanes.download('one', broken())[Symbol.asyncIterator]();
      await failing.next();
      await expect(failing.next()).rejects.toThrow('the database is away');
    }
  });
});
