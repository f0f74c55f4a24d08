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
       * What is wrong and what to change, as the end of a sentence, when more is known than that the form is wrong:
       * 'is a secret key; never share it'. Null when the text is simply not of this family.
       */
      readonly reason: string | null;
    };

/** Reads addresses of one family, for mainnet only. Never throws, whatever the text. */
export interface AddressCodec {
  /** How its addresses look, as the end of a sentence: 'starts with 0x and has 42 characters'. */
  readonly looks: string;
  decode(text: string): Decoded;
}

/** Not of this family at all. */
export const notOurs: Decoded = { ok: false, reason: null };

export function refused(reason: string): Decoded {
  return { ok: false, reason };
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
