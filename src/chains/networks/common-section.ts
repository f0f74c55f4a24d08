import { fromUnits, toUnits } from '../../base/money.ts';
import { decimalText, type FileSection, type Reader, wholeNumber } from './file-section.ts';
import {
  type ChainCoin,
  type CoinLimits,
  commissionPart,
  type LiveNetwork,
  type WalletLevels,
} from './network-config.ts';
import { readNode } from './node-section.ts';

/** The default daily limit of fees, in transactions at the highest fee. */
const feesOfDay = 50n;

export const confirmations = (good: number): Reader<number> => wholeNumber(1, 10_000, good);

/**
 * Reads how long a payment waits for a block before it is replaced. Only families that replace
 * payments have this member.
 */
export function readReplaceAfterSec(section: FileSection, usual: number): number {
  return section.optional('replace_after_sec', wholeNumber(10, 604_800, usual), usual);
}

/** Defaults of a network. */
interface Usual extends Pick<LiveNetwork, 'pollMs' | 'reorgWindow' | 'stalledAfterSec'> {
  readonly maxFee: bigint;
}

/** Reads the members that all networks have, but for their kind. */
export function readCommon<Finality extends LiveNetwork['finality']>(
  section: FileSection,
  chain: string,
  finality: Finality,
  coins: readonly ChainCoin[],
  tokens: ReadonlyMap<string, string>,
  usual: Usual,
): Omit<LiveNetwork, 'kind' | 'finality'> & { readonly finality: Finality } {
  const moved = coins.filter(({ coin, isToken }) => !isToken || tokens.has(coin));
  const nodes = section.list('nodes');
  if (nodes.length === 0) section.fault('nodes', 'needs at least one node', '[{ url: http://127.0.0.1:8545 }]');
  const number = (name: string, least: number, most: number, good: number): number =>
    section.optional(name, wholeNumber(least, most, good), good);
  const reorgWindow = number('reorg_window', 10, 20_000, usual.reorgWindow);
  // A payment must be final before a reorg can reach below the scan's window.
  if (typeof finality === 'number' && reorgWindow <= finality) {
    section.fault('reorg_window', 'must be above finality', finality * 2);
  }
  return {
    chain,
    tokens,
    finality,
    nodes: nodes.map(readNode),
    startHeight: section.required('start_height', wholeNumber(0, 4_000_000_000, 21_500_000)),
    pollMs: number('poll_ms', 50, 600_000, usual.pollMs),
    reorgWindow,
    stalledAfterSec: number('stalled_after_sec', 0, 604_800, usual.stalledAfterSec),
    limits: readLimits(section, moved),
    feeLimits: readFeeLimits(section, moved.find(({ isToken }) => !isToken)?.decimals ?? 0, usual.maxFee),
    levels: readLevels(section, moved),
    sweepFrom: readByCoin(section.section('sweep_from'), moved, (from, { coin, decimals }) =>
      from.required(coin, decimalText(decimals, '0.05')),
    ),
  };
}

/**
 * Reads the limits of the signer. Every coin that the chain moves needs one: the signer signs for
 * no other.
 */
function readLimits(section: FileSection, moved: readonly ChainCoin[]): ReadonlyMap<string, CoinLimits> {
  const limits = section.section('limits');
  for (const { coin } of moved.filter((each) => !limits.has(each.coin))) {
    limits.fault(coin, 'is missing, and nothing is signed without a limit', "{ per_payment: '5', per_day: '60' }");
  }
  return readByCoin(limits, moved, (all, { coin, decimals }) => {
    const own = all.section(coin);
    const perPayment = own.required('per_payment', decimalText(decimals, '5'));
    const perDay = own.required('per_day', decimalText(decimals, '60'));
    if (toUnits(perDay, decimals) < toUnits(perPayment, decimals))
      own.fault('per_day', 'must not be below per_payment');
    const part = fromUnits(toUnits(perDay, decimals) / commissionPart, decimals);
    const commissionPerDay = own.optional('commission_per_day', decimalText(decimals, '6', true), part);
    if (toUnits(commissionPerDay, decimals) > toUnits(perDay, decimals))
      own.fault('commission_per_day', 'must not be above per_day', part);
    own.end();
    return { perPayment, perDay, commissionPerDay };
  });
}

/**
 * Reads the limits of fees. They bound how much a compromised gateway could burn, because fees
 * count against no limit on payments.
 */
function readFeeLimits(
  section: FileSection,
  decimals: number,
  maxFee: bigint,
): { readonly perTransaction: string; readonly perDay: string } {
  const amount = (good: string): Reader<string> => decimalText(decimals, good);
  const perTransaction = section.optional('max_fee', amount('0.05'), fromUnits(maxFee, decimals));
  const most = fromUnits(toUnits(perTransaction, decimals) * feesOfDay, decimals);
  const perDay = section.optional('fees_per_day', amount('2'), most);
  if (toUnits(perDay, decimals) < toUnits(perTransaction, decimals)) {
    section.fault('fees_per_day', 'must not be below max_fee', most);
  }
  return { perTransaction, perDay };
}

function readLevels(section: FileSection, moved: readonly ChainCoin[]): ReadonlyMap<string, WalletLevels> {
  return readByCoin(section.section('wallet_levels'), moved, (all, { coin, decimals }) => {
    const own = all.section(coin);
    const low = own.required('low', decimalText(decimals, '2'));
    const high = own.optional<string | null>('high', decimalText(decimals, '40'), null);
    if (high !== null && toUnits(high, decimals) <= toUnits(low, decimals)) own.fault('high', 'must be above low');
    own.end();
    return { low, high };
  });
}

/**
 * Reads the most that deposits of a day may bring on the word of one node: by contract, '' for the
 * chain's own coin, in the smallest unit.
 */
export function readTwoNodesAbove(
  section: FileSection,
  coins: readonly ChainCoin[],
  tokens: ReadonlyMap<string, string>,
): ReadonlyMap<string, bigint> {
  const moved = coins.filter(({ coin, isToken }) => !isToken || tokens.has(coin));
  const above = readByCoin(section.section('two_nodes_above'), moved, (own, { coin, decimals }) =>
    toUnits(own.required(coin, decimalText(decimals, '1000')), decimals),
  );
  return new Map([...above].map(([coin, amount]) => [tokens.get(coin) ?? '', amount]));
}

/** Reads members by coin. Each coin must be one that the chain moves. */
function readByCoin<T>(
  section: FileSection,
  moved: readonly ChainCoin[],
  read: (section: FileSection, coin: ChainCoin) => T,
): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const name of section.names()) {
    const coin = moved.find((each) => each.coin === name);
    if (coin) found.set(name, read(section, coin));
    else section.fault(name, 'is neither the own coin of the chain nor among its tokens');
  }
  return found;
}
