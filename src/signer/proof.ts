import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';

/** Headers with a proof, and with the nonce and the time that make it fresh. */
export const proofHeaders = { nonce: 'signer-nonce', time: 'signer-time', proof: 'signer-proof' } as const;

/** The parts of a request that its proof covers. */
interface ProvenRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** New for each request. */
  readonly nonce: string;
  /** When the request was made, as milliseconds since 1970 in decimal. */
  readonly time: string;
  readonly body: Uint8Array;
}

/**
 * The parts of an answer that its proof covers. The nonce ties it to the one request that it
 * answers.
 */
interface ProvenAnswer {
  readonly nonce: string;
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * A secret that a signer and its gateways share. Each side proves that it knows the secret by an
 * HMAC-SHA256 over its message. So a process that got at the socket can speak for neither.
 */
export class SharedSecret {
  /** Where this side got the secret, for people who look for the other side's. */
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

  /**
   * The HMAC of a request whose body arrives in pieces. Its hex digest, after all pieces, is the
   * proof of the request.
   */
  requestHmac({ method, path, nonce, time }: Omit<ProvenRequest, 'body'>): Hmac {
    return this.#hmac(['request', method, path, nonce, time]);
  }

  ofAnswer({ nonce, status, body }: ProvenAnswer): string {
    return this.#hmac(['answer', nonce, status]).update(body).digest('hex');
  }

  /**
   * An HMAC over several parts. The first part names the kind of proof, so that a proof of one kind
   * is not valid as another. JSON keeps the parts apart.
   */
  #hmac(parts: readonly unknown[]): Hmac {
    return createHmac('sha256', this.#secret).update(`${JSON.stringify(parts)}\n`);
  }
}

/** Compares two proofs in constant time. */
export function isSameProof(given: unknown, right: string): boolean {
  return (
    typeof given === 'string' &&
    /^[0-9a-f]{64}$/.test(given) &&
    timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(right, 'hex'))
  );
}
