import { toUnits } from '../../base/money.ts';
import { readCommon, readTwoNodesAbove } from '../networks/common-section.ts';
import { decimalText, type FileSection, oneOf, wholeNumber } from '../networks/file-section.ts';
import type { ChainCoin, LiveNetwork } from '../networks/network-config.ts';
import { networkOfChain } from '../networks/networks.ts';
import { readTokens } from '../token-section.ts';

export interface TonNetwork extends LiveNetwork {
  readonly kind: 'ton';
  /** The number of the network, which its blocks name. */
  readonly globalId: number;
  readonly finality: 'masterchain';
  /** The most that the fees of one payment of coins may be, in nanotons. */
  readonly paymentFee: bigint;
  /** What a transfer of jettons carries for the contracts on its way, in nanotons. */
  readonly jettonValue: bigint;
  /**
   * By contract, '' for the chain's own coin. The most that deposits of a day may bring on the word
   * of one index, which could make up transactions. Above it they count only when a second one
   * tells the same of them. In the smallest unit.
   */
  readonly twoNodesAbove: ReadonlyMap<string, bigint>;
}

/** https://docs.ton.org/blockchain-basics/primitives/messages: the network's number */
const globalIds = { main: -239, test: -3 } as const;
const mostGlobalId = 2_147_483_647;

export const tonDecimals = 9;
/** Ten times the cost of a transfer of jettons in November 2026. */
const dearestFee = '0.5';

export function tonNetName({ globalId }: Pick<TonNetwork, 'globalId'>): string {
  const known = Object.entries(globalIds).find(([, id]) => id === globalId);
  return known?.[0] ?? `network ${globalId}`;
}

/** Whether coins of the network with this number have a value. */
export function isTonOfValue(globalId: number): boolean {
  return globalId === globalIds.main;
}

/**
 * Path of the wallet's key, which is that of the shared address of the sandbox too.
 *
 * @throws Error for a chain that is not TON.
 */
export function tonPath(chain: string): string {
  const paths = networkOfChain(chain);
  if (paths?.family !== 'ton') throw new Error(`${chain} is not TON`);
  return paths.accountPath;
}

export function readTonSection(section: FileSection, chain: string, coins: readonly ChainCoin[]): TonNetwork {
  const globalId = section.required('global_id', wholeNumber(-mostGlobalId, mostGlobalId, globalIds.main));
  const finality = section.optional('finality', oneOf<'masterchain'>('masterchain'), 'masterchain');
  const tokens = readTokens(section, chain, coins, 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs');
  const common = readCommon(section, chain, finality, coins, tokens, {
    pollMs: 2_000,
    // Nothing is taken back: the window only shows that the blocks of a scan join those before.
    reorgWindow: 20,
    stalledAfterSec: 60,
    maxFee: toUnits(dearestFee, tonDecimals),
  });
  const amount = (name: string, usual: string): bigint =>
    toUnits(section.optional(name, decimalText(tonDecimals, usual), usual), tonDecimals);
  return {
    kind: 'ton',
    globalId,
    ...common,
    paymentFee: amount('payment_fee', '0.02'),
    jettonValue: amount('jetton_value', '0.05'),
    twoNodesAbove: readTwoNodesAbove(section, coins, tokens),
  };
}
