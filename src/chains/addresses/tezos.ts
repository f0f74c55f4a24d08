import { blake2b } from '@noble/hashes/blake2.js';
import { createBase58check } from '@scure/base';
import { type AddressCodec, accepted, attempt, isZero, notOurs, refused, secretKey, zeroAddress } from './codec.ts';
import { sha256 } from './hashes.ts';

const base58check = createBase58check(sha256);

/** https://gitlab.com/tezos/tezos/-/blob/master/src/lib_crypto/base58.ml */
const prefixes: readonly (readonly [kind: string, start: string, bytes: readonly number[]])[] = [
  ['ed25519', 'tz1', [6, 161, 159]],
  ['secp256k1', 'tz2', [6, 161, 161]],
  ['p256', 'tz3', [6, 161, 164]],
  ['bls12-381', 'tz4', [6, 161, 166]],
  ['contract', 'KT1', [2, 90, 121]],
];

/**
 * The tz1 address of an Ed25519 public key: the prefix and its BLAKE2b-160, in base58check.
 * https://docs.tezos.com/architecture/accounts
 */
export function encodeTezos(publicKey: Uint8Array): string {
  return base58check.encode(Uint8Array.from([6, 161, 159, ...blake2b(publicKey, { dkLen: 20 })]));
}

/** Tezos, https://docs.tezos.com/architecture/accounts */
export const tezosCodec: AddressCodec = {
  looks: 'starts with tz1, tz2, tz3, tz4 or KT1 and has 36 characters',
  decode(text) {
    // By its start alone: a private key with a typing error is as secret as one without.
    if (/^(ed|sp|p2|BL)e?sk/.test(text)) return secretKey;
    if (/^(edpk|sppk|p2pk|BLpk)/.test(text)) return refused('is a public key; give the address that belongs to it');
    if (text.length !== 36) return notOurs;
    const bytes = attempt(() => base58check.decode(text));
    if (bytes?.length !== 23) return notOurs;
    const found = prefixes.find(([, , prefix]) => prefix.every((byte, at) => byte === bytes[at]));
    if (!found || !text.startsWith(found[1])) return notOurs;
    return isZero(bytes.subarray(3)) ? zeroAddress : accepted(text, found[0]);
  },
};
