import { Migration } from '@mikro-orm/migrations';

/** The page of an order for the user who pays it, and its link. */
export class Migration0039OrderPage extends Migration {
  override up(): void {
    this.addSql(`
      alter table partner
        -- Whether its orders have a page for their users.
        add column order_page boolean not null default false,
        -- What the page calls the partner.
        add column display_name text check (length(display_name) between 1 and 60),
        add check (not order_page or display_name is not null);

      -- The link of an order's page. The token of the link is a MAC of the order and the nonce under a key that the
      -- database does not have. A revoked link has none of them.
      create table order_page (
        order_id uuid primary key references exchange_order (id),
        nonce bytea check (length(nonce) = 16),
        key_version integer,
        -- SHA-256 of the token.
        token_hash bytea check (length(token_hash) = 32),
        changed_at timestamptz not null,
        check ((nonce is null) = (token_hash is null) and (nonce is null) = (key_version is null))
      );
      create unique index order_page_token on order_page (token_hash) where token_hash is not null;
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
