import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';

export interface SeedOptions {
  readonly count: number;
  /** How many new partners made them, or the ids of partners that did; the first made the most. */
  readonly partners: number | readonly string[];
  /** Over how many days, up to `until`, the orders were made. */
  readonly days: number;
  /** Now unless given. A database that grows is filled in the order of time, as by a gateway. */
  readonly until?: Date;
  /**
   * Only what a create writes and a lookup reads: orders, their events and their deposit addresses.
   */
  readonly lean?: boolean;
  /** How many connections write; one unless given. */
  readonly jobs?: number;
  readonly onProgress?: (line: string) => void;
}

const chunk = 50_000;
const startOfAll = 0.5;

/** Most exchanged first; the others follow with less and less. */
const popular = [
  'BTC/BTC',
  'USDT/TRC20',
  'ETH/ETH',
  'USDT/ERC20',
  'LTC/LTC',
  'XRP/XRP',
  'XMR/XMR',
  'TRX/TRC20',
  'SOL/SOL',
];

/** What is needed only while seeding. */
const preparations = `
  create function pg_temp.seed_uuid(at timestamptz, salt text) returns uuid language sql stable as $$
    select (lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0')
            || overlay(overlay(substr(md5(salt), 13) placing '7' from 1) placing 'a' from 5))::uuid
  $$;
  create function pg_temp.seed_address(network text, salt text) returns text language sql immutable as $$
    select case when network in ('ETH', 'ERC20', 'BEP20', 'ARB', 'OP', 'AVAXC', 'MATIC', 'ETC')
                then '0x' || md5(salt) || substr(md5(salt || 'x'), 1, 8)
                when network = 'BTC' then 'bc1q' || md5(salt) || substr(md5(salt || 'x'), 1, 6)
                when network = 'TRC20' then 'T' || md5(salt) || 'x'
                else left(network, 1) || md5(salt) || 'x' end
  $$;
  create temp table path (status text, seq integer, from_status text, to_status text, cause text, after double precision);
  insert into path
  select p.status, e.seq, lag(e.to_status) over (partition by p.status order by e.seq), e.to_status, e.cause, e.after
    from (values
      ('waiting_deposit', '{created}'::text[]),
      ('expired', '{created,window_passed}'),
      ('confirming', '{created,deposit_seen}'),
      ('exchanging', '{created,deposit_seen,deposit_confirmed}'),
      ('sending', '{created,deposit_seen,deposit_confirmed,liquidity_bought}'),
      ('completed', '{created,deposit_seen,deposit_confirmed,liquidity_bought,payout_confirmed}'),
      ('failed', '{created,deposit_seen,deposit_confirmed,liquidity_bought,payout_unknown}'),
      ('refunding', '{created,deposit_seen,below_minimum}'),
      ('refunded', '{created,deposit_seen,below_minimum,refund_confirmed}')) as p (status, causes)
   cross join lateral (
     select c.seq::int, c.cause, m.to_status, m.after
       from unnest(p.causes) with ordinality as c (cause, seq)
       join (values ('created', 'waiting_deposit', 0), ('window_passed', 'expired', 1800),
                    ('deposit_seen', 'confirming', 300), ('deposit_confirmed', 'exchanging', 900),
                    ('liquidity_bought', 'sending', 905), ('payout_confirmed', 'completed', 1500),
                    ('payout_unknown', 'failed', 1500), ('below_minimum', 'refunding', 900),
                    ('refund_confirmed', 'refunded', 1500)) as m (cause, to_status, after) using (cause)) as e;
  create temp table ending as select status, max(seq) as seq, max(after) as after from path group by status;
  create temp table asset (no integer, coin text, network text, chain text, price numeric);
  create temp table seed_partner (no integer, id uuid)`;

