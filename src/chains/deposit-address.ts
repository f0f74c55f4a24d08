import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { HDKey } from '@scure/bip32';
import { encodeBase58check } from './addresses/base58check.ts';
import { encodeCashaddr } from './addresses/bitcoin-cash.ts';
import { encodeKeyHash } from './addresses/bitcoin-like.ts';
import { encodeEvm } from './addresses/evm.ts';
import { encodeTron } from './addresses/tron.ts';
import { type AddressFamily, networkById } from './networks.ts';

const hash160 = (publicKey: Uint8Array): Uint8Array => ripemd160(sha256(publicKey));

/** The 64 bytes of a point, as EVM and TRON hash them. */
const point = (publicKey: Uint8Array): Uint8Array => secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1);

/** How each family with public derivation writes a compressed public key as an address. */
const encoders: Partial<Record<AddressFamily, (publicKey: Uint8Array) => string>> = {
  bitcoin: (key) => encodeKeyHash('bitcoin', hash160(key)),
  litecoin: (key) => encodeKeyHash('litecoin', hash160(key)),
  dogecoin: (key) => encodeKeyHash('dogecoin', hash160(key)),
  'bitcoin-cash': (key) => encodeCashaddr(hash160(key)),
  dash: (key) => encodeBase58check([0x4c], hash160(key)),
  zcash: (key) => encodeBase58check([0x1c, 0xb8], hash160(key)),
  evm: (key) => encodeEvm(point(key)),
  tron: (key) => encodeTron(point(key)),
};

/** The external chain (0) of each account, which every address of the account starts from. */
const externalChains = new Map<string, HDKey>();

/**
 * The deposit address at an index of an account: the child 0/index of its public key, by BIP32 and BIP44.
 *
 * @throws Error for a network without public derivation, and for a private key, which does not belong here.
 */
export function deriveDepositAddress(networkId: string, accountXpub: string, index: number): string {
  const network = networkById(networkId);
  const encode = network?.deposit === 'derived' ? encoders[network.family] : undefined;
  if (!encode) throw new Error(`deposit addresses on ${networkId} are not derived`);
  let chain = externalChains.get(accountXpub);
  if (!chain) {
    const account = HDKey.fromExtendedKey(accountXpub);
    if (account.privateKey) throw new Error('a deposit account must be a public key');
    chain = account.deriveChild(0);
    externalChains.set(accountXpub, chain);
  }
  const { publicKey } = chain.deriveChild(index);
  if (!publicKey) throw new Error(`no public key at ${index}`);
  return encode(publicKey);
}

/** Odd, so that multiplying by it modulo 2^32 maps no two numbers to one. Knuth's golden ratio. */
const spread = 2_654_435_761n;

/**
 * The tag of the order at an index of a memo network: a number from 1 to 4294967295, different for each index up to
 * there, and far from its neighbours', so that a mistyped tag does not name the next order.
 */
export function depositTag(networkId: string, index: number): string {
  if (networkById(networkId)?.deposit !== 'shared') throw new Error(`${networkId} has no tags`);
  if (!Number.isInteger(index) || index < 1 || index > 0xffffffff)
    throw new Error(`${index} is out of range for a tag`);
  return ((BigInt(index) * spread) & 0xffffffffn).toString();
}
