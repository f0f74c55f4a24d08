import { setTimeout as sleep } from 'node:timers/promises';
import { Big, maxOf } from '../base/money.ts';
import { type CcxtCall, type CcxtExchange, type CcxtMarket, levelsOf, memberOf, textOf } from './ccxt-exchange.ts';
import { decimal } from './decimals.ts';
import { addressOf, type Dialect } from './dialect.ts';
import {
  ExchangeUnavailable,
  type Holdings,
  type Movement,
  type MovementKind,
  type MovementState,
  type OrderRecord,
} from './exchange.ts';

interface Kraken extends CcxtExchange {
  readonly publicGetDepth: CcxtCall;
  readonly privatePostAddOrder: CcxtCall;
  readonly privatePostQueryOrders: CcxtCall;
  readonly privatePostOpenOrders: CcxtCall;
  readonly privatePostClosedOrders: CcxtCall;
  readonly privatePostBalanceEx: CcxtCall;
  readonly privatePostDepositStatus: CcxtCall;
  readonly privatePostWithdrawStatus: CcxtCall;
}

/**
 * Most polls of an order that was just accepted. It is closed at once, or as soon as Kraken records
 * it.
 */
const looks = 4;
const lookMs = 200;
/** The most levels of a side that Kraken shows. */
const levels = 500;
const nothing = new Big('0');

/**
 * Balances that earn interest are listed next to the plain one: 'XBT.F', 'ETH.B', 'USD.M',
 * 'DOT28.S'. The digits are the days of a bond.
 */
const earningName = /^(.+?)(?:\d\d(?=\.S$))?\.[FSMBP]$/;

/** https://docs.kraken.com/api/docs/rest-api/get-status-recent-deposits; 'Partial' is none of these. */
const states: ReadonlyMap<string, MovementState> = new Map([
  ['Initial', 'pending'],
  ['Pending', 'pending'],
  ['Settled', 'pending'],
  ['Success', 'done'],
  ['Failure', 'returned'],
]);

/**
 * Kraken: https://docs.kraken.com/api/docs/rest-api/add-order and the pages next to it. Fees are
 * requested in the quote coin (`fciq`), so that the bought amount arrives whole.
 */
export const krakenDialect: Dialect = {
  options: {},
  // Errors come with status 200, as 'ECategory:Text'. A service error does not tell whether the
  // order arrived.
  refusalOf: (status, parsed) => {
    if (status >= 500) return null;
    const errors = memberOf(parsed, 'error');
    const message = Array.isArray(errors) ? String(errors[0] ?? '') : '';
    if (/^EOrder:Insufficient (funds|balance)/.test(message)) return { code: 'no_inventory', message };
    if (/^E(API|Order|General):.*(limit exceeded|lockout)/i.test(message)) return { code: 'rate_limited', message };
    if (/^E(Service|Order|General):.*deadline/i.test(message)) return { code: 'too_late', message };
    // An open order of ours has that id: an earlier attempt succeeded.
    if (/duplicate|already in use|cl_?ord_?id/i.test(message)) return null;
    if (/^(EOrder|EAPI|EQuery|EGeneral:(Invalid|Permission|Unknown method))/.test(message)) {
      return { code: 'refused', message };
    }
    return null;
  },
  takesTurns: true,
  tops: (ccxt, symbols) => ccxt.fetchTickers(symbols),
  book: async (ccxt: Kraken, market) => {
    const answer = await ccxt.publicGetDepth({ pair: market.id, count: levels });
    // The only member is the book, under Kraken's own name of the pair.
    const [book] = Object.values(memberOf(answer, 'result') ?? {});
    return { bids: levelsOf(book, 'bids'), asks: levelsOf(book, 'asks') };
  },
  tick: ({ info }) => textOf(info, 'tick_size') || undefined,
  place: async (ccxt: Kraken, market, order) => {
    const answer = await ccxt.privatePostAddOrder({
      pair: market.id,
      type: order.side,
      ordertype: 'limit',
      price: order.limit,
      volume: order.amount,
      timeinforce: 'IOC',
      oflags: 'fciq',
      cl_ord_id: order.clientId,
      deadline: new Date(order.notAfterMs).toISOString(),
    });
    const ids = memberOf(memberOf(answer, 'result'), 'txid');
    const id = Array.isArray(ids) ? String(ids[0] ?? '') : '';
    if (id === '') throw new Error('Kraken took an order and gave no id');
    for (let look = 1; look <= looks; look++) {
      const found = await ccxt.privatePostQueryOrders({ txid: id }).catch(() => null);
      const record = memberOf(memberOf(found, 'result'), id);
      if (record && !isOpen(record)) return recordOf(record, market);
      await sleep(lookMs);
    }
    // The order was accepted, even if the query of its state failed.
    return { isOpen: true, filled: '0', cost: '0', fees: [] };
  },
  find: async (ccxt: Kraken, market, clientId) => {
    // Open orders first: an order that closes between the two requests is then seen twice, never
    // missed.
    const asked = { cl_ord_id: clientId };
    const open = listOf(await ccxt.privatePostOpenOrders(asked), 'open', clientId);
    const closed = listOf(await ccxt.privatePostClosedOrders(asked), 'closed', clientId);
    return [...new Map([...open, ...closed]).values()].map((order) => recordOf(order, market));
  },
  holdings: async (ccxt: Kraken) => {
    const balances = memberOf(await ccxt.privatePostBalanceEx({}), 'result');
    if (typeof balances !== 'object' || balances === null) throw new ExchangeUnavailable('Kraken gave no balances');
    const held = new Map<string, { readonly total: Big; readonly free: Big }>();
    for (const [name, balance] of Object.entries(balances)) {
      const coin = coinOf(ccxt, name);
      const total = decimal(textOf(balance, 'balance'));
      const inOrders = decimal(textOf(balance, 'hold_trade') || '0');
      const free = earningName.test(name) ? nothing : maxOf(total.minus(inOrders), nothing);
      const before = held.get(coin) ?? { total: nothing, free: nothing };
      held.set(coin, { total: before.total.plus(total), free: before.free.plus(free) });
    }
    return [...held]
      .filter(([, { total }]) => !total.eq(nothing))
      .map(([coin, { total, free }]): Holdings => ({ coin, total: total.toFixed(), free: free.toFixed() }));
  },
  movements: async (ccxt: Kraken, { kind, sinceMs, from }) => {
    const asked = { start: Math.floor(sinceMs / 1000), cursor: from ?? 'true' };
    const answer = await (kind === 'deposit'
      ? ccxt.privatePostDepositStatus(asked)
      : ccxt.privatePostWithdrawStatus(asked));
    const page = memberOf(answer, 'result');
    const isEmpty = Array.isArray(page) && page.length === 0;
    const rows = isEmpty ? page : (memberOf(page, `${kind}s`) ?? memberOf(page, kind));
    // A bare list of rows is the newest part of it: Kraken did not take the cursor.
    if (!Array.isArray(rows)) throw new ExchangeUnavailable(`Kraken gave no page of ${kind}s`);
    return {
      movements: rows.map((row) => movementOf(ccxt, kind, row)),
      next: textOf(page, 'next_cursor') || null,
    };
  },
};

