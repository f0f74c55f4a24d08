import { Big, floorTo, storedDecimals } from '../../base/money.ts';
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

/** The price of a coin: the one given for it, else the live price. */
export function priceOf(
  coin: string,
  known: Readonly<Record<string, string>>,
  prices: { live(coin: string): Big | null },
): Big | null {
  const price = known[coin];
  return price === undefined ? prices.live(coin) : new Big(price);
}
