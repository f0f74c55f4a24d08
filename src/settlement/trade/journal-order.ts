import { Big } from '../../base/money.ts';
import type { OrderFee } from '../../exchanges/exchange.ts';

/**
 * - `main`: the orders that fill a trade.
 * - `return`: the orders that reverse a trade that fell short.
 * - `sale`: the sale of the sold coin for cash.
 */
export type TradeLeg = 'main' | 'return' | 'sale';

/** An order of a trade at the exchange, as the journal stores it. */
export interface JournalOrder {
  readonly id: string;
  readonly leg: TradeLeg;
  readonly number: number;
  readonly base: string;
  readonly quote: string;
  readonly side: 'buy' | 'sell';
  readonly amount: string;
  readonly notAfter: Date;
  readonly state: 'sent' | 'closed' | 'void';
  readonly filled: Big;
  readonly cost: Big;
  readonly fees: readonly OrderFee[];
}

const nothing = new Big('0');

/** The net change of one coin in the account by all the orders, after fees in that coin. */
export function netChange(orders: readonly JournalOrder[], coin: string): Big {
  return orders.reduce((sum, order) => sum.plus(changeOf(order, coin)), nothing);
}

/** Lists every coin that orders moved or paid fees in. */
export function coinsOf(orders: readonly JournalOrder[]): ReadonlySet<string> {
  return new Set(orders.flatMap(({ base, quote, fees }) => [base, quote, ...fees.map(({ coin }) => coin)]));
}

function changeOf(order: JournalOrder, coin: string): Big {
  const sign = order.side === 'buy' ? '1' : '-1';
  const traded =
    coin === order.base
      ? order.filled.times(sign)
      : coin === order.quote
        ? order.cost.times(sign).times('-1')
        : nothing;
  return order.fees.filter((fee) => fee.coin === coin).reduce((sum, fee) => sum.minus(fee.amount), traded);
}
