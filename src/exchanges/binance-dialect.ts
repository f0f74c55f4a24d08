import { systemMs } from '../base/clock.ts';
import { Big } from '../base/money.ts';
import { type CcxtCall, type CcxtExchange, type CcxtMarket, levelsOf, memberOf, textOf } from './ccxt-exchange.ts';
import type { Dialect } from './dialect.ts';
import { ExchangeRefusal, type OrderFee, type OrderRecord } from './exchange.ts';

interface Binance extends CcxtExchange {
  readonly publicGetDepth: CcxtCall;
  readonly privatePostOrder: CcxtCall;
  readonly privateGetOrder: CcxtCall;
  readonly privateGetMyTrades: CcxtCall;
}

/**
 * Codes of requests that certainly changed nothing:
 * https://developers.binance.com/docs/binance-spot-api-docs/errors
 */
const refusals: Readonly<Record<string, 'too_late' | 'rate_limited' | 'refused'>> = {
  '-1003': 'rate_limited',
  '-1013': 'refused',
  '-1015': 'rate_limited',
  '-1021': 'too_late',
  '-1022': 'refused',
  '-2010': 'refused',
  '-2014': 'refused',
  '-2015': 'refused',
};
const noSuchOrder = '-2013';
/** The longest validity that Binance accepts. */
const longestWindowMs = 60_000;
/** Levels of a side. A request for up to 500 costs 25 of the 6,000 points of a minute. */
const levels = 500;

/**
 * Binance's spot market: https://developers.binance.com/docs/binance-spot-api-docs/rest-api. Fees
 * are taken from the coin received, or from BNB if the account is set so.
 */
export const binanceDialect: Dialect = {
  options: {
    fetchCurrencies: false,
    fetchMargins: false,
    fetchMarkets: { types: ['spot'] },
    defaultType: 'spot',
    warnOnFetchOpenOrdersWithoutSymbol: false,
  },
  refusalOf: (status, parsed) => {
    const number = textOf(parsed, 'code');
    if (status < 400 || status >= 500) return null;
    const message = `${number} ${textOf(parsed, 'msg')}`;
    if (number === '-2010' && /insufficient balance/i.test(message)) return { code: 'no_inventory', message };
    // An open order of ours has that id.
    if (number === '-2010' && /duplicate/i.test(message)) return null;
    const code = refusals[number] ?? (/^-11\d\d$/.test(number) ? 'refused' : undefined);
    if (code !== undefined) return { code, message };
    return number === noSuchOrder ? { code: 'refused', message } : null;
  },
  takesTurns: false,
  tops: (ccxt, symbols) => ccxt.fetchBidsAsks(symbols),
  book: async (ccxt: Binance, market) => {
    const book = await ccxt.publicGetDepth({ symbol: market.id, limit: levels });
    return { bids: levelsOf(book, 'bids'), asks: levelsOf(book, 'asks') };
  },
  place: async (ccxt: Binance, market, order) => {
    // Both ends of the validity are stated here, so that a delay of the request does not prolong
    // it.
    const timestamp = systemMs();
    const recvWindow = Math.min(order.notAfterMs - timestamp, longestWindowMs);
    if (recvWindow <= 0) throw new ExchangeRefusal('too_late', 'its validity was over before it was sent');
    const answer = await ccxt.privatePostOrder({
      symbol: market.id,
      side: order.side.toUpperCase(),
      type: 'LIMIT',
      timeInForce: 'IOC',
      quantity: order.amount,
      price: order.limit,
      newClientOrderId: order.clientId,
      newOrderRespType: 'FULL',
      timestamp,
      recvWindow,
    });
    return recordOf(answer, memberOf(answer, 'fills'));
  },
  find: async (ccxt: Binance, market, clientId) => {
    const order = await look(ccxt, market, clientId);
    if (order === null) return [];
    const trades = await ccxt.privateGetMyTrades({
      symbol: market.id,
      orderId: textOf(order, 'orderId'),
    });
    return [recordOf(order, trades)];
  },
};

async function look(ccxt: Binance, market: CcxtMarket, clientId: string): Promise<unknown> {
  try {
    return await ccxt.privateGetOrder({ symbol: market.id, origClientOrderId: clientId });
  } catch (error) {
    if (error instanceof ExchangeRefusal && error.message.startsWith(noSuchOrder)) return null;
    throw error;
  }
}

function recordOf(order: unknown, trades: unknown): OrderRecord {
  const filled = textOf(order, 'executedQty');
  if (!Array.isArray(trades)) throw new Error('Binance gave no list of trades');
  const traded = trades.reduce((sum: Big, trade) => sum.plus(textOf(trade, 'qty')), new Big('0'));
  if (!traded.eq(filled)) throw new Error('Binance does not show all trades of the order yet');
  const fees: OrderFee[] = trades.map((trade) => {
    return { coin: textOf(trade, 'commissionAsset'), amount: textOf(trade, 'commission') };
  });
  return {
    isOpen: !['FILLED', 'CANCELED', 'EXPIRED', 'EXPIRED_IN_MATCH', 'REJECTED'].includes(textOf(order, 'status')),
    filled,
    cost: textOf(order, 'cummulativeQuoteQty'),
    fees,
  };
}
