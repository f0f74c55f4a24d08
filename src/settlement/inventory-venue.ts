import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
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
    const before = await storedFill(this.#orm.em.fork(), order.clientId);
    if (before !== null) return before;
    const bought = this.#worth(order);
    if (bought === null) return { outcome: 'rejected', code: 'no_price' };
    if (bought.lt(order.minBuyAmount)) return { outcome: 'rejected', code: 'slippage' };
    return this.#alone(order.clientId, (em) => this.#fill(em, order, bought));
  }

  async find(clientId: string): Promise<VenueAnswer | null> {
    return this.#alone(clientId, (em) => storedFill(em, clientId));
  }

  /** One question about an order at a time: who finds no fill is not overtaken by a trade that is half done. */
  async #alone<T>(clientId: string, work: (em: EntityManager) => Promise<T>): Promise<T> {
    return this.#orm.em.fork().transactional(async (em) => {
      await em.execute(`select pg_advisory_xact_lock(hashtextextended('sandbox_fill:' || ?, 0))`, [clientId]);
      return work(em);
    });
  }

  /** What the sold amount buys at this moment, or null while a price is missing, too old or paused. */
  #worth({ sellCoin, sellAmount, buyCoin }: VenueOrder): Big | null {
    const sell = this.#prices.live(sellCoin);
    const buy = this.#prices.live(buyCoin);
    return sell && buy && floorTo(new Big(sellAmount).times(sell).div(buy), storedDecimals);
  }

  async #fill(em: EntityManager, order: VenueOrder, bought: Big): Promise<VenueAnswer> {
    const { clientId, sellCoin, sellAmount, buyCoin, validUntil } = order;
    // It may have been filled since it was looked up; then its fill stands, whatever the hour and the stock.
    const filled = await storedFill(em, clientId);
    if (filled !== null) return filled;
    const now = this.#clock.now();
    if (now > validUntil) return { outcome: 'rejected', code: 'too_late' };
    // Both rows in one order, so that two trades in opposite directions do not wait for each other in a circle.
    const inventory = await em.execute<{ coin: string; amount: string }[]>(
      `select coin, amount::text as amount from sandbox_inventory where coin in (?, ?) order by coin for update`,
      [sellCoin, buyCoin],
    );
    const left = inventory.find(({ coin }) => coin === buyCoin);
    if (left !== undefined && bought.gt(left.amount)) return { outcome: 'rejected', code: 'no_inventory' };
    const amount = formatDecimal(bought);
    await em.execute(
      'insert into sandbox_fill (client_id, sell_coin, sell_amount, buy_coin, bought, at) values (?, ?, ?, ?, ?, ?)',
      [clientId, sellCoin, sellAmount, buyCoin, amount, now],
    );
    if (inventory.length > 0) {
      await em.execute(
        `update sandbox_inventory
            set amount = amount + case when coin = ? then ?::numeric else 0 end
                                - case when coin = ? then ?::numeric else 0 end
          where coin in (?, ?)`,
        [sellCoin, sellAmount, buyCoin, amount, sellCoin, buyCoin],
      );
    }
    return { outcome: 'filled', bought: amount };
  }
}

async function storedFill(em: EntityManager, clientId: string): Promise<VenueAnswer | null> {
  const [fill] = await em.execute<{ bought: string }[]>(
    'select bought::text as bought from sandbox_fill where client_id = ?',
    [clientId],
  );
  return fill === undefined ? null : { outcome: 'filled', bought: formatDecimal(fill.bought) };
}
