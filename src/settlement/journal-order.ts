import type { OrderFee } from '../exchanges/exchange.ts';
import { Big } from '../money.ts';

/** main: what fills a trade. return: the way back, when it fell short. sale: what was sold, for cash. */
export type TradeLeg = 'main' | 'return' | 'sale';

/** An order of a trade at the exchange, as it is written down. */
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

/** What orders together changed in the account, for one coin: fees that were taken in it are off. */
export function changeBy(orders: readonly JournalOrder[], coin: string): Big {
  return orders.reduce((sum, order) => sum.plus(changeOf(order, coin)), nothing);
}

/** Every coin that orders moved, or took a fee in. */
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
