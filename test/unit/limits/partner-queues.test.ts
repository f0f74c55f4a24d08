import { PartnerQueues } from '../../../src/base/limits/partner-queues.ts';

const refused = expect.objectContaining({ kind: 'rate_limited' });
const bounds = { working: 2, waiting: 30, waitMs: 60_000 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function* parts(): AsyncGenerator<string> {
  yield 'a';
  yield 'b';
}

describe('the requests of a partner', () => {
  it('work two at a time, in their order, and thirty wait', async () => {
    const queues = new PartnerQueues(bounds);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const done = Array.from({ length: 32 }, (_, i) =>
      queues.work('one', () => {
        begun.push(i);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    expect(begun).toEqual([0, 1]);
    await expect(queues.work('one', async () => 1)).rejects.toEqual(refused);
    expect(await queues.work('other', async () => 1)).toBe(1);
    for (let end = ends.shift(); end; end = ends.shift()) {
      end();
      await settled();
    }
    await Promise.all(done);
    expect(begun).toEqual(Array.from({ length: 32 }, (_, i) => i));
    expect(await queues.work('one', async () => 1)).toBe(1);
  });

  it('that wait for too long are refused, and their places are used by others', async () => {
    const queues = new PartnerQueues({ working: 1, waiting: 2, waitMs: 20 });
    let end = (): void => {};
    const slow = queues.work('one', () => new Promise<void>((resolve) => (end = resolve)));
    let begun = 0;
    const waiting = [1, 2].map(() => queues.work('one', async () => begun++));
    expect(await Promise.allSettled(waiting)).toEqual(Array(2).fill({ status: 'rejected', reason: refused }));
    const later = queues.work('one', async () => 'done');
    end();
    await slow;
    expect(await later).toBe('done');
    expect(begun).toBe(0);
    expect(await queues.work('one', async () => 'free')).toBe('free');
  });

  it('that fail make place', async () => {
    const queues = new PartnerQueues(bounds);
    for (let i = 0; i < 40; i++) {
      const failing = queues.work('one', () => Promise.reject(new Error('away')));
      await expect(failing).rejects.toThrow('away');
    }
  });
});

describe('the downloads of a partner', () => {
  it('are four at a time, apart from those of others, and make place when they end', async () => {
    const queues = new PartnerQueues(bounds);
    const open = Array.from({ length: 4 }, () => queues.download('one', parts())[Symbol.asyncIterator]());
    expect(() => queues.download('one', parts())).toThrow(refused);
    queues.download('other', parts());
    const [first] = open;
    expect([await first?.next(), await first?.next()].map((part) => part?.value)).toEqual(['a', 'b']);
    expect(() => queues.download('one', parts())).toThrow(refused);
    expect((await first?.next())?.done).toBe(true);
    expect(() => queues.download('one', parts())).not.toThrow();
  });

  it('make place when the client goes away, and when they fail', async () => {
    const queues = new PartnerQueues(bounds);
    const broken = async function* (): AsyncGenerator<string> {
      yield 'a';
      throw new Error('the database is away');
    };
    for (let i = 0; i < 10; i++) {
      for await (const part of queues.download('one', parts())) if (part === 'a') break;
      const failing = queues.download('one', broken())[Symbol.asyncIterator]();
      await failing.next();
      await expect(failing.next()).rejects.toThrow('the database is away');
    }
  });
});
