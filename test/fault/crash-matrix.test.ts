import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { toUnits } from '../../src/base/money.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { type OrderMove, orderMoves } from '../../src/orders/order-status.ts';
import { type CrashPoint, crashPoints } from '../../src/settlement/turns/crash-point.ts';
import { cloneDatabase, createDatabase, type TestDatabase } from '../support/database/database.ts';
import {
  type Failpoint,
  SettlingChild,
  type SettlingMessage,
  type SettlingStart,
} from '../support/faults/settling-child.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { type MadeOrder, startSettledGateway } from '../support/gateway/settled-gateway.ts';

// A process that settles an order is killed at each crash point in turn; another one, which knows
// nothing of it, goes on from what the database holds. At each crash point the order must end as if
// nothing had happened, and be paid once.
//
// CRASH_MATRIX_FILE=<file> also writes the table as Markdown. CRASH_MATRIX_PASSINGS=all kills at
// every passing of a crash point.

const names = Object.keys(crashPoints) as CrashPoint[];
const scenarios = {
  exchanged: {
    deposit: '0.01',
    ends: 'completed',
    causes: ['deposit_seen', 'deposit_confirmed', 'liquidity_bought', 'payout_confirmed'],
    paid: { kind: 'payout', coin: 'USDT', network: 'TRC20', decimals: 6 },
    fills: 1,
  },
  refunded: {
    deposit: '0.0001',
    ends: 'refunded',
    causes: ['below_minimum', 'refund_confirmed'],
    paid: { kind: 'refund', coin: 'BTC', network: 'BTC', decimals: 8 },
    fills: 0,
  },
} as const satisfies Record<string, Scenario>;
type ScenarioName = keyof typeof scenarios;
const scenarioNames = Object.keys(scenarios) as ScenarioName[];

interface Scenario {
  readonly deposit: string;
  readonly ends: string;
  readonly causes: readonly OrderMove[];
  readonly paid: { readonly kind: string; readonly coin: string; readonly network: string; readonly decimals: number };
  /** Exchanges that the venue made. */
  readonly fills: number;
}

/** An order that waits for its deposit, in a database that cells copy. */
interface Prepared {
  readonly scenario: ScenarioName;
  readonly database: TestDatabase;
  readonly order: MadeOrder;
  readonly clockStart: Date;
  /** What a process passes that nothing happens to, and how often. */
  readonly passings: Map<CrashPoint, number>;
}

/** What became of an order whose process was killed. */
interface Cell {
  readonly scenario: ScenarioName;
  readonly crashPoint: CrashPoint;
  readonly passing: number;
  killed: boolean;
  payments: number;
  status: string;
  ledger: string;
  readonly faults: string[];
}

const workers = 4;
const isThorough = process.env.CRASH_MATRIX_PASSINGS === 'all';
/**
 * Deposits are seen twice, in the mempool and in a block; at all others the first passing is the
 * one that tells.
 */
const passingsTried: Partial<Record<CrashPoint, number>> = { 'deposit.scanned': 2, 'deposit.recorded': 2 };
/** Enough for the confirmations of a deposit, a block a second. */
const shortWindowMs = 6_000;
/** Seconds of the clock in which an order ends, with every wait after a crash. */
const maxRounds = 120;
const cells: Cell[] = [];
const prepared = new Map<ScenarioName, Prepared>();
const children = new Set<SettlingChild>();

async function prepare(scenario: ScenarioName): Promise<Omit<Prepared, 'passings'>> {
  const database = await createDatabase();
  const clock = new TestClock();
  const gateway = await startSettledGateway({ databaseUrl: database.url, clock });
  const order = await gateway.order();
  // What is below the minimum goes back when the window ends.
  const endsAt = new Date(clock.now().getTime() + shortWindowMs);
  if (scenario === 'refunded') {
    await gateway.query('update exchange_order set expires_at = $2, next_action_at = $2 where id = $1', [
      order.id,
      endsAt,
    ]);
  }
  await gateway.stop();
  return { scenario, database, order, clockStart: clock.now() };
}

/** One cell's database, and the clock that its processes share. */
class Stage {
  readonly said: SettlingMessage[] = [];
  readonly #database: TestDatabase;
  readonly #client: Client;
  readonly #order: MadeOrder;
  readonly #deposit: bigint;
  #clockMs: number;

  private constructor(database: TestDatabase, { scenario, order, clockStart }: Omit<Prepared, 'passings'>) {
    this.#database = database;
    this.#client = new Client({ connectionString: database.url });
    this.#client.on('error', () => {});
    this.#order = order;
    this.#deposit = toUnits(scenarios[scenario].deposit, 8);
    this.#clockMs = clockStart.getTime();
  }

