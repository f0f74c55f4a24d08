import { hash } from 'node:crypto';

/** Hashes that OpenSSL computes several times as fast as JavaScript does. */

export function sha256(data: Uint8Array): Uint8Array {
  return digest('sha256', data);
}

/** SHA-512/256, FIPS 180-4. */
export function sha512_256(data: Uint8Array): Uint8Array {
  return digest('sha512-256', data);
}

/** BLAKE2b of 64 bytes without a key. https://www.rfc-editor.org/rfc/rfc7693 */
export function blake2b512(data: Uint8Array): Uint8Array {
  return digest('blake2b512', data);
}

/**
 * The hash, taken from OpenSSL as text of one character per byte. Memory for a buffer from OpenSSL
 * would take longer than the hash and this text together.
 */
function digest(algorithm: string, data: Uint8Array): Uint8Array {
  return Buffer.from(hash(algorithm, data, 'binary'), 'binary');
}
