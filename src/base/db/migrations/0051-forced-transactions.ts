import { Migration } from '@mikro-orm/migrations';

/** Marks transactions that a partner of a sandbox has taken out of a chain, for its order alone. */
export class Migration0051ForcedTransactions extends Migration {
  override up(): void {
    this.addSql(`
      alter table sandbox_tx add column forced boolean not null default false;
    `);
  }
}
