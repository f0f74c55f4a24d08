import { createHash } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Big, ceilTo, floorTo, formatDecimal, storedDecimals } from '../../base/money.ts';
import type { ExchangeOrder, OrderRecord } from '../../exchanges/exchange.ts';
import type { VenueOrder } from '../rows/liquidity-venue.ts';
import type { TradeBound, TradeLimits } from '../rows/trade-bound.ts';
import type { JournalOrder, TradeLeg } from './journal-order.ts';
import { bookVenueCash } from './venue-cash.ts';

/** A trade as requested, and its outcome. */
export interface JournalTrade {
  readonly clientId: string;
  readonly sellCoin: string;
  readonly sellAmount: Big;
  readonly buyCoin: string;
  readonly buyAmount: Big;
  readonly minBuyAmount: Big;
  readonly validUntil: Date;
  /** The coin between the legs. */
  readonly cash: string;
  /** Null on trades that were decided without one, at a venue without cash. */
  readonly bound: TradeBound | null;
  /**
   * The worst prices of its orders. Null until its first order. The gateway itself never changes
   * them.
   */
  readonly limits: TradeLimits | null;
  /**
   * The worst price of the closing orders: of the sale after a fill, of the return after a
   * rejection.
   */
  readonly closingLimit: Big | null;
  readonly outcome: 'filled' | 'rejected' | null;
  readonly bought: string | null;
  /** No further orders belong to it. */
  readonly isSquared: boolean;
}

/**
 * The decision about a trade. A rejected trade with a position is closed afterwards, at the limit
 * or better.
 */
type Verdict =
  | { readonly bought: Big }
  | { readonly hasPosition: false }
  | { readonly hasPosition: true; readonly limit: Big | null };

const nothing = new Big('0');

/**
 * Derives the client id of an order at the exchange from the trade, the leg and the number. A
 * process that has only the trade's id can thus find its orders. It is a UUID, which every
 * supported exchange accepts.
 */
