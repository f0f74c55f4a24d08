import type { ChainTraits, PaymentIntent, PreparedTx } from './chain-adapter.ts';
import type { KeyImages } from './signer.ts';

/** An unsigned transaction, as the signer reads it from its bytes. */
export interface OpenedTx<Signed = SignedBytes> {
  /**
   * The differences between the bytes and the decided payment, and between the bytes and the
   * prepared transaction's own facts. They name members and never their values. Empty when the
   * transaction pays as it should and nothing else.
   */
  readonly faults: readonly string[];
  /**
   * The time of the chain's head when the transaction was built, as its bytes state it, in
   * milliseconds since 1970. Without it, no further attempt is signed on a chain whose attempts do
   * not exclude each other.
   */
  readonly builtAtMs?: number;
  /**
   * What it may cost the hot wallet by the prices that the signer knows, where its bytes do not
   * bound its fee. The limit of the day counts at least this, also when the gateway states less.
   */
  readonly leastCounted?: bigint;
  /**
   * What a set-up brings to further accounts of the wallet, in the smallest unit of the chain's own
   * coin. It stays ours, but a wallet without coins pays no one.
   */
  readonly moved?: bigint;
  /**
   * Signs it. The same transaction always gives the same bytes, except where the family keeps them
   * (`TransactionSigner.keepsBytes`).
   */
  sign(): Signed;
}

export interface SignedBytes {
  readonly txid: string;
  readonly raw: string;
}

/** What one set-up, and all of a day in UTC, may bring to further accounts of the wallet. */
export interface MovingLimits {
  readonly once: bigint;
  readonly perDay: bigint;
}

/**
 * The signer's knowledge of one kind of chain: the hot wallet's address, and how to read, check and
 * sign a transaction. It reads every fact from the bytes that would be signed, and trusts no
 * statement about them.
 */
export interface TransactionSigner {
  /** Those of the family that decide which further attempts of a payment are signed. */
  readonly traits: Pick<ChainTraits, 'exclusive' | 'furtherAttempts' | 'paysFromDeposits'>;
  /** Whether it signs set-ups of the hot wallet, which pay no one. Most chains have none. */
  readonly hasSetups?: boolean;
  /** Limits of `OpenedTx.moved`. Absent where set-ups move nothing. */
  movingLimits?(): MovingLimits;
  hotWallet(chain: string): string;
  /** Its accounts other than the hot wallet, as `Signer.channels` returns them. Absent without. */
  channels?(): readonly string[];
  /**
   * Whether a text is the hot wallet's address, in any form that the chain's addresses have. Base58
   * is compared with its capitals.
   */
  isHotWallet(chain: string, address: string): boolean;
  /**
   * Set where each signature gives other bytes. The first ones are then stored before they leave,
   * and returned whenever the same is asked for again.
   */
  readonly keepsBytes?: true;
  /**
   * @param now The signer's clock; that of the machine unless given.
   * @throws SignerError `refused` when the payload is no transaction of this kind.
   */
  open(
    chain: string,
    intent: PaymentIntent,
    tx: PreparedTx,
    now?: Date,
  ): OpenedTx | Promise<OpenedTx<Promise<SignedBytes>>>;
  /** As `Signer.viewKey`. Absent on chains without. */
  viewKey?(): string;
  /** As `Signer.keyImages`. Absent on chains without. */
  keyImages?(outputs: string, addresses: number): Promise<KeyImages | null>;
}

/** The names of the conditions that do not hold, for `OpenedTx.faults`. */
export function faultsOf(conditions: readonly (readonly [fault: string, holds: boolean])[]): string[] {
  return conditions.filter(([, holds]) => !holds).map(([fault]) => fault);
}

export interface SigningKey {
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** The keys that sign, each by its whole path. Every family names its own paths. */
export interface SigningKeys {
  /**
   * By BIP32, such as "m/84'/0'/1'/0/0". The public key is compressed.
   *
   * @throws Error for an invalid path.
   */
  secp256k1(path: string): SigningKey;
  /**
   * By SLIP-10, such as "m/44'/501'/0'".
   *
   * @throws Error for a path with a step that is not hardened.
   */
  ed25519(path: string): SigningKey;
}
