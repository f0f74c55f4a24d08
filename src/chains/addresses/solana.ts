import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, bech32, bech32m } from '@scure/base';
import { type AddressCodec, accepted, attempt, notOurs, refused, secretKey } from './codec.ts';

/** The address of an Ed25519 public key, which is the key itself in base58. */
export function encodeSolana(publicKey: Uint8Array): string {
  return base58.encode(publicKey);
}

/**
 * Solana, https://solana.com/docs/core/accounts
 *
 * The form has no checksum: a mistyped address is often valid too. Half of the mistyped ones are no
 * points of the curve. Token accounts are no points either, and a payment of another asset to one
 * would be lost. So only points of the curve are accepted.
 */
export const solanaCodec: AddressCodec = {
  looks: 'has 32 to 44 letters and digits without 0, O, I and l',
  decode(text) {
    if (text.length < 32 || text.length > 88) return notOurs;
    const bytes = attempt(() => base58.decode(text));
    if (bytes?.length === 64 && isKeyPair(bytes)) return secretKey;
    if (bytes?.length !== 32 || isBech32(text)) return notOurs;
    if (!isPublicKey(bytes)) {
      return refused('is no wallet: give the address of the wallet itself, not of a token account or a program');
    }
    return accepted(text, 'wallet');
  },
  hasChecksum: () => false,
};

/**
 * Whether the text is bech32 of another chain. Upper-case Litecoin (LTC1…, as in QR codes) and
 * accounts of Cosmos chains such as osmo1… are often base58 of 32 bytes too. Half of those are
 * points of the curve. Their own checksum tells them apart.
 */
function isBech32(text: string): boolean {
  if (text !== text.toLowerCase() && text !== text.toUpperCase()) return false;
  return [bech32, bech32m].some((form) => attempt(() => form.decode(text as `${string}1${string}`)) !== null);
}

function isPublicKey(bytes: Uint8Array): boolean {
  return attempt(() => ed25519.Point.fromBytes(bytes)) !== null;
}

/**
 * Whether the bytes are an exported private key: wallets write its 32 bytes and the public key's
 * 32.
 */
function isKeyPair(bytes: Uint8Array): boolean {
  const publicKey = ed25519.getPublicKey(bytes.subarray(0, 32));
  return publicKey.every((byte, at) => byte === bytes[32 + at]);
}
