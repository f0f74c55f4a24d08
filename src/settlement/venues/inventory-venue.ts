import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../clock.ts';
import { brokenConstraint } from '../../db/database.ts';
import { Big, floorTo, formatDecimal, storedDecimals } from '../../money.ts';
import type { PriceBook } from '../../rates/price-book.ts';
import type { LiquidityVenue, VenueAnswer, VenueOrder } from './liquidity-venue.ts';

export interface InventoryVenueOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: Pick<PriceBook, 'live'>;
}

/**
 * The name under which trades and fills are stored. It dates from when only the sandbox had an
 * inventory.
 */
export const inventoryName = 'sandbox';

/** Serializes requests about an order. Its '?' stands for the clientId. */
const fillLock = `pg_advisory_xact_lock(hashtextextended('sandbox_fill:' || ?, 0))`;

/**
 * Fills trades from our own inventory. A trade is a row in the database, at market prices and
 * without a spread; the coins are in our wallets. A coin without an inventory row is unlimited.
 */
export class InventoryVenue implements LiquidityVenue {
  readonly name = inventoryName;
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  readonly #prices: InventoryVenueOptions['prices'];

  constructor({ orm, clock, prices }: InventoryVenueOptions) {
    this.#orm = orm;
    this.#clock = clock;
    this.#prices = prices;
  }

  async trade(order: VenueOrder): Promise<VenueAnswer> {
    const bought = this.#worth(order);
    if (bought === null) return this.#filledOr(order, 'no_price');
    if (bought.lt(order.minBuyAmount)) return this.#filledOr(order, 'slippage');
    if (this.#clock.now() > order.validUntil) return this.#filledOr(order, 'too_late');
    const amount = formatDecimal(bought);
    const isFilled = await this.#fill(order, amount);
    return isFilled ? { outcome: 'filled', bought: amount } : this.#filledOr(order, 'no_inventory');
  }

  /**
   * Finds a fill under the lock that fills take. A concurrent trade thus cannot fill after `find`
   * found nothing.
   */
  async find(clientId: string): Promise<VenueAnswer | null> {
    return this.#orm.em.fork().transactional(async (em) => {
      await em.execute(`select ${fillLock}`, [clientId]);
      const [fill] = await em.execute<{ bought: string }[]>(
        'select bought::text as bought from sandbox_fill where client_id = ?',
        [clientId],
      );
      return fill === undefined ? null : { outcome: 'filled', bought: formatDecimal(fill.bought) };
    });
  }

  /** An order that was filled before keeps its fill, at any later price, time and stock. */
  async #filledOr({ clientId }: VenueOrder, code: string): Promise<VenueAnswer> {
    return (await this.find(clientId)) ?? { outcome: 'rejected', code };
  }

  /** The amount that the sold amount buys now. Null while a price is missing, too old or paused. */
  #worth({ sellCoin, sellAmount, buyCoin }: VenueOrder): Big | null {
    const sell = this.#prices.live(sellCoin);
    const buy = this.#prices.live(buyCoin);
    return sell && buy && floorTo(new Big(sellAmount).times(sell).div(buy), storedDecimals);
  }

  /**
   * Fills an order and moves the stock, in one statement. Returns false, without a change, when the
   * order was filled before or the stock is too small: the database refuses a stock below zero. The
   * connection's timeouts end it long before the grace ends after which `find` is final.
   */
  async #fill(order: VenueOrder, bought: string): Promise<boolean> {
    const { clientId, sellCoin, sellAmount, buyCoin } = order;
    const filling = this.#orm.em.fork().execute<unknown[]>(
      `with alone as materialized (
         select ${fillLock}::text as lock
       ), held as materialized (
         -- Taken after the lock, and always in the same order, so that no two trades deadlock.
         select coin from sandbox_inventory
          where (select lock from alone) is not null and coin in (?, ?) order by coin for update
       ), filled as (
         insert into sandbox_fill (client_id, sell_coin, sell_amount, buy_coin, bought, at)
         select ?, ?, ?::numeric, ?, ?::numeric, ?::timestamptz where (select count(*) from held) >= 0
         on conflict (client_id) do nothing returning client_id, sell_coin, sell_amount, buy_coin, bought
       ), moved as (
         update sandbox_inventory i
            set amount = i.amount + case when i.coin = f.sell_coin then f.sell_amount else 0 end
                                  - case when i.coin = f.buy_coin then f.bought else 0 end
           from filled f where i.coin in (f.sell_coin, f.buy_coin)
       )
       select client_id from filled`,
      [clientId, sellCoin, buyCoin, clientId, sellCoin, sellAmount, buyCoin, bought, this.#clock.now()],
    );
    const rows = await filling.catch((error) => {
      if (brokenConstraint(error) === 'sandbox_inventory_amount_check') return [];
      throw error;
    });
    return rows.length > 0;
  }
}
