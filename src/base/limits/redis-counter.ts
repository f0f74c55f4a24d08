import { Redis, ReplyError } from 'ioredis';
import { Timeouts } from './timeouts.ts';

/** A counter in Redis, and how many requests of a window it admits. */
export interface Counter {
  readonly key: string;
  readonly limit: number;
}

/** What a request counts in: the second counter counts only what the first admits. */
export type Counters = readonly [Counter, Counter?];

/**
 * One request's place in a counter and the milliseconds left of the counter's window. The second
 * pair is missing where the first counter refused the request.
 */
export type Counted = readonly [count: number, leftMs: number, secondCount?: number, secondLeftMs?: number];

/**
 * Counts groups of requests, each group in its counters in turn, in one atomic step. A counter
 * passes on to the next one only the requests that it admits. `ARGV` has the window's milliseconds,
 * and then for each group the number of its requests, of its counters, and their limits. Returns
 * for each counter the count after the group and the milliseconds left of the window.
 */
const countScript = `
local counted = {}
local key, arg = 0, 1
while arg < #ARGV do
  local requests, counters = tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
  for i = 1, counters do
    key = key + 1
    local count, left = 0, 0
    if requests > 0 then
      count = redis.call('INCRBY', KEYS[key], requests)
      left = count > requests and redis.call('PTTL', KEYS[key]) or -1
      if left < 0 then
        left = tonumber(ARGV[1])
        redis.call('PEXPIRE', KEYS[key], left)
      end
      requests = math.max(0, math.min(requests, tonumber(ARGV[arg + 2 + i]) - (count - requests)))
    end
    counted[#counted + 1] = count
    counted[#counted + 1] = left
  end
  arg = arg + 2 + counters
end
return counted`;

/** A connection that knows the script above. */
interface CountingRedis extends Redis {
  countRequests(keyCount: number, ...keysWindowAndGroups: (string | number)[]): Promise<number[]>;
}

/**
 * Replies of a server that is no master: another one is, which a new connection may reach. A proxy
 * or a name leads there after a fail-over.
 */
const demoted = /^(READONLY|MASTERDOWN) /;
/** A server that stays a replica is not asked for a new connection by each command. */
const demotedMs = 1_000;

/**
 * The word with which a refusal of Redis begins, such as READONLY, OOM, MOVED or NOAUTH; null for
 * any other error.
 */
export function refusalOf(error: unknown): string | null {
  if (!(error instanceof Error && error instanceof ReplyError)) return null;
  return /^[A-Z]+\b/.exec(error.message)?.[0] ?? null;
}

/** Redis usually answers well within this time, in milliseconds. */
const usualReplyMs = 80;
/** Groups in one command, so that Redis keeps no other client waiting for long. */
const mostGroups = 256;

interface Waiting {
  resolve(counted: Counted): void;
  reject(error: unknown): void;
}

/** Requests that wait for the next command and count in the same counters with the same limits. */
interface Group {
  readonly counters: Counters;
  readonly requests: Waiting[];
}

interface RedisCounterOptions {
  readonly url: string;
  /** Milliseconds of a window. It begins with the first request that a counter counts. */
  readonly windowMs: number;
  /** How long an answer may take in milliseconds, 80 unless given. A later one counts as a hang. */
  readonly replyMs?: number | undefined;
  /** Called with each error of the connection. */
  readonly onError: (error: unknown) => void;
}

/**
 * Counts requests in Redis. The requests of one turn of the event loop are one command, and each
 * gets the count that it would have got alone, in the order of their arrival.
 */
export class RedisCounter {
  readonly #options: RedisCounterOptions;
  readonly #redis: CountingRedis;
  readonly #timeouts: Timeouts;
  #groups = new Map<string, Group>();

  constructor(options: RedisCounterOptions) {
    this.#options = options;
    this.#redis = connect(options.url, options.onError);
    this.#timeouts = new Timeouts(options.replyMs ?? usualReplyMs);
  }

