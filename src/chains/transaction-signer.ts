import type { PaymentIntent, PreparedTx } from './chain-adapter.ts';

/** An unsigned transaction as the signer reads it out of its bytes. */
export interface OpenedTx {
  /**
   * In what it differs from the payment as it was decided, and from what the prepared transaction says of itself; names
   * members and never their values. Empty when it pays what it should and nothing else.
   */
  readonly faults: readonly string[];
  /** Signs it. The same transaction gives the same bytes for ever. */
  sign(): { readonly txid: string; readonly raw: string };
}

/**
 * What a signer knows of one kind of chain: which address pays there, and how to read, judge and sign a transaction.
 * Reads every fact out of the bytes that would be signed, and believes nobody's word about them.
 */
export interface TransactionSigner {
  /** Address of the wallet that pays on the chain. */
  hotWallet(chain: string): string;
  /** @throws SignerError `refused` when the payload is no transaction of this kind. */
  open(chain: string, intent: PaymentIntent, tx: PreparedTx): OpenedTx;
}

/** Where a kind of transactions gets its keys from, each by its whole path. */
export interface Secp256k1Keys {
  secp256k1Key(path: string): { readonly privateKey: Uint8Array; readonly publicKey: Uint8Array };
}
