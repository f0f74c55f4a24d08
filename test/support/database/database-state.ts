import { query } from './database.ts';

/** Tables that a gateway changes by itself, apart from requests. */
const moving =
  /^(api_traffic|chain_state|key_refusal|price_window|wallet_level|worker|order_stat\w*|fixed_result|sandbox_\w+|own_output|history_turn|(wallet|chain|venue)_history|venue_level|webhook_place|exposure_share|payout_watch|reconciliation|partner_challenge|partner_confirmation)$/;
/** Notes of use, which are no rights or money. */
const uses = `- 'last_used_at' - 'last_used_from' - 'last_seen_at' - 'counter'`;

/**
 * A digest of each table that holds money, orders, access or settings; addresses that no order has
 * are left out.
 */
async function databaseState(databaseUrl: string): Promise<Record<string, string>> {
  const tables = await query<{ name: string }>(
    databaseUrl,
    `select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
  );
  const still = tables.map(({ name }) => name).filter((name) => !moving.test(name));
  const digests = still.map((name) => {
    const rows = name === 'deposit_address' ? 'deposit_address where leased_at is not null' : name;
    const row = `(to_jsonb(${name}) ${uses})::text`;
    return `select '${name}' as name, count(*) || ' ' || coalesce(md5(string_agg(${row}, '' order by ${row})), '') as digest from ${rows}`;
  });
  const found = await query<{ name: string; digest: string }>(databaseUrl, digests.join(' union all '));
  return Object.fromEntries(found.map(({ name, digest }) => [name, digest]));
}

/** Runs attempts that may change nothing, and looks at the database before and after. */
export async function changingNothing(
  { databaseUrl }: { databaseUrl: string },
  run: () => Promise<void>,
): Promise<void> {
  const before = await databaseState(databaseUrl);
  await run();
  expect(await databaseState(databaseUrl)).toEqual(before);
}
