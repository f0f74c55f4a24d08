import { createHmac } from 'node:crypto';
import { systemMs } from '../../base/clock.ts';
import { Big } from '../../base/money.ts';
import type { ExchangeKey, MovementKind, MovementState } from '../exchange.ts';
import type { ImitatedBook, ImitatedMovement, ImitatedOrder } from './exchange-state.ts';
import {
  type AccountKeys,
  decimalsOf,
  type ImitatedAnswer,
  ImitatedExchange,
  shownOf,
  stepOf,
} from './imitated-exchange.ts';
import type { ImitatedRequest } from './imitation-server.ts';

/** What Binance refuses with: status 400, a number and a text. */
class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The usual number of a state. */
const numbers: Readonly<Record<MovementState, Readonly<Record<MovementKind, string>>>> = {
  pending: { deposit: '0', withdrawal: '4' },
  locked: { deposit: '6', withdrawal: '2' },
  done: { deposit: '1', withdrawal: '6' },
  returned: { deposit: '7', withdrawal: '5' },
  unknown: { deposit: '9', withdrawal: '9' },
};
const ninetyDaysMs = 90 * 86_400_000;

const knownKeys: AccountKeys = {
  key: 'loopback-key',
  secret: 'a loopback secret of Binance',
  funding: { key: 'loopback-funding-key', secret: 'a loopback secret of Binance that reads' },
};

/**
 * An exchange that speaks the protocol of Binance's spot market, with signatures that are really
 * checked.
 */
export class ImitatedBinance extends ImitatedExchange {
  constructor(keys: AccountKeys = knownKeys) {
    super(keys);
  }

  protected feeCoin({ base, quote, side }: { base: string; quote: string; side: 'buy' | 'sell' }): string {
    return side === 'buy' ? base : quote;
  }

  protected isSigned({ headers, url, body }: ImitatedRequest): boolean {
    return headers['x-mbx-apikey'] !== undefined && /[?&]signature=/.test(`${url.search}&${body}`);
  }

  protected answer(request: ImitatedRequest): ImitatedAnswer {
    try {
      return { status: 200, body: this.#answer(request) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: 400, body: { code: error.code, msg: error.message } };
    }
  }

  #answer(request: ImitatedRequest): unknown {
    const { method, url } = request;
    const route = `${method} ${url.pathname.replace('/api/v3/', '')}`;
    switch (route) {
      case 'GET time':
        return { serverTime: systemMs() };
      case 'GET exchangeInfo':
        return {
          timezone: 'UTC',
          serverTime: systemMs(),
          rateLimits: [],
          symbols: Object.entries(this.books).map(market),
        };
      case 'GET ticker/bookTicker': {
        const wanted: string[] = JSON.parse(url.searchParams.get('symbols') ?? '[]');
        return Object.entries(this.books)
          .filter(([symbol]) => wanted.includes(idOf(symbol)))
          .map(([symbol, book]) => {
            const [[bidPrice = '0', bidQty = '0'] = []] = shownOf(book, 'bids');
            const [[askPrice = '0', askQty = '0'] = []] = shownOf(book, 'asks');
            return { symbol: idOf(symbol), bidPrice, bidQty, askPrice, askQty };
          });
      }
      case 'GET depth': {
        // https://developers.binance.com/docs/binance-spot-api-docs/rest-api/market-data-endpoints#order-book
        const [, book] = this.#bookOf(url.searchParams.get('symbol'));
        if (!book) throw new Refusal(-1121, 'Invalid symbol.');
        const limit = Number(url.searchParams.get('limit') ?? '100');
        if (!(limit >= 1 && limit <= 5000)) throw new Refusal(-1130, "Data sent for parameter 'limit' is not valid.");
        const side = (name: 'bids' | 'asks') => shownOf(book, name).slice(0, limit);
        return { lastUpdateId: 1, bids: side('bids'), asks: side('asks') };
      }
      case 'POST order':
        return this.#add(this.#signed(request, request.body));
      case 'GET order': {
        const params = this.#signed(request, url.search.slice(1));
        const order = this.orders.findLast(
          (one) => one.clientId === params.get('origClientOrderId') && idOf(one.symbol) === params.get('symbol'),
        );
        if (!order) throw new Refusal(-2013, 'Order does not exist.');
        return info(order);
      }
      case 'GET myTrades': {
        const params = this.#signed(request, url.search.slice(1));
        return this.orders.filter((order) => numberOf(order) === params.get('orderId')).flatMap(trades);
      }
      case 'GET account': {
        // https://developers.binance.com/docs/binance-spot-api-docs/rest-api/account-endpoints
        this.#signed(request, url.search.slice(1), this.funding);
        const balances = Object.entries(this.balances).map(([asset, amount]) => {
          const locked = new Big(this.locked[asset] ?? '0');
          return { asset, free: new Big(amount).minus(locked).toFixed(8), locked: locked.toFixed(8) };
        });
        return { accountType: 'SPOT', canTrade: true, canWithdraw: true, canDeposit: true, balances };
      }
      case 'GET /sapi/v1/capital/deposit/hisrec':
        return this.#list('deposit', this.#signed(request, url.search.slice(1), this.funding));
      case 'GET /sapi/v1/capital/withdraw/history':
        return this.#list('withdrawal', this.#signed(request, url.search.slice(1), this.funding));
      default:
        throw new Refusal(-1100, `no ${route}`);
    }
  }

