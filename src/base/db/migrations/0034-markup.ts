import { Migration } from '@mikro-orm/migrations';

/** The markup of partners: its default, its bound and its accrual. The hold of their quotes. */
export class Migration0034Markup extends Migration {
  override up(): void {
    this.addSql(`
      -- The markup of quotes and creates by this key that name none, in basis points.
      alter table api_key add column default_markup_bps integer check (default_markup_bps between 1 and 500);

      alter table partner
        -- Largest markup in basis points. Null for the gateway's.
        add column max_markup_bps integer check (max_markup_bps between 0 and 500),
        -- Seconds for which its binding quotes hold. Null for the gateway's.
        add column quote_hold_sec integer check (quote_hold_sec between 15 and 300),
        -- By how many basis points its used quotes exceeded the market in the last 24 hours. A worker sets both.
        add column quote_adverse_bps numeric(12, 1),
        -- Since when that is above its fixed fee, so that its quotes hold for 15 seconds.
        add column quote_cut_since timestamptz;

      -- How much more the quote gave than the market at the create, and the order's worth in US dollars by its quote.
      alter table order_terms
        add column quote_adverse_bps numeric(12, 4),
        add column quote_usd numeric(38, 18) check (quote_usd > 0),
        add check ((quote_adverse_bps is null) = (quote_usd is null));

      -- For staff who search an order by its beginning.
      create index order_terms_external_search on order_terms (lower(external_id) text_pattern_ops)
        where external_id is not null;

      -- The used fixed quotes of an hour. 'adverse_usd' is what they gave more than the market. Both again for the
      -- orders that got a deposit.
      create table quote_result (
        partner_id uuid not null references partner (id),
        hour timestamptz not null,
        orders integer not null check (orders > 0),
        usd numeric(38, 18) not null check (usd > 0),
        adverse_usd numeric(38, 18) not null,
        paid_usd numeric(38, 18) not null check (paid_usd >= 0),
        paid_adverse_usd numeric(38, 18) not null,
        primary key (partner_id, hour)
      );
      create index quote_result_hour on quote_result (hour);

      -- A partner's account is what it earned by markups. The account 'markup' is their other side. The service fees
      -- stay as they were booked, so that the version before reconciles too.
      alter table ledger_line drop constraint ledger_line_account_check;
      alter table ledger_line add constraint ledger_line_account_check check (
        account in ('deposits', 'hot', 'client', 'venue', 'service_fee', 'network_fee', 'network_cost', 'trading',
                    'unclaimed', 'suspense', 'opening', 'markup')
        or account ~ '^partner:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');

      -- Orders with a markup that were completed before accruals existed.
      with due as (
        select gen_random_uuid() as id, o.id as order_id, o.partner_id, t.coin_to, t.network_to, done.at,
               trunc(t.service_fee * (m.markup_bps / 10000::numeric) / o.fee_rate, 18) as markup
          from order_terms m
          join exchange_order o on o.id = m.order_id and o.status = 'completed' and o.fee_rate > 0
          join trade t on t.order_id = o.id and t.state = 'filled'
          join order_event done on done.order_id = o.id and done.cause = 'payout_confirmed'
         where m.markup_bps > 0
      ), booked as (
        insert into ledger_transaction (id, kind, reference, order_id, at)
        select id, 'markup', order_id::text, order_id, at from due where markup > 0 returning id
      )
      insert into ledger_line (transaction_id, line, account, coin, network, amount)
      select d.id, l.line, l.account, d.coin_to, d.network_to, l.amount
        from booked join due d using (id)
       cross join lateral (values (1, 'markup', d.markup), (2, 'partner:' || d.partner_id, -d.markup))
                           as l (line, account, amount);
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