/** All that is random of a chunk's orders, in one place, so that all tables tell the same story. */
const drawChunk = `
  create temp table made on commit drop as
  with drawn as (
    select n, to_timestamp($7::float8 - $3::float8 * ($2::bigint + $4::bigint - n) / $4::bigint * 86400) as created_at,
           random() as of_status, random() as of_partner, random() as of_from, random() as of_to, random() as size,
           0.5 + random() as pace, n > $2::bigint + $4::bigint - greatest($4::bigint / 200, 10) as is_young
      from generate_series($1::bigint, $1::bigint + $5::bigint - 1) as n
  ), placed as (
    select d.*, case when is_young and of_status < 0.5
                     then (array['waiting_deposit', 'confirming', 'exchanging', 'sending', 'refunding'])[1 + floor(of_status * 10)::int]
                     when of_status < 0.75 then 'completed' when of_status < 0.915 then 'expired'
                     when of_status < 0.993 then 'refunded' when of_status < 0.998 then 'failed'
                     else 'completed' end as status,
           floor(power(of_from, 2.5) * $6::int)::int as f, floor(power(of_to, 2.5) * ($6::int - 1))::int as t
      from drawn d
  )
  select p.*, pg_temp.seed_uuid(p.created_at, 'o' || n) as id, pg_temp.seed_uuid(p.created_at, 'a' || n) as address_id,
         pg_temp.seed_uuid(p.created_at, 'd' || n) as deposit_id, pg_temp.seed_uuid(p.created_at, 'p' || n) as payment_id,
         pg_temp.seed_address(af.network, 'in' || n) as address, pg_temp.seed_address(at.network, 'out' || n) as recipient,
         pg_temp.seed_address(af.network, 'back' || n) as refund, md5('i' || n) || md5('j' || n) as deposit_txid,
         md5('k' || n) || md5('l' || n) as payment_txid,
         af.coin as coin_from, af.network as network_from, af.chain as chain_from, af.price as price_from,
         at.coin as coin_to, at.network as network_to, at.chain as chain_to, at.price as price_to,
         round(((20 + 3000 * power(p.size, 3)) / af.price)::numeric, 8) as amount_from,
         round(((20 + 3000 * power(p.size, 3)) * 0.99 / at.price)::numeric, 8) as amount_to,
         round(((20 + 3000 * power(p.size, 3)) * 0.005 / at.price)::numeric, 10) as service_fee,
         e.seq as event_seq,
         p.created_at + make_interval(secs => e.after * case when p.status = 'expired' then 1 else pace end) as updated_at
    from placed p
    join ending e using (status)
    join asset af on af.no = p.f
    join asset at on at.no = p.t + case when p.t >= p.f then 1 else 0 end`;

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Distinct for distinct n: an odd factor loses nothing modulo 2^30. */
const shortId = `'EX-' || ${[0, 1, 2, 3, 4, 5].map((d) => `substr('${alphabet}', 1 + ((n * 982451653 % 1073741824 >> ${5 * d}) & 31)::int, 1)`).join(' || ')}`;
const hasDeposit = `status not in ('waiting_deposit', 'expired')`;
const isFilled = `status in ('sending', 'completed', 'failed')`;
const isPaid = `status in ('completed', 'refunded')`;
const isRefund = `status in ('refunding', 'refunded')`;

/** One transaction's lines, as the product books them. */
function ledger(kind: string, reference: string, at: string, where: string, lines: readonly string[]): string[] {
  const id = `pg_temp.seed_uuid(${at}, '${kind}' || n)`;
  return [
    `insert into ledger_transaction (id, kind, reference, order_id, at)
     select ${id}, '${kind}', ${reference}, id, ${at} from made where ${where}`,
    `insert into ledger_line (transaction_id, line, account, coin, network, amount)
     select ${id}, l.line, l.account, l.coin, l.network, l.amount
       from made cross join lateral (values ${lines.map((line, index) => `(${index + 1}, ${line})`).join(', ')})
            as l (line, account, coin, network, amount)
      where ${where} and l.amount <> 0`,
  ];
}

