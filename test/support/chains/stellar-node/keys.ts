import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { Keypair, StrKey, xdr } from '@stellar/stellar-base';

/** A key with the account that it opens. */
export interface StellarKey {
  readonly address: string;
  readonly pair: Keypair;
}

/** A hash as the servers write it: 64 digits, lower case. */
export type Hash = string;

export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** The key that follows from a text. */
export function keyOf(text: string): StellarKey {
  const pair = Keypair.fromRawEd25519Seed(sha256(Buffer.from(text)));
  return { address: pair.publicKey(), pair };
}

const publicKeys = new Map<string, KeyObject>();

/** The public key of an address. It is kept, as the same few accounts sign again and again. */
function publicKeyOf(address: string): KeyObject {
  const known = publicKeys.get(address);
  if (known) return known;
  const prefix = Buffer.from('302a300506032b6570032100', 'hex');
  const der = Buffer.concat([prefix, StrKey.decodeEd25519PublicKey(address)]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  publicKeys.set(address, key);
  return key;
}

/** An Ed25519 signature. Node.js makes it, which is many times as fast as the library. */
export function signatureOf({ pair }: StellarKey, message: Uint8Array): Buffer {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const der = Buffer.concat([prefix, pair.rawSecretKey()]);
  return sign(null, message, createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
}

/** A signature as an envelope carries it. */
export function decorated(key: StellarKey, hash: Uint8Array): xdr.DecoratedSignature {
  return new xdr.DecoratedSignature({ hint: key.pair.signatureHint(), signature: signatureOf(key, hash) });
}

/** Whether an account's own key made a signature, and its hint names that key. */
export function isSignedBy(address: string, hash: Uint8Array, one: xdr.DecoratedSignature): boolean {
  const hint = StrKey.decodeEd25519PublicKey(address).subarray(-4);
  return one.hint().equals(hint) && verify(null, hash, publicKeyOf(address), one.signature());
}

/** What the signatures of a network are made for. */
export function networkIdOf(passphrase: string): Buffer {
  return sha256(Buffer.from(passphrase));
}

/** The account that an address names, which may be a muxed one. @throws Error for other texts. */
export function accountOf(address: string): string {
  if (!StrKey.isValidMed25519PublicKey(address)) return address;
  return StrKey.encodeEd25519PublicKey(StrKey.decodeMed25519PublicKey(address).subarray(0, 32));
}

/** The address of an account with an id in it. https://stellar.org/protocol/sep-23 */
export function muxedAddress(address: string, id: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(id);
  return StrKey.encodeMed25519PublicKey(Buffer.concat([StrKey.decodeEd25519PublicKey(address), bytes]));
}

export function accountIdXdr(address: string): xdr.AccountId {
  return xdr.PublicKey.publicKeyTypeEd25519(StrKey.decodeEd25519PublicKey(address));
}

export function accountIdText(id: xdr.AccountId): string {
  return StrKey.encodeEd25519PublicKey(id.ed25519());
}

/** An address that begins with G or M. @throws Error for other texts. */
export function muxedXdr(address: string): xdr.MuxedAccount {
  if (!StrKey.isValidMed25519PublicKey(address)) {
    return xdr.MuxedAccount.keyTypeEd25519(StrKey.decodeEd25519PublicKey(address));
  }
  const bytes = StrKey.decodeMed25519PublicKey(address);
  const id = uint64(bytes.readBigUInt64BE(32));
  return xdr.MuxedAccount.keyTypeMuxedEd25519(new xdr.MuxedAccountMed25519({ id, ed25519: bytes.subarray(0, 32) }));
}

/** The account in a possibly muxed one, and its id. */
export function fromMuxed(muxed: xdr.MuxedAccount): { readonly address: string; readonly id: bigint | null } {
  const isPlain = muxed.switch().name === 'keyTypeEd25519';
  const bytes = isPlain ? muxed.ed25519() : muxed.med25519().ed25519();
  return { address: StrKey.encodeEd25519PublicKey(bytes), id: isPlain ? null : muxed.med25519().id().toBigInt() };
}

export function int64(value: bigint): xdr.Int64 {
  return new xdr.Int64(value);
}

export function uint64(value: bigint): xdr.Uint64 {
  return new xdr.Uint64(value);
}

/** The place where libraries keep nothing yet. */
export function noExtension(): xdr.ExtensionPoint {
  return new xdr.ExtensionPoint(0);
}
