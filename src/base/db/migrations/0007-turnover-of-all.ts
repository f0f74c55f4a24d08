import { Migration } from '@mikro-orm/migrations';

/** The cap on the fixed-rate orders of all partners is counted like those of each. */
const turnover = `
-- The worth of the fixed orders of all partners, in US dollars, in steps of five minutes. The
-- statement that creates orders raises a row under its lock, and says what the cap leaves for it.
create table fixed_turnover_all (
  slot timestamptz primary key,
  usd numeric(38, 18) not null check (usd > 0),
  room numeric(38, 18) not null,
  constraint fixed_turnover_all_room check (usd <= room)
) with (fillfactor = 50);

insert into fixed_turnover_all (slot, usd, room)
select slot, sum(usd), sum(usd) from fixed_turnover group by slot;
`;

export class Migration0007TurnoverOfAll extends Migration {
  override up(): void {
    this.addSql(turnover);
  }
}
