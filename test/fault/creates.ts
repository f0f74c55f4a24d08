// Partners create orders as fast as they can, while api processes and PostgreSQL's sessions are
// killed. Then it checks that every acknowledged order is in the database, whole and once.
// Usage: npm run torture -- creates --help
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { readArguments, shown } from '../support/faults/arguments.ts';
import { FaultGateway } from '../support/faults/fault-gateway.ts';
import { newOrder } from '../support/faults/mixed-load.ts';
import { Dice } from '../support/gateway/dice.ts';
import { freePort } from '../support/http/local-server.ts';

const help = `Usage: npm run torture -- creates [options]

Creates orders over two api processes behind one port. Half of the creates have an idempotency key and are repeated
until they are answered, some of them twice at once. Meanwhile api processes, and sessions of PostgreSQL, get SIGKILL.
Ends with a report. Exits 1 when an acknowledged order is not in the database, an address has two orders, an
idempotency key has two orders or none, or an order lacks its first event.

  --orders <n>    creates that are acknowledged (100000)
  --clients <n>   connections (64)
  --kills <n>     how many processes are killed of each kind (12)
  --seed <n>      seed of every choice; a random one unless given
  --keep          keep the folder with the database and the logs
`;

const { orders, clients, kills, seed, keep } = readArguments(help, { orders: 100_000, clients: 64, kills: 12 });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const progressEveryMs = 10_000;
/** How long an idempotency key is tried before that counts as a fault. */
const persistMs = 120_000;

interface Answer {
  readonly status: number;
  readonly text: string;
}

// A port of the system's choice would change when all api processes end at once.
const gateway = await FaultGateway.start({ name: 'creates', settings: { PORT: String(await freePort()) } });
const began = performance.now();
/** Orders by id, with the text of their 201. */
const acknowledged = new Map<string, string>();
/** The order of each idempotency key. */
const keys = new Map<string, string>();
const problems: string[] = [];
const refusals: Record<string, number> = {};
const killed = { api: 0, session: 0 };
/** Creates without a key whose answer never came: each may have made an order, or none. */
let unknown = 0;

function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

/** Sends one create. Null when the connection ended before the answer. */
function create(agent: Agent, body: string, key: string | null): Promise<Answer | null> {
  const headers = {
    Authorization: `Bearer ${gateway.partnerKey}`,
    'Content-Type': 'application/json',
    ...(key === null ? {} : { 'Idempotency-Key': key }),
  };
  return new Promise((resolve) => {
    const call = request(`${gateway.restUrl}/api/v1/partner/orders`, { method: 'POST', agent, headers }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk) => chunks.push(chunk));
      reply.once('error', () => resolve(null));
      reply.once('end', () => resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    call.once('error', () => resolve(null));
    // A connection that the primary process hands over at the moment of the receiver's SIGKILL is
    // never answered: Node keeps it open.
    call.setTimeout(30_000, () => call.destroy(new Error('no answer')));
    call.end(body);
  });
}

function acknowledge({ text }: Answer, key: string | null): void {
  const { id } = JSON.parse(text) as { id: string };
  const earlier = acknowledged.get(id);
  if (earlier !== undefined && (key === null || earlier !== text)) problems.push(`order ${id} was answered twice`);
  if (key !== null && keys.has(key) && keys.get(key) !== id) problems.push(`key ${key} has two orders`);
  acknowledged.set(id, text);
  if (key !== null) keys.set(key, id);
}

/** Counts an answer that made no order. Whether the create may be tried again. */
function isPassing(answer: Answer | null): boolean {
  if (answer === null) return true;
  refusals[answer.status] = (refusals[answer.status] ?? 0) + 1;
  if (answer.status === 503 || answer.status === 409) return true;
  problems.push(`a create was answered ${answer.status} ${answer.text}`);
  return false;
}

async function createWithKey(agents: readonly Agent[], body: string, isTwin: boolean): Promise<void> {
  const key = randomUUID();
  for (const deadline = performance.now() + persistMs; ; await sleep(50)) {
    const sent = agents.slice(0, isTwin ? 2 : 1).map((agent) => create(agent, body, key));
    const answers = await Promise.all(sent);
    const made = answers.filter((answer) => answer?.status === 201);
    for (const answer of made) if (answer) acknowledge(answer, key);
    if (made.length > 0) return;
    if (!answers.every(isPassing)) return;
    if (performance.now() > deadline) return void problems.push(`key ${key} was never answered`);
  }
}