/** What a create writes, as it stands when the order has ended. */
const leanWrites = [
  `insert into deposit_address (id, keychain, index, address, created_at, leased_at)
   select address_id, 'bench', n, address, created_at, created_at from made`,
  `insert into exchange_order (id, short_id, partner_id, status, created_at, expires_at, updated_at, next_action_at,
     coin_from, network_from, coin_to, network_to, amount_from_expected, amount_to_expected, rate_type, rate_quoted,
     fee_rate, service_fee_quoted, network_fee_quoted, deposit_address_id, recipient_address, refund_address,
     deposit_txid, deposit_confirmations, deposit_confirmations_required, payout_txid, deposit_id,
     amount_from_actual, amount_to_actual, event_seq, held_at, hold_reason, min_amount, max_amount)
   select m.id, ${shortId}, p.id, m.status, m.created_at, m.created_at + interval '30 minutes', m.updated_at,
          case when m.status in ('completed', 'expired', 'refunded', 'failed') then null
               when n % 50 = 0 then now() - interval '1 hour' else now() + interval '1 day' end,
          coin_from, network_from, coin_to, network_to, amount_from, amount_to,
          case when n % 3 = 0 then 'fixed' else 'float' end, round(amount_to / amount_from, 18), 0.005, service_fee, 0,
          address_id, recipient, case when n % 10 < 8 then refund end,
          case when ${hasDeposit} then deposit_txid end, case when ${hasDeposit} then 2 end, 2,
          case when m.status = 'completed' then payment_txid end, case when ${hasDeposit} then deposit_id end,
          case when ${isFilled} then amount_from end, case when ${isFilled} then amount_to end, event_seq,
          case when is_young and n % 97 = 0 then now() end, case when is_young and n % 97 = 0 then 'seeded' end,
          amount_from, amount_from
     from made m join seed_partner p on p.no = floor(of_partner * of_partner * $1::int)::int`,
  `insert into order_event (order_id, partner_id, seq, at, from_status, to_status, cause, actor)
   select m.id, (select o.partner_id from exchange_order o where o.id = m.id), p.seq, m.created_at + make_interval(secs => p.after * case when m.status = 'expired' then 1 else pace end),
          p.from_status, p.to_status, p.cause, 'system'
     from made m join path p using (status)`,
];

const settlementWrites = [
  `insert into deposit (id, chain, key, order_id, txid, address, coin, network, amount, state, height, block_hash,
     confirmations_required, seen_at, arrived_by, mined_at, credited_at, credits, problem)
   select deposit_id, chain_from, deposit_txid || ':0', id, deposit_txid, address, coin_from, network_from, amount_from,
          case when status = 'confirming' then 'mined' else 'credited' end,
          (extract(epoch from created_at) / 60)::bigint, md5((extract(epoch from created_at)::bigint / 60)::text), 2,
          created_at + interval '5 minutes', created_at + interval '5 minutes', created_at + interval '5 minutes',
          case when status <> 'confirming' then created_at + interval '15 minutes' end,
          case when status = 'confirming' then 0 else 1 end,
          case when status = 'failed' and n % 4 = 0 then 'refund_failed' end
     from made where ${hasDeposit}`,
  `insert into trade (order_id, venue, state, coin_from, network_from, coin_to, network_to, amount_from, amount_to,
     service_fee, network_fee, min_bought, bought, price_from, price_to, tries, created_at, settled_at)
   select id, 'sandbox', case when ${isFilled} then 'filled' else 'intended' end, coin_from, network_from, coin_to,
          network_to, amount_from, amount_to, service_fee, 0, amount_to, case when ${isFilled} then amount_to + service_fee end,
          price_from, price_to, 1, created_at + interval '15 minutes', created_at + interval '15 minutes'
     from made where ${isFilled} or status = 'exchanging'`,
  `insert into payment (id, kind, order_id, deposit_id, leg, chain, coin, network, address, amount, fee_charged, state,
     attempt, problem, problem_since, next_action_at, created_at, sent_at, ended_at)
   select payment_id, case when ${isRefund} then 'refund' else 'payout' end, id, deposit_id, 'main',
          case when ${isRefund} then chain_from else chain_to end, case when ${isRefund} then coin_from else coin_to end,
          case when ${isRefund} then network_from else network_to end, case when ${isRefund} then refund else recipient end,
          case when ${isRefund} then amount_from else amount_to end, 0,
          case when ${isPaid} then 'confirmed' when status = 'failed' then 'dead' else 'sent' end, 1,
          case when status in ('sending', 'refunding') and n % 40 = 0 then 'unknown' end,
          case when status in ('sending', 'refunding') and n % 40 = 0 then now() - interval '1 hour' end,
          case when not (${isPaid} or status = 'failed') then now() + interval '1 day' end,
          updated_at, updated_at, case when ${isPaid} or status = 'failed' then updated_at end
     from made where ${isFilled} or ${isRefund}`,
  `insert into payment_attempt (payment_id, attempt, chain, payload, reserves, fee, txid, raw, mined_height, prepared_at,
     signed_at, sent_at, dead_at, dead_why)
   select payment_id, 1, case when ${isRefund} then chain_from else chain_to end, repeat('0', 200), array['seed:' || n], 0,
          payment_txid, repeat('0', 300), case when ${isPaid} then 1 end, updated_at, updated_at, updated_at,
          case when status = 'failed' then updated_at end, case when status = 'failed' then 'failed' end
     from made where ${isFilled} or ${isRefund}`,
  ...ledger(
    'deposit',
    `chain_from || ':' || deposit_txid || ':0:1'`,
    'created_at',
    `${hasDeposit} and status <> 'confirming'`,
    [`'deposits', coin_from, network_from, amount_from`, `'client', coin_from, network_from, -amount_from`],
  ),
  ...ledger('trade', 'id::text', 'created_at', isFilled, [
    `'client', coin_from, network_from, amount_from`,
    `'venue', coin_from, network_from, -amount_from`,
    `'venue', coin_to, network_to, amount_to + service_fee`,
    `'client', coin_to, network_to, -amount_to`,
    `'service_fee', coin_to, network_to, -service_fee`,
  ]),
  ...ledger('payment', 'payment_id::text', 'updated_at', isPaid, [
    `'client', case when ${isRefund} then coin_from else coin_to end, case when ${isRefund} then network_from else network_to end, case when ${isRefund} then amount_from else amount_to end`,
    `'hot', case when ${isRefund} then coin_from else coin_to end, case when ${isRefund} then network_from else network_to end, case when ${isRefund} then -amount_from else -amount_to end`,
  ]),
];

