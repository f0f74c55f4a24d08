import type { PaymentIntent, PreparedTx, SignedTx } from './chain-adapter.ts';

/** The longest request to sign, in bytes: the sweep of 32 outputs whose transactions are as large as nodes relay fits. */
export const maxRequestBytes = 8 * 1024 * 1024;
/** The longest payload of a transaction, in bytes, which leaves room for the rest of a request. */
export const maxPayloadBytes = maxRequestBytes - 256 * 1024;

/**
 * The port to whoever holds the keys. Signing is idempotent for a payment's attempt: the same request gives the same
 * bytes for ever, and another transaction for the same attempt is refused.
 */
export interface Signer {
  /**
   * Checks that the unsigned transaction pays what the intent says and nothing else, then signs it.
   *
   * @param earlier Txids of all other attempts of the payment that were signed. A signer that signed one which is not
   *   among them refuses: whoever asks has forgotten it, as a database does that was restored from a backup, and it may
   *   have paid.
   * @throws SignerError `refused` when it does not, or when the attempt was signed before with other contents;
   *   `unavailable` when the signer cannot be reached, which says nothing about whether it signed.
   */
  sign(chain: string, intent: PaymentIntent, tx: PreparedTx, earlier?: readonly string[]): Promise<SignedTx>;
  /**
   * Has the attempt never signed from now on. Answers the signed transaction instead when it was signed before: somebody
   * may have seen it.
   *
   * @throws SignerError as `sign` does.
   */
  revoke(chain: string, intent: PaymentIntent, tx: PreparedTx): Promise<SignedTx | null>;
  /** Address of the wallet that pays on a chain. */
  hotWallet(chain: string): Promise<string>;
}

export class SignerError extends Error {
  override readonly name = 'SignerError';
  readonly code: 'refused' | 'unavailable';

  constructor(code: 'refused' | 'unavailable', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
