import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { brokenConstraint } from '../../base/db/database.ts';
import { sql } from '../../base/db/sql.ts';
import { Big, floorTo, formatDecimal, storedDecimals } from '../../base/money.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import {
  inventoryName,
  type LiquidityVenue,
  type VenueAnswer,
  type VenueFill,
  type VenueOrder,
} from '../rows/liquidity-venue.ts';

interface InventoryVenueOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: Pick<PriceBook, 'live'>;
  /** Orders may be forced to be rejected. True in a sandbox only. */
  readonly isSandbox?: boolean;
}

/** SQL: the advisory lock that serializes requests about an order, by its clientId. */
const lockKey = (clientId: string): string => `hashtextextended('sandbox_fill:' || ${clientId}, 0)`;

/** SQL: no partner has forced this venue to reject the order, or to give no answer. */
const mayFill = `not exists (
  select from sandbox_outcome f
   where f.order_id::text = asked.client_id and f.outcome in ('venue_rejects', 'venue_silent'))`;

/** An order, and the amount that it buys. */
interface Decided {
  readonly order: VenueOrder;
  readonly bought: string;
}

/**
 * Fills trades from our own inventory. A trade is a row in the database, at market prices and
 * without a spread; the coins are in our wallets. A coin without an inventory row is unlimited.
 */
export class InventoryVenue implements LiquidityVenue {
  readonly name = inventoryName;
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  readonly #prices: InventoryVenueOptions['prices'];
  readonly #isSandbox: boolean;
  /** SQL: whether an order that is asked for may be filled. */
  readonly #mayFill: string;

  constructor({ orm, clock, prices, isSandbox = false }: InventoryVenueOptions) {
    this.#orm = orm;
    this.#clock = clock;
    this.#prices = prices;
    this.#isSandbox = isSandbox;
    this.#mayFill = isSandbox ? mayFill : 'true';
  }

  async trade(order: VenueOrder): Promise<VenueAnswer> {
    const decided = this.#decide(order);
    if ('code' in decided) return this.#filledOr(order, decided.code);
    const fills = await this.#fill([decided]);
    return fills.get(order.clientId) ?? this.#filledOr(order, 'no_inventory');
  }

  /** Fills what it can in one statement. None, when the stock of a coin is too small for all. */
  tradeAll(orders: readonly VenueOrder[]): Promise<ReadonlyMap<string, VenueFill>> {
    return this.#fill(
      orders.flatMap((order) => {
        const decided = this.#decide(order);
        return 'code' in decided ? [] : [decided];
      }),
    );
  }

  /** The amount that an order buys now, or why it cannot be filled. */
  #decide(order: VenueOrder): Decided | { readonly code: string } {
    const bought = this.#worth(order);
    if (bought === null) return { code: 'no_price' };
    if (bought.lt(order.minBuyAmount)) return { code: 'slippage' };
    if (this.#clock.now() > order.validUntil) return { code: 'too_late' };
    return { order, bought: formatDecimal(bought) };
  }

  /**
   * Finds a fill under the lock that fills take. A concurrent trade thus cannot fill after `find`
   * found nothing.
   */
  async find(clientId: string): Promise<VenueAnswer | null> {
    return this.#orm.em.fork().transactional(async (em) => {
      await sql(em, `select pg_advisory_xact_lock(${lockKey('?')})`, [clientId]);
      const [fill] = await sql<{ bought: string }>(
        em,
        'select bought::text as bought from sandbox_fill where client_id = ?',
        [clientId],
      );
      return fill === undefined ? null : { outcome: 'filled', bought: formatDecimal(fill.bought) };
    });
  }

  /** An order that was filled before keeps its fill, at any later price, time and stock. */
  async #filledOr({ clientId }: VenueOrder, code: string): Promise<VenueAnswer> {
    const filled = await this.find(clientId);
    if (filled) return filled;
    if (this.#isSandbox && (await this.#isSilent(clientId))) throw new Error('a partner forced the venue to be silent');
    return { outcome: 'rejected', code };
  }

  async #isSilent(clientId: string): Promise<boolean> {
    const rows = await sql(
      this.#orm.em.fork(),
      "select 1 from sandbox_outcome where order_id::text = ? and outcome = 'venue_silent'",
      [clientId],
    );
    return rows.length > 0;
  }

  /** The amount that the sold amount buys now. Null while a price is missing, too old or paused. */
  #worth({ sellCoin, sellAmount, buyCoin }: VenueOrder): Big | null {
    const sell = this.#prices.live(sellCoin);
    const buy = this.#prices.live(buyCoin);
    return sell && buy && floorTo(new Big(sellAmount).times(sell).div(buy), storedDecimals);
  }

  /**
   * Fills orders and moves the stock, in one statement. Returns the fills it made. An order that
   * was filled before is left out. When the stock of a coin is too small for all, nothing changes:
   * the database refuses a stock below zero. The connection's timeouts end the statement long
   * before the grace ends after which `find` is final.
   */
  async #fill(decided: readonly Decided[]): Promise<ReadonlyMap<string, VenueFill>> {
    if (decided.length === 0) return new Map();
    const rows = decided.map(({ order: { clientId, sellCoin, sellAmount, buyCoin }, bought }) => {
      return { client_id: clientId, sell_coin: sellCoin, sell_amount: sellAmount, buy_coin: buyCoin, bought };
    });
    const filling = sql<{ client_id: string }>(
      this.#orm.em.fork(),
      `with asked as materialized (
         select * from jsonb_to_recordset(?::jsonb)
                  as a (client_id text, sell_coin text, sell_amount numeric, buy_coin text, bought numeric)
       ), alone as materialized (
         -- Always in the same order, as the coins below, so that no two statements deadlock.
         select pg_advisory_xact_lock(key)::text as lock
           from (select distinct ${lockKey('client_id')} as key from asked order by 1) as keys
       ), held as materialized (
         select coin from sandbox_inventory
          where (select count(lock) from alone) > 0
            and coin in (select sell_coin from asked union select buy_coin from asked)
          order by coin for update
       ), filled as (
         insert into sandbox_fill (client_id, sell_coin, sell_amount, buy_coin, bought, at)
         select client_id, sell_coin, sell_amount, buy_coin, bought, ?::timestamptz from asked
          where (select count(*) from held) >= 0 and ${this.#mayFill}
         on conflict (client_id) do nothing returning client_id, sell_coin, sell_amount, buy_coin, bought
       ), moved as (
         update sandbox_inventory i set amount = i.amount + m.amount
           from (select coin, sum(amount) as amount
                   from (select sell_coin as coin, sell_amount as amount from filled
                         union all
                         select buy_coin, -bought from filled) as each
                  group by coin) as m
          where i.coin = m.coin
       )
       select client_id from filled`,
      [JSON.stringify(rows), this.#clock.now()],
    );
    const filled = await filling.catch((error) => {
      if (brokenConstraint(error) === 'sandbox_inventory_amount_check') return [];
      throw error;
    });
    const amounts = new Map(decided.map(({ order, bought }) => [order.clientId, bought]));
    return new Map(
      filled.map(({ client_id: id }) => [id, { outcome: 'filled', bought: amounts.get(id) ?? '' } as const]),
    );
  }
}
