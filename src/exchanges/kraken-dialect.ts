import { setTimeout as sleep } from 'node:timers/promises';
import { type CcxtCall, type CcxtExchange, type CcxtMarket, levelsOf, memberOf, textOf } from './ccxt-exchange.ts';
import type { Dialect } from './dialect.ts';
import type { OrderRecord } from './exchange.ts';

interface Kraken extends CcxtExchange {
  readonly publicGetDepth: CcxtCall;
  readonly privatePostAddOrder: CcxtCall;
  readonly privatePostQueryOrders: CcxtCall;
  readonly privatePostOpenOrders: CcxtCall;
  readonly privatePostClosedOrders: CcxtCall;
}

/**
 * Most polls of an order that was just accepted. It is closed at once, or as soon as Kraken records
 * it.
 */
const looks = 4;
const lookMs = 200;
/** The most levels of a side that Kraken shows. */
const levels = 500;

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
};

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
