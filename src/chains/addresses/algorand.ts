import { base32nopad } from '@scure/base';
import { type AddressCodec, accepted, attempt, notOurs, refused } from './codec.ts';
import { sha512_256 } from './hashes.ts';

function checksum(publicKey: Uint8Array): Uint8Array {
  return sha512_256(publicKey).subarray(-4);
}

/**
 * The address of an Ed25519 public key: the key and the last 4 bytes of its SHA-512/256, in base32.
 * https://dev.algorand.co/concepts/accounts/overview/
 */
export function encodeAlgorand(publicKey: Uint8Array): string {
  const bytes = new Uint8Array(36);
  bytes.set(publicKey);
  bytes.set(checksum(publicKey), 32);
  return base32nopad.encode(bytes);
}

const zeroAddress = encodeAlgorand(new Uint8Array(32));

/** Algorand, https://dev.algorand.co/concepts/accounts/overview/ */
export const algorandCodec: AddressCodec = {
  looks: 'has 58 capital letters and digits 2 to 7',
  decode(text) {
    if (!/^[A-Z2-7]{58}$/.test(text)) return notOurs;
    const bytes = attempt(() => base32nopad.decode(text));
    if (bytes?.length !== 36) return notOurs;
    // Encodes it again, so that the unused bits of the last letter cannot differ either.
    if (encodeAlgorand(bytes.subarray(0, 32)) !== text) return notOurs;
    if (text === zeroAddress) return refused('is the zero address, which has no owner');
    return accepted(text, 'account');
  },
};
