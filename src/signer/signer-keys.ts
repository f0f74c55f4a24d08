import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { HDKey } from '@scure/bip32';
import { encodeAlgorand } from '../chains/addresses/algorand.ts';
import { encodeCardanoEnterprise } from '../chains/addresses/cardano.ts';
import { encodePolkadot } from '../chains/addresses/polkadot.ts';
import { encodeSolana } from '../chains/addresses/solana.ts';
import { encodeTezos } from '../chains/addresses/tezos.ts';
import { type AddressFamily, type DepositMode, type Network, networkById } from '../chains/networks/networks.ts';
import type { SandboxKey } from '../chains/sandbox/sandbox-transactions.ts';
import { sandboxAddress } from '../chains/sandbox/sandbox-tx.ts';
import { type MoneroKeys, moneroKeys, moneroSubaddress } from './monero-keys.ts';
import { bip39Seed } from './phrase.ts';
import { cosmosAddress, rippleAddress, stellarAddress } from './pool-addresses.ts';
import { deriveSlip10, slip10PublicKey } from './slip10.ts';
import { tonWalletAddress } from './ton-wallet.ts';

/** The purpose of BIP44 with coin type 1, which stands for the test networks of all coins. */
const sandboxPath = "m/44'/1'/0'";

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
export class SignerKeys {
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
        return rippleAddress(this.#secp256k1(`${accountPath}/0/0`));
      case 'cosmos':
        return cosmosAddress(this.#secp256k1(`${accountPath}/0/0`));
      // SEP-5: the account path itself is the path of the key.
      case 'stellar':
        return stellarAddress(slip10PublicKey(this.#seed, accountPath));
      case 'ton':
        return tonWalletAddress(slip10PublicKey(this.#seed, accountPath));
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
    return pool.encode(slip10PublicKey(this.#seed, `${accountPath}/${pool.path(index)}`));
  }

  /** The Ed25519 account that pays on every chain of the sandbox. */
  sandboxKey(): SandboxKey {
    const { privateKey } = deriveSlip10(this.#seed, sandboxPath);
    return { privateKey, address: sandboxAddress(slip10PublicKey(this.#seed, sandboxPath)) };
  }

  /**
   * A secp256k1 key by its whole path, such as "m/84'/0'/1'/0/0".
   *
   * @throws Error for an invalid path.
   */
  secp256k1Key(path: string): { readonly privateKey: Uint8Array; readonly publicKey: Uint8Array } {
    const { privateKey, publicKey } = this.#root.derive(path);
    if (!privateKey || !publicKey) throw new Error(`no key at ${path}`);
    return { privateKey, publicKey };
  }

  #secp256k1(path: string): Uint8Array {
    const { publicKey } = this.#root.derive(path);
    if (!publicKey) throw new Error(`no key at ${path}`);
    return publicKey;
  }
}

function networkOf(id: string, deposit: DepositMode): Network {
  const network = networkById(id);
  if (network?.deposit !== deposit) throw new Error(`${id} is not a network with ${deposit} deposit addresses`);
  return network;
}
