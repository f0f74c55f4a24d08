// Measures what partitions by month would cost the table of orders. One plain and one partitioned
// table have the same rows. Lookups and creates take turns on both, then the oldest month goes.
// docs/performance.md explains the figures.
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { onInterrupt, wholeNumber } from '../support/command-line.ts';
import { openBenchDatabase } from '../support/database/bench-database.ts';
import { seedOrders } from '../support/database/seed-orders.ts';
import { median } from './report.ts';
import { postgresCpuMs } from './usage.ts';

const help = `Usage: npm run bench -- partitions [options]

  --orders N    that each of the two tables has; 10000000 unless given
  --months N    over which they are spread, each with a partition; 12 unless given
  --rounds N    in which the tables take turns; 9 unless given

10 million orders take 14 GB and some twelve minutes. The rows are copies of one order with ids of their own.
`;

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '10000000' },
    months: { type: 'string', default: '12' },
    rounds: { type: 'string', default: '9' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}

const orders = wholeNumber(options, 'orders');
const months = wholeNumber(options, 'months');
const rounds = wholeNumber(options, 'rounds');
const monthMs = 30 * 24 * 3_600_000;
/** Orders of a statement: half of 32 that wait, as the gateway sends them. */
const together = 16;
const statementsInRound = 300;
/** Begins a step, and names it. After a signal it ends the benchmark and its database instead. */
function begin(line: string): void {
  interrupted.throwIfAborted();
  process.stderr.write(`${line}\n`);
}

const interrupted = onInterrupt();
const endMs = Date.now() + monthMs / 2;
const startMs = endMs - months * monthMs;

type Kind = 'plain' | 'partitioned';
const kinds: readonly Kind[] = ['plain', 'partitioned'];

/** The least id of a moment. */
const idFrom = (ms: number): string => uuidv7({ msecs: ms, random: new Uint8Array(16) });

/** Columns with a separate value in each row. The others are those of one order. */
const own = ['id', 'short_id', 'deposit_address_id', 'created_at', 'updated_at'];

async function makeTables(client: Client): Promise<void> {
  await client.query('create table plain (like exchange_order including defaults including storage)');
  await client.query(
    'create table partitioned (like exchange_order including defaults including storage) partition by range (id)',
  );
  for (let month = 0; month <= months; month++) {
    const [from, to] = [idFrom(startMs + month * monthMs), idFrom(startMs + (month + 1) * monthMs)];
    await client.query(`create table month_${month} partition of partitioned for values from ('${from}') to ('${to}')`);
  }
  // Unique indexes of PostgreSQL hold for a partition, so short ids need a separate table.
  await client.query('create table order_name (short_id text, order_id uuid)');
}

