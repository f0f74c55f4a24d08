import { createHash, createHmac } from 'node:crypto';
import { systemMs } from '../../base/clock.ts';
import { Big } from '../../base/money.ts';
import type { MovementKind, MovementState } from '../exchange.ts';
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

/** Kraken's own names for a few coins. */
const krakenNames: Readonly<Record<string, string>> = { BTC: 'XXBT', ETH: 'XETH', USD: 'ZUSD', DOGE: 'XXDG' };

/** What the key that reads the account may ask; the other key may ask the rest. */
const fundingCalls = ['BalanceEx', 'DepositStatus', 'WithdrawStatus'];

/** The usual words for a state. */
const words: Readonly<Record<MovementState, Readonly<Record<MovementKind, string>>>> = {
  pending: { deposit: 'Settled', withdrawal: 'Pending' },
  locked: { deposit: 'Success onhold', withdrawal: 'Pending onhold' },
  done: { deposit: 'Success', withdrawal: 'Success' },
  returned: { deposit: 'Failure', withdrawal: 'Failure canceled' },
  unknown: { deposit: 'Partial', withdrawal: 'Partial' },
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const knownKeys: AccountKeys = {
  key: 'loopback-key',
  secret: base64('a loopback secret of Kraken'),
  funding: { key: 'loopback-funding-key', secret: base64('a loopback secret of Kraken that reads') },
};

/**
 * An exchange that speaks Kraken's protocol, with signatures and nonces that are really checked.
 */
export class ImitatedKraken extends ImitatedExchange {
  /** The newest nonce of each key. */
  readonly #nonces = new Map<string, bigint>();

  constructor(keys: AccountKeys = knownKeys) {
    super(keys);
  }

  protected feeCoin({ quote }: { quote: string }): string {
    return quote;
  }

  protected isSigned({ headers }: ImitatedRequest): boolean {
    return headers['api-key'] !== undefined;
  }

  protected answer(request: ImitatedRequest): ImitatedAnswer {
    const name = request.url.pathname.split('/').at(-1) ?? '';
    try {
      const result = request.url.pathname.startsWith('/0/public/')
        ? this.#public(name, request.url.searchParams)
        : this.#private(name, request);
      return { status: 200, body: { error: [], result } };
    } catch (error) {
      return { status: 200, body: { error: [error instanceof Error ? error.message : 'EGeneral:Internal error'] } };
    }
  }

  #public(name: string, params: URLSearchParams): unknown {
    switch (name) {
      case 'Time':
        return { unixtime: Math.floor(systemMs() / 1000), rfc1123: new Date(systemMs()).toUTCString() };
      case 'Assets':
        return Object.fromEntries(this.#coins().map((coin) => [nameOf(coin), asset(coin)]));
      case 'AssetPairs':
        return Object.fromEntries(
          Object.entries(this.books).map(([symbol, book]) => [idOf(symbol), pair(symbol, book)]),
        );
      case 'Ticker':
        return Object.fromEntries(
          (params.get('pair') ?? '').split(',').map((id) => {
            const [, book] = this.#bookOf(id);
            if (!book) throw new Error('EQuery:Unknown asset pair');
            const [[bid = '0'] = []] = shownOf(book, 'bids');
            const [[ask = '0'] = []] = shownOf(book, 'asks');
            const both = [bid, bid];
            return [
              id,
              {
                a: [ask, '1', '1.000'],
                b: [bid, '1', '1.000'],
                c: [bid, '0.1'],
                v: both,
                p: both,
                t: [1, 1],
                l: both,
                h: both,
                o: bid,
              },
            ];
          }),
        );
      case 'Depth': {
        // https://docs.kraken.com/api/docs/rest-api/get-order-book
        const id = params.get('pair') ?? '';
        const [, book] = this.#bookOf(id);
        if (!book) throw new Error('EQuery:Unknown asset pair');
        const count = Number(params.get('count') ?? '100');
        if (!(count >= 1 && count <= 500)) throw new Error('EGeneral:Invalid arguments:count');
        const now = Math.floor(systemMs() / 1000);
        const side = (name: 'bids' | 'asks'): unknown[] =>
          shownOf(book, name)
            .slice(0, count)
            .map(([price, amount]) => [price, amount, now]);
        return { [id]: { asks: side('asks'), bids: side('bids') } };
      }
      default:
        throw new Error('EGeneral:Unknown method');
    }
  }

  #private(name: string, request: ImitatedRequest): unknown {
    const params = new URLSearchParams(request.body);
    this.#authenticate(name, request, params);
    const id = params.get('cl_ord_id');
    switch (name) {
      case 'AddOrder':
        return this.#add(params);
      case 'QueryOrders':
        return Object.fromEntries(
          this.orders.filter((order) => order.id === params.get('txid')).map((order) => [order.id, info(order)]),
        );
      case 'OpenOrders':
        return { open: {} };
      case 'ClosedOrders': {
        const found = this.orders.filter((order) => id === null || order.clientId === id);
        return { closed: Object.fromEntries(found.map((order) => [order.id, info(order)])), count: found.length };
      }
      case 'BalanceEx':
        return Object.fromEntries(
          Object.entries(this.balances).map(([coin, amount]) => [
            nameOf(coin),
            { balance: amount, hold_trade: this.locked[coin] ?? '0.0000000000' },
          ]),
        );
      case 'DepositStatus':
        return this.#list('deposit', params);
      case 'WithdrawStatus':
        return this.#list('withdrawal', params);
      default:
        throw new Error('EGeneral:Unknown method');
    }
  }

  /** https://docs.kraken.com/api/docs/guides/spot-rest-auth */
  #authenticate(name: string, { url, headers, body }: ImitatedRequest, params: URLSearchParams): void {
    const nonce = params.get('nonce') ?? '';
    const digest = createHash('sha256')
      .update(nonce + body)
      .digest();
    const { key, secret } = [this, this.funding].find((one) => one.key === headers['api-key']) ?? {};
    const sign = createHmac('sha512', Buffer.from(secret ?? '', 'base64'))
      .update(url.pathname)
      .update(digest)
      .digest('base64');
    if (key === undefined || headers['api-sign'] !== sign) throw new Error('EAPI:Invalid key');
    if (!/^\d+$/.test(nonce) || BigInt(nonce) <= (this.#nonces.get(key) ?? 0n)) throw new Error('EAPI:Invalid nonce');
    this.#nonces.set(key, BigInt(nonce));
    const struck = this.struck(key);
    if (struck !== null) throw new Error(struck === 'freeze' ? 'EGeneral:Permission denied' : 'EAPI:Invalid key');
    if ((key === this.funding.key) !== fundingCalls.includes(name)) throw new Error('EGeneral:Permission denied');
  }

  /** https://docs.kraken.com/api/docs/rest-api/get-status-recent-deposits and the page next to it. */
  #list(kind: MovementKind, params: URLSearchParams): unknown {
    const cursor = params.get('cursor') ?? 'false';
    const isFirst = ['true', 'false'].includes(cursor);
    const sinceMs = Number(params.get('start') ?? '0') * 1000;
    const rows = this.listed({ kind, sinceMs, untilMs: Number.POSITIVE_INFINITY, isFirst });
    if (rows === null) throw new Error('EService:Unavailable');
    const limit = Math.min(Number(params.get('limit') ?? (kind === 'deposit' ? '25' : '500')), this.pageSize);
    if (cursor === 'false') return rows.slice(0, limit).map(movement);
    const before = Buffer.from(cursor, 'base64').toString();
    const begin = cursor === 'true' ? 0 : rows.findIndex(({ reference }) => reference === before) + 1;
    if (cursor !== 'true' && begin === 0) throw new Error('EGeneral:Invalid arguments:cursor');
    const page = rows.slice(begin, begin + limit);
    const isEnd = begin + page.length === rows.length;
    return {
      [kind === 'deposit' ? 'deposit' : 'withdrawals']: page.map(movement),
      next_cursor: isEnd ? null : Buffer.from(page.at(-1)?.reference ?? '').toString('base64'),
    };
  }

  #add(params: URLSearchParams): unknown {
    const given = Object.fromEntries(params);
    const [symbol, book] = this.#bookOf(given.pair);
    if (!symbol) throw new Error('EQuery:Unknown asset pair');
    const { cl_ord_id: clientId = '', volume: amount = '', price: limit = '', deadline = '' } = given;
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(clientId))
      throw new Error('EGeneral:Invalid arguments:cl_ord_id');
    if (given.ordertype !== 'limit' || given.timeinforce !== 'IOC' || given.oflags !== 'fciq') {
      throw new Error('EGeneral:Invalid arguments');
    }
    const lateMs = systemMs() - new Date(deadline).getTime();
    if (!(lateMs < 0)) throw new Error('EService:Deadline elapsed');
    if (lateMs < -60_000) throw new Error('EGeneral:Invalid arguments:deadline');
    if ((amount.split('.')[1] ?? '').length > 8 || (limit.split('.')[1] ?? '').length > decimalsOf(book)) {
      throw new Error('EOrder:Invalid price');
    }
    const side = given.type === 'buy' ? 'buy' : 'sell';
    const order = this.match(symbol, { clientId, side, amount, limit });
    if (!order) throw new Error('EOrder:Insufficient funds');
    return { descr: { order: `${side} ${amount} ${given.pair} @ limit ${limit}` }, txid: [order.id] };
  }

  #coins(): string[] {
    return [...new Set(Object.keys(this.books).flatMap((symbol) => symbol.split('/')))];
  }

  /** The symbol and the book of a pair; neither where there is none. */
  #bookOf(id: string | undefined): [symbol: string, book: ImitatedBook] | [undefined?, undefined?] {
    return Object.entries(this.books).find(([symbol]) => idOf(symbol) === id) ?? [];
  }
}