  static async open(prepared: Omit<Prepared, 'passings'>): Promise<Stage> {
    const stage = new Stage(await cloneDatabase(prepared.database), prepared);
    await stage.#client.connect();
    return stage;
  }

  get start() {
    return { databaseUrl: this.#database.url, clock: new Date(this.#clockMs).toISOString() };
  }

  async rows<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(sql, values)).rows;
  }

  /**
   * Lets a process look at the chains, which are all news to it, and makes the deposit when it has.
   */
  async begin(child: SettlingChild, failpoint?: Failpoint): Promise<void> {
    await child.ask('tick');
    await child.ask('tick');
    if (failpoint) await child.ask(`fail ${JSON.stringify(failpoint)}`);
    const { networkFrom, depositAddress } = this.#order;
    await child.ask(`pay ${networkFrom} ${this.#deposit} ${depositAddress}`);
  }

  /** Drives a process until the order has ended or the process has. */
  async settle(child: SettlingChild): Promise<void> {
    const { id, networkFrom, networkTo } = this.#order;
    for (let round = 0; round < maxRounds; round++) {
      if (!(await child.ask('tick'))) return;
      const [row] = await this.rows<{ ended: boolean }>(
        `select status in ('completed', 'refunded', 'failed', 'expired')
                and not exists (select from payment where order_id = $1 and state not in ('confirmed', 'dead')) as ended
           from exchange_order where id = $1`,
        [id],
      );
      if (row?.ended) return;
      const commands = [`mine ${networkFrom} 1`, `mine ${networkTo} 1`, 'advance 1000'];
      await Promise.all(commands.map((command) => child.ask(command)));
      this.#clockMs += 1000;
    }
  }

  /** Until the chains of a dead process are free to be taken. */
  async leasesEnd(): Promise<void> {
    for (;;) {
      const held = await this.rows('select from chain_state where lease_until >= now() limit 1');
      if (held.length === 0) return;
      await sleep(50);
    }
  }

  async drop(): Promise<void> {
    await this.#client.end();
    await this.#database.drop();
  }
}

