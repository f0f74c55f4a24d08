import { Dice } from '../support/gateway/dice.ts';
import { type Call, contractClient } from '../support/http/contract-client.ts';
import { Attempts, type FuzzCurrency, type FuzzKeys } from './attempts.ts';
import type { Surface, Tried } from './surface.ts';

/** The share of requests that goes to other surfaces, where there are some. */
const othersShare = 0.4;

export interface FuzzOptions {
  /** Base address of the public listener. */
  readonly restUrl: string;
  readonly keys: FuzzKeys;
  /** Ends after this many requests. */
  readonly requests: number;
  /** Ends after this time, if that is sooner. */
  readonly lastsMs?: number;
  readonly seed: number;
  readonly concurrency: number;
  /** Makes the other surfaces that get requests, for one sender of requests. */
  readonly others?: () => readonly Surface[];
  readonly onProgress?: (done: number) => void;
}

export interface FuzzReport {
  readonly requests: number;
  /** How often each status was answered, by the kind of request. */
  readonly kinds: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** What was not as the contract, or what is known of the request, says. */
  readonly faults: readonly string[];
}

/**
 * Sends requests that are made from the contract, right or wrong by construction, and from what
 * earlier answers said. Every answer must be documented, fit its schema, and have a status that is
 * right for how the request was made.
 */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const {
    restUrl,
    keys,
    requests,
    lastsMs = Number.POSITIVE_INFINITY,
    seed,
    concurrency,
    others = () => [],
    onProgress,
  } = options;
  const call = contractClient(restUrl);
  const currencies = (await call('GET', '/currencies')).json as FuzzCurrency[];
  const kinds = new Map<string, Map<number, number>>();
  const faults: string[] = [];
  const endsAt = performance.now() + lastsMs;
  let sent = 0;
  const worker = async (index: number): Promise<void> => {
    const dice = new Dice(seed * 1_000 + index);
    const its = others();
    const partner = partnerSurface(call, new Attempts(dice, keys, currencies));
    while (sent < requests && performance.now() < endsAt) {
      const surface = its.length > 0 && dice.chance(othersShare) ? dice.pick(its) : partner;
      sent++;
      if (sent % 1_000 === 0) onProgress?.(sent);
      try {
        const { kind, status, fault } = await surface(dice);
        const statuses = kinds.get(kind) ?? new Map<number, number>();
        kinds.set(kind, statuses.set(status, (statuses.get(status) ?? 0) + 1));
        if (fault !== null) faults.push(fault);
      } catch (error) {
        faults.push(String(error).slice(0, 1_500));
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, index) => worker(index)));
  return { requests: sent, kinds, faults };
}

/** Requests of the partner contract, each of which has its own right statuses. */
function partnerSurface(call: Call, source: Attempts): Surface {
  return async (): Promise<Tried> => {
    const { kind, method, path, options, expected, check } = source.next();
    let status = 0;
    let fault: string | null = null;
    try {
      const reply = await call(method, path, options);
      status = reply.status;
      if (!expected.includes(status)) {
        throw new Error(`${status} in place of ${expected.join(' or ')}: ${reply.text.slice(0, 300)}`);
      }
      check?.(reply);
    } catch (error) {
      const { raw, headers } = options;
      const request = JSON.stringify({ raw: raw?.slice(0, 500), headers }).slice(0, 1_000);
      fault = `${kind}: ${method} ${path.slice(0, 300)} ${request}\n    ${String(error).slice(0, 500)}`;
    }
    return { kind, status, fault };
  };
}
