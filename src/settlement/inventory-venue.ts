import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
import { brokenConstraint } from '../db/database.ts';
import { Big, floorTo, formatDecimal, storedDecimals } from '../money.ts';
import type { PriceBook } from '../rates/price-book.ts';
import type { LiquidityVenue, VenueAnswer, VenueOrder } from './liquidity-venue.ts';

export interface InventoryVenueOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: Pick<PriceBook, 'live'>;
}

/** The name under which trades and fills are stored, since the inventory was the sandbox's alone. */
export const inventoryName = 'sandbox';

/** One question about an order at a time. Its '?' stands for the clientId. */
const fillLock = `pg_advisory_xact_lock(hashtextextended('sandbox_fill:' || ?, 0))`;

/**
 * Liquidity of our own: an exchange is a row in the database, at the market's prices and without a spread, and the coins
 * are those of our wallets. It has plenty of every coin but those that have an inventory.
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

  /** Asked under the lock that fills take: who finds no fill is not overtaken by a trade that is half done. */
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

  /** An order that was filled before keeps its fill, whatever the price, the hour and the stock. */
  async #filledOr({ clientId }: VenueOrder, code: string): Promise<VenueAnswer> {
    return (await this.find(clientId)) ?? { outcome: 'rejected', code };
  }

  /** What the sold amount buys at this moment, or null while a price is missing, too old or paused. */
  #worth({ sellCoin, sellAmount, buyCoin }: VenueOrder): Big | null {
    const sell = this.#prices.live(sellCoin);
    const buy = this.#prices.live(buyCoin);
    return sell && buy && floorTo(new Big(sellAmount).times(sell).div(buy), storedDecimals);
  }

  /**
   * Fills an order and moves the stock, in one statement. False, with nothing done, when it was filled before or there
   * is too little: the database refuses a stock below zero. It ends by the time limits of the connection, long before
   * the grace is over after which `find` has the last word.
   */
  async #fill(order: VenueOrder, bought: string): Promise<boolean> {
    const { clientId, sellCoin, sellAmount, buyCoin } = order;
    const filling = this.#orm.em.fork().execute<unknown[]>(
      `with alone as materialized (
         select ${fillLock}::text as lock
       ), held as materialized (
         -- After that lock, and both rows in one order, so that no two trades wait for each other in a circle.
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
