import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { type AddressFamily, networkById } from '../networks/networks.ts';
import { encodeAlgorand } from './algorand.ts';
import { encodeBase58check } from './base58check.ts';
import { encodeCashaddr } from './bitcoin-cash.ts';
import { encodeKeyHash } from './bitcoin-like.ts';
import { encodeCardanoEnterprise } from './cardano.ts';
import { encodeCosmos } from './cosmos.ts';
import { toChecksumAddress } from './evm.ts';
import { encodeMonero } from './monero.ts';
import { encodePolkadot } from './polkadot.ts';
import { encodeRippleClassic } from './ripple.ts';
import { encodeSolana } from './solana.ts';
import { encodeStellarAccount } from './stellar.ts';
import { encodeTezos } from './tezos.ts';
import { encodeTon } from './ton.ts';

const keyHash = (): Uint8Array => randomBytes(20);
const publicKey = (): Uint8Array => ed25519.getPublicKey(ed25519.utils.randomSecretKey());

const makers: Readonly<Record<AddressFamily, () => string>> = {
  bitcoin: () => encodeKeyHash('bitcoin', keyHash()),
  litecoin: () => encodeKeyHash('litecoin', keyHash()),
  dogecoin: () => encodeKeyHash('dogecoin', keyHash()),
  'bitcoin-cash': () => encodeCashaddr(keyHash()),
  dash: () => encodeBase58check([0x4c], keyHash()),
  zcash: () => encodeBase58check([0x1c, 0xb8], keyHash()),
  tron: () => encodeBase58check([0x41], keyHash()),
  evm: () => toChecksumAddress(Buffer.from(keyHash()).toString('hex')),
  ripple: () => encodeRippleClassic(keyHash()),
  cosmos: () => encodeCosmos(keyHash()),
  ton: () => encodeTon(0, randomBytes(32)),
  stellar: () => encodeStellarAccount(publicKey()),
  solana: () => encodeSolana(publicKey()),
  cardano: () => encodeCardanoEnterprise(publicKey()),
  polkadot: () => encodePolkadot(publicKey()),
  algorand: () => encodeAlgorand(publicKey()),
  tezos: () => encodeTezos(publicKey()),
  monero: () => encodeMonero(42, publicKey(), publicKey()),
};

/**
 * A valid address on a network that no one else has, for the sandbox only. Its key is kept nowhere:
 * coins that are sent to it on a real chain are lost.
 *
 * @throws Error for a network that does not exist.
 */
export function madeUpAddress(networkId: string): string {
  const network = networkById(networkId);
  if (!network) throw new Error(`there is no network ${networkId}`);
  return makers[network.family]();
}