  /** https://developers.binance.com/docs/binance-spot-api-docs/rest-api/request-security */
  #signed({ headers }: ImitatedRequest, query: string, { key, secret }: ExchangeKey = this): URLSearchParams {
    const [text = '', signature] = query.split('&signature=');
    const params = new URLSearchParams(text);
    if (headers['x-mbx-apikey'] !== key) throw new Refusal(-2015, 'Invalid API-key, IP, or permissions for action.');
    if (createHmac('sha256', secret).update(text).digest('hex') !== signature) {
      throw new Refusal(-1022, 'Signature for this request is not valid.');
    }
    const struck = this.struck(key);
    if (struck === 'freeze') throw new Refusal(-1002, 'You are not authorized to execute this request.');
    if (struck !== null) throw new Refusal(-2015, 'Invalid API-key, IP, or permissions for action.');
    const timestamp = Number(params.get('timestamp'));
    const window = Number(params.get('recvWindow') ?? '5000');
    if (!(timestamp < systemMs() + 1000 && systemMs() - timestamp <= window)) {
      throw new Refusal(-1021, 'Timestamp for this request is outside of the recvWindow.');
    }
    return params;
  }

  /** https://developers.binance.com/docs/wallet/capital/deposite-history and the page next to it. */
  #list(kind: MovementKind, params: URLSearchParams): unknown {
    const untilMs = Number(params.get('endTime') ?? systemMs());
    const sinceMs = Number(params.get('startTime') ?? untilMs - ninetyDaysMs + 1);
    const limit = Number(params.get('limit') ?? '1000');
    const offset = Number(params.get('offset') ?? '0');
    if (!(limit >= 1 && limit <= 1000)) throw new Refusal(-1130, "Data sent for parameter 'limit' is not valid.");
    if (!(untilMs - sinceMs < ninetyDaysMs))
      throw new Refusal(-1127, 'More than 90 days between startTime and endTime.');
    const rows = this.listed({ kind, sinceMs, untilMs, isFirst: offset === 0 });
    if (rows === null) throw new Refusal(-1000, 'An unknown error occurred while processing the request.');
    const page = rows.slice(offset, offset + Math.min(limit, this.pageSize));
    return page.map(kind === 'deposit' ? deposit : withdrawal);
  }

  #add(params: URLSearchParams): unknown {
    const given = Object.fromEntries(params);
    const [symbol, book] = this.#bookOf(given.symbol);
    if (!symbol) throw new Refusal(-1121, 'Invalid symbol.');
    const { newClientOrderId: clientId = '', quantity: amount = '', price: limit = '' } = given;
    if (!/^[.A-Z:/a-z0-9_-]{1,36}$/.test(clientId)) throw new Refusal(-1100, 'Illegal characters found in parameter.');
    if (given.type !== 'LIMIT' || given.timeInForce !== 'IOC') throw new Refusal(-1116, 'Invalid orderType.');
    if ((amount.split('.')[1] ?? '').length > 5) throw new Refusal(-1013, 'Filter failure: LOT_SIZE');
    if ((limit.split('.')[1] ?? '').length > decimalsOf(book)) throw new Refusal(-1013, 'Filter failure: PRICE_FILTER');
    const order = this.match(symbol, { clientId, side: given.side === 'BUY' ? 'buy' : 'sell', amount, limit });
    if (!order) throw new Refusal(-2010, 'Account has insufficient balance for requested action.');
    return { ...info(order), transactTime: systemMs(), fills: trades(order) };
  }

  /** The symbol and the book of a market; neither where there is none. */
  #bookOf(id: string | null | undefined): [symbol: string, book: ImitatedBook] | [undefined?, undefined?] {
    return Object.entries(this.books).find(([symbol]) => idOf(symbol) === id) ?? [];
  }
}

