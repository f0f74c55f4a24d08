import { base32nopad } from '@scure/base';
import { type AddressCodec, accepted, attempt, isZero, notOurs, refused, secretKey, zeroAddress } from './codec.ts';
import { crc16Xmodem } from './ton.ts';

/** Version bytes by first letter. https://github.com/stellar/stellar-protocol/blob/master/ecosystem/sep-0023.md */
const versions = { account: 6 << 3, muxed: 12 << 3, secret: 18 << 3 } as const;

/** Text of a version, a payload and a little-endian checksum. */
export function encodeStrkey(version: number, payload: Uint8Array): string {
  const bytes = Uint8Array.from([version, ...payload]);
  const crc = crc16Xmodem(bytes);
  return base32nopad.encode(Uint8Array.from([...bytes, crc & 0xff, crc >> 8]));
}

/** The address of an account, from its Ed25519 public key. */
export function encodeStellarAccount(publicKey: Uint8Array): string {
  return encodeStrkey(versions.account, publicKey);
}

/**
 * The Ed25519 key of an account.
 *
 * @throws RangeError for a text that is no address of an account.
 */
export function stellarKey(address: string): Uint8Array {
  const bytes = attempt(() => base32nopad.decode(address));
  const key = bytes?.subarray(1, -2);
  if (key?.length !== 32 || encodeStellarAccount(key) !== address)
    throw new RangeError('this is no account of Stellar');
  return key;
}

/** Stellar accounts, and muxed accounts, which hold an account and a memo id in one text. */
export const stellarCodec: AddressCodec = {
  looks: 'starts with G and has 56 characters, or is an M-address',
  decode(text) {
    if (!/^[A-Z2-7]{56,69}$/.test(text)) return notOurs;
    const bytes = attempt(() => base32nopad.decode(text));
    if (!bytes) return notOurs;
    const [version = -1] = bytes;
    const payload = bytes.subarray(1, -2);
    // Encoding it again checks the checksum, and that unused bits are zero.
    if (encodeStrkey(version, payload) !== text) return notOurs;
    if (version === versions.secret) return secretKey;
    if (payload.length >= 32 && isZero(payload.subarray(0, 32))) return zeroAddress;
    if (version === versions.account && payload.length === 32) return accepted(text, 'account');
    if (version === versions.muxed && payload.length === 40) {
      const id = new DataView(payload.buffer, payload.byteOffset).getBigUint64(32);
      return accepted(encodeStellarAccount(payload.subarray(0, 32)), 'muxed', id.toString());
    }
    return refused('is not an account; give the address that starts with G');
  },
};
