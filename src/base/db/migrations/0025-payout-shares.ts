import { Migration } from '@mikro-orm/migrations';

/** Limits on automatic payments are shared out between refunds and partners. */
export class Migration0025PayoutShares extends Migration {
  override up(): void {
    this.addSql(`
      -- What refunds, and the payouts and refunds of a partner, began in each minute is worth. Coin and network are empty
      -- for all assets together.
      create table payout_share_spent (
        -- 'refunds', or the id of a partner.
        share text not null,
        coin text not null,
        network text not null,
        minute timestamptz not null,
        usd numeric(24,2) not null check (usd >= 0),
        primary key (share, coin, network, minute)
      );
      create index payout_share_spent_minute on payout_share_spent (minute);
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
