import { Migration } from '@mikro-orm/migrations';

/** One bound for all legs of a trade at an exchange, what could not be closed within it, and the depth of markets. */
export class Migration0013VenueBound extends Migration {
  override up(): void {
    this.addSql(`
      alter table trade
        -- US dollars per unit by the market, when the terms were decided: of either coin, and of the venue's cash.
        add column market_from numeric(38,18) check (market_from > 0),
        add column market_to numeric(38,18) check (market_to > 0),
        add column market_cash numeric(38,18) check (market_cash > 0),
        -- US dollars that the legs may lose together, fees in.
        add column max_loss numeric(38,18) check (max_loss >= 0);

      alter table venue_trade
        -- The coin between the legs; null on trades that are older than these columns.
        add column cash text,
        -- The bound, as trade has it.
        add column price_sell numeric(38,18) check (price_sell > 0),
        add column price_buy numeric(38,18) check (price_buy > 0),
        add column price_cash numeric(38,18) check (price_cash > 0),
        add column max_loss numeric(38,18) check (max_loss >= 0),
        -- The worst prices of its orders, in cash for one coin. Stored before the first order, once.
        add column main_limit numeric(38,18) check (main_limit > 0),
        add column main_fee numeric(38,18) check (main_fee >= 0),
        add column sale_limit numeric(38,18) check (sale_limit > 0),
        -- The worst price of the way back. Stored when the trade is rejected.
        add column return_limit numeric(38,18) check (return_limit >= 0),
        add check ((main_limit is null) = (main_fee is null));

      -- A rejected trade that traded is squared once what it traded was given back.
      update venue_trade set squared_at = decided_at where outcome = 'rejected';
      alter table venue_trade add check (squared_at is null or outcome is not null);
      drop index venue_trade_unsquared;
      create index venue_trade_unsquared on venue_trade (decided_at) where outcome is not null and squared_at is null;
      create index venue_trade_squared on venue_trade (squared_at) where squared_at is not null;

      -- What decided trades have left to trade at exchanges: above zero to sell, below zero to buy back.
      create view venue_position as
        select v.client_id as order_id, v.venue, p.coin, p.amount, v.cash,
               case v.outcome when 'filled' then v.sale_limit else v.return_limit end as limit_price,
               round(p.amount * case p.coin when v.sell_coin then v.price_sell else v.price_buy end, 2) as usd,
               v.decided_at as since
          from venue_trade v
          cross join lateral (
            select case when v.outcome = 'filled' or v.buy_coin = v.cash then v.sell_coin else v.buy_coin end as coin
          ) as held
          cross join lateral (
            select held.coin,
                   case when v.outcome = 'rejected' then 0 when v.sell_coin in (v.cash, v.buy_coin) then 0
                        else v.sell_amount end + coalesce(sum(c.amount), 0) as amount
              from venue_order o
              cross join lateral (
                select case when o.base = held.coin then case o.side when 'buy' then o.filled else -o.filled end
                            else 0 end
                     - coalesce((select sum((fee ->> 'amount')::numeric) from jsonb_array_elements(o.fees) as fee
                                  where fee ->> 'coin' = held.coin), 0) as amount
              ) as c
             where o.client_id = v.client_id and o.state = 'closed'
          ) as p
         where v.outcome is not null and v.squared_at is null and (v.sell_coin is distinct from v.cash or v.outcome = 'rejected');

      -- What each trade at an exchange that is over won or lost, in US dollars at the prices of its bound: what the account
      -- moved, less what was agreed with the user. A fee in a coin other than those of the trade is not in it.
      create view venue_result as
        select v.client_id as order_id, v.venue, v.sell_coin as coin_from, v.buy_coin as coin_to,
               round(m.usd + case v.outcome
                               when 'filled' then v.sell_amount * v.price_sell - v.buy_amount * v.price_buy
                               else 0 end, 6) as usd,
               v.squared_at as at
          from venue_trade v
          cross join lateral (
            select coalesce(sum(c.amount * case c.coin when v.cash then v.price_cash when v.sell_coin then v.price_sell
                                                       when v.buy_coin then v.price_buy else 0 end), 0) as usd,
                   count(*) as orders
              from venue_order o
              cross join lateral (
                select o.base as coin, case o.side when 'buy' then o.filled else -o.filled end as amount
                union all
                select o.quote, case o.side when 'buy' then -o.cost else o.cost end
                union all
                select fee ->> 'coin', -(fee ->> 'amount')::numeric from jsonb_array_elements(o.fees) as fee
              ) as c
             where o.client_id = v.client_id and o.filled > 0
          ) as m
         where v.squared_at is not null and v.price_cash is not null and m.orders > 0;

      alter table price_window
        -- By coin, in US dollars: what the venue's order books hold near the price, on either side.
        add column depth jsonb not null default '{}';

      -- The price at which what a trade left may be closed, as a second member approved it.
      alter table staff_action add column price numeric(38,18) check (price > 0);
      alter table staff_action drop constraint staff_action_action_check;
      alter table staff_action add constraint staff_action_action_check
        check (action in ('refund', 'retry_payout', 'mark_failed', 'hold', 'release', 'venue_price'));
      alter table staff_action add check ((action = 'venue_price') = (price is not null));
      drop index staff_action_open_once;
      create unique index staff_action_open_once on staff_action (action, order_id, deposit_id)
        nulls not distinct
        where state = 'proposed' and action in ('refund', 'retry_payout', 'release', 'venue_price');
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