async function client(number: number): Promise<void> {
  const dice = new Dice(seed + number);
  const agents = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const [agent] = agents;
  while (acknowledged.size < orders && agent) {
    const body = JSON.stringify(newOrder(dice).body);
    if (dice.chance(0.5)) {
      await createWithKey(agents, body, dice.chance(0.05));
      continue;
    }
    const answer = await create(agent, body, null);
    if (answer?.status === 201) acknowledge(answer, null);
    else if (answer === null) unknown++;
    else isPassing(answer);
    if (answer?.status !== 201) await sleep(20);
  }
  for (const each of agents) each.destroy();
}

/** Kills at even parts of the work, an api process and a session of PostgreSQL in turn. */
async function killer(): Promise<void> {
  const dice = new Dice(seed);
  for (let done = 0; done < 2 * kills; done++) {
    const at = ((done + 1) / (2 * kills + 1)) * orders;
    while (acknowledged.size < at) await sleep(20);
    try {
      if (done % 2 === 0) {
        process.kill(dice.pick(await gateway.apiPids()), 'SIGKILL');
        killed.api++;
        continue;
      }
      const sessions = await gateway.postgres.rows<{ pid: number }>(
        `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      // PostgreSQL ends all its sessions when one of them dies, and recovers from its log.
      process.kill(dice.pick(sessions).pid, 'SIGKILL');
      killed.session++;
    } catch (error) {
      say(`a kill failed: ${error}`);
    }
  }
}

/** Everything in the database that disagrees with what was answered. */
async function verify(): Promise<{ readonly stored: number; readonly lost: number; readonly wrong: number }> {
  const rows = <Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> =>
    gateway.postgres.rows<Row>(sql, values);
  const stored = new Set((await rows<{ id: string }>('select id from exchange_order')).map(({ id }) => id));
  const lost = [...acknowledged.keys()].filter((id) => !stored.has(id));
  for (const id of lost.slice(0, 5)) problems.push(`order ${id} was acknowledged and is not there`);
  const checks = {
    'orders without their first event': `select o.id from exchange_order o where not exists
      (select from order_event e where e.order_id = o.id and e.seq = 1 and e.to_status = 'waiting_deposit')`,
    'addresses with two orders': `select deposit_address_id from exchange_order group by 1 having count(*) > 1`,
    'addresses that are there twice': `select address from deposit_address group by address, tag having count(*) > 1`,
    'orders whose address is not taken': `select o.id from exchange_order o
      join deposit_address d on d.id = o.deposit_address_id where d.leased_at is null`,
    'keys without an order': `select k.key from idempotency_key k
      where not exists (select from exchange_order o where o.id = k.order_id)`,
  };
  let wrong = 0;
  for (const [what, sql] of Object.entries(checks)) {
    const found = await rows(sql);
    wrong += found.length;
    if (found.length > 0) problems.push(`${found.length} ${what}`);
  }
  const answers = await rows<{ key: string; order_id: string; body: string }>(
    'select key, order_id, body from idempotency_key',
  );
  for (const { key, order_id, body } of answers) {
    if (keys.has(key) && (keys.get(key) !== order_id || acknowledged.get(order_id) !== body)) {
      problems.push(`key ${key} is stored with another answer`);
      wrong++;
    }
  }
  const known = new Set(answers.map(({ key }) => key));
  const missing = [...keys.keys()].filter((key) => !known.has(key)).length;
  if (missing > 0) problems.push(`${missing} answered keys are not stored`);
  return { stored: stored.size, lost: lost.length, wrong: wrong + missing };
}

const progress = setInterval(() => {
  say(`${acknowledged.size} orders, killed: ${shown(killed)}, answers: ${shown(refusals) || 'all 201'}`);
}, progressEveryMs);
await Promise.all([killer(), ...Array.from({ length: clients }, (_, number) => client(number))]);
clearInterval(progress);
const createSeconds = (performance.now() - began) / 1000;
const { stored, lost, wrong } = await verify();
const differences = await gateway.differences();
problems.push(...differences);
for (const problem of problems.slice(0, 20)) process.stderr.write(`PROBLEM ${problem}\n`);
process.stdout.write(
  `acknowledged=${acknowledged.size} stored=${stored} unanswered=${unknown} keys=${keys.size} lost=${lost} wrong=${wrong} ` +
    `problems=${problems.length} killed_api=${killed.api} killed_sessions=${killed.session} ` +
    `reconcile_differences=${differences.length} seconds=${createSeconds.toFixed(0)} seed=${seed}\n`,
);
await gateway.end({ keep });
process.exit(problems.length > 0 ? 1 : 0);