export function exchangeOrderId(clientId: string, leg: TradeLeg, number: number): string {
  const hash = createHash('sha256').update(`${clientId} ${leg} ${number}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/**
 * The journal of requests to an exchange, written before each request. An order that may exist is
 * in it. An order that is not in it was never sent by this database.
 */
export class VenueJournal {
  readonly #orm: MikroORM;
  readonly #venue: string;
  readonly #cash: string;

  /** @param cash The coin between the legs of new trades. */
  constructor(orm: MikroORM, venue: string, cash: string) {
    this.#orm = orm;
    this.#venue = venue;
    this.#cash = cash;
  }

  /**
   * Stores a trade, or returns the stored one. An undecided trade takes the new deadline, and so
   * does a rejected one that traded nothing. A trade that traded before its rejection stays
   * rejected. The bound is stored once.
   */
  async open(order: VenueOrder, now: Date): Promise<JournalTrade> {
    const { clientId, sellCoin, sellAmount, buyCoin, minBuyAmount, validUntil, bound } = order;
    const buyAmount = order.buyAmount ?? minBuyAmount;
    await sql(
      this.#orm.em.fork(),
      `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount, cash,
                                price_sell, price_buy, price_cash, max_loss, valid_until, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (client_id) do update
         set valid_until = greatest(excluded.valid_until, venue_trade.valid_until),
             price_sell = coalesce(venue_trade.price_sell, excluded.price_sell),
             price_buy = coalesce(venue_trade.price_buy, excluded.price_buy),
             price_cash = coalesce(venue_trade.price_cash, excluded.price_cash),
             max_loss = coalesce(venue_trade.max_loss, excluded.max_loss),
             outcome = case when excluded.valid_until > excluded.created_at then null else venue_trade.outcome end,
             decided_at = case when excluded.valid_until > excluded.created_at then null else venue_trade.decided_at end,
             squared_at = case when excluded.valid_until > excluded.created_at then null else venue_trade.squared_at end
       where (excluded.valid_until > venue_trade.valid_until
              or (venue_trade.outcome is null and venue_trade.max_loss is null and excluded.max_loss is not null))
         and (venue_trade.outcome is null
              or (venue_trade.outcome = 'rejected'
                  and not exists (select from venue_order o where o.client_id = excluded.client_id and o.filled > 0)))`,
      [
        clientId,
        this.#venue,
        sellCoin,
        sellAmount,
        buyCoin,
        buyAmount,
        minBuyAmount,
        this.#cash,
        bound?.priceSell ?? null,
        bound?.priceBuy ?? null,
        bound?.priceCash ?? null,
        bound?.maxLoss ?? null,
        validUntil,
        now,
      ],
    );
    const trade = await this.find(clientId);
    if (!trade) throw new Error(`the trade ${clientId} is with another venue`);
    return trade;
  }

  async find(clientId: string): Promise<JournalTrade | null> {
    return this.#trade(this.#orm.em.fork(), clientId, '');
  }

  /**
   * Returns the decided trade that is not squared and waited longest since the last call returned
   * it, or since its decision. Null without one.
   */
  async nextUnsquared(now: Date): Promise<JournalTrade | null> {
    const [row] = await sql<{ client_id: string }>(
      this.#orm.em.fork(),
      `update venue_trade set sale_tried_at = ?
        where client_id = (select client_id from venue_trade
                            where outcome is not null and squared_at is null and venue = ?
                            order by coalesce(sale_tried_at, decided_at), client_id limit 1 for update skip locked)
        returning client_id`,
      [now, this.#venue],
    );
    return row ? this.find(row.client_id) : null;
  }

  async orders(clientId: string, em: EntityManager = this.#orm.em.fork()): Promise<JournalOrder[]> {
    const rows = await sql<Record<string, string>>(
      em,
      `select id, leg, number::text, base, quote, side, amount::text, not_after::text, state,
              filled::text, cost::text, fees::text
         from venue_order where client_id = ? order by leg, number`,
      [clientId],
    );
    return rows.map((row) => ({
      id: row.id ?? '',
      leg: row.leg as TradeLeg,
      number: Number.parseInt(row.number ?? '', 10),
      base: row.base ?? '',
      quote: row.quote ?? '',
      side: row.side as 'buy' | 'sell',
      amount: formatDecimal(row.amount ?? '0'),
      notAfter: new Date(row.not_after ?? ''),
      state: row.state as JournalOrder['state'],
      filled: new Big(row.filled ?? '0'),
      cost: new Big(row.cost ?? '0'),
      fees: JSON.parse(row.fees ?? '[]'),
    }));
  }

  /**
   * Stores the worst prices of a trade's orders, unless it has them already. Returns the stored
   * ones.
   */
  async fixLimits(clientId: string, { main, mainFee, sale }: TradeLimits): Promise<TradeLimits> {
    await sql(
      this.#orm.em.fork(),
      `update venue_trade set main_limit = ?, main_fee = ?, sale_limit = ? where client_id = ? and main_limit is null`,
      [formatDecimal(main), formatDecimal(mainFee), sale && formatDecimal(sale), clientId],
    );
    const limits = (await this.find(clientId))?.limits;
    if (!limits) throw new Error(`the trade ${clientId} has no limits`);
    return limits;
  }

  /**
   * Records an order before it is sent. Returns false when it must not be sent: the trade is
   * decided, another of its orders is unfinished, or another process took the number.
   */
  async intend(clientId: string, leg: TradeLeg, number: number, order: ExchangeOrder, now: Date): Promise<boolean> {
    return this.#orm.em.fork().transactional(async (em) => {
      const trade = await this.#trade(em, clientId, 'for update');
      if (!trade || !allows(trade, leg)) return false;
      const before = await this.orders(clientId, em);
      if (before.some((other) => isUnderWay(other, leg))) return false;
      if (before.filter((other) => other.leg === leg).length !== number - 1) return false;
      await this.#insert(em, clientId, leg, number, order, now);
      return true;
    });
  }

  /**
   * Records an order that the exchange has and this database lacks. Returns false when another
   * process recorded it meanwhile.
   */
  async adopt(
    clientId: string,
    leg: TradeLeg,
    number: number,
    order: ExchangeOrder,
    records: readonly OrderRecord[],
    now: Date,
  ): Promise<boolean> {
    if (!(await this.intend(clientId, leg, number, order, now))) return false;
    await this.close(order.clientId, records);
    return true;
  }

  async #insert(
    em: EntityManager,
    clientId: string,
    leg: TradeLeg,
    number: number,
    order: ExchangeOrder,
    now: Date,
  ): Promise<void> {
    await sql(
      em,
      `insert into venue_order (id, client_id, leg, number, base, quote, side, amount, limit_price, not_after, sent_at, state)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'sent')`,
      [
        order.clientId,
        clientId,
        leg,
        number,
        order.base,
        order.quote,
        order.side,
        order.amount,
        order.limit,
        new Date(order.notAfterMs),
        now,
      ],
    );
  }

  /**
   * Records the outcome of an order. Executions that the exchange repeated under the same id all
   * count.
   */
  async close(id: string, records: readonly OrderRecord[]): Promise<void> {
    const filled = records.reduce((sum, record) => sum.plus(record.filled), nothing);
    const cost = records.reduce((sum, record) => sum.plus(record.cost), nothing);
    const fees = records.flatMap((record) => record.fees);
    await sql(
      this.#orm.em.fork(),
      `update venue_order set state = 'closed', filled = ?, cost = ?, fees = ?::jsonb where id = ? and state = 'sent'`,
      [formatDecimal(filled), formatDecimal(cost), JSON.stringify(fees), id],
    );
  }

  /** Records that an order was never executed and never will be. */
  async discard(id: string): Promise<void> {
    await sql(this.#orm.em.fork(), `update venue_order set state = 'void' where id = ? and state = 'sent'`, [id]);
  }

  /**
   * Decides a trade by its orders. Null while one of them is unfinished. An earlier decision
   * counts, unless its rejection was reverted. A rejected trade without a position is squared at
   * once.
   */
  async decide(
    clientId: string,
    now: Date,
    verdict: (trade: JournalTrade, orders: readonly JournalOrder[]) => Verdict | null,
  ): Promise<JournalTrade | null> {
    return this.#orm.em.fork().transactional(async (em) => {
      const trade = await this.#trade(em, clientId, 'for update');
      if (!trade || trade.outcome !== null) return trade;
      const orders = await this.orders(clientId, em);
      if (orders.some((order) => isUnderWay(order, 'main'))) return null;
      const decided = verdict(trade, orders);
      if (decided === null) return null;
      const bought = 'bought' in decided ? formatDecimal(decided.bought) : null;
      const isSquared = 'hasPosition' in decided && !decided.hasPosition;
      await sql(
        em,
        `update venue_trade set outcome = ?, bought = ?, decided_at = ?, squared_at = ?, return_limit = ? where client_id = ?`,
        [
          bought === null ? 'rejected' : 'filled',
          bought,
          now,
          isSquared ? now : null,
          'limit' in decided && decided.limit ? formatDecimal(stored(decided.limit, orders)) : null,
          clientId,
        ],
      );
      if (isSquared) await bookVenueCash(em, { ...trade, bought, venue: this.#venue }, orders, now);
      return this.#trade(em, clientId, '');
    });
  }

  /** Closes a decided trade: no more orders, and its remainder is booked. */
  async square(clientId: string, now: Date): Promise<void> {
    await this.#orm.em.fork().transactional(async (em) => {
      const trade = await this.#trade(em, clientId, 'for update');
      if (!trade || trade.outcome === null || trade.isSquared) return;
      const orders = await this.orders(clientId, em);
      if (orders.some(({ state }) => state === 'sent')) return;
      await sql(em, 'update venue_trade set squared_at = ? where client_id = ?', [now, clientId]);
      await bookVenueCash(em, { ...trade, venue: this.#venue }, orders, now);
    });
  }

  async #trade(em: EntityManager, clientId: string, lock: '' | 'for update'): Promise<JournalTrade | null> {
    const [row] = await sql<Record<string, string | null>>(
      em,
      `select client_id, sell_coin, sell_amount::text, buy_coin, buy_amount::text, min_buy_amount::text,
              valid_until::text, outcome, bought::text, squared_at::text, cash, price_sell::text, price_buy::text,
              price_cash::text, max_loss::text, main_limit::text, main_fee::text, sale_limit::text, return_limit::text
         from venue_trade where client_id = ? and venue = ? ${lock}`,
      [clientId, this.#venue],
    );
    if (!row) return null;
    return {
      clientId,
      sellCoin: row.sell_coin ?? '',
      sellAmount: new Big(row.sell_amount ?? '0'),
      buyCoin: row.buy_coin ?? '',
      buyAmount: new Big(row.buy_amount ?? '0'),
      minBuyAmount: new Big(row.min_buy_amount ?? '0'),
      validUntil: new Date(row.valid_until ?? ''),
      cash: row.cash ?? '',
      ...pricesOf(row),
      outcome: row.outcome as JournalTrade['outcome'],
      bought: row.bought ? formatDecimal(row.bought) : null,
      isSquared: row.squared_at !== null,
    };
  }
}

/** The bound of a trade and its stored worst prices. */
function pricesOf(row: Record<string, string | null>): Pick<JournalTrade, 'bound' | 'limits' | 'closingLimit'> {
  const amount = (name: string): string | null => (row[name] ? formatDecimal(row[name]) : null);
  const big = (name: string): Big | null => (row[name] ? new Big(row[name]) : null);
  const [priceSell, priceBuy, priceCash, maxLoss] = ['price_sell', 'price_buy', 'price_cash', 'max_loss'].map(amount);
  const [main, mainFee, sale] = [big('main_limit'), big('main_fee'), big('sale_limit')];
  return {
    bound: priceSell && priceBuy && priceCash && maxLoss ? { priceSell, priceBuy, priceCash, maxLoss } : null,
    limits: main && mainFee ? { main, mainFee, sale } : null,
    closingLimit: row.outcome === 'rejected' ? big('return_limit') : sale,
  };
}

/**
 * Rounds a return limit to the database's precision, in our favour. A bought coin is never sold for
 * less, and a sold coin is never bought for more.
 */
function stored(limit: Big, orders: readonly JournalOrder[]): Big {
  const isBought = orders.some(({ leg, side }) => leg === 'main' && side === 'buy');
  return isBought ? ceilTo(limit, storedDecimals) : floorTo(limit, storedDecimals);
}

/**
 * Whether a leg may have orders now. The main leg comes before the decision. A sale follows a fill
 * and a return follows a rejection, until the trade is squared.
 */
function allows({ outcome, isSquared }: JournalTrade, leg: TradeLeg): boolean {
  const expected = { main: null, sale: 'filled', return: 'rejected' } as const;
  return outcome === expected[leg] && !isSquared;
}

function isUnderWay(order: JournalOrder, leg: TradeLeg): boolean {
  return order.state === 'sent' && (order.leg === 'sale') === (leg === 'sale');
}
