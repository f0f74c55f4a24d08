import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { encodeTon } from '../chains/addresses/ton.ts';

/** Wallet v3 revision 2, https://github.com/toncenter/tonweb/blob/master/src/contract/wallet/WalletSources.md */
const codeHash = hexToBytes('84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599');
const codeDepth = Uint8Array.of(0, 0);
/** The usual wallet number of workchain 0. */
const subwalletId = 698983191;

/**
 * The address of a wallet contract that is not deployed yet: the representation hash of its initial
 * state. https://docs.ton.org/v3/documentation/smart-contracts/addresses and section 3.1.5 of
 * https://ton.org/tvm.pdf
 */
export function tonWalletAddress(publicKey: Uint8Array): string {
  return encodeTon(0, stateInitHash(dataHash(publicKey)));
}

/**
 * The hash of the data: sequence number 0, wallet number and public key, 320 bits without
 * references.
 */
function dataHash(publicKey: Uint8Array): Uint8Array {
  const numbers = new Uint8Array(8);
  new DataView(numbers.buffer).setUint32(4, subwalletId);
  return sha256(concatBytes(Uint8Array.of(0, 80), numbers, publicKey));
}

/**
 * The hash of the initial state: five bits (no split depth, no tick-tock, code, data, no
 * libraries), padded to a byte, and two references.
 */
function stateInitHash(data: Uint8Array): Uint8Array {
  const descriptors = Uint8Array.of(2, 1, 0b00110_100);
  const dataDepth = Uint8Array.of(0, 0);
  return sha256(concatBytes(descriptors, codeDepth, dataDepth, codeHash, data));
}