/** The columns of an order without the given ones. */
async function otherColumns(client: Client, without: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = 'plain' order by ordinal_position`,
  );
  return rows.map(({ name }) => name).filter((name) => !without.includes(name));
}

/** Writes the rows of a month into both tables. */
async function fill(client: Client, month: number): Promise<void> {
  const from = startMs + month * monthMs;
  const number = Math.round((orders * (month + 1)) / months) - Math.round((orders * month) / months);
  begin(`month ${month + 1} of ${months}: ${number.toLocaleString('en')} orders`);
  const others = await otherColumns(client, own);
  const columns = [...own, ...others].join(', ');
  await client.query(
    `insert into plain (${columns})
       select (lpad(to_hex(ms), 12, '0') || '7' || substr(salt, 1, 3) || 'a' || substr(salt, 4, 15))::uuid,
              upper(substr(salt, 19, 13)), gen_random_uuid(), to_timestamp(ms / 1000.0),
              to_timestamp(ms / 1000.0) + interval '1 hour', ${others.join(', ')}
         from generate_series(1, $1::int) as i,
              lateral (select $2::bigint + i * $3::bigint / $1 as ms, md5($4::text || i) as salt) as one,
              (select * from exchange_order where status = 'completed' limit 1) as sample`,
    [number, from, Math.min(monthMs, endMs - from), `${month} `],
  );
  await client.query(
    `insert into partitioned select * from plain where id >= '${idFrom(from)}' and id < '${idFrom(from + monthMs)}'`,
  );
}

/** The indexes that a create writes and a lookup reads. */
async function makeIndexes(client: Client, kind: Kind): Promise<void> {
  const unique = kind === 'plain' ? 'unique' : '';
  const statements = [
    `alter table ${kind} add primary key (id)`,
    `create ${unique} index on ${kind} (deposit_address_id)`,
    `create index on ${kind} (partner_id, created_at desc, id desc)`,
    `create index on ${kind} (status, created_at, id) where status not in ('completed', 'expired')`,
    `create index on ${kind} (next_action_at) where next_action_at is not null`,
  ];
  for (const [i, statement] of statements.entries()) {
    begin(`index ${i + 1} of ${statements.length} of the ${kind} table`);
    await client.query(statement);
  }
  if (kind === 'plain') await client.query('create unique index on plain (short_id)');
  else {
    await client.query('insert into order_name select short_id, id from partitioned');
    await client.query('alter table order_name add primary key (short_id)');
  }
}

interface Work {
  readonly name: string;
  readonly text: Record<Kind, string>;
  readonly values: () => unknown[];
}

/** What the gateway does with the table, for the orders of one statement. */
async function worksOf(client: Client): Promise<Work[]> {
  const { rows: known } = await client.query<{ id: string; short_id: string }>(
    'select id, short_id from plain tablesample bernoulli (1)',
  );
  const some = (): typeof known =>
    Array.from({ length: together }, () => known[Math.floor(Math.random() * known.length)] ?? { id: '', short_id: '' });
  const byId = (kind: Kind): string =>
    `select o.* from unnest($1::uuid[]) as asked (id) join ${kind} o on o.id = asked.id`;
  const sample = `(select * from plain where id = $3::uuid) as sample`;
  const others = await otherColumns(client, ['id', 'short_id', 'deposit_address_id']);
  const create = (kind: Kind): string =>
    `insert into ${kind} (id, short_id, deposit_address_id, ${others.join(', ')})
       select new.id, new.short_id, gen_random_uuid(), ${others.join(', ')}
         from unnest($1::uuid[], $2::text[]) as new (id, short_id), ${sample}`;
  return [
    {
      name: 'lookup by id',
      text: { plain: byId('plain'), partitioned: byId('partitioned') },
      values: () => [some().map(({ id }) => id)],
    },
    {
      name: 'lookup by short id',
      text: {
        plain: 'select o.* from unnest($1::text[]) as asked (short_id) join plain o using (short_id)',
        partitioned: `select o.* from unnest($1::text[]) as asked (short_id) join order_name n using (short_id)
                        join partitioned o on o.id = n.order_id`,
      },
      values: () => [some().map(({ short_id }) => short_id)],
    },
    {
      name: 'create',
      text: {
        plain: create('plain'),
        partitioned: `with made as (${create('partitioned')} returning id, short_id)
                      insert into order_name select short_id, id from made`,
      },
      values: () => {
        const ids = Array.from({ length: together }, () => uuidv7());
        return [ids, ids.map((id) => id.slice(-13)), known[0]?.id];
      },
    },
  ];
}

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

async function measure(client: Client, { name, text, values }: Work, kind: Kind, dataDir: string): Promise<Cost> {
  const before = (await postgresCpuMs(dataDir)) ?? Number.NaN;
  const start = performance.now();
  for (let n = 0; n < statementsInRound; n++) {
    await client.query({ name: `${name} ${kind}`, text: text[kind], values: values() });
  }
  const ms = (performance.now() - start) / statementsInRound;
  return { ms, cpuMs: (((await postgresCpuMs(dataDir)) ?? Number.NaN) - before) / statementsInRound };
}

/** How long it takes to delete the oldest month, or to detach its partition. */
async function endOfMonth(client: Client): Promise<Record<Kind, number>> {
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  const border = idFrom(startMs + monthMs);
  return {
    plain: await timed(async () => {
      await client.query(`delete from plain where id < '${border}'`);
      await client.query('vacuum plain');
    }),
    partitioned: await timed(() => client.query('alter table partitioned detach partition month_0 concurrently')),
  };
}

const stack = new AsyncDisposableStack();
async function run(): Promise<void> {
  begin('preparing a database');
  const database = stack.adopt(await openBenchDatabase(), (one) => one.close());
  const client = new Client({ connectionString: database.url });
  await client.connect();
  stack.defer(() => client.end());
  // As on the connections of the gateway.
  await client.query('set random_page_cost = 1.1; set jit = off; set max_parallel_workers_per_gather = 0');
  await seedOrders(database.url, { count: 1000, partners: 1, days: 30, lean: true });
  await makeTables(client);
  for (let month = 0; month < months; month++) await fill(client, month);
  for (const kind of kinds) await makeIndexes(client, kind);
  for (const table of [...kinds, 'order_name']) await client.query(`vacuum analyze ${table}`);
  await client.query('checkpoint');

  const lines = ['| request | plain ms | partitioned ms | ratio | CPU of PostgreSQL, ratio |', '|---|---|---|---|---|'];
  for (const work of await worksOf(client)) {
    begin(`${work.name}: ${rounds} rounds`);
    const turns: Record<Kind, Cost>[] = [];
    for (let round = 0; round <= rounds; round++) {
      interrupted.throwIfAborted();
      const [first = 'plain', second = 'partitioned'] = round % 2 === 0 ? kinds : kinds.toReversed();
      const costs = new Map([[first, await measure(client, work, first, database.dataDir)]]);
      costs.set(second, await measure(client, work, second, database.dataDir));
      const [plain, partitioned] = [costs.get('plain'), costs.get('partitioned')];
      // The first round plans and fills caches.
      if (round > 0 && plain && partitioned) turns.push({ plain, partitioned });
    }
    const middle = (value: (cost: Record<Kind, Cost>) => number): string =>
      (median(turns.map(value)) ?? Number.NaN).toFixed(2);
    lines.push(
      `| ${work.name}, ${together} a statement | ${middle(({ plain }) => plain.ms)} | ` +
        `${middle(({ partitioned }) => partitioned.ms)} | ` +
        `${middle(({ plain, partitioned }) => partitioned.ms / plain.ms)} | ` +
        `${middle(({ plain, partitioned }) => partitioned.cpuMs / plain.cpuMs)} |`,
    );
  }
  begin('end of the oldest month');
  const ended = await endOfMonth(client);
  const ratio = (ended.partitioned / ended.plain).toFixed(4);
  lines.push(`| end of the oldest month | ${ended.plain.toFixed(0)} | ${ended.partitioned.toFixed(0)} | ${ratio} | |`);
  process.stdout.write(`${orders.toLocaleString('en')} orders, ${months} months\n\n${lines.join('\n')}\n`);
}

try {
  await run();
} finally {
  await stack.disposeAsync();
}
