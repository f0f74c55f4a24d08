// Partners and staff use a gateway for minutes. Meanwhile its processes are killed and its
// dependencies fail, as chosen by a seed. Then it checks that every order is there and ended, that
// no recipient was paid twice, and that the ledger agrees with the chains.
// Usage: npm run soak -- --help
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { paidTwice } from '../support/chains/recipients.ts';
import { readArguments, shown } from '../support/faults/arguments.ts';
import { FaultGateway } from '../support/faults/fault-gateway.ts';
import { type Fault, faults } from '../support/faults/fault-list.ts';
import { answerBoundMs, findLost } from '../support/faults/fault-run.ts';
import { MixedLoad } from '../support/faults/mixed-load.ts';
import { Dice } from '../support/gateway/dice.ts';

const help = `Usage: npm run soak -- [options]

Runs two api processes and two workers under mixed load, with a fault of 'npm run torture -- faults' or a kill every
few seconds. Ends with a report. Exits 1 when an order is lost, a recipient is paid twice, ledger and chains differ, an
answer breaks the contract or takes longer than ${answerBoundMs / 1000} s.

  --minutes <n>   how long (10)
  --seed <n>      seed of every choice; a random one unless given
  --keep          keep the folder with the database and the logs
`;

const { minutes, seed, keep } = readArguments(help, { minutes: 10 });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const windowSec = 60;
/** Between two faults. */
const calmMs = [3_000, 8_000] as const;
const progressEveryMs = 10_000;
const settlingMs = 300_000;
/** Keys that are tried once more at the end. */
const triedAgain = 300;

const gateway = await FaultGateway.start({
  name: 'soak',
  workers: 2,
  settings: { DEPOSIT_WINDOW_SEC: String(windowSec) },
});
const load = new MixedLoad(gateway, { seed, clients: 10, pauseMs: 80, paidShare: 0.15 });
const problems: string[] = [];
const done: Record<string, number> = {};
const began = performance.now();
const endsAt = began + minutes * 60_000;
let happening = 'calm';

function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

// --- what goes wrong

/** A process ends, and is started again. */
const kills: readonly Fault[] = [
  {
    name: 'worker-killed',
    what: 'SIGKILL to a worker',
    lastsMs: 1_000,
    refused: 'none',
    begin: () => dice.pick(gateway.workers).end('SIGKILL'),
    end: startWorkers,
  },
  {
    name: 'worker-ended',
    what: 'SIGTERM to a worker',
    lastsMs: 1_000,
    refused: 'none',
    begin: () => dice.pick(gateway.workers).end('SIGTERM'),
    end: startWorkers,
  },
  {
    name: 'workers-killed',
    what: 'SIGKILL to all workers',
    lastsMs: 3_000,
    refused: 'none',
    begin: async () => void (await Promise.all(gateway.workers.map((worker) => worker.end('SIGKILL')))),
    end: startWorkers,
  },
  {
    name: 'worker-stopped',
    what: 'a worker sleeps past its leases',
    lastsMs: 5_000,
    refused: 'none',
    begin: () => gateway.workers[0]?.signal('SIGSTOP'),
    end: () => gateway.workers[0]?.signal('SIGCONT'),
  },
  {
    name: 'api-killed',
    what: 'SIGKILL to an api process; its primary replaces it',
    lastsMs: 3_000,
    refused: 'none',
    begin: async () => void process.kill(dice.pick(await gateway.apiPids()), 'SIGKILL'),
    end: () => {},
  },
  {
    name: 'api-ended',
    what: 'SIGTERM to an api process; its primary replaces it first',
    lastsMs: 3_000,
    refused: 'none',
    begin: async () => void process.kill(dice.pick(await gateway.apiPids()), 'SIGTERM'),
    end: () => {},
  },
  {
    name: 'apis-killed',
    what: 'SIGKILL to all api processes and their primary',
    lastsMs: 500,
    refused: 'none',
    begin: async () => {
      gateway.api.signalGroup('SIGKILL');
      await gateway.api.end('SIGKILL');
    },
    end: () => gateway.restartApi(),
  },
];

async function startWorkers(): Promise<void> {
  const away = gateway.workers.filter(({ isRunning }) => !isRunning);
  for (const worker of away) worker.start();
  await Promise.all(away.map((worker) => worker.ready()));
}

const dice = new Dice(seed);
const choices = [...faults.filter(({ needs }) => needs === undefined), ...kills, ...kills];

async function makeTrouble(): Promise<void> {
  while (performance.now() < endsAt) {
    await sleep(dice.between(...calmMs));
    const fault = dice.pick(choices);
    happening = fault.name;
    await fault.begin(gateway);
    await sleep(fault.lastsMs * dice.between(0.2, 1));
    await fault.end(gateway);
    happening = 'calm';
    done[fault.name] = (done[fault.name] ?? 0) + 1;
  }
}

// --- what it takes

interface Usage {
  readonly rssMb: number;
  readonly handles: number;
}

/** First and last usage of every process that was there for long enough to be warm. */
const usages = new Map<string, { readonly sinceMs: number; first: Usage | null; last: Usage | null }>();
const warmMs = 20_000;

async function usageOf(pid: number): Promise<Usage> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const rssKb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  return { rssMb: Math.round(rssKb / 1024), handles: (await readdir(`/proc/${pid}/fd`)).length };
}