function idOf(symbol: string): string {
  return symbol.replace('/', '');
}

function numberOf({ id }: ImitatedOrder): string {
  return String(Number.parseInt(id.slice(1), 10));
}

function deposit(movement: ImitatedMovement): object {
  return {
    id: movement.reference,
    amount: movement.amount,
    coin: movement.coin,
    network: movement.network,
    status: Number(movement.told ?? numbers[movement.state].deposit),
    address: movement.address ?? '',
    addressTag: movement.tag ?? '',
    txId: movement.isInternal ? `Internal transfer ${movement.reference}` : (movement.txid ?? ''),
    insertTime: movement.atMs,
    transferType: movement.isInternal ? 1 : 0,
    confirmTimes: '1/1',
    unlockConfirm: 0,
    walletType: 0,
  };
}

function withdrawal(movement: ImitatedMovement): object {
  return {
    id: movement.reference,
    amount: new Big(movement.amount).minus(movement.fee).toFixed(),
    transactionFee: movement.fee,
    coin: movement.coin,
    status: Number(movement.told ?? numbers[movement.state].withdrawal),
    address: movement.address ?? '',
    ...(movement.tag === null ? {} : { addressTag: movement.tag }),
    txId: movement.isInternal ? `Internal transfer ${movement.reference}` : (movement.txid ?? ''),
    applyTime: new Date(movement.atMs).toISOString().slice(0, 19).replace('T', ' '),
    network: movement.network,
    transferType: movement.isInternal ? 1 : 0,
    info: '',
    confirmNo: 1,
    walletType: 0,
  };
}

function market([symbol, book]: [string, ImitatedBook]): object {
  const [base, quote] = symbol.split('/');
  const tickSize = stepOf(decimalsOf(book));
  return {
    symbol: idOf(symbol),
    status: 'TRADING',
    baseAsset: base,
    baseAssetPrecision: 8,
    quoteAsset: quote,
    quotePrecision: 8,
    quoteAssetPrecision: 8,
    orderTypes: ['LIMIT', 'MARKET'],
    isSpotTradingAllowed: true,
    isMarginTradingAllowed: false,
    permissions: ['SPOT'],
    filters: [
      { filterType: 'PRICE_FILTER', minPrice: tickSize, maxPrice: '1000000.00000000', tickSize },
      { filterType: 'LOT_SIZE', minQty: '0.00001000', maxQty: '9000000000.00000000', stepSize: '0.00001000' },
      { filterType: 'NOTIONAL', minNotional: '5.00000000', applyMinToMarket: true, maxNotional: '9000000000.00000000' },
    ],
  };
}

function info(order: ImitatedOrder): object {
  const { clientId, symbol, amount, filled, cost, side } = order;
  return {
    symbol: idOf(symbol),
    orderId: Number(numberOf(order)),
    orderListId: -1,
    clientOrderId: clientId,
    price: '0',
    origQty: new Big(amount).toFixed(8),
    executedQty: new Big(filled).toFixed(8),
    cummulativeQuoteQty: new Big(cost).toFixed(8),
    status: new Big(filled).eq(amount) ? 'FILLED' : 'EXPIRED',
    timeInForce: 'IOC',
    type: 'LIMIT',
    side: side.toUpperCase(),
  };
}

function trades({ filled, cost, fee, feeCoin }: ImitatedOrder): object[] {
  if (new Big(filled).eq('0')) return [];
  return [
    {
      price: new Big(cost).div(filled).toFixed(8),
      qty: new Big(filled).toFixed(8),
      commission: new Big(fee).toFixed(8),
      commissionAsset: feeCoin,
      tradeId: 1,
    },
  ];
}
