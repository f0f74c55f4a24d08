import { toUnits } from '../../base/money.ts';
import { readCommon, readTwoNodesAbove } from '../networks/common-section.ts';
import { type FileSection, oneOf, wholeNumber } from '../networks/file-section.ts';
import type { ChainCoin, LiveNetwork } from '../networks/network-config.ts';
import { hotWalletPath, networkOfChain } from '../networks/networks.ts';

export interface XrpNetwork extends LiveNetwork {
  readonly kind: 'xrp';
  /** The number of the network: 0 is the main one. Its servers and transactions state it. */
  readonly networkId: number;
  readonly finality: 'validated';
  /**
   * By contract, '' for the chain's own coin. The most that deposits of a day may bring on the word
   * of one server, which could make up a whole ledger. Above it they count only when a second one
   * tells the same of them. In the smallest unit.
   */
  readonly twoNodesAbove: ReadonlyMap<string, bigint>;
  /** Ledgers from the newest validated one until a payment that is in no ledger expires. */
  readonly expireAfterLedgers: number;
}

/** A network's number is a step of its key's path, which ends below 2^31. */
const largestNetworkId = 2 ** 31 - 1;
const xrpDecimals = 6;
/** A hundred times the usual cost of a transaction. */
const dearestFee = '0.001';

/** The names of the public networks. https://xrpl.org/docs/concepts/networks-and-servers */
const names: Readonly<Record<number, string>> = { 0: 'main', 1: 'testnet', 2: 'devnet' };

export function xrpNetName({ networkId }: Pick<XrpNetwork, 'networkId'>): string {
  return names[networkId] ?? `network ${networkId}`;
}

/** Whether coins of the network with this number have a value. */
export function isXrpOfValue(networkId: number): boolean {
  return networkId === 0;
}

/**
 * Path of the wallet's key. Transactions of networks up to number 1024 do not name their network,
 * so that each of them is valid on all. Each network therefore has its own key.
 *
 * @throws Error for a chain that is not the XRP Ledger.
 */
export function walletPath({ chain, networkId }: Pick<XrpNetwork, 'chain' | 'networkId'>): string {
  const paths = networkOfChain(chain);
  if (paths?.family !== 'ripple') throw new Error(`${chain} is not the XRP Ledger`);
  const main = hotWalletPath(paths);
  return networkId === 0 ? main : main.replace(/0\/0$/, `1/${networkId}`);
}

/** Reads the section of the XRP Ledger in the file of networks. */
export function readXrpSection(section: FileSection, chain: string, coins: readonly ChainCoin[]): XrpNetwork {
  const networkId = section.required('network_id', wholeNumber(0, largestNetworkId, 0));
  const finality = section.optional('finality', oneOf<'validated'>('validated'), 'validated');
  const common = readCommon(section, chain, finality, coins, new Map(), {
    pollMs: 2_000,
    // Nothing is taken back: the window only shows that the blocks of a scan join those before.
    reorgWindow: 20,
    stalledAfterSec: 60,
    maxFee: toUnits(dearestFee, xrpDecimals),
  });
  return {
    kind: 'xrp',
    networkId,
    ...common,
    twoNodesAbove: readTwoNodesAbove(section, coins, common.tokens),
    expireAfterLedgers: section.optional('expire_after_ledgers', wholeNumber(20, 400, 75), 75),
  };
}
