import { systemMs } from '../base/clock.ts';
import { Big } from '../base/money.ts';
import { type CcxtCall, type CcxtExchange, type CcxtMarket, levelsOf, memberOf, textOf } from './ccxt-exchange.ts';
import { decimal } from './decimals.ts';
import { addressOf, type Dialect, type MovementsAsked } from './dialect.ts';
import {
  ExchangeRefusal,
  ExchangeUnavailable,
  type Movement,
  type MovementKind,
  type MovementState,
  type OrderFee,
  type OrderRecord,
} from './exchange.ts';

interface Binance extends CcxtExchange {
  readonly publicGetDepth: CcxtCall;
  readonly privatePostOrder: CcxtCall;
  readonly privateGetOrder: CcxtCall;
  readonly privateGetMyTrades: CcxtCall;
  readonly privateGetAccount: CcxtCall;
  readonly sapiGetCapitalDepositHisrec: CcxtCall;
  readonly sapiGetCapitalWithdrawHistory: CcxtCall;
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

/** A list is asked for by periods of less than 90 days. */
const periodMs = 89 * 86_400_000;
/** The most rows of a page of movements. */
const rowsOfPage = 1_000;
/** https://developers.binance.com/docs/wallet/capital/deposite-history and the page next to it. */
const states: Readonly<Record<MovementKind, ReadonlyMap<string, MovementState>>> = {
  deposit: new Map([
    ['0', 'pending'],
    ['1', 'done'],
    // Rejected.
    ['2', 'returned'],
    // Credited, and not to be withdrawn yet.
    ['6', 'locked'],
    // A wrong deposit.
    ['7', 'returned'],
    // Waits until the user confirms it.
    ['8', 'pending'],
  ]),
  withdrawal: new Map([
    // An email was sent.
    ['0', 'pending'],
    // Cancelled.
    ['1', 'returned'],
    // Waits for an approval.
    ['2', 'pending'],
    // Rejected.
    ['3', 'returned'],
    ['4', 'pending'],
    // Failed.
    ['5', 'returned'],
    ['6', 'done'],
  ]),
};

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
  holdings: async (ccxt: Binance) => {
    const balances = memberOf(await ccxt.privateGetAccount({ omitZeroBalances: 'true' }), 'balances');
    if (!Array.isArray(balances)) throw new ExchangeUnavailable('Binance gave no balances');
    return balances
      .map((balance) => {
        const [free, locked] = [decimal(textOf(balance, 'free')), decimal(textOf(balance, 'locked'))];
        return { coin: ccxt.safeCurrencyCode(textOf(balance, 'asset')), total: free.plus(locked), free };
      })
      .filter(({ total }) => !total.eq('0'))
      .map(({ coin, total, free }) => ({ coin, total: total.toFixed(), free: free.toFixed() }));
  },
  movements: async (ccxt: Binance, { kind, sinceMs, from }) => {
    const { startMs, offset } = from === null ? { startMs: sinceMs, offset: 0 } : periodOf(from);
    const endMs = startMs + periodMs;
    // The last period has no end, because Binance's clock may be ahead of ours.
    const isLast = endMs > systemMs();
    const period: Record<string, number> = isLast ? { startTime: startMs } : { startTime: startMs, endTime: endMs - 1 };
    const asked = { ...period, offset, limit: rowsOfPage };
    const rows = await (kind === 'deposit'
      ? ccxt.sapiGetCapitalDepositHisrec(asked)
      : ccxt.sapiGetCapitalWithdrawHistory(asked));
    if (!Array.isArray(rows)) throw new ExchangeUnavailable(`Binance gave no list of ${kind}s`);
    const afterPeriod = isLast ? null : `${endMs}:0`;
    return {
      movements: rows.map((row) => movementOf(ccxt, kind, row)),
      // Only an empty page is the end: a page may be shorter than was asked.
      next: rows.length > 0 ? `${startMs}:${offset + rows.length}` : afterPeriod,
    };
  },
};

/** Reads the `next` of a page: the begin of a period, and how many of its rows were read. */
function periodOf(from: NonNullable<MovementsAsked['from']>): { startMs: number; offset: number } {
  const [startMs = Number.NaN, offset = Number.NaN] = from.split(':').map(Number);
  return { startMs, offset };
}

function movementOf(ccxt: CcxtExchange, kind: MovementKind, row: unknown): Movement {
  const [status, txid] = [textOf(row, 'status'), textOf(row, 'txId')];
  const isInternal = textOf(row, 'transferType') === '1' || /^internal transfer/i.test(txid);
  // What arrives. The fee of a withdrawal is paid in addition to it; a deposit has none.
  const moved = decimal(textOf(row, 'amount'));
  const fee = decimal(kind === 'withdrawal' ? textOf(row, 'transactionFee') : '0');
  return {
    kind,
    reference: textOf(row, 'id'),
    coin: ccxt.safeCurrencyCode(textOf(row, 'coin')),
    network: textOf(row, 'network') || null,
    txid: isInternal ? null : txid || null,
    isInternal,
    address: addressOf(textOf(row, 'address')),
    tag: textOf(row, 'addressTag') || null,
    amount: moved.plus(fee).toFixed(),
    fee: fee.toFixed(),
    state: states[kind].get(status) ?? 'unknown',
    told: status,
    atMs: kind === 'withdrawal' ? timeOf(textOf(row, 'applyTime')) : Number(textOf(row, 'insertTime')),
  };
}

/** Milliseconds since 1970 of '2021-04-15 12:09:16', which is UTC. */
function timeOf(text: string): number {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)) throw new ExchangeUnavailable('a time is not valid');
  return Date.parse(`${text.replace(' ', 'T')}Z`);
}

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
