import { Migration } from '@mikro-orm/migrations';

/** Trades at exchanges, and the orders they consist of. */
export class Migration0007VenueOrders extends Migration {
  override up(): void {
    this.addSql(`
      create table venue_trade (
        -- Id of the order that it is for.
        client_id uuid primary key,
        venue text not null,
        sell_coin text not null,
        sell_amount numeric(38,18) not null check (sell_amount > 0),
        buy_coin text not null,
        buy_amount numeric(38,18) not null check (buy_amount > 0),
        min_buy_amount numeric(38,18) not null check (min_buy_amount >= 0),
        valid_until timestamptz not null,
        -- Null while it is not decided. Filled is for ever.
        outcome text check (outcome in ('filled', 'rejected')),
        bought numeric(38,18) check (bought > 0),
        created_at timestamptz not null,
        decided_at timestamptz,
        -- When what was sold had been turned into cash, but for what is too little to be sold.
        squared_at timestamptz,
        -- When it was last taken up to be sold, after the trade itself had tried.
        sale_tried_at timestamptz,
        check ((outcome is null) = (decided_at is null)),
        check ((bought is not null) = (outcome is not distinct from 'filled'))
      );
      create index venue_trade_unsquared on venue_trade (decided_at) where outcome = 'filled' and squared_at is null;
      -- Exchanges that should have been over long ago.
      create index exchange_order_exchanging on exchange_order (exchange_deadline, id) where status = 'exchanging';

      -- One order at an exchange, written before it is sent.
      create table venue_order (
        -- The client id under which the exchange has it.
        id uuid primary key,
        client_id uuid not null references venue_trade (client_id),
        -- main: what fills the trade. return: the way back, when it fell short. sale: what was sold, for cash.
        leg text not null check (leg in ('main', 'return', 'sale')),
        number integer not null check (number > 0),
        base text not null,
        quote text not null,
        side text not null check (side in ('buy', 'sell')),
        amount numeric(38,18) not null check (amount > 0),
        limit_price numeric(38,18) not null check (limit_price > 0),
        -- When the exchange takes it no more.
        not_after timestamptz not null,
        sent_at timestamptz not null,
        -- sent: nobody knows yet. closed: over, with these figures. void: never executed.
        state text not null check (state in ('sent', 'closed', 'void')),
        filled numeric(38,18) check (filled >= 0),
        cost numeric(38,18) check (cost >= 0),
        -- [{"coin": "BTC", "amount": "0.001"}]
        fees jsonb,
        unique (client_id, leg, number),
        check ((state = 'closed') = (filled is not null and cost is not null and fees is not null))
      );
      -- One order of a leg at a time: the next waits until the fate of the one before is known.
      create unique index venue_order_sent on venue_order (client_id, (leg = 'sale')) where state = 'sent';
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
