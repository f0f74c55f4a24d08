import { maxUnits, minUnits } from '../../money.ts';
import { ChainError } from '../chain-adapter.ts';

/** What a unit of gas costs in the next block, in wei. */
export interface FeeMarket {
  readonly baseFee: bigint;
  /** What others pay to the maker of the block on top of it. */
  readonly tip: bigint;
}

/** What a transaction offers for a unit of gas, in wei. https://eips.ethereum.org/EIPS/eip-1559 */
export interface GasPrices {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The tip that is usual: the middle of what recent blocks took, and at least what the node itself would give. */
export function usualTip(tips: readonly bigint[], suggested: bigint | null): bigint {
  const paid = tips.filter((tip) => tip > 0n).sort((a, b) => (a < b ? -1 : 1));
  const middle = paid[Math.floor(paid.length / 2)] ?? 0n;
  return suggested !== null && suggested > middle ? suggested : middle;
}

/**
 * For a payment: room for the base fee to double, of which only what it turns out to be is paid.
 *
 * @throws ChainError `fee_above_maximum` while the market asks for more than the ceiling.
 */
export function paymentPrices({ baseFee, tip }: FeeMarket, ceiling: bigint): GasPrices {
  refuseAbove(ceiling, baseFee + tip);
  return { maxFeePerGas: minUnits(2n * baseFee + tip, ceiling), maxPriorityFeePerGas: tip };
}

/**
 * For what leaves nothing behind: the tip may be all of the price, so that exactly the price is paid. It covers two
 * blocks of a rising base fee.
 *
 * @throws ChainError `fee_above_maximum` while the market asks for more than the ceiling.
 */
export function exactPrices({ baseFee, tip }: FeeMarket, ceiling: bigint): GasPrices {
  refuseAbove(ceiling, baseFee + tip);
  const price = minUnits(baseFee + up(baseFee, 4n) + tip, ceiling);
  return { maxFeePerGas: price, maxPriorityFeePerGas: price };
}

/**
 * Prices for the same nonce that nodes take in the place of the old ones: both an eighth higher at least, where most
 * nodes ask for a tenth. Null when the old ones are what the market asks for, or when the ceiling leaves no room.
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

/** An eighth more, rounded up, and never the same. */
function raised(price: bigint): bigint {
  return price + maxUnits(up(price, 8n), 1n);
}

/** A part, rounded up. */
function up(amount: bigint, parts: bigint): bigint {
  return (amount + parts - 1n) / parts;
}
