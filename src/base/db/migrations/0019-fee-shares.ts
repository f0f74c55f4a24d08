import { Migration } from '@mikro-orm/migrations';

/** The fees of a day are summed by who caused them. */
export class Migration0019FeeShares extends Migration {
  override up(): void {
    this.addSql(`
      create index payment_attempt_signed on payment_attempt (chain, signed_at) where signed_at is not null;
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
