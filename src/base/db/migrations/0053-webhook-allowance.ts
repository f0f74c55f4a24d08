import { Migration } from '@mikro-orm/migrations';

/** Counts the deliveries that each partner asks for in a day: replays, tests and samples. */
export class Migration0053WebhookAllowance extends Migration {
  override up(): void {
    this.addSql(`
      create table webhook_allowance (
        partner_id uuid primary key references partner (id),
        -- A day of UTC, and the deliveries that were made in it.
        day date not null,
        made integer not null check (made >= 0)
      )`);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
