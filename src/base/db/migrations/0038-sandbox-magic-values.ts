import { Migration } from '@mikro-orm/migrations';

/** The place of the sandbox in the feed of moves, for orders with magic values. */
export class Migration0038SandboxMagicValues extends Migration {
  override up(): void {
    this.addSql(`
      -- Up to where the sandbox has looked at the moves of orders. One row. It begins now.
      create table sandbox_place (
        only_row boolean primary key default true check (only_row),
        cursor text not null
      );
      insert into sandbox_place (cursor)
      values (pg_snapshot_xmin(pg_current_snapshot())::text || '-00000000-0000-0000-0000-000000000000-0');
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