async function measure(): Promise<void> {
  const workers = gateway.workers.filter(({ isRunning }) => isRunning);
  const processes: [string, number][] = [
    ['primary', gateway.api.pid],
    ...(await gateway.apiPids()).map((pid): [string, number] => ['api', pid]),
    ...workers.map(({ pid }): [string, number] => ['worker', pid]),
  ];
  for (const [role, pid] of processes) {
    const known = usages.get(`${role} ${pid}`) ?? { sinceMs: performance.now(), first: null, last: null };
    usages.set(`${role} ${pid}`, known);
    if (performance.now() - known.sinceMs < warmMs) continue;
    // It may end while it is looked at.
    const usage = await usageOf(pid).catch(() => null);
    if (!usage) continue;
    known.first ??= usage;
    known.last = usage;
  }
}

async function watch(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(progressEveryMs, undefined, { signal }).catch(() => {});
    await measure();
    const all = shown({ requests: load.seen.requests, orders: load.acknowledged.size, paid: load.paid.size });
    say(`${all}, ${happening}; ${load.problems.length} problems`);
  }
}

// --- from beginning to end

say(`seed ${seed}, ${minutes} minutes, in ${gateway.folder}`);
const watching = new AbortController();
const watched = watch(watching.signal);
load.start();
await makeTrouble();
await sleep(2_000);
await load.stop();
say('no more requests and faults');
if (!(await comesToRest())) problems.push(`the gateway did not come to rest in ${settlingMs / 1000} s`);
watching.abort();
await watched;

const again = [...load.acknowledged.values()]
  .filter(({ idempotencyKey }) => idempotencyKey !== null)
  .slice(-triedAgain);
const { seen } = load;
load.takeSeen();
for (const order of again) await load.createAgain(order);
const lost = [...(await findLost(gateway, load)), ...(await stuckOrders())];
const twice = await paidTwice((sql, values) => gateway.postgres.rows(sql, values), [...load.acknowledged.values()]);
const differences = await gateway.differences();
const slow = seen.latenciesMs.filter((ms) => ms > answerBoundMs).length;
if (slow > 0) problems.push(`${slow} answers took longer than ${answerBoundMs / 1000} s`);
for (const outcome of Object.keys(seen.counts())) {
  if (outcome === '500' || outcome.startsWith('none in')) problems.push(`some were answered ${outcome}`);
}
await report();

/** Waits until no order has anything to do. */
async function comesToRest(): Promise<boolean> {
  for (const deadline = performance.now() + settlingMs; performance.now() < deadline; await sleep(500)) {
    const [open] = await gateway.postgres.rows<{ count: number }>(
      `select ((select count(*) from exchange_order where held_at is null
                   and status in ('waiting_deposit', 'confirming', 'exchanging', 'sending', 'refunding'))
             + (select count(*) from deposit where state in ('mempool', 'mined'))
             + (select count(*) from payment where state not in ('confirmed', 'dead'))
             + (select count(*) from sandbox_tx where state = 'mempool'))::int as count`,
    );
    if (open?.count === 0) return true;
  }
  return false;
}

/** Orders that were paid into and whose money went nowhere, a line each. */
async function stuckOrders(): Promise<string[]> {
  const rows = await gateway.postgres.rows<{ id: string; status: string }>(
    `select o.id, case when o.held_at is null then o.status else 'held' end as status from exchange_order o
      where o.id = any($1::uuid[])
        and (o.held_at is not null or o.status not in ('completed', 'refunded') or not exists
               (select 1 from payment p where p.order_id = o.id and p.state = 'confirmed'))`,
    [[...load.paid.keys()]],
  );
  return rows.map(({ id, status }) => `order ${id} was paid into and stays ${status}`);
}

async function report(): Promise<never> {
  const ends = await gateway.postgres.rows<{ status: string; count: number }>(
    `select case when held_at is null then status else 'held' end as status, count(*)::int as count
       from exchange_order group by 1 order by 1`,
  );
  const lines = [
    `faults       ${shown(Object.fromEntries(Object.entries(done).sort()))}`,
    ...[...seen.outcomes].map(([kind]) => `${kind.padEnd(13)}${shown(seen.counts([kind]))}`),
    `latency      p50 ${seen.percentile(0.5)} ms, p95 ${seen.percentile(0.95)} ms, p99 ${seen.percentile(0.99)} ms, p99.9 ${seen.percentile(0.999)} ms, slowest ${seen.percentile(1)} ms`,
    ...[...usages].flatMap(([name, { first, last }]) =>
      first && last
        ? [`${name.padEnd(14)}${first.rssMb} -> ${last.rssMb} MB, ${first.handles} -> ${last.handles} handles`]
        : [],
    ),
    `orders       ${shown(Object.fromEntries(ends.map(({ status, count }) => [status, count])))}`,
  ];
  for (const line of lines) process.stdout.write(`${line}\n`);
  const wrong = [...problems, ...load.problems, ...lost, ...twice, ...differences];
  for (const problem of wrong.slice(0, 40)) process.stdout.write(`WRONG: ${problem}\n`);
  const faultCount = Object.values(done).reduce((sum, count) => sum + count, 0);
  process.stdout.write(
    `minutes=${minutes} faults=${faultCount} requests=${seen.requests} acknowledged=${load.acknowledged.size} paid=${load.paid.size} lost=${lost.length} paid_twice=${twice.length} reconcile_differences=${differences.length} wrong=${problems.length + load.problems.length} seed=${seed}\n`,
  );
  const isKept = keep || wrong.length > 0;
  if (isKept) process.stderr.write(`the logs and the database stay in ${gateway.folder}\n`);
  await gateway.end({ keep: isKept });
  process.exit(wrong.length === 0 ? 0 : 1);
}
