import { Migration } from '@mikro-orm/migrations';

/**
 * Coins of deposits that their chain does not let us sweep: a token that blocks their address, or
 * fees above the maximum. A source is an address, or the key of an output. Its row goes once it is
 * swept.
 */
const refusals = `
create table sweep_refusal (
  chain text not null,
  source text not null,
  contract text,
  coin text not null,
  network text not null,
  problem text not null,
  since timestamptz not null,
  tries integer not null check (tries > 0),
  again_at timestamptz not null
);
create unique index sweep_refusal_once on sweep_refusal (chain, source, contract) nulls not distinct;
create index sweep_refusal_since on sweep_refusal (since);
`;

export class Migration0004SweepRefusals extends Migration {
  override up(): void {
    this.addSql(refusals);
  }
}
