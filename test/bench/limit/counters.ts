import { Redis, type Result } from 'ioredis';

/** A bucket of a caller, with what may be counted in it in a minute. */
export interface Bucket {
  readonly name: 'anon' | 'partner' | 'orders';
  readonly caller: string;
  readonly limit: number;
}

export interface Verdict {
  readonly bucket: Bucket;
  readonly remaining: number;
  readonly resetMs: number;
}

const windowMs = 60_000;

const script = `local counted = {}
for i, key in ipairs(KEYS) do
  local count = redis.call('incr', key)
  local left = redis.call('pttl', key)
  if left < 0 then
    redis.call('pexpire', key, ${windowMs})
    left = ${windowMs}
  end
  counted[2 * i - 1] = count
  counted[2 * i] = left
end
return counted`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    countHits(numberOfKeys: number, ...keys: string[]): Result<number[], Context>;
  }
}

/** Counts a request in its buckets, all in one call. */
export type Count = (buckets: readonly Bucket[]) => Promise<Verdict[]>;

/** Fixed windows of a minute in Redis; those of one turn of the event loop travel together. */
export async function countInRedis(url: string): Promise<Count> {
  const redis = new Redis(url, { enableAutoPipelining: true, commandTimeout: 1_000 });
  redis.defineCommand('countHits', { lua: script });
  await redis.ping();
  return async (buckets) => {
    const counted = await redis.countHits(
      buckets.length,
      ...buckets.map(({ name, caller }) => `lim:${name}:${caller}`),
    );
    return buckets.map((bucket, i) => verdict(bucket, counted[2 * i] ?? 0, counted[2 * i + 1] ?? 0));
  };
}

export function countInMemory(): Count {
  const windows = new Map<string, { count: number; endsAtMs: number }>();
  return async (buckets) => {
    const now = Date.now();
    return buckets.map((bucket) => {
      const key = `${bucket.name}:${bucket.caller}`;
      let window = windows.get(key);
      if (!window || window.endsAtMs <= now) {
        window = { count: 0, endsAtMs: now + windowMs };
        windows.set(key, window);
      }
      return verdict(bucket, ++window.count, window.endsAtMs - now);
    });
  };
}

function verdict(bucket: Bucket, count: number, resetMs: number): Verdict {
  return { bucket, remaining: bucket.limit - count, resetMs };
}
