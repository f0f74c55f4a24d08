import { Migration } from '@mikro-orm/migrations';

/** Marks deposits whose sighting is decided to be an event of their order or not. */
export class Migration0054ToldDeposits extends Migration {
  override up(): void {
    // Deposits from before tell nothing. The version before inserts without the column.
    this.addSql('alter table deposit add column is_told boolean not null default true');
    this.addSql('alter table deposit alter column is_told set default false');
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
