import fc from 'fast-check';
import { Redis } from 'ioredis';
import { type Buckets, Limiter, type Verdict } from '../../../src/base/limits/limiter.ts';
import { RedisCounter } from '../../../src/base/limits/redis-counter.ts';
import { createLog } from '../../../src/base/log.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../../support/database/redis.ts';

const partner = (key: string, limit: number) => ({ bucket: 'partner', key, limit }) as const;
const orders = (key: string, limit: number) => ({ bucket: 'orders', key, limit }) as const;

/**
 * Counts requests one after another. A bucket that refused a request in an earlier turn refuses
 * from memory, and nothing is counted then.
 */
class Model {
  readonly #counts = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #refusedNow = new Map<string, number>();

  endTurn(): void {
    for (const [name, limit] of this.#refusedNow) this.#refused.set(name, limit);
    this.#refusedNow.clear();
  }

  consume(buckets: Buckets): Pick<Verdict, 'bucket' | 'allowed' | 'remaining'> {
    for (const one of buckets) {
      const known = one && this.#refused.get(`${one.bucket} ${one.key}`);
      if (one && known !== undefined && known >= one.limit) return { bucket: one.bucket, allowed: false, remaining: 0 };
    }
    let tightest: Pick<Verdict, 'bucket' | 'allowed' | 'remaining'> | null = null;
    for (const one of buckets) {
      if (!one) break;
      const name = `${one.bucket} ${one.key}`;
      const count = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, count);
      const allowed = count <= one.limit;
      const verdict = { bucket: one.bucket, allowed, remaining: Math.max(0, one.limit - count) };
      if (!allowed) {
        this.#refusedNow.set(name, one.limit);
        return verdict;
      }
      if (!tightest || verdict.remaining < tightest.remaining) tightest = verdict;
    }
    if (!tightest) throw new Error('a request counts in one bucket at least');
    return tightest;
  }
}

describeWithRedis('requests of one turn of the event loop', () => {
  let redis: TestRedis;
  let limiter: Limiter;
  let admin: Redis;
  let run = 0;
  beforeAll(async () => {
    redis = await startRedis();
    admin = new Redis(redis.url);
    limiter = new Limiter({
      redisUrl: redis.url,
      nodeCount: 1,
      log: createLog('silent'),
      keyPrefix: 'turn',
      replyMs: 30_000,
    });
    await limiter.ready(5_000);
  });
  afterAll(async () => {
    limiter?.close();
    admin?.disconnect();
    await redis?.stop();
  });

  it('get the counts that they would have got one after another', async () => {
    const request = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      limit: fc.constantFrom(3, 8, 30),
      second: fc.option(fc.constantFrom(2, 5, 20), { nil: null }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(request, { maxLength: 24 }), { minLength: 1, maxLength: 4 }),
        async (turns) => {
          run++;
          const model = new Model();
          for (const turn of turns) {
            // Requests of equal counters are counted together, in the model as well.
            const sorted = [...Map.groupBy(turn, (one) => JSON.stringify(one)).values()].flat();
            const asked = sorted.map(({ key, limit, second }): Buckets => {
              const own = `${run}-${key}`;
              return second === null ? [partner(own, limit)] : [partner(own, limit), orders(own, second)];
            });
            const verdicts = await Promise.all(asked.map((buckets) => limiter.consume(...buckets)));
            for (const [i, buckets] of asked.entries()) {
              const { bucket, allowed, remaining } = verdicts[i] as Verdict;
              const expected = model.consume(buckets);
              expect(allowed).toBe(expected.allowed);
              if (allowed) expect({ bucket, allowed, remaining }).toEqual(expected);
            }
            model.endTurn();
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are read without counting, and not at all while Redis is away', async () => {
    const bucket = partner('reader', 3);
    expect(await limiter.used([bucket, orders('reader', 9)])).toEqual([0, 0]);
    await Promise.all([limiter.consume(bucket), limiter.consume(bucket, orders('reader', 9))]);
    expect(await limiter.used([bucket, orders('reader', 9)])).toEqual([2, 1]);
    expect(await limiter.used([bucket, orders('reader', 9)])).toEqual([2, 1]);
    const lost = new Limiter({ redisUrl: 'redis://127.0.0.1:1', nodeCount: 1, log: createLog('silent') });
    expect(await lost.used([bucket])).toBeNull();
    lost.close();
    const memory = new Limiter({ redisUrl: null, nodeCount: 1, log: createLog('silent') });
    await memory.consume(bucket);
    expect(await memory.used([bucket, partner('another', 3)])).toEqual([1, 0]);
  });

  it('are one command to Redis', async () => {
    const calls = async (): Promise<number> => {
      const stats = await admin.info('commandstats');
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    await limiter.consume(partner('one', 1_000));
    const before = await calls();
    const verdicts = await Promise.all(
      Array.from({ length: 300 }, (_, i) => limiter.consume(partner(`p${i % 20}`, 1_000), orders(`p${i % 20}`, 100))),
    );
    expect((await calls()) - before).toBe(1);
    expect(verdicts.map(({ remaining }) => remaining).sort((a, b) => a - b)[0]).toBe(85);
  });

  it('wait for no answer of Redis longer than 80 ms', async () => {
    const counter = new RedisCounter({ url: redis.url, windowMs: 60_000, onError: () => {} });
    await counter.ready(5_000);
    redis.hang();
    try {
      const counted = counter.count([{ key: 'hung', limit: 1 }]);
      await expect(counted).rejects.toThrow('no answer within 80 ms');
    } finally {
      redis.resume();
      counter.close();
    }
  });

  it('are counted in memory, each by itself, when Redis has gone', async () => {
    const away = new Limiter({ redisUrl: 'redis://127.0.0.1:1', nodeCount: 1, log: createLog('silent') });
    const verdicts = await Promise.all(Array.from({ length: 5 }, () => away.consume(partner('one', 3))));
    away.close();
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
  });
});