/** Kraken's name of a coin. A balance that earns interest has the short one: 'XBT.F'. */
function nameOf(coin: string): string {
  const [plain = '', suffix] = coin.split('.');
  const name = krakenNames[plain] ?? plain;
  if (suffix === undefined) return name;
  return `${name === plain ? plain : name.slice(1)}.${suffix}`;
}

function movement({ kind, reference, coin, network, txid, address, amount, fee, state, told, atMs }: ImitatedMovement) {
  const [status, property] = (told ?? words[state][kind]).split(' ');
  const moved = kind === 'deposit' ? new Big(amount).plus(fee) : new Big(amount).minus(fee);
  return {
    method: network,
    aclass: 'currency',
    asset: nameOf(coin),
    refid: reference,
    txid,
    info: address,
    amount: moved.toFixed(),
    fee,
    time: Math.floor(atMs / 1000),
    status,
    ...(property === undefined ? {} : { 'status-prop': property }),
    ...(kind === 'withdrawal' ? { key: 'a saved address', network } : {}),
  };
}

function idOf(symbol: string): string {
  return symbol.split('/').map(nameOf).join('');
}

function asset(coin: string): object {
  return {
    aclass: 'currency',
    altname: (krakenNames[coin] ?? `-${coin}`).slice(1),
    decimals: 10,
    display_decimals: 5,
    status: 'enabled',
  };
}

