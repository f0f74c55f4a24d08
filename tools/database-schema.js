// Prints the schema that the migrations make as SQL for people. It is read back from a PostgreSQL,
// one block for each table.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrm } from '../dist/app/orm.js';
import { migrate } from '../dist/base/db/database.js';
import { startEmbeddedPostgres } from '../dist/base/db/embedded/embedded-postgres.js';

const tables = `
  select c.relname as name,
    (select string_agg(format('  %I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
              case when a.attnotnull then ' not null' else '' end,
              coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')), E',\\n' order by a.attnum)
       from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    (select string_agg(format('  constraint %I %s', k.conname, pg_get_constraintdef(k.oid)), E',\\n' order by k.contype = 'p' desc, k.conname)
       from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c')) as constraints,
    (select string_agg(pg_get_indexdef(i.indexrelid) || ';', E'\\n' order by i.indexrelid::regclass::text)
       from pg_index i where i.indrelid = c.oid
        and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))) as indexes,
    (select string_agg(pg_get_triggerdef(t.oid) || ';', E'\\n' order by t.tgname)
       from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as triggers
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'migration'
   order by c.relname`;
const sequences = `
  select format('create sequence %I as %s start %s increment %s minvalue %s maxvalue %s;', sequencename, data_type,
                start_value, increment_by, min_value, max_value) as sql
    from pg_sequences where schemaname = 'public' and sequencename not like 'migration%' order by sequencename`;
const functions = `
  select pg_get_functiondef(oid) || ';' as sql from pg_proc
   where pronamespace = 'public'::regnamespace order by proname`;

/** The text of schema/database.sql. */
export async function databaseSchema() {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-schema-'));
  const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: true });
  try {
    const orm = await createOrm({ url: postgres.url, poolSize: 2 });
    await migrate(orm, postgres.url);
    const run = (sql) => orm.em.fork().execute(sql);
    const blocks = (await run(tables)).map(({ name, columns, constraints, indexes, triggers }) =>
      [`create table ${name} (\n${[columns, constraints].filter(Boolean).join(',\n')}\n);`, indexes, triggers]
        .filter(Boolean)
        .join('\n'),
    );
    const rest = [...(await run(sequences)), ...(await run(functions))].map(({ sql }) => sql);
    await orm.close(true);
    return `-- Generated from the migrations by npm run generate. Do not edit.\n\n${[...blocks, ...rest].join('\n\n')}\n`;
  } finally {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
