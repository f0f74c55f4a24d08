import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58xrp, bech32 } from '@scure/base';
import { encodeStrkey } from '../chains/addresses/stellar.ts';

const classicAddress = 0;
/**
 * Shown as the letter G,
 * https://github.com/stellar/stellar-protocol/blob/master/ecosystem/sep-0023.md
 */
const stellarPublicKey = 6 << 3;

function keyHash(publicKey: Uint8Array): Uint8Array {
  return ripemd160(sha256(publicKey));
}

/**
 * The classic address of a secp256k1 public key.
 * https://xrpl.org/docs/concepts/accounts/addresses
 */
export function rippleAddress(publicKey: Uint8Array): string {
  const payload = Uint8Array.from([classicAddress, ...keyHash(publicKey)]);
  return base58xrp.encode(Uint8Array.from([...payload, ...sha256(sha256(payload)).subarray(0, 4)]));
}

/**
 * The account of an Ed25519 key.
 * https://github.com/stellar/stellar-protocol/blob/master/ecosystem/sep-0023.md
 */
export function stellarAddress(publicKey: Uint8Array): string {
  return encodeStrkey(stellarPublicKey, publicKey);
}

/**
 * The address of a secp256k1 public key.
 * https://docs.cosmos.network/sdk/latest/reference/architecture/adr-028-public-key-addresses
 */
export function cosmosAddress(publicKey: Uint8Array): string {
  return bech32.encodeFromBytes('cosmos', keyHash(publicKey));
}