/** Tables that are filled, each with indexes that are quicker made again than filled up. */
const leanTables = ['deposit_address', 'exchange_order', 'order_event'];
const settlementTables = ['deposit', 'trade', 'payment', 'payment_attempt', 'ledger_transaction', 'ledger_line'];

interface Index {
  readonly name: string;
  /** The statement that makes it. */
  readonly definition: string;
}

/** What is to be made again; it lasts, so that the next run makes up for one that was killed. */
const noted = 'seed_index';

/** Takes away all indexes but primary keys, whose order is that of the orders, and notes them. */
async function dropIndexes(client: Client, tables: readonly string[]): Promise<void> {
  await client.query(
    `do $$
     declare
       one record;
     begin
       if to_regclass('${noted}') is not null then return; end if;
       create table ${noted} as
       select i.indexrelid::regclass::text as name, i.indrelid::regclass::text as "table",
              pg_get_indexdef(i.indexrelid) as definition, c.oid is not null as "unique"
         from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype = 'u'
        where i.indrelid = any ('{${tables.join()}}'::regclass[]) and not i.indisprimary
        order by pg_relation_size(i.indrelid) desc;
       for one in select * from ${noted} loop
         if one.unique then execute format('alter table %s drop constraint %s', one.table, one.name);
         else execute format('drop index %s', one.name);
         end if;
       end loop;
     end $$`,
  );
}

/**
 * Makes the indexes that are noted, side by side, and packs primary keys that were filled side by
 * side.
 */
async function makeIndexes(sessions: readonly Client[], tables: readonly string[], say: (line: string) => void) {
  const [client] = sessions;
  const known = await client?.query(`select to_regclass('${noted}') as oid`);
  if (!client || known?.rows[0]?.oid === null) return;
  const { rows: indexes } = await client.query<Index>(`select * from ${noted} where to_regclass(name) is null`);
  const statements = [
    ...indexes.map(({ definition }) => definition),
    ...(sessions.length > 1 ? tables.map((table) => `reindex index ${table}_pkey`) : []),
  ];
  let made = 0;
  await share(sessions, statements, async (session, statement) => {
    await session.query(statement);
    say(`${++made} of ${statements.length} indexes`);
  });
  await client.query(
    `do $$
     declare
       one record;
     begin
       for one in select * from ${noted} where "unique"
                  and not exists (select from pg_constraint where conname = ${noted}.name) loop
         execute format('alter table %1$s add constraint %2$s unique using index %2$s', one.table, one.name);
       end loop;
       drop table ${noted};
     end $$`,
  );
}

/** A session that writes what it is told: triggers and foreign keys are off in it. */
async function openSession(url: string, partnerIds: readonly string[]): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `set session_replication_role = replica; set synchronous_commit = off; set work_mem = '256MB';
     set maintenance_work_mem = '256MB'; set temp_buffers = '128MB'`,
  );
  await client.query(preparations);
  await client.query(
    `insert into asset
     select no, coin, network, chain, price from jsonb_to_recordset($1::jsonb)
            as a (no integer, coin text, network text, chain text, price numeric)`,
    [JSON.stringify(assets)],
  );
  await client.query(
    'insert into seed_partner select no - 1, id from unnest($1::uuid[]) with ordinality as p (id, no)',
    [partnerIds],
  );
  await client.query('analyze asset; analyze path; analyze ending; analyze seed_partner');
  return client;
}

