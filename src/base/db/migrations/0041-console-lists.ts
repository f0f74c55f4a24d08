import { Migration } from '@mikro-orm/migrations';

/** Indexes of the audit log's filters and of the decided proposals. */
export class Migration0041ConsoleLists extends Migration {
  override up(): void {
    this.addSql(`
      create index audit_log_operation on audit_log (operation, id);
      create index audit_log_at on audit_log (at);
      create index staff_action_decided on staff_action (decided_at desc, id desc) where decided_at is not null;
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
