/** What a text is as an address of one family. */
export type Decoded =
  | {
      readonly ok: true;
      /** The one form in which this address is stored and shown. */
      readonly address: string;
      /** The tag that the address itself carries (XRP X-address, Stellar M-address); null in most. */
      readonly tag: string | null;
      /** What sort of address it is: 'p2wpkh', 'classic', 'subaddress'. */
      readonly kind: string;
    }
  | {
      readonly ok: false;
      /**
       * What is wrong and what to change, as the end of a sentence that starts with 'this', when more is known than
       * that the form is wrong: 'is the zero address, which belongs to nobody'. Null when the text is simply not of
       * this family.
       */
      readonly reason: string | null;
      /** Set where the text must be told apart from a mistake within the family. */
      readonly what: Foreign | undefined;
    };

/** A key that nobody but its owner may see, or an address that is good on some other network, a test network for one. */
export type Foreign = 'secret_key' | 'test_network' | 'other_network';

/** Reads addresses of one family, for mainnet only. Never throws, whatever the text. */
export interface AddressCodec {
  /** How its addresses look, as the end of a sentence: 'starts with 0x and has 42 characters'. */
  readonly looks: string;
  decode(text: string): Decoded;
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

/** A key or hash of nothing but zeros: well formed, and nobody's. */
export const zeroAddress = refused('is the zero address, which belongs to nobody');

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

export function accepted(address: string, kind: string, tag: string | null = null): Decoded {
  return { ok: true, address, tag, kind };
}

/** The value, or null where the library throws. */
export function attempt<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
