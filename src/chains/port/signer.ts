import type { PaymentIntent, PreparedTx, SignedTx } from './chain-adapter.ts';

/**
 * The longest request to sign, in bytes. A sweep of 32 outputs fits, each from a transaction as
 * large as nodes relay.
 */
export const maxRequestBytes = 8 * 1024 * 1024;
/** The longest payload of a transaction, in bytes, which leaves room for the rest of a request. */
export const maxPayloadBytes = maxRequestBytes - 256 * 1024;

/**
 * The port to the holder of the keys. Signing is idempotent for each attempt of a payment: the same
 * request always gives the same bytes, and another transaction for the same attempt is refused.
 */
export interface Signer {
  /**
   * Checks that the unsigned transaction pays what the intent says and nothing else, then signs it.
   *
   * @param earlier Txids of all other signed attempts of the payment. A signer that signed an
   *   attempt which is not among them refuses. The caller then has lost it, for example because its
   *   database was restored from a backup. The lost attempt may have paid.
   * @throws SignerError `refused` when the transaction does not pay as the intent says, or the
   *   attempt was signed before with other contents. `revoked` when the attempt was revoked.
   *   `unavailable` when the signer cannot be reached, which does not tell whether it signed.
   */
  sign(chain: string, intent: PaymentIntent, tx: PreparedTx, earlier?: readonly string[]): Promise<SignedTx>;
  /**
   * Revokes an attempt, so that it is never signed from now on. Returns the signed transaction
   * instead when it was signed before, because it may already be known to others.
   *
   * @throws SignerError as `sign` does.
   */
  revoke(chain: string, intent: PaymentIntent, tx: PreparedTx): Promise<SignedTx | null>;
  hotWallet(chain: string): Promise<string>;
  /**
   * The accounts other than the hot wallet whose sequence numbers payments use, in the order of
   * their numbers; empty on chains without.
   */
  channels(chain: string): Promise<readonly string[]>;
  /**
   * The key with which a wallet sees what comes to it and cannot spend. Null on chains whose
   * addresses show that to everyone.
   */
  viewKey?(chain: string): Promise<string | null>;
  /**
   * The key images of outputs, which show where these are spent, on chains whose wallets need them.
   *
   * @param outputs As the wallet that sees them exports them.
   * @param addresses How many addresses this wallet has, which the signer's must have too.
   * @returns Null when the signer's wallet lacks earlier outputs, so that all must be given.
   */
  keyImages?(chain: string, outputs: string, addresses: number): Promise<KeyImages | null>;
}

export interface SignedKeyImage {
  readonly keyImage: string;
  /** Proves that the key image is that of its output. */
  readonly signature: string;
}

/** Key images of a wallet's outputs, in their order, from a place on. */
export interface KeyImages {
  readonly offset: number;
  readonly images: readonly SignedKeyImage[];
}

export class SignerError extends Error {
  override readonly name = 'SignerError';
  readonly code: 'refused' | 'revoked' | 'unavailable';

  constructor(code: SignerError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
