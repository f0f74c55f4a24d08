import { ed25519 } from '@noble/curves/ed25519.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha512 } from '@noble/hashes/sha2.js';
import type { SigningKey } from '../chains/port/transaction-signer.ts';

interface Slip10Node {
  readonly privateKey: Uint8Array;
  readonly chainCode: Uint8Array;
}

function node(digest: Uint8Array): Slip10Node {
  return { privateKey: digest.slice(0, 32), chainCode: digest.slice(32) };
}

function child(parent: Slip10Node, index: number): Slip10Node {
  const data = new Uint8Array(37);
  data.set(parent.privateKey, 1);
  new DataView(data.buffer).setUint32(33, 0x80000000 + index);
  return node(hmac(sha512, parent.chainCode, data));
}

/**
 * Derives the Ed25519 key at a path such as m/44'/148'/0', where every step is hardened.
 * https://github.com/satoshilabs/slips/blob/master/slip-0010.md
 *
 * @throws Error for a path with a step that is not hardened, which Ed25519 does not have.
 */
export function deriveSlip10(seed: Uint8Array, path: string): Slip10Node {
  if (!/^m(\/\d{1,10}')*$/.test(path)) throw new Error(`${path} is not a path of hardened steps`);
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => Number.parseInt(step, 10));
  if (steps.some((step) => step >= 0x80000000)) throw new Error(`${path} has a step beyond 2147483647`);
  return steps.reduce(child, node(hmac(sha512, new TextEncoder().encode('ed25519 seed'), seed)));
}

/** The key at a path, with its public key of 32 bytes. Errors as `deriveSlip10`. */
export function slip10Key(seed: Uint8Array, path: string): SigningKey {
  const { privateKey } = deriveSlip10(seed, path);
  return { privateKey, publicKey: ed25519.getPublicKey(privateKey) };
}