/** Everything that must hold at the end. */
async function inspect(stage: Stage, cell: Cell, { order }: Pick<Prepared, 'order'>): Promise<void> {
  const { ends, causes, paid, fills } = scenarios[cell.scenario];
  const { faults } = cell;
  const check = (holds: boolean, fault: string): void => {
    if (!holds) faults.push(fault);
  };

  const [row] = await stage.rows<{ status: string; held: boolean; bought: string | null }>(
    `select status, held_at is not null as held, trim_scale(amount_to_actual)::text as bought
       from exchange_order where id = $1`,
    [order.id],
  );
  cell.status = row?.status ?? 'gone';
  check(cell.status === ends, `the order is ${cell.status}`);
  check(row?.held === false, 'the order is held');

  const sent = await stage.rows<{
    txid: string;
    state: string;
    success: boolean;
    to: string;
    amount: string;
    raw: string;
  }>(
    `select txid, state, success, recipient as to, amount::text as amount, raw from sandbox_tx where sender is not null`,
  );
  cell.payments = sent.filter(({ state, success }) => state === 'mined' && success).length;
  check(sent.length === 1, `the hot wallet sent ${sent.length} transactions`);
  check(cell.payments === 1, `${cell.payments} payments are on the chain`);
  const payments = await stage.rows<{
    kind: string;
    state: string;
    amount: string;
    fee: string;
    attempts: number;
    raw: string;
    txid: string;
  }>(
    `select p.kind, p.state, trim_scale(p.amount)::text as amount, trim_scale(p.fee_charged)::text as fee, a.raw, a.txid,
            count(*) over ()::int as attempts
       from payment p join payment_attempt a on a.payment_id = p.id`,
  );
  const [payment] = payments;
  check(payments.length === 1, `${payments.length} attempts are stored`);
  check(payment?.kind === paid.kind && payment.state === 'confirmed', `a ${payment?.kind} is ${payment?.state}`);
  const to = paid.kind === 'payout' ? addressExample('TRC20') : addressExample('BTC');
  check(sent[0]?.to === to, 'the payment went elsewhere');
  check(sent[0]?.raw === payment?.raw && sent[0]?.txid === payment?.txid, 'other bytes than the stored ones went out');
  check(sent[0]?.amount === `${toUnits(payment?.amount ?? '0', paid.decimals)}`, 'the chain has another amount');
  const [due] = await stage.rows<{ amount: string }>(
    paid.kind === 'payout'
      ? 'select trim_scale(amount_to)::text as amount from trade'
      : `select trim_scale(d.amount - c.network_fee)::text as amount from deposit d join currency c using (coin, network)`,
  );
  check(due?.amount === payment?.amount, `${payment?.amount} was paid instead of ${due?.amount}`);
  check(paid.kind !== 'payout' || row?.bought === payment?.amount, 'the order tells of another amount');

  const seenRaw = stage.said
    .flatMap(({ broadcast, signed }) => [broadcast?.raw, signed?.raw])
    .filter((raw) => raw !== undefined);
  check(
    seenRaw.length > 0 && new Set(seenRaw).size === 1,
    `${new Set(seenRaw).size} different transactions were signed or sent`,
  );
  const venue = await stage.rows('select from sandbox_fill');
  check(venue.length === fills, `the venue filled ${venue.length} times`);

  const unbalanced = await stage.rows(
    `select transaction_id from ledger_line group by transaction_id, coin, network having sum(amount) <> 0
     union all select null from ledger_line group by coin, network having sum(amount) <> 0`,
  );
  const owed = await stage.rows<{ owed: string }>(
    `select l.coin || ' ' || trim_scale(-sum(l.amount)) as owed
       from ledger_line l join ledger_transaction t on t.id = l.transaction_id
      where t.order_id = $1 and l.account = 'client' group by l.coin, l.network having sum(l.amount) <> 0`,
    [order.id],
  );
  cell.ledger =
    unbalanced.length > 0 ? 'does not sum to zero' : owed.length > 0 ? `owes ${owed.map((each) => each.owed)}` : 'zero';
  check(cell.ledger === 'zero', `ledger: ${cell.ledger}`);

  const events = await stage.rows<{ seq: number; from: string | null; to: string; cause: string }>(
    'select seq, from_status as from, to_status as to, cause from order_event where order_id = $1 order by seq',
    [order.id],
  );
  const [created, ...moves] = events;
  check(created?.seq === 1 && created.cause === 'created' && created.from === null, 'the history begins elsewhere');
  check(
    `${moves.map(({ cause }) => cause)}` === `${causes}`,
    `the history is ${events.map(({ cause }) => cause).join(' ')}`,
  );
  for (const [index, { seq, from, to, cause }] of moves.entries()) {
    const edge: { from: string; to: string } | undefined = orderMoves[cause as OrderMove];
    const isPath = seq === index + 2 && from === events[index]?.to && edge?.from === from && edge.to === to;
    check(isPath, `event ${seq} (${cause}) does not follow`);
  }

  const reserved = await stage.rows<{ released: boolean }>(
    'select released_at is not null as released from payment_reservation',
  );
  check(reserved.length === 1 && reserved[0]?.released === true, 'the reservation is not released');
}

async function follow(child: SettlingChild, stage: Stage, action: () => Promise<unknown>): Promise<void> {
  const from = child.lines.length;
  try {
    await action();
  } finally {
    stage.said.push(...child.lines.slice(from));
  }
}

/** A process that nothing happens to: what it passes. */
async function rehearse(scenario: ScenarioName): Promise<void> {
  const ready = await prepare(scenario);
  const stage = await Stage.open(ready);
  const child = spawnChild(stage.start);
  try {
    await child.ready();
    await stage.begin(child);
    const idle = child.lines.length;
    await stage.settle(child);
    stage.said.push(...child.lines);
    const cell = cellOf(scenario, 'deposit.scanned', 0);
    await inspect(stage, cell, ready);
    if (cell.faults.length > 0) throw new Error(`without a crash, ${scenario}: ${cell.faults.join('; ')}`);
    prepared.set(scenario, { ...ready, passings: passingsIn(child.lines.slice(idle)) });
  } finally {
    await endChild(child);
    await stage.drop();
  }
}

function passingsIn(lines: readonly SettlingMessage[]): Map<CrashPoint, number> {
  return new Map(names.map((name) => [name, lines.filter(({ passed }) => passed === name).length]));
}

function cellOf(scenario: ScenarioName, crashPoint: CrashPoint, passing: number): Cell {
  return { scenario, crashPoint, passing, killed: false, payments: 0, status: '', ledger: '', faults: [] };
}

function spawnChild(start: SettlingStart): SettlingChild {
  const child = new SettlingChild(start);
  children.add(child);
  return child;
}

