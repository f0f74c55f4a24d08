import type { Big } from '../money.ts';
import type { UtxoNet } from './utxo/utxo-params.ts';

/** A node as the file of networks names it. */
export interface NodeConfig {
  readonly url: string;
  /** For HTTP basic authentication. */
  readonly user: string | null;
  readonly password: string | null;
  /** Further headers of each request, such as an API key. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Amounts by coin, decimal text in the coin's units. */
export interface CoinLimits {
  readonly perPayment: string;
  /** Of a day in UTC. */
  readonly perDay: string;
}

/** The level of a hot wallet, by coin. */
export interface WalletLevels {
  /** Below it staff are told to top it up. */
  readonly low: string;
  /** Above it staff are told to move coins to cold storage; null for never. */
  readonly high: string | null;
}

export type WalletLevel = 'ok' | 'low' | 'high';

/** What a balance, in the coin's units, is by the levels of its wallet; a wallet without any is always well filled. */
export function levelOf(levels: WalletLevels | undefined, balance: Big): WalletLevel {
  if (!levels) return 'ok';
  if (balance.lt(levels.low)) return 'low';
  return levels.high !== null && balance.gt(levels.high) ? 'high' : 'ok';
}

/** A coin of a chain as the catalogue has it. */
export interface ChainCoin {
  readonly coin: string;
  readonly decimals: number;
  /** False for the chain's own coin, which pays its fees. */
  readonly isToken: boolean;
}

/** What all live networks have. Each is a chain of the table of networks. */
export interface LiveNetwork {
  readonly chain: string;
  /** Asked in this order; the next when one fails. */
  readonly nodes: readonly NodeConfig[];
  /** No deposit can be in this block or below. */
  readonly startHeight: number;
  /** Between two looks at the chain. */
  readonly pollMs: number;
  /** How many blocks a scan's cursor keeps: the deepest reorganisation that is followed without people. */
  readonly reorgWindow: number;
  /** A newest block that is so old means that the node, or the chain, stands still; 0 for never. */
  readonly stalledAfterSec: number;
  /** A payment that waits so long for a block is tried again at a higher fee. */
  readonly replaceAfterSec: number;
  /** Limits of the signer, by coin. Coins without one are not signed for. */
  readonly limits: ReadonlyMap<string, CoinLimits>;
  /** The most that one transaction, and a day in UTC, may cost in fees, in units of the chain's own coin. */
  readonly feeLimits?: { readonly perTransaction: string; readonly perDay: string };
  readonly levels: ReadonlyMap<string, WalletLevels>;
  /** The least worth sweeping to the hot wallet, by coin. Coins without one are not swept. */
  readonly sweepFrom: ReadonlyMap<string, string>;
}

export interface EvmNetwork extends LiveNetwork {
  readonly kind: 'evm';
  readonly chainId: number;
  /** A number of confirmations, or the block that the chain itself calls final. */
  readonly finality: number | 'safe' | 'finalized';
  /** Contracts of the tokens that are exchanged, by coin. */
  readonly tokens: ReadonlyMap<string, string>;
  /** How coins are found that a contract sends on: by tracing each block, by comparing balances, or not at all. */
  readonly internalTransfers: 'trace' | 'balances' | 'none';
  /** The most that a unit of gas may cost, in wei. */
  readonly maxFeePerGas: bigint;
  /** The most gas of a transaction in the chain's own coin: a recipient that is a contract decides how much it uses. */
  readonly maxPaymentGas: bigint;
  /** The most gas of a transaction in a token: its contract decides, and with some tokens the recipient as well. */
  readonly maxTokenGas: bigint;
}

export interface UtxoNetwork extends LiveNetwork {
  readonly kind: 'utxo';
  /** Which of the coin's chains: decides the form of addresses and the genesis block. */
  readonly net: UtxoNet;
  readonly finality: number;
  /** Bounds of the fee, in the smallest unit for 1,000 virtual bytes. */
  readonly feeFloor: bigint;
  readonly feeCeiling: bigint;
  /** Blocks within which a payment should confirm. */
  readonly feeTarget: number;
  /** Whether nodes and miners of the coin take a replacement at a higher fee (BIP125). */
  readonly replaceable: boolean;
  /** Whether deposits are shown before they are in a block. */
  readonly mempool: boolean;
}

export type NetworkConfig = EvmNetwork | UtxoNetwork;
