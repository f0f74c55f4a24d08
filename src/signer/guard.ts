import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import { isSameProof, proofHeaders } from './proof.ts';

/** How far the time of a request may be from the signer's, and so how long a nonce must be remembered. */
const maxSkewMs = 60_000;

/** Why a request is not let in; `isProven` when it comes from somebody who knows the secret. */
export interface Refusal {
  readonly isProven: boolean;
  readonly detail: string;
}

/** Lets each request in once, and only from somebody who knows the secret. */
export class SignerGuard {
  readonly #clock: Clock;
  readonly #since: number;
  /** Nonces by when their request is too old anyway. */
  readonly #seen = new Map<string, number>();
  #purgedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now().getTime();
  }

  /** Null when the request whose proof would be `right` may come in; it may not a second time. */
  refusal(headers: IncomingHttpHeaders, right: string): Refusal | null {
    const nonce = headers[proofHeaders.nonce];
    const time = headers[proofHeaders.time];
    if (typeof nonce !== 'string' || !/^[0-9a-f]{32}$/.test(nonce)) return stranger;
    if (typeof time !== 'string' || !/^\d{1,15}$/.test(time)) return stranger;
    if (!isSameProof(headers[proofHeaders.proof], right)) return stranger;

    const now = this.#clock.now().getTime();
    const made = Number.parseInt(time, 10);
    if (Math.abs(now - made) > maxSkewMs) {
      return { isProven: true, detail: 'the request is of another time than now; look at the clocks' };
    }
    // The nonces of an earlier run are forgotten, so what was made before this one began is too old.
    if (made < this.#since) return { isProven: true, detail: 'the request was made before the signer started' };
    this.#purge(now);
    if (this.#seen.has(nonce)) return { isProven: true, detail: 'the request was made before' };
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