async function endChild(child: SettlingChild): Promise<void> {
  await child.end();
  children.delete(child);
}

/**
 * A worker's process that goes on where others were killed. It starts a separate gateway on each
 * database.
 */
interface Survivor {
  child: SettlingChild | null;
}

async function run(cell: Cell, survivor: Survivor): Promise<void> {
  const { scenario, crashPoint, passing } = cell;
  const ready = prepared.get(scenario);
  if (!ready) throw new Error(`${scenario} is not prepared`);
  const stage = await Stage.open(ready);
  try {
    const victim = spawnChild(stage.start);
    try {
      await victim.ready();
      await stage.begin(victim, { crashPoint, passing, signal: 'SIGKILL' });
      await follow(victim, stage, () => stage.settle(victim));
      cell.killed = victim.child.signalCode === 'SIGKILL' && victim.lines.at(-1)?.at === crashPoint;
    } finally {
      await endChild(victim);
    }
    if (!cell.killed) cell.faults.push('the process was not killed where it should');
    await stage.leasesEnd();

    if (survivor.child) {
      await survivor.child.open(stage.start);
    } else {
      survivor.child = spawnChild(stage.start);
      await survivor.child.ready();
    }
    const { child } = survivor;
    await follow(child, stage, () => stage.settle(child));
    await inspect(stage, cell, ready);
    const differences = (await child.ask('reconcile'))?.differences ?? ['no answer'];
    cell.faults.push(...differences.map((difference) => `reconcile: ${difference}`));
  } catch (error) {
    cell.faults.push(error instanceof Error ? error.message : String(error));
    if (survivor.child) await endChild(survivor.child);
    survivor.child = null;
  } finally {
    await stage.drop();
  }
}

async function runLanes(queue: readonly Cell[]): Promise<void> {
  const left = queue.values();
  const worker = async (): Promise<void> => {
    const survivor: Survivor = { child: null };
    for (const cell of left) await run(cell, survivor);
    if (survivor.child) await endChild(survivor.child);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

/** The matrix, a row for each crash point of each scenario. */
function table(): string[][] {
  const rows = scenarioNames.flatMap((scenario) =>
    names.flatMap((crashPoint) => {
      const own = cells.filter((cell) => cell.scenario === scenario && cell.crashPoint === crashPoint);
      if (own.length === 0) return [[crashPoint, scenario, 'not passed', '-', '-', '-']];
      return own.map(({ passing, killed, payments, status, ledger, faults }) => [
        passing === 1 ? crashPoint : `${crashPoint} (${passing})`,
        scenario,
        killed ? 'yes' : 'no',
        String(payments),
        faults.length > 0 ? `WRONG: ${status}: ${faults.join('; ')}` : status,
        ledger,
      ]);
    }),
  );
  return [['crash point', 'order', 'killed', 'payments on chain', 'status', 'ledger'], ...rows];
}

function aligned(rows: readonly string[][], separator: string): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(separator));
}

function markdown(rows: readonly string[][]): string {
  const [head = [], ...rest] = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const lines = aligned([head, head.map((cell) => '-'.repeat(cell.length)), ...rest], ' | ');
  return lines.map((line) => `| ${line} |\n`).join('');
}

beforeAll(async () => {
  await Promise.all(scenarioNames.map(rehearse));
  for (const scenario of scenarioNames) {
    for (const [crashPoint, passings] of prepared.get(scenario)?.passings ?? []) {
      const tried = isThorough ? passings : Math.min(passingsTried[crashPoint] ?? 1, passings);
      for (let passing = 1; passing <= tried; passing++) cells.push(cellOf(scenario, crashPoint, passing));
    }
  }
  await runLanes(cells);
}, 1_800_000);

afterAll(async () => {
  for (const child of children) await child.end();
  for (const { database } of prepared.values()) await database.drop();
  process.stdout.write(`\n${aligned(table(), ' | ').join('\n')}\n\n`);
  const { CRASH_MATRIX_FILE: file } = process.env;
  if (file) writeFileSync(file, markdown(table()));
});

describe.each(names)('a process that ends at %s', (crashPoint) => {
  it('is in the way of an order', () => {
    expect(cells.filter((cell) => cell.crashPoint === crashPoint).length).toBeGreaterThan(0);
  });

  it.each(scenarioNames)('leaves an order that is %s to another process, which ends it and pays once', (scenario) => {
    const own = cells.filter((cell) => cell.scenario === scenario && cell.crashPoint === crashPoint);
    expect(own.filter(({ killed, faults }) => !killed || faults.length > 0)).toEqual([]);
  });
});
