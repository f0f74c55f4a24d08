import { Big, floorTo, type minOf, storedDecimals } from '../../base/money.ts';
import { type LedgerAsset, type LedgerLine, line, minus } from '../../ledger/ledger.ts';

/** An amount of a coin, and the price of the coin in US dollars. Null while it has none. */
export interface Priced extends LedgerAsset {
  readonly amount: Big;
  readonly price: Big | null;
}

/**
 * Converts an amount into another asset, rounded towards zero at the places of the ledger. Null
 * when a price is missing, when it is the same asset, or when nothing remains.
 *
 * @param price US dollars for one coin of the asset. Null without one.
 */
export function converted(from: Priced, asset: LedgerAsset, price: Big | null): Big | null {
  if (isSameAsset(from, asset) || from.price === null || price === null) return null;
  const size = floorTo(from.amount.abs().times(from.price).div(price), storedDecimals);
  if (size.eq('0')) return null;
  return from.amount.lt('0') ? minus(size) : size;
}

/** The lines that give an amount of a coin out of the house's trading for an amount of another. */
export function conversionLines(partnerId: string, from: Priced, asset: LedgerAsset, into: Big): LedgerLine[] {
  return [
    line('trading', from, minus(from.amount)),
    line('trading', asset, into),
    line(`partner:${partnerId}`, asset, minus(into)),
  ];
}

export function isSameAsset(one: LedgerAsset, other: LedgerAsset): boolean {
  return one.coin === other.coin && one.network === other.network;
}

/** The prices of coins in US dollars: the live ones, and the slow ones for limits. */
export interface ConversionPrices {
  live(coin: string): Big | null;
  reference(coin: string): Big | null;
}

/**
 * The live price of a coin, or its slow price where that gives the partner less. So a price that is
 * pushed for a moment earns nothing. Null without a live price.
 *
 * @param pick `minOf` of what the partner gives, and `maxOf` of what the partner gets.
 */
export function guardedPrice(coin: string, prices: ConversionPrices, pick: typeof minOf): Big | null {
  const [live, slow] = [prices.live(coin), prices.reference(coin)];
  return live && slow ? pick(live, slow) : live;
}

/** The price of a coin: the one given for it, else as `guardedPrice` picks it. */
export function priceOf(
  coin: string,
  known: Readonly<Record<string, string>>,
  prices: ConversionPrices,
  pick: typeof minOf,
): Big | null {
  const price = known[coin];
  return price === undefined ? guardedPrice(coin, prices, pick) : new Big(price);
}
