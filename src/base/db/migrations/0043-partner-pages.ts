import { Migration } from '@mikro-orm/migrations';

/** The order of the list of partners, and the refused requests of each key. */
export class Migration0043PartnerPages extends Migration {
  override up(): void {
    this.addSql(`
      create index partner_name on partner (lower(name), id);

      -- Refused requests of a key by hour, for two days. Processes add to the rows every some seconds.
      create table key_refusal (
        key_id text not null references api_key (key_id),
        hour timestamptz not null,
        -- Answers 400 to 499 but 429, and answers 429.
        refused bigint not null check (refused >= 0),
        limited bigint not null check (limited >= 0),
        primary key (key_id, hour)
      ) with (fillfactor = 50);
      create index key_refusal_hour on key_refusal (hour);
    `);
  }

  override down(): void {
    throw new Error('migrations of this product only go forward; restore a backup instead');
  }
}
