import { Migration } from '@mikro-orm/migrations';

/** What a partner agreed on for one order beyond its pair, amount and addresses. */
export class Migration0031OrderTerms extends Migration {
  override up(): void {
    this.addSql(`
      -- One row for an order whose create said more than the pair, the amount and the addresses.
      create table order_terms (
        order_id uuid primary key references exchange_order (id),
        partner_id uuid not null references partner (id),
        -- The partner's own name of the order, unique for ever.
        external_id text check (length(external_id) between 1 and 128),
        -- The 64 random bits of the binding quote that the order used. A quote is used once.
        quote_nonce bytea check (length(quote_nonce) = 8),
        -- The partner's share of the fee in basis points. fee_rate of the order contains it.
        markup_bps integer check (markup_bps >= 0),
        -- The user accepts no smaller payout.
        min_amount_to numeric(38, 18) check (min_amount_to > 0),
        -- What to do in each case that the default does not suit.
        policy jsonb check (jsonb_typeof(policy) = 'object'),
        -- Notes of the partner, never read by the gateway.
        metadata jsonb check (jsonb_typeof(metadata) = 'object')
      );
      create unique index order_terms_external_id on order_terms (partner_id, external_id)
        where external_id is not null;
      create unique index order_terms_quote on order_terms (partner_id, quote_nonce)
        where quote_nonce is not null;
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
