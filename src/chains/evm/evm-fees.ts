import { maxUnits, minUnits } from '../../base/money.ts';
import { ChainError } from '../port/chain-adapter.ts';

/** Gas of a transfer of coins to a plain account, and the least of any transaction. */
export const plainGas = 21_000n;

/** The price of a unit of gas in the next block, in wei. */
export interface FeeMarket {
  readonly baseFee: bigint;
  /** The priority fee that others pay on top of the base fee. */
  readonly tip: bigint;
}

/** The gas prices that a transaction offers, in wei. https://eips.ethereum.org/EIPS/eip-1559 */
export interface GasPrices {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The usual tip: the median of recent blocks, and at least the node's own suggestion. */
export function usualTip(tips: readonly bigint[], suggested: bigint | null): bigint {
  const paid = tips.filter((tip) => tip > 0n).sort((a, b) => (a < b ? -1 : 1));
  const middle = paid[Math.floor(paid.length / 2)] ?? 0n;
  return suggested !== null && suggested > middle ? suggested : middle;
}

/**
 * Prices of a payment. They leave room for the base fee to double; only the actual base fee is
 * paid.
 *
 * @throws ChainError `fee_above_maximum` while the market asks for more than the ceiling.
 */
export function paymentPrices({ baseFee, tip }: FeeMarket, ceiling: bigint): GasPrices {
  refuseAbove(ceiling, baseFee + tip);
  return { maxFeePerGas: minUnits(2n * baseFee + tip, ceiling), maxPriorityFeePerGas: tip };
}

/**
 * Prices of a sweep that leaves nothing behind. The tip may be all of the price, so that exactly
 * the price is paid. It covers two blocks of a rising base fee.
 *
 * @throws ChainError `fee_above_maximum` while the market asks for more than the ceiling.
 */
export function exactPrices({ baseFee, tip }: FeeMarket, ceiling: bigint): GasPrices {
  refuseAbove(ceiling, baseFee + tip);
  const price = minUnits(baseFee + up(baseFee, 4n) + tip, ceiling);
  return { maxFeePerGas: price, maxPriorityFeePerGas: price };
}

/**
 * Prices of a replacement with the same nonce. Both are at least an eighth higher, where most nodes
 * ask for a tenth. Null when the old prices still meet the market, or when the ceiling leaves no
 * room.
 */
export function raisedPrices(old: GasPrices, market: FeeMarket, ceiling: bigint): GasPrices | null {
  const { baseFee, tip } = market;
  const isExact = old.maxFeePerGas === old.maxPriorityFeePerGas;
  if (old.maxFeePerGas >= baseFee + tip && old.maxPriorityFeePerGas >= tip) return null;
  if (raised(old.maxFeePerGas) > ceiling || baseFee + tip > ceiling) return null;
  const wanted = isExact ? exactPrices(market, ceiling) : paymentPrices(market, ceiling);
  const maxFeePerGas = maxUnits(wanted.maxFeePerGas, raised(old.maxFeePerGas));
  const maxPriorityFeePerGas = isExact
    ? maxFeePerGas
    : minUnits(maxFeePerGas, maxUnits(wanted.maxPriorityFeePerGas, raised(old.maxPriorityFeePerGas)));
  return { maxFeePerGas, maxPriorityFeePerGas };
}

function refuseAbove(ceiling: bigint, price: bigint): void {
  if (price <= ceiling) return;
  throw new ChainError('fee_above_maximum', `gas costs ${price} wei, and the settings allow ${ceiling}`, {
    isOfChain: true,
  });
}

/** Adds an eighth, rounded up, and at least 1. */
function raised(price: bigint): bigint {
  return price + maxUnits(up(price, 8n), 1n);
}

/** A part of an amount, rounded up. */
function up(amount: bigint, parts: bigint): bigint {
  return (amount + parts - 1n) / parts;
}