/** Has each of the sessions take the next piece of work until there is none. */
async function share<T>(
  sessions: readonly Client[],
  work: Iterable<T>,
  run: (client: Client, piece: T) => Promise<void>,
) {
  const pieces = work[Symbol.iterator]();
  const results = await Promise.allSettled(
    sessions.map(async (client) => {
      for (let next = pieces.next(); !next.done; next = pieces.next()) await run(client, next.value);
    }),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** How many orders were seeded here so far. */
export async function seededOrders(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: string }>(
      `select coalesce(max(index), 0)::text as count from deposit_address where keychain = 'bench'`,
    );
    return Number.parseInt(rows[0]?.count ?? '0', 10);
  } finally {
    await client.end();
  }
}

/**
 * Writes orders with all their rows, as if the gateway had worked for `days`, by statements over
 * sets. Needs a superuser, because triggers and foreign keys are off meanwhile: the rows satisfy
 * them by construction. May be called again, and adds to the stored orders. While a call at least
 * doubles the orders, the tables have no indexes except their primary keys. The next call repairs
 * what a killed process left undone.
 */
export async function seedOrders(url: string, options: SeedOptions): Promise<void> {
  const { count, partners, days, until = new Date(), lean = false, jobs = 1, onProgress = () => {} } = options;
  const writes = lean ? leanWrites : [...leanWrites, ...settlementWrites];
  const tables = lean ? leanTables : [...leanTables, ...settlementTables];
  const first = await seededOrders(url);
  const partnerIds = typeof partners === 'number' ? Array.from({ length: partners }, () => randomUUID()) : partners;
  const sessions: Client[] = [];
  try {
    for (let i = 0; i < jobs; i++) sessions.push(await openSession(url, partnerIds));
    const [client] = sessions;
    if (!client) throw new Error('there is no session to write with');
    await client.query(
      `insert into deposit_account (keychain, signer, created_at) values ('bench', 'bench', now()) on conflict do nothing`,
    );
    await client.query(
      `insert into partner (id, name, status, require_signature, created_at, updated_at)
       select id, 'Seeded partner ' || no, 'active', false, now(), now() from seed_partner
       on conflict do nothing`,
    );
    if (count > chunk && count >= first) await dropIndexes(client, tables);
    let done = 0;
    await share(sessions, range(0, count, chunk), async (session, start) => {
      const size = Math.min(chunk, count - start);
      await session.query('begin');
      // The same choices each time, so that what a test looks for is there or not, and not now and
      // then.
      await session.query('select setseed($1)', [(startOfAll + (start / chunk) * 0.618034) % 1]);
      const numbers = [first + start + 1, first, days, count, size, assets.length, until.getTime() / 1000];
      await session.query(bind(drawChunk, numbers));
      for (const sql of writes) await session.query(bind(sql, [partnerIds.length]));
      await session.query('commit');
      done += size;
      onProgress(`${done.toLocaleString('en')} of ${count.toLocaleString('en')} orders`);
    });
    await makeIndexes(sessions, tables, onProgress);
    onProgress('vacuum and analyze');
    await share(sessions, tables, async (session, table) => void (await session.query(`vacuum (analyze) ${table}`)));
  } finally {
    for (const session of sessions) await session.end();
  }
}

function* range(from: number, to: number, step: number): Generator<number> {
  for (let at = from; at < to; at += step) yield at;
}

/** `create table as` takes no parameters, so numbers of our own are written into the text. */
function bind(sql: string, numbers: readonly number[]): string {
  return sql.replaceAll(/\$(\d)/g, (_whole, no: string) => String(numbers[Number.parseInt(no, 10) - 1]));
}

const assets = assetList();

function assetList(): { no: number; coin: string; network: string; chain: string; price: string }[] {
  const rank = (name: string): number => popular.indexOf(name) + 1 || popular.length + 1;
  return currencySeed
    .filter(({ coin }) => sandboxPrices[coin] !== undefined)
    .toSorted((a, b) => rank(`${a.coin}/${a.network}`) - rank(`${b.coin}/${b.network}`))
    .map(({ coin, network }, no) => {
      return { no, coin, network, chain: networkById(network)?.chain ?? '', price: sandboxPrices[coin] ?? '1' };
    });
}
