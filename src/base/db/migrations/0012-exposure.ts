import { Migration } from '@mikro-orm/migrations';

/** What fixed orders were created, by partner and time, what they cost, and caps for each partner. */
export class Migration0012Exposure extends Migration {
  override up(): void {
    this.addSql(`
      alter table partner
        -- max_fixed_exposure_usd is what fixed orders created within an hour may be worth, and this within a day.
        add column max_fixed_day_usd integer check (max_fixed_day_usd > 0),
        add column max_float_exposure_usd integer check (max_float_exposure_usd > 0),
        -- Whether its fixed caps stay when its fixed orders cost more than they bring.
        add column keeps_fixed_caps boolean not null default false;

      -- The worth of the fixed orders that a partner created, in US dollars, in steps of five minutes. A row is raised by the
      -- statement that creates an order, which its lock makes exact. Half of a page stays free, so that a raise moves nothing.
      create table fixed_turnover (
        partner_id uuid not null references partner (id),
        slot timestamptz not null,
        usd numeric(38, 18) not null check (usd > 0),
        primary key (partner_id, slot)
      ) with (fillfactor = 50);
      create index fixed_turnover_slot on fixed_turnover (slot);

      -- What the fixed orders exchanged in an hour came to, by the prices at the decision of each trade, in US dollars.
      create table fixed_result (
        partner_id uuid not null references partner (id),
        hour timestamptz not null,
        orders integer not null check (orders > 0),
        -- What users sent, what they were owed for it before fees, and the service fees on it.
        sent_usd numeric(38, 18) not null check (sent_usd > 0),
        owed_usd numeric(38, 18) not null check (owed_usd > 0),
        fees_usd numeric(38, 18) not null check (fees_usd >= 0),
        primary key (partner_id, hour)
      );
      create index fixed_result_hour on fixed_result (hour);
      create index trade_created on trade (created_at);

      -- Float orders that wait, or are between deposit and payout: few beside all orders.
      create index exchange_order_float_open on exchange_order (partner_id, coin_from)
        include (amount_from_expected, max_amount, status, created_at, deposit_id)
        where rate_type = 'float' and status in ('waiting_deposit', 'confirming', 'exchanging', 'sending');
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
