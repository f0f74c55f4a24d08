import { Migration } from '@mikro-orm/migrations';

/** Shares of processes of the cap on the fixed-rate orders of all partners. */
export class Migration0047ExposureShares extends Migration {
  override up(): void {
    this.addSql(`
      -- What each process may admit, or is creating, in US dollars. Others count it as used while it lasts.
      create table exposure_share (
        process uuid primary key,
        usd numeric(38, 18) not null check (usd >= 0),
        until timestamptz not null
      );
    `);
  }
}
