import { Migration } from '@mikro-orm/migrations';

/** Destination tags of new orders cannot be predicted. */
export class Migration0026SecretTags extends Migration {
  override up(): void {
    this.addSql(`
      -- The key that tags are encrypted with: two random UUIDs, 244 random bits in 64 hexadecimal digits.
      insert into setting (name, value)
        select 'deposit_tag_key', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
      -- Orders up to this index have tags that are not encrypted.
      insert into setting (name, value)
        select 'deposit_tag_last_plain_index', (case when is_called then last_value else 0 end)::text
          from deposit_index_block;
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