function pair(symbol: string, book: ImitatedBook): object {
  const [base = '', quote = ''] = symbol.split('/');
  return {
    altname: idOf(symbol),
    wsname: symbol,
    aclass_base: 'currency',
    base: nameOf(base),
    aclass_quote: 'currency',
    quote: nameOf(quote),
    lot: 'unit',
    cost_decimals: 5,
    pair_decimals: decimalsOf(book),
    lot_decimals: 8,
    lot_multiplier: 1,
    leverage_buy: [],
    leverage_sell: [],
    fees: [[0, 0.1]],
    fees_maker: [[0, 0.1]],
    fee_volume_currency: 'ZUSD',
    margin_call: 80,
    margin_stop: 40,
    ordermin: '0.0001',
    costmin: '0.5',
    tick_size: stepOf(decimalsOf(book)),
    status: 'online',
  };
}

function info(order: ImitatedOrder): object {
  const { clientId, amount, filled, cost, fee, side, symbol } = order;
  return {
    refid: null,
    userref: 0,
    cl_ord_id: clientId,
    status: new Big(filled).eq(amount) ? 'closed' : 'canceled',
    opentm: systemMs() / 1000,
    closetm: systemMs() / 1000,
    descr: { pair: idOf(symbol), type: side, ordertype: 'limit' },
    vol: amount,
    vol_exec: filled,
    cost,
    fee,
    price: '0',
    oflags: 'fciq',
  };
}
