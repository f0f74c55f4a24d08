import { ed25519 } from '@noble/curves/ed25519.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { moneroParts } from '../addresses/monero.ts';
import { fromLittleEndian, hashToScalar, toLittleEndian } from '../addresses/monero-keys.ts';
import type { MoneroTx } from './monero-tx.ts';

const { Point } = ed25519;

/**
 * What a transaction brings to a primary address, such as change, by the view key. Outputs to
 * subaddresses are left out. `rctOps.cpp` (`ecdhDecode`) and `device_default.cpp` of the source.
 *
 * @param viewKey 32 bytes in hex.
 */
export function receivedBy(tx: MoneroTx, address: string, viewKey: string): bigint {
  const parts = moneroParts(address);
  if (parts === null || tx.publicKey === null) return 0n;
  const view = fromLittleEndian(hexToBytes(viewKey));
  const spend = Point.fromHex(parts.keys.slice(0, 64));
  const shared = sharedPoint(tx.publicKey, view);
  if (shared === null) return 0n;
  return tx.paid.reduce((sum, { key, sealedAmount }, index) => {
    const secret = concatBytes(shared, varint(index));
    const scalar = hashToScalar(secret);
    if (Point.BASE.multiply(scalar).add(spend).toHex() !== key) return sum;
    const mask = keccak_256(concatBytes(utf8ToBytes('amount'), toLittleEndian(scalar))).subarray(0, 8);
    return sum + fromLittleEndian(hexToBytes(sealedAmount).map((byte, at) => byte ^ (mask[at] ?? 0)));
  }, 0n);
}

/** Null for a public key that is no point of the curve, which its sender may write. */
function sharedPoint(publicKey: string, view: bigint): Uint8Array | null {
  try {
    return Point.fromHex(publicKey).multiply(view).multiply(8n).toBytes();
  } catch {
    return null;
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  while (left >= 0x80) {
    bytes.push((left & 0x7f) | 0x80);
    left >>= 7;
  }
  return Uint8Array.from([...bytes, left]);
}
