import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { toUnits } from '../../base/money.ts';
import { readCommon, readTwoNodesAbove } from '../networks/common-section.ts';
import { BadValue, type FileSection, oneOf, type Reader, wholeNumber } from '../networks/file-section.ts';
import type { ChainCoin, LiveNetwork } from '../networks/network-config.ts';
import { networkOfChain } from '../networks/networks.ts';
import { readTokens } from '../token-section.ts';

export interface StellarNetwork extends LiveNetwork {
  readonly kind: 'stellar';
  /** Names the network. Its hash is part of what is signed, so that no other network takes it. */
  readonly passphrase: string;
  readonly finality: 'closed';
  /** Number of accounts whose sequence numbers payments use, so that none waits for another. */
  readonly channels: number;
  /**
   * By contract, '' for the chain's own coin. The most that deposits of a day may bring on the word
   * of one server, which could make up a whole ledger. Above it they count only when a second one
   * tells the same of them. In the smallest unit.
   */
  readonly twoNodesAbove: ReadonlyMap<string, bigint>;
  /** Seconds from the newest ledger until a payment that is in no ledger expires. */
  readonly expireAfterSec: number;
}

const publicPassphrase = 'Public Global Stellar Network ; September 2015';
/** The names of the public networks. https://developers.stellar.org/docs/networks */
const names: Readonly<Record<string, string>> = {
  [publicPassphrase]: 'pubnet',
  'Test SDF Network ; September 2015': 'testnet',
  'Test SDF Future Network ; October 2022': 'futurenet',
};

/** All assets have seven digits after the point. */
export const stellarDecimals = 7;
/** A hundred times the usual fee in a crowded ledger. */
const dearestFee = '0.1';
const mostChannels = 100;

export function stellarNetName({ passphrase }: Pick<StellarNetwork, 'passphrase'>): string {
  return names[passphrase] ?? passphrase;
}

/** The id of a network in hexadecimal: the hash of its passphrase. */
export function networkIdOf({ passphrase }: Pick<StellarNetwork, 'passphrase'>): string {
  return bytesToHex(sha256(new TextEncoder().encode(passphrase)));
}

/** Whether coins of the network with this id have a value. */
export function isStellarOfValue(networkId: string): boolean {
  return networkId === networkIdOf({ passphrase: publicPassphrase });
}

/** A token, which its code and its issuer name together. */
export interface StellarToken {
  readonly code: string;
  readonly issuer: string;
}

/** The token of an issuer that the file names; null for an issuer that it does not name. */
export function tokenOf({ tokens }: Pick<StellarNetwork, 'tokens'>, contract: string): StellarToken | null {
  for (const [code, issuer] of tokens) if (issuer === contract) return { code, issuer };
  return null;
}

/**
 * Path of the wallet's key, or of a channel's, from 1. Wallets show the same accounts for the same
 * words. https://github.com/stellar/stellar-protocol/blob/master/ecosystem/sep-0005.md
 *
 * @throws Error for a chain that is not Stellar.
 */
export function stellarPath(chain: string, channel = 0): string {
  const paths = networkOfChain(chain);
  if (paths?.family !== 'stellar') throw new Error(`${chain} is not Stellar`);
  return paths.accountPath.replace(/0'$/, `${channel}'`);
}

export function readStellarSection(section: FileSection, chain: string, coins: readonly ChainCoin[]): StellarNetwork {
  const passphrase = section.required('passphrase', passphraseText);
  const finality = section.optional('finality', oneOf<'closed'>('closed'), 'closed');
  const tokens = readTokens(section, chain, coins, 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN');
  const common = readCommon(section, chain, finality, coins, tokens, {
    pollMs: 2_000,
    // Nothing is taken back: the window only shows that the blocks of a scan join those before.
    reorgWindow: 20,
    stalledAfterSec: 60,
    maxFee: toUnits(dearestFee, stellarDecimals),
  });
  return {
    kind: 'stellar',
    passphrase,
    ...common,
    channels: section.optional('channels', wholeNumber(1, mostChannels, 20), 20),
    twoNodesAbove: readTwoNodesAbove(section, coins, tokens),
    expireAfterSec: section.optional('expire_after_sec', wholeNumber(60, 3_600, 300), 300),
  };
}

const passphraseText: Reader<string> = {
  good: publicPassphrase,
  read(value) {
    if (typeof value === 'string' && /^[\x20-\x7e]{8,100}$/.test(value)) return value;
    throw new BadValue('must be the passphrase of the network: 8 to 100 printable characters');
  },
};