/** Our name of a coin; that of the plain coin where the balance earns interest. */
function coinOf(ccxt: CcxtExchange, name: string): string {
  return ccxt.safeCurrencyCode(earningName.exec(name)?.[1] ?? name);
}

function movementOf(ccxt: CcxtExchange, kind: MovementKind, row: unknown): Movement {
  const [status, property] = [textOf(row, 'status'), textOf(row, 'status-prop')];
  // Both lists have the amount on the chain. The fee of a withdrawal is added to it, that of a
  // deposit out of it.
  const moved = decimal(textOf(row, 'amount'));
  const fee = decimal(textOf(row, 'fee') || (kind === 'deposit' ? '0' : ''));
  return {
    kind,
    reference: textOf(row, 'refid'),
    coin: coinOf(ccxt, textOf(row, 'asset')),
    // Deposits have a method only, of one network.
    network: textOf(row, 'network') || textOf(row, 'method') || null,
    txid: txidOf(row) || null,
    isInternal: false,
    address: addressOf(textOf(row, 'info')),
    tag: null,
    amount: (kind === 'withdrawal' ? moved.plus(fee) : moved.minus(fee)).toFixed(),
    fee: fee.toFixed(),
    state: stateOf(kind, status, property),
    told: `${status} ${property}`.trim(),
    atMs: Math.round(Number(textOf(row, 'time')) * 1000),
  };
}

/**
 * The transaction that was sent to Kraken, or by it. Where Kraken credits a deposit when it
 * collects the address, `txid` is its own transaction, and `originators` are those of the sender.
 */
function txidOf(row: unknown): string {
  const originators = memberOf(row, 'originators');
  return Array.isArray(originators) && originators.length === 1 ? textOf(originators, '0') : textOf(row, 'txid');
}

function stateOf(kind: MovementKind, status: string, property: string): MovementState {
  const state = states.get(status) ?? 'unknown';
  const isDone = state === 'done';
  switch (property) {
    case '':
    case 'cancel-denied':
      return state;
    case 'onhold':
    case 'on-hold':
      if (!isDone) return state;
      return kind === 'deposit' ? 'locked' : 'pending';
    case 'cancel-pending':
      return isDone ? 'pending' : state;
    case 'canceled':
      return isDone ? 'unknown' : 'returned';
    case 'return':
      // A transaction by which Kraken itself returns something. Once it is done, its words do not
      // tell whose the coins are.
      return isDone ? 'unknown' : state;
    default:
      return 'unknown';
  }
}

function listOf(answer: unknown, member: 'open' | 'closed', clientId: string): [string, unknown][] {
  const list = memberOf(memberOf(answer, 'result'), member);
  if (typeof list !== 'object' || list === null) throw new Error(`Kraken gave no list of ${member} orders`);
  const orders = Object.entries(list);
  // Orders of other ids mean that the exchange ignored the filter. Our order may then be on another
  // page, so the answer is not 'none'.
  if (orders.some(([, order]) => textOf(order, 'cl_ord_id') !== clientId)) {
    throw new Error(`Kraken gave ${member} orders that were not asked for`);
  }
  return orders;
}

function isOpen(order: unknown): boolean {
  return !['closed', 'canceled', 'expired'].includes(textOf(order, 'status'));
}

function recordOf(order: unknown, { base, quote }: CcxtMarket): OrderRecord {
  const fee = textOf(order, 'fee');
  const inBase = textOf(order, 'oflags').split(',').includes('fcib');
  return {
    isOpen: isOpen(order),
    filled: textOf(order, 'vol_exec'),
    cost: textOf(order, 'cost'),
    fees: fee === '' ? [] : [{ coin: inBase ? base : quote, amount: fee }],
  };
}
