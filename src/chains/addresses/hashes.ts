import { hash } from 'node:crypto';

/** Hashes that OpenSSL computes several times as fast as JavaScript does. */

export function sha256(data: Uint8Array): Uint8Array {
  return hash('sha256', data, 'buffer');
}

/** SHA-512/256, FIPS 180-4. */
export function sha512_256(data: Uint8Array): Uint8Array {
  return hash('sha512-256', data, 'buffer');
}

/** BLAKE2b of 64 bytes without a key. https://www.rfc-editor.org/rfc/rfc7693 */
export function blake2b512(data: Uint8Array): Uint8Array {
  return hash('blake2b512', data, 'buffer');
}
