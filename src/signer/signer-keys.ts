import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { HDKey } from '@scure/bip32';
import { encodeAlgorand } from '../chains/addresses/algorand.ts';
import { encodeCardanoEnterprise } from '../chains/addresses/cardano.ts';
import { type MoneroKeys, moneroKeys, moneroSubaddress } from '../chains/addresses/monero-keys.ts';
import { encodePolkadot } from '../chains/addresses/polkadot.ts';
import { rippleAddress } from '../chains/addresses/ripple.ts';
import { encodeSolana } from '../chains/addresses/solana.ts';
import { encodeTezos } from '../chains/addresses/tezos.ts';
import { type AddressFamily, type DepositMode, type Network, networkById } from '../chains/networks/networks.ts';
import type { SigningKey, SigningKeys } from '../chains/port/transaction-signer.ts';
import { bip39Seed } from './phrase.ts';
import { cosmosAddress, stellarAddress } from './pool-addresses.ts';
import { deriveSlip10, slip10Key } from './slip10.ts';
import { tonWalletAddress } from './ton-wallet.ts';

interface PoolAddress {
  /** Path of an address below the network's accountPath. */
  path(index: number): string;
  encode(publicKey: Uint8Array): string;
}

/**
 * Chains with an Ed25519 key for each address. Cardano also has its own derivation; these hardened
 * keys are as good.
 */
const ed25519Pools: Partial<Record<AddressFamily, PoolAddress>> = {
  solana: { path: (index) => `${index}'/0'`, encode: encodeSolana },
  polkadot: { path: (index) => `0'/${index}'`, encode: encodePolkadot },
  algorand: { path: (index) => `${index}'`, encode: encodeAlgorand },
  tezos: { path: (index) => `${index}'/0'`, encode: encodeTezos },
  cardano: { path: (index) => `0'/${index}'`, encode: encodeCardanoEnterprise },
};

/**
 * The private keys of all deposits, and the public sides that are derived from them. For the signer
 * only: code that serves requests never imports this.
 */
export class SignerKeys implements SigningKeys {
  readonly #seed: Uint8Array;
  readonly #root: HDKey;
  #monero: MoneroKeys | undefined;

  /**
   * Derives the keys from 32 bytes of entropy. These are a BIP39 phrase of 24 words without a
   * passphrase, so that wallets can restore the keys.
   * https://github.com/bitcoin/bips/blob/master/bip-0039.mediawiki
   */
  constructor(entropy: Uint8Array) {
    this.#seed = bip39Seed(entropy);
    this.#root = HDKey.fromMasterSeed(this.#seed);
  }

  /**
   * Names the keys in 16 hex digits and reveals nothing of them: a hash of the master public key.
   */
  fingerprint(): string {
    const publicKey = this.#root.publicKey;
    if (!publicKey) throw new Error('the master key has no public key');
    return bytesToHex(sha256(concatBytes(utf8ToBytes('signer fingerprint\0'), publicKey))).slice(0, 16);
  }

  /**
   * The extended public key of a network's account,
   * https://github.com/bitcoin/bips/blob/master/bip-0032.mediawiki
   *
   * @throws Error for a network whose deposit addresses are not derived.
   */
  accountXpub(networkId: string): string {
    return this.#root.derive(networkOf(networkId, 'derived').accountPath).publicExtendedKey;
  }

  /**
   * The one address of a network that tells deposits apart by tag.
   *
   * @throws Error for a network whose deposit address is not shared.
   */
  sharedAddress(networkId: string): string {
    const { family, accountPath } = networkOf(networkId, 'shared');
    switch (family) {
      case 'ripple':
        return rippleAddress(this.secp256k1(`${accountPath}/0/0`).publicKey);
      case 'cosmos':
        return cosmosAddress(this.secp256k1(`${accountPath}/0/0`).publicKey);
      // SEP-5: the account path itself is the path of the key.
      case 'stellar':
        return stellarAddress(this.ed25519(accountPath).publicKey);
      case 'ton':
        return tonWalletAddress(this.ed25519(accountPath).publicKey);
      default:
        throw new Error(`no rule for a shared address on ${networkId}`);
    }
  }

  /**
   * The address at an index, from 1, of a network without public derivation.
   *
   * @throws Error for a network whose deposit addresses come from no pool.
   */
  poolAddress(networkId: string, index: number): string {
    const { family, accountPath } = networkOf(networkId, 'pool');
    if (!Number.isInteger(index) || index < 1 || index >= 0x80000000) throw new Error(`${index} is not a pool index`);
    if (family === 'monero') {
      this.#monero ??= moneroKeys(deriveSlip10(this.#seed, accountPath).privateKey);
      return moneroSubaddress(this.#monero, 0, index);
    }
    const pool = ed25519Pools[family];
    if (!pool) throw new Error(`no rule for a pool address on ${networkId}`);
    return pool.encode(this.ed25519(`${accountPath}/${pool.path(index)}`).publicKey);
  }

  secp256k1(path: string): SigningKey {
    const { privateKey, publicKey } = this.#root.derive(path);
    if (!privateKey || !publicKey) throw new Error(`no key at ${path}`);
    return { privateKey, publicKey };
  }

  ed25519(path: string): SigningKey {
    return slip10Key(this.#seed, path);
  }
}

function networkOf(id: string, deposit: DepositMode): Network {
  const network = networkById(id);
  if (network?.deposit !== deposit) throw new Error(`${id} is not a network with ${deposit} deposit addresses`);
  return network;
}
