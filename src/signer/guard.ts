import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { isSameProof, proofHeaders } from './proof.ts';

/**
 * Largest difference between the time of a request and the signer's. For that long a nonce must be
 * remembered.
 */
const maxSkewMs = 60_000;

/** Why a request is refused. `isProven`: the caller proved that it knows the secret. */
interface Refusal {
  readonly isProven: boolean;
  readonly detail: string;
}

/** Admits each request once, and only with a proof of the shared secret. */
export class SignerGuard {
  readonly #clock: Clock;
  readonly #since: number;
  /** The nonces seen, each with the time from which its request is too old anyway. */
  readonly #seen = new Map<string, number>();
  #purgedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now().getTime();
  }

  /**
   * Checks the proof and the nonce of a request. Returns null when the request, whose proof must be
   * `right`, is admitted; a replay is refused.
   */
  refusal(headers: IncomingHttpHeaders, right: string): Refusal | null {
    const nonce = headers[proofHeaders.nonce];
    const time = headers[proofHeaders.time];
    if (typeof nonce !== 'string' || !/^[0-9a-f]{32}$/.test(nonce)) return stranger;
    if (typeof time !== 'string' || !/^\d{1,15}$/.test(time)) return stranger;
    if (!isSameProof(headers[proofHeaders.proof], right)) return stranger;

    const now = this.#clock.now().getTime();
    const made = Number.parseInt(time, 10);
    if (Math.abs(now - made) > maxSkewMs) {
      return { isProven: true, detail: 'the time of the request is too far from now; check the clocks' };
    }
    // The nonces of an earlier run are lost, so that a request from before the start is refused.
    if (made < this.#since) return { isProven: true, detail: 'the request was made before the signer started' };
    this.#purge(now);
    if (this.#seen.has(nonce)) return { isProven: true, detail: 'the request is a replay of an earlier one' };
    this.#seen.set(nonce, made + maxSkewMs);
    return null;
  }

  #purge(now: number): void {
    if (now - this.#purgedAt < maxSkewMs) return;
    this.#purgedAt = now;
    for (const [nonce, until] of this.#seen) if (until < now) this.#seen.delete(nonce);
  }
}

const stranger: Refusal = { isProven: false, detail: 'the request does not prove that it knows the secret' };
