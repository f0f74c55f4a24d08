/** A text, read as an address of one family. */
export type Decoded =
  | {
      readonly ok: true;
      /** The one form in which this address is stored and shown. */
      readonly address: string;
      /**
       * The tag that the address itself carries (XRP X-address, Stellar M-address); null in most.
       */
      readonly tag: string | null;
      /** The kind of the address: 'p2wpkh', 'classic', 'subaddress'. */
      readonly kind: string;
    }
  | {
      readonly ok: false;
      /**
       * What is wrong and what to change, as the end of a sentence that starts with 'this', such as
       * 'is the zero address, which has no owner'. Null when the text is not of this family at all.
       */
      readonly reason: string | null;
      /**
       * Set when the text is a key or an address of another network, and not a mistake within the
       * family.
       */
      readonly what: Foreign | undefined;
    };

/** A secret key, or an address that is valid on another network, for example a test network. */
export type Foreign = 'secret_key' | 'test_network' | 'other_network';

/** Reads addresses of one family, for mainnet only. Never throws, for any text. */
export interface AddressCodec {
  /**
   * The look of its addresses, as the end of a sentence: 'starts with 0x and has 42 characters'.
   */
  readonly looks: string;
  decode(text: string): Decoded;
  /**
   * Whether a valid address has a checksum, so that a typing error is noticed. Absent when all have
   * one.
   */
  readonly hasChecksum?: (text: string) => boolean;
}

/** Not of this family at all. */
export const notOurs: Decoded = { ok: false, reason: null, what: undefined };

export function refused(reason: string, what?: Foreign): Decoded {
  return { ok: false, reason, what };
}

export const secretKey = refused(
  'is a SECRET KEY, a private key; never share it with anyone, and move what it holds to a new one',
  'secret_key',
);

export const ofTestNetwork = refused('is an address of a test network; give one of the main network', 'test_network');

/** A key or hash of zeros: well formed, but no owner has its private key. */
export const zeroAddress = refused('is the zero address, which has no owner');

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

export function accepted(address: string, kind: string, tag: string | null = null): Decoded {
  return { ok: true, address, tag, kind };
}

/** The value, or null when the library throws. */
export function attempt<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
