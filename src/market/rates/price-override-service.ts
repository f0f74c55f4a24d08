import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { Big, formatDecimal, isStorable, parseDecimal, roundToSignificant } from '../../base/money.ts';
import { Currency } from '../currencies/currency.entity.ts';
import { PriceOverride } from './price-override.entity.ts';

/** A price set by staff: units of coin_to for one of coin_from, before fees, until `endsAt`. */
interface NewPriceOverride {
  readonly coinFrom: string;
  readonly coinTo: string;
  readonly price: string;
  readonly endsAt: Date;
}

/**
 * Largest distance from the market price, as a fraction. It stops a mistyped digit from costing
 * users coins.
 */
const farthest = new Big('0.25');
/** Longest duration. A price that staff forgot ends within a week. */
const longestMs = 7 * 24 * 3_600_000;

/**
 * Stores the prices that staff set by hand for a pair of coins. Every process reads them at its
 * next price refresh.
 */
export class PriceOverrideService {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /** Lists the prices in force, oldest first. */
  async live(em: EntityManager = this.#orm.em.fork()): Promise<PriceOverride[]> {
    const where = { endedAt: null, endsAt: { $gt: this.#clock.now() } };
    return em.find(PriceOverride, where, { orderBy: { id: 'asc' } });
  }

  /**
   * Sets a price and ends the pair's earlier one.
   *
   * @param market the pair's market price, from which the new price may be a quarter away; null
   * without one.
   * @throws AppError invalid_value, unknown_coin
   */
  async set(
    staffId: string,
    { coinFrom, coinTo, price: text, endsAt }: NewPriceOverride,
    market: Big | null,
    em: EntityManager = this.#orm.em.fork(),
  ): Promise<PriceOverride> {
    const now = this.#clock.now();
    const price = parseDecimal(text);
    if (!price || price.lte('0') || !isStorable(price)) {
      throw new AppError('invalid_value', `'${text.slice(0, 40)}' is not a price above 0 with at most 18 decimals`);
    }
    if (market && price.minus(market).abs().gt(market.times(farthest))) {
      const shown = formatDecimal(roundToSignificant(market, 6));
      throw new AppError('invalid_value', `${text} is more than a quarter away from the market's ${shown}`);
    }
    if (coinFrom === coinTo) throw new AppError('invalid_value', 'a pair has two different coins');
    if (endsAt <= now || endsAt.getTime() > now.getTime() + longestMs) {
      throw new AppError('invalid_value', 'a price set by hand ends in the future, at most seven days from now');
    }
    return em.transactional(async (tx) => {
      for (const coin of [coinFrom, coinTo]) {
        if ((await tx.count(Currency, { coin })) === 0) {
          throw new AppError('unknown_coin', `there is no such coin: '${coin.slice(0, 40)}'`);
        }
      }
      await this.#end(tx, coinFrom, coinTo);
      const override = tx.create(PriceOverride, {
        id: uuidv7(),
        coinFrom,
        coinTo,
        price: formatDecimal(price),
        staffId,
        createdAt: now,
        endsAt,
        endedAt: null,
      });
      await tx.flush();
      return override;
    });
  }

  /**
   * Ends the pair's price set by hand; the market price holds again.
   *
   * @throws AppError not_found when the pair has none.
   */
  async end(coinFrom: string, coinTo: string, em: EntityManager = this.#orm.em.fork()): Promise<PriceOverride> {
    return em.transactional(async (tx) => {
      const override = await this.#end(tx, coinFrom, coinTo);
      if (!override) throw new AppError('not_found', `no price of ${coinFrom} in ${coinTo} is set by hand`);
      return override;
    });
  }

  async #end(em: EntityManager, coinFrom: string, coinTo: string): Promise<PriceOverride | null> {
    // Two concurrent calls would both find no row, or the same row. The lock lets readers continue.
    await sql(em, 'lock table price_override in share row exclusive mode');
    const override = await em.findOne(PriceOverride, { coinFrom, coinTo, endedAt: null });
    if (!override) return null;
    override.endedAt = this.#clock.now();
    await em.flush();
    return override;
  }
}
