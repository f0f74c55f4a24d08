import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';

/** Headers that carry a proof, and what makes it fresh. */
export const proofHeaders = { nonce: 'signer-nonce', time: 'signer-time', proof: 'signer-proof' } as const;

/** What a request's proof stands for. */
export interface ProvenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** New for each request. */
  readonly nonce: string;
  /** When it was made, as milliseconds since 1970 in decimal. */
  readonly time: string;
  readonly body: Uint8Array;
}

/** What an answer's proof stands for: the nonce ties it to the one request that it answers. */
export interface ProvenAnswer {
  readonly nonce: string;
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * A secret that a signer and its gateways share. Each shows the other that it knows it, by an HMAC-SHA256 over what it
 * says, so that nobody who got at the socket can speak for either.
 */
export class SharedSecret {
  /** Where this side has it from, for people who look for the other one. */
  readonly origin: string;
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array, origin = 'this process') {
    this.origin = origin;
    if (secret.length !== 32) throw new Error(`the secret of a signer has 32 bytes, not ${secret.length}`);
    this.#secret = secret;
  }

  ofRequest({ body, ...request }: ProvenRequest): string {
    return this.requestHmac(request).update(body).digest('hex');
  }

  /** For a body that comes in pieces: its digest in hex, once it was given them all, is the proof of the request. */
  requestHmac({ method, path, nonce, time }: Omit<ProvenRequest, 'body'>): Hmac {
    return this.#hmac(['request', method, path, nonce, time]);
  }

  ofAnswer({ nonce, status, body }: ProvenAnswer): string {
    return this.#hmac(['answer', nonce, status]).update(body).digest('hex');
  }

  /** The first word keeps one kind of proof from standing for the other; JSON keeps the parts apart. */
  #hmac(parts: readonly unknown[]): Hmac {
    return createHmac('sha256', this.#secret).update(`${JSON.stringify(parts)}\n`);
  }
}

/** Compares in a time that tells nothing of where two proofs differ. */
export function isSameProof(given: unknown, right: string): boolean {
  return (
    typeof given === 'string' &&
    /^[0-9a-f]{64}$/.test(given) &&
    timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(right, 'hex'))
  );
}
