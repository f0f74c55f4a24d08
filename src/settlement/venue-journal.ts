import { createHash } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { ExchangeOrder, OrderRecord } from '../exchanges/exchange.ts';
import { Big, formatDecimal } from '../money.ts';
import type { JournalOrder, TradeLeg } from './journal-order.ts';
import type { VenueOrder } from './liquidity-venue.ts';
import { bookVenueCash } from './venue-cash.ts';

/** A trade as it was asked for, and what came of it. */
export interface JournalTrade {
  readonly clientId: string;
  readonly sellCoin: string;
  readonly sellAmount: Big;
  readonly buyCoin: string;
  readonly buyAmount: Big;
  readonly minBuyAmount: Big;
  readonly validUntil: Date;
  readonly outcome: 'filled' | 'rejected' | null;
  readonly bought: string | null;
  readonly isSquared: boolean;
}

const nothing = new Big('0');

/**
 * The client id of an order at the exchange. It follows from the trade, the leg and the number, so that whoever lost
 * everything but the trade's own id still finds its orders; a UUID is what every exchange of ours takes.
 */
export function exchangeOrderId(clientId: string, leg: TradeLeg, number: number): string {
  const hash = createHash('sha256').update(`${clientId} ${leg} ${number}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/**
 * What was asked of an exchange, written down before it is asked. An order that may exist is here; one that is not here
 * was never sent by this database.
 */
export class VenueJournal {
  readonly #orm: MikroORM;
  readonly #venue: string;

  constructor(orm: MikroORM, venue: string) {
    this.#orm = orm;
    this.#venue = venue;
  }

  /**
   * Notes a trade, or finds it. One that is not over, or was rejected and may still be taken up, lasts as long as it is
   * asked to now. A trade that bought and gave back is rejected for good: what that cost is booked.
   */
  async open(order: VenueOrder, now: Date): Promise<JournalTrade> {
    const { clientId, sellCoin, sellAmount, buyCoin, minBuyAmount, validUntil } = order;
    const buyAmount = order.buyAmount ?? minBuyAmount;
    await this.#orm.em.fork().execute(
      `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount,
                                valid_until, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (client_id) do update
         set valid_until = excluded.valid_until,
             outcome = case when excluded.valid_until > excluded.created_at then null else venue_trade.outcome end,
             decided_at = case when excluded.valid_until > excluded.created_at then null else venue_trade.decided_at end
       where excluded.valid_until > venue_trade.valid_until
         and (venue_trade.outcome is null
              or (venue_trade.outcome = 'rejected'
                  and not exists (select from venue_order o where o.client_id = excluded.client_id and o.filled > 0)))`,
      [clientId, this.#venue, sellCoin, sellAmount, buyCoin, buyAmount, minBuyAmount, validUntil, now],
    );
    const trade = await this.find(clientId);
    if (!trade) throw new Error(`the trade ${clientId} is with another venue`);
    return trade;
  }

  async find(clientId: string): Promise<JournalTrade | null> {
    return this.#trade(this.#orm.em.fork(), clientId, '');
  }

  /** The trade whose sale is not done and waited longest since it was last given here, or decided; null for none. */
  async nextUnsquared(now: Date): Promise<JournalTrade | null> {
    const [row] = await this.#orm.em.fork().execute<{ client_id: string }[]>(
      `update venue_trade set sale_tried_at = ?
        where client_id = (select client_id from venue_trade
                            where outcome = 'filled' and squared_at is null and venue = ?
                            order by coalesce(sale_tried_at, decided_at), client_id limit 1 for update skip locked)
        returning client_id`,
      [now, this.#venue],
    );
    return row ? this.find(row.client_id) : null;
  }

  async orders(clientId: string, em: EntityManager = this.#orm.em.fork()): Promise<JournalOrder[]> {
    const rows = await em.execute<Record<string, string>[]>(
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
   * Notes an order that is about to be sent. False when it must not be: the trade is decided, another of its orders is
   * under way, or somebody else took the number.
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

  /** Notes an order that the exchange has and this database has not. False when it has it meanwhile. */
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
    await em.execute(
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

  /** Notes how an order ended. One that the exchange executed more than once under its id counts as often. */
  async close(id: string, records: readonly OrderRecord[]): Promise<void> {
    const filled = records.reduce((sum, record) => sum.plus(record.filled), nothing);
    const cost = records.reduce((sum, record) => sum.plus(record.cost), nothing);
    const fees = records.flatMap((record) => record.fees);
    await this.#orm.em
      .fork()
      .execute(
        `update venue_order set state = 'closed', filled = ?, cost = ?, fees = ?::jsonb where id = ? and state = 'sent'`,
        [formatDecimal(filled), formatDecimal(cost), JSON.stringify(fees), id],
      );
  }

  /** Notes that an order was never executed and never will be. */
  async discard(id: string): Promise<void> {
    await this.#orm.em.fork().execute(`update venue_order set state = 'void' where id = ? and state = 'sent'`, [id]);
  }

  /**
   * Decides a trade by its orders; null when one of them is still under way. What was decided before stands, but for a
   * rejection that was taken back.
   */
  async decide(
    clientId: string,
    now: Date,
    verdict: (trade: JournalTrade, orders: readonly JournalOrder[]) => { bought: Big } | 'rejected' | null,
  ): Promise<JournalTrade | null> {
    return this.#orm.em.fork().transactional(async (em) => {
      const trade = await this.#trade(em, clientId, 'for update');
      if (!trade || trade.outcome !== null) return trade;
      const orders = await this.orders(clientId, em);
      if (orders.some((order) => isUnderWay(order, 'main'))) return null;
      const decided = verdict(trade, orders);
      if (decided === null) return null;
      const bought = decided === 'rejected' ? null : formatDecimal(decided.bought);
      const outcome = decided === 'rejected' ? 'rejected' : 'filled';
      await em.execute('update venue_trade set outcome = ?, bought = ?, decided_at = ? where client_id = ?', [
        outcome,
        bought,
        now,
        clientId,
      ]);
      if (outcome === 'rejected') await bookVenueCash(em, { ...trade, bought, venue: this.#venue }, orders, now);
      return { ...trade, outcome, bought };
    });
  }

  /** Notes that the sale of a filled trade is done, and books what it left. */
  async square(clientId: string, now: Date): Promise<void> {
    await this.#orm.em.fork().transactional(async (em) => {
      const trade = await this.#trade(em, clientId, 'for update');
      if (trade?.outcome !== 'filled' || trade.isSquared) return;
      const orders = await this.orders(clientId, em);
      if (orders.some(({ state }) => state === 'sent')) return;
      await em.execute('update venue_trade set squared_at = ? where client_id = ?', [now, clientId]);
      await bookVenueCash(em, { ...trade, venue: this.#venue }, orders, now);
    });
  }

  async #trade(em: EntityManager, clientId: string, lock: '' | 'for update'): Promise<JournalTrade | null> {
    const [row] = await em.execute<Record<string, string | null>[]>(
      `select client_id, sell_coin, sell_amount::text, buy_coin, buy_amount::text, min_buy_amount::text,
              valid_until::text, outcome, bought::text, squared_at::text
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
      outcome: row.outcome as JournalTrade['outcome'],
      bought: row.bought ? formatDecimal(row.bought) : null,
      isSquared: row.squared_at !== null,
    };
  }
}

/** Sales follow a fill, until they are done and booked; anything else comes before the decision. */
function allows({ outcome, isSquared }: JournalTrade, leg: TradeLeg): boolean {
  return leg === 'sale' ? outcome === 'filled' && !isSquared : outcome === null;
}

function isUnderWay(order: JournalOrder, leg: TradeLeg): boolean {
  return order.state === 'sent' && (order.leg === 'sale') === (leg === 'sale');
}
