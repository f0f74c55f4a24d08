import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { Big, formatDecimal, isStorable, parseDecimal, roundToSignificant } from '../../base/money.ts';
import type { StaffAction } from '../rows/staff-action.entity.ts';
import type { Settling } from '../rules/settling.ts';

/**
 * Largest distance of a staff price from the market's, as a fraction, so that a mistyped digit does
 * not cost a position.
 */
const farthest = new Big('0.25');

/**
 * Parses a price that a staff member entered.
 *
 * @throws AppError missing_field, invalid_value
 */
export function priceOf(text: string | undefined): string {
  if (text === undefined)
    throw new AppError('missing_field', 'give the worst price, in the cash of the venue for one coin');
  const price = parseDecimal(text);
  if (!price || price.lte('0') || !isStorable(price)) {
    throw new AppError('invalid_value', `'${text.slice(0, 40)}' is not a price above 0 with at most 18 decimals`);
  }
  return formatDecimal(price);
}

/**
 * Sets the worst price at which the venue closes the position of an order's trade. The venue takes
 * the best price that it finds up to this one.
 *
 * @throws AppError action_not_possible when no position is open, or no live price can validate the
 * price.
 * @throws AppError invalid_value when the price is more than a quarter away from the market's.
 */
export async function setVenuePrice({ em, order, tools }: Settling, { price }: StaffAction): Promise<void> {
  if (price === null) throw new Error('a price was not stored');
  const [position] = await sql<{ coin: string; cash: string | null }>(
    em,
    `select p.coin, p.cash from venue_position p join venue_trade v on v.client_id = p.order_id
      where v.client_id = ? and p.amount <> 0 for update of v`,
    [order.id],
  );
  if (!position) throw new AppError('action_not_possible', 'this order has no open position at the venue');
  const cash = position.cash ?? tools.venue.cash;
  const live = tools.prices.live(position.coin);
  const cashPrice = cash === 'USD' ? new Big('1') : cash === undefined ? null : tools.prices.live(cash);
  if (!live || !cashPrice || cash === undefined) {
    throw new AppError(
      'action_not_possible',
      `no live price of ${position.coin} shows what it is worth; try again later`,
    );
  }
  const market = live.div(cashPrice);
  if (new Big(price).minus(market).abs().gt(market.times(farthest))) {
    const shown = formatDecimal(roundToSignificant(market, 6));
    throw new AppError(
      'invalid_value',
      `${formatDecimal(price)} is more than a quarter away from the market's ${shown}`,
    );
  }
  await sql(
    em,
    `update venue_trade set cash = ?, sale_limit = case outcome when 'filled' then ? else sale_limit end,
                            return_limit = case outcome when 'rejected' then ? else return_limit end
      where client_id = ?`,
    [cash, price, price, order.id],
  );
}
