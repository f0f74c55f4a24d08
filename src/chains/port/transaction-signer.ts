import type { PaymentIntent, PreparedTx } from './chain-adapter.ts';

/** An unsigned transaction, as the signer reads it from its bytes. */
export interface OpenedTx {
  /**
   * The differences between the bytes and the decided payment, and between the bytes and the
   * prepared transaction's own facts. They name members and never their values. Empty when the
   * transaction pays as it should and nothing else.
   */
  readonly faults: readonly string[];
  /** Signs it. The same transaction always gives the same bytes. */
  sign(): { readonly txid: string; readonly raw: string };
}

/**
 * The signer's knowledge of one kind of chain: the hot wallet's address, and how to read, check and
 * sign a transaction. It reads every fact from the bytes that would be signed, and trusts no
 * statement about them.
 */
export interface TransactionSigner {
  /** Address of the hot wallet on the chain. */
  hotWallet(chain: string): string;
  /** @throws SignerError `refused` when the payload is no transaction of this kind. */
  open(chain: string, intent: PaymentIntent, tx: PreparedTx): OpenedTx;
}

/** Derives the key of each path, for one kind of transactions. */
export interface Secp256k1Keys {
  secp256k1Key(path: string): { readonly privateKey: Uint8Array; readonly publicKey: Uint8Array };
}
