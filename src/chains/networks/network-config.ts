import type { Big } from '../../base/money.ts';

/** A node, as the file of networks names it. */
export interface NodeConfig {
  readonly url: string;
  /** For HTTP basic authentication. */
  readonly user: string | null;
  readonly password: string | null;
  /** Further headers of each request, such as an API key. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Commission may use this fraction (1/n) of a coin's daily limit, unless the file says otherwise.
 */
export const commissionPart = 10n;

/** Limits by coin, as decimal text in the coin's units. */
export interface CoinLimits {
  readonly perPayment: string;
  /** Limit of a day in UTC. */
  readonly perDay: string;
  /** Limit of commission in a day in UTC, which counts in `perDay` as well. */
  readonly commissionPerDay: string;
}

/** The levels of a hot wallet, by coin. */
export interface WalletLevels {
  /** Below this level staff are told to top the wallet up. */
  readonly low: string;
  /** Above this level staff are told to move coins to cold storage; null for never. */
  readonly high: string | null;
}

export type WalletLevel = 'ok' | 'low' | 'high';

/** The level of a balance, in the coin's units. A wallet without levels is always well filled. */
export function levelOf(levels: WalletLevels | undefined, balance: Big): WalletLevel {
  if (!levels) return 'ok';
  if (balance.lt(levels.low)) return 'low';
  return levels.high !== null && balance.gt(levels.high) ? 'high' : 'ok';
}

/** A coin of a chain, as the catalogue has it. */
export interface ChainCoin {
  readonly coin: string;
  readonly decimals: number;
  /** False for the chain's own coin, which pays its fees. */
  readonly isToken: boolean;
}

/**
 * Members of all live networks. Each is a chain of the table of networks. A family adds its own
 * members, and `NetworkConfig` in `chains/families` is the network of any family.
 */
export interface LiveNetwork {
  /** The family's row. */
  readonly kind: string;
  readonly chain: string;
  /**
   * A number of confirmations, or a word of the family for the blocks that the chain itself calls
   * final.
   */
  readonly finality: number | string;
  /** In order of preference; the next one is asked when one fails. */
  readonly nodes: readonly NodeConfig[];
  /** No deposit can be in this block or below. */
  readonly startHeight: number;
  /** Milliseconds between two polls of the node. */
  readonly pollMs: number;
  /**
   * Number of blocks that a scan's cursor keeps: the deepest reorg that is followed without staff.
   */
  readonly reorgWindow: number;
  /** Age of the newest block at which the node or the chain counts as stalled; 0 for never. */
  readonly stalledAfterSec: number;
  /** Contracts of the exchanged tokens, by coin; empty for a chain without tokens. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Limits of the signer, by coin. Coins without limits are not signed for. */
  readonly limits: ReadonlyMap<string, CoinLimits>;
  /**
   * Limits on the fees of one transaction and of a day in UTC, in units of the chain's own coin.
   */
  readonly feeLimits?: { readonly perTransaction: string; readonly perDay: string };
  readonly levels: ReadonlyMap<string, WalletLevels>;
  /**
   * The smallest amount that is swept to the hot wallet, by coin. Coins without one are not swept.
   */
  readonly sweepFrom: ReadonlyMap<string, string>;
}