  /**
   * Counts one request.
   *
   * @throws Error when Redis is away, or does not answer in time. It may have counted the request.
   */
  count(counters: Counters): Promise<Counted> {
    const [first, second] = counters;
    const name = second ? `${first.limit} ${first.key} ${second.limit} ${second.key}` : `${first.limit} ${first.key}`;
    return new Promise((resolve, reject) => {
      const group = this.#groups.get(name);
      if (group) {
        group.requests.push({ resolve, reject });
        return;
      }
      if (this.#groups.size === 0) setImmediate(this.#send);
      this.#groups.set(name, { counters, requests: [{ resolve, reject }] });
    });
  }

  /**
   * The counts of the present windows, without counting.
   *
   * @throws Error when Redis is away, or does not answer in time.
   */
  async read(keys: readonly string[]): Promise<number[]> {
    if (keys.length === 0) return [];
    const counts = await this.#timeouts.within(this.#redis.mget(...keys));
    return counts.map((count) => Number.parseInt(count ?? '0', 10));
  }

  /** Resolves to true once the connection is usable, or to false at the timeout. */
  async ready(timeoutMs: number): Promise<boolean> {
    const redis = this.#redis;
    if (redis.status === 'ready') return true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      redis.once('ready', () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  /**
   * How the server runs: 'standalone', 'cluster' or 'sentinel'. Null when it does not say, or does
   * not answer.
   */
  async mode(): Promise<string | null> {
    const info = await this.#redis.info('server').catch(() => '');
    return /^redis_mode:(\w+)/m.exec(info)?.[1] ?? null;
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** Runs after the event loop has read all requests that have arrived. */
  readonly #send = (): void => {
    const groups = [...this.#groups.values()];
    this.#groups = new Map();
    for (let start = 0; start < groups.length; start += mostGroups) {
      void this.#ask(groups.slice(start, start + mostGroups));
    }
  };

  async #ask(groups: readonly Group[]): Promise<void> {
    const keys: string[] = [];
    const args: number[] = [this.#options.windowMs];
    for (const { counters, requests } of groups) {
      const [first, second] = counters;
      keys.push(first.key);
      if (second) {
        keys.push(second.key);
        args.push(requests.length, 2, first.limit, second.limit);
      } else args.push(requests.length, 1, first.limit);
    }
    try {
      const counted = await this.#timeouts.within(this.#redis.countRequests(keys.length, ...keys, ...args));
      let place = 0;
      for (const group of groups) {
        tell(group, counted, place);
        place += group.counters[1] ? 4 : 2;
      }
    } catch (error) {
      for (const { requests } of groups) for (const { reject } of requests) reject(error);
    }
  }
}

/** Gives each request of a group its own count. */
function tell({ counters: [{ limit }, second], requests }: Group, counted: readonly number[], place: number): void {
  const [count = 0, leftMs = 0, secondCount = 0, secondLeftMs = 0] = counted.slice(place, place + (second ? 4 : 2));
  if (count < requests.length) throw new Error('Redis counted fewer requests than there were');
  let own = count - requests.length;
  let ownSecond = secondCount - Math.max(0, Math.min(requests.length, limit - own));
  for (const { resolve } of requests) {
    own++;
    if (!second || own > limit) resolve([own, leftMs]);
    else {
      ownSecond++;
      resolve([own, leftMs, ownSecond, secondLeftMs]);
    }
  }
}

function connect(url: string, onError: (error: unknown) => void): CountingRedis {
  let leftAt = Number.NEGATIVE_INFINITY;
  const isLeft = ({ message }: Error): boolean => {
    if (!demoted.test(message) || performance.now() - leftAt < demotedMs) return false;
    leftAt = performance.now();
    return true;
  };
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    // A command on a connection that breaks fails at once. ioredis would otherwise keep it for the
    // next connection.
    maxRetriesPerRequest: 0,
    connectTimeout: 500,
    // A connection that owes replies and sends none is opened again: a firewall may have dropped
    // its state.
    socketTimeout: 2_000,
    autoResendUnfulfilledCommands: false,
    reconnectOnError: isLeft,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  });
  redis.defineCommand('countRequests', { lua: countScript });
  redis.on('error', onError);
  return redis as CountingRedis;
}
