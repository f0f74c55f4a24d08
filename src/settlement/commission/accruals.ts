import type { EntityManager } from '@mikro-orm/postgresql';
import { maxOf, minOf } from '../../base/money.ts';
import { type Booking, line, minus } from '../../ledger/ledger.ts';
import type { Accrual } from '../rules/settling.ts';
import type { CommissionEntries, NewCommissionEntry, OpenMonth } from './commission-entries.ts';
import { type ConversionPrices, conversionLines, converted, priceOf } from './conversion.ts';

/**
 * Adds the markups of completed orders to what their partners have earned, and returns the journal
 * entries, which the caller books. Each is converted to the asset of the month, at the prices of
 * the order's trade, or at guarded prices of coins that it did not trade. Without a price it stays
 * in its coin.
 */
export async function addAccruals(
  em: EntityManager,
  entries: CommissionEntries,
  prices: ConversionPrices,
  accruals: readonly Accrual[],
): Promise<Booking[]> {
  const [first] = accruals;
  if (!first) return [];
  const partners = accruals.map(({ partnerId }) => partnerId);
  const months = await entries.openMonths(em, partners, first.at);
  const made = accruals.map((accrual) => {
    const open = months.get(accrual.partnerId);
    if (!open) throw new Error(`there is no partner ${accrual.partnerId}`);
    return bookAccrual(accrual, open, prices);
  });
  await entries.add(
    em,
    made.map(({ entry }) => entry),
  );
  return made.map(({ booking }) => booking);
}

function bookAccrual(
  { partnerId, orderId, coin, network, amount, prices: known, at }: Accrual,
  open: OpenMonth,
  prices: ConversionPrices,
): { readonly entry: NewCommissionEntry; readonly booking: Booking } {
  const from = { coin, network, amount, price: priceOf(coin, known, prices, minOf) };
  const price = priceOf(open.coin, known, prices, maxOf);
  const into = converted(from, open, price);
  const base = { partnerId, month: open.month, at, kind: 'accrual', orderId } as const;
  const booking = { kind: 'markup', reference: orderId, orderId, at } as const;
  const earned = line('markup', from, amount);
  if (into === null || from.price === null || price === null) {
    return {
      entry: { ...base, coin, network, amount },
      booking: { ...booking, lines: [earned, line(`partner:${partnerId}`, from, minus(amount))] },
    };
  }
  return {
    entry: {
      ...base,
      coin: open.coin,
      network: open.network,
      amount: into,
      from: { coin, network, amount, price: from.price },
      price,
    },
    booking: { ...booking, lines: [earned, ...conversionLines(partnerId, from, open, into)] },
  };
}
