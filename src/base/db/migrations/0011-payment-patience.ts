import { Migration } from '@mikro-orm/migrations';

/** How often a payment could not begin. */
export class Migration0011PaymentPatience extends Migration {
  override up(): void {
    this.addSql(`
      -- Since it last went on: how often its transaction could not be built or was refused. Each time it waits longer, and
      -- payments that never failed go before it.
      alter table payment add column tries integer not null default 0 check (tries >= 0);
      create index payment_tried on payment (chain, next_action_at) where state = 'ready' and tries > 0;
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
