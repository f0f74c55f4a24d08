import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { encodeCosmos } from '../chains/addresses/cosmos.ts';
import { encodeStellarAccount } from '../chains/addresses/stellar.ts';

function keyHash(publicKey: Uint8Array): Uint8Array {
  return ripemd160(sha256(publicKey));
}

/**
 * The account of an Ed25519 key.
 * https://github.com/stellar/stellar-protocol/blob/master/ecosystem/sep-0023.md
 */
export function stellarAddress(publicKey: Uint8Array): string {
  return encodeStellarAccount(publicKey);
}

/**
 * The address of a secp256k1 public key.
 * https://docs.cosmos.network/sdk/latest/reference/architecture/adr-028-public-key-addresses
 */
export function cosmosAddress(publicKey: Uint8Array): string {
  return encodeCosmos(keyHash(publicKey));
}
