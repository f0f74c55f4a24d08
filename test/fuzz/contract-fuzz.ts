import { Dice } from '../support/gateway/dice.ts';
import { contractClient } from '../support/http/contract-client.ts';
import { Attempts, type FuzzCurrency, type FuzzKeys } from './attempts.ts';

export interface FuzzOptions {
  /** Base address of the public listener. */
  readonly restUrl: string;
  readonly keys: FuzzKeys;
  readonly requests: number;
  readonly seed: number;
  readonly concurrency: number;
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
  const { restUrl, keys, requests, seed, concurrency, onProgress } = options;
  const call = contractClient(restUrl);
  const currencies = (await call('GET', '/currencies')).json as FuzzCurrency[];
  const kinds = new Map<string, Map<number, number>>();
  const faults: string[] = [];
  let sent = 0;
  const worker = async (index: number): Promise<void> => {
    const source = new Attempts(new Dice(seed * 1_000 + index), keys, currencies);
    while (sent < requests) {
      const attempt = source.next();
      sent++;
      if (sent % 1_000 === 0) onProgress?.(sent);
      const { kind, method, path, expected, check } = attempt;
      try {
        const reply = await call(method, path, attempt.options);
        const statuses = kinds.get(kind) ?? new Map<number, number>();
        kinds.set(kind, statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1));
        if (!expected.includes(reply.status)) {
          throw new Error(`${reply.status} in place of ${expected.join(' or ')}: ${reply.text.slice(0, 300)}`);
        }
        check?.(reply);
      } catch (error) {
        const { raw, headers } = attempt.options;
        const told = JSON.stringify({ raw: raw?.slice(0, 500), headers }).slice(0, 1_000);
        faults.push(`${kind}: ${method} ${path.slice(0, 300)} ${told}\n    ${String(error).slice(0, 500)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, index) => worker(index)));
  return { requests: sent, kinds, faults };
}
