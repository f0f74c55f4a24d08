import { toUnits } from '../../base/money.ts';
import { confirmations, readCommon, readReplaceAfterSec } from '../networks/common-section.ts';
import { BadValue, decimalText, type FileSection, oneOf, type Reader, wholeNumber } from '../networks/file-section.ts';
import type { ChainCoin, LiveNetwork } from '../networks/network-config.ts';
import { readTokens } from '../token-section.ts';
import { chainIdsOf, usualStallSec } from './evm-chain-ids.ts';
import { plainGas } from './evm-fees.ts';

export interface EvmNetwork extends LiveNetwork {
  readonly kind: 'evm';
  readonly chainId: number;
  /** A number of confirmations, or the name of the block that the chain itself calls final. */
  readonly finality: number | 'safe' | 'finalized';
  /**
   * How internal transfers of contracts are found: by tracing each block, by comparing balances, or
   * not at all.
   */
  readonly internalTransfers: 'trace' | 'balances' | 'none';
  /** How long a payment waits for a block before it is replaced at a higher fee. */
  readonly replaceAfterSec: number;
  /** The highest price of a unit of gas, in wei. */
  readonly maxFeePerGas: bigint;
  /**
   * The most gas of a transaction in the chain's own coin: a recipient that is a contract decides
   * how much it uses.
   */
  readonly maxPaymentGas: bigint;
  /**
   * The most gas of a transaction in a token: its contract decides, and with some tokens the
   * recipient too.
   */
  readonly maxTokenGas: bigint;
}

/**
 * The usual depth of safe and finalized blocks on a chain with epochs of 32 blocks, each confirmed
 * by two thirds of the stake. A safe block lies below one whole epoch and a part of the next, a
 * finalized block below two epochs and a part. Other chains differ. There the depth is the least
 * number of confirmations that a deposit waits for.
 */
const usualDepth = { safe: 64, finalized: 96 } as const;

/** The least number of confirmations that make a block final. */
export function evmFinalityDepth({ finality }: Pick<EvmNetwork, 'finality'>): number {
  return typeof finality === 'number' ? finality : usualDepth[finality];
}

/** Reads the section of an EVM chain in the file of networks. */
export function readEvmSection(section: FileSection, chain: string, coins: readonly ChainCoin[]): EvmNetwork {
  const chainId = section.required('chain_id', chainIdReader(chain));
  // Ethereum Classic has no final blocks, https://github.com/etclabscore/core-geth
  const finality =
    chain === 'ethereum-classic'
      ? section.required('finality', evmFinality(5000))
      : section.optional('finality', evmFinality('finalized'), 'finalized');
  const tokens = readTokens(section, chain, coins, '0xdAC17F958D2ee523a2206206994597C13D831ec7');
  const maxFeePerGas = toUnits(
    section.required('max_fee_per_gas_gwei', decimalText(gweiDecimals, '200')),
    gweiDecimals,
  );
  return {
    kind: 'evm',
    chainId,
    ...readCommon(section, chain, finality, coins, tokens, {
      pollMs: 3_000,
      reorgWindow: 128,
      stalledAfterSec: usualStallSec(chain, chainId),
      maxFee: maxFeePerGas * dearestGas,
    }),
    replaceAfterSec: readReplaceAfterSec(section, 180),
    internalTransfers: section.optional('internal_transfers', oneOf('balances', 'trace', 'none'), 'balances'),
    maxFeePerGas,
    maxPaymentGas: readGas(section, 'max_payment_gas', chain === 'arbitrum' ? dearestGas : paymentGas),
    maxTokenGas: readGas(section, 'max_token_gas', chain === 'arbitrum' ? dearestGas : tokenGas),
  };
}

const gweiDecimals = 9;
/** The most gas that any setting allows. */
const maxGas = 2_000_000n;
/** The most gas of any payment or sweep, even of a token with unusual rules. */
const dearestGas = 1_000_000n;
/**
 * A plain account takes 21,000. Contract wallets take up to 30,000 more, since many senders give
 * them no more than 2,300.
 */
const paymentGas = 60_000n;
/** Usual tokens take 35,000 to 65,000; tokens with unusual rules take up to 300,000. */
const tokenGas = 500_000n;

/**
 * Reads a limit of gas. Arbitrum counts the data on the first layer as gas,
 * https://docs.arbitrum.io/how-arbitrum-works/gas-fees
 */
function readGas(section: FileSection, name: string, usual: bigint): bigint {
  const good = Number(usual);
  return BigInt(section.optional(name, wholeNumber(Number(plainGas), Number(maxGas), good), good));
}
function chainIdReader(chain: string): Reader<number> {
  const known = chainIdsOf(chain);
  return {
    good: known[0] ?? 1,
    read(value) {
      if (typeof value !== 'number' || !known.includes(value)) {
        throw new BadValue(`must be one that is known for ${chain}: ${known.join(', ')}`);
      }
      return value;
    },
  };
}

function evmFinality(good: 'finalized' | number): Reader<EvmNetwork['finality']> {
  return {
    good,
    read(value) {
      if (value === 'safe' || value === 'finalized') return value;
      if (typeof value === 'string') throw new BadValue('must be finalized, safe, or a number of confirmations');
      return confirmations(64).read(value);
    },
  };
}
