import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { type App, startApp } from '../../../src/app/app.ts';
import { startEmbeddedPostgres } from '../../../src/base/db/embedded/embedded-postgres.ts';
import { Big, formatDecimal } from '../../../src/base/money.ts';
import { BuiltProcess, runBuilt } from '../gateway/built-process.ts';
import { Dice } from '../gateway/dice.ts';
import { loadSettings, testConfig, testSettings } from '../gateway/settings.ts';
import { shown } from './arguments.ts';

/** Numbers become text: a double has not the digits of an amount. */
function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) => (typeof value === 'number' ? source : value));
}

/** A currency, as orders name it. */
export interface Place {
  readonly coin: string;
  readonly network: string;
}

/** A currency that deposits are made in. */
export interface PaidIn extends Place {
  /** Decimal text. */
  readonly minAmount: string;
}

/** An order that was made, and what its user does with the deposit. */
export interface TortureOrder {
  readonly id: string;
  readonly behaviour: string;
}

/** An order as the gateway answered it. Amounts are decimal text in the coin's units. */
export interface OrderReply {
  readonly id: string;
  readonly deposit_address: string;
  readonly deposit_address_tag: string | null;
  readonly amount_from_expected: string;
  readonly amount_to_expected: string;
}

/** What is wrong, a line each. */
export interface Verdict {
  readonly lost: string[];
  readonly paidTwice: string[];
  readonly wrong: string[];
}

export interface TortureOptions {
  /** Of its folder. */
  readonly name: string;
  readonly seed: number;
  /** Whether the folder with the database and the logs stays. */
  readonly keep: boolean;
  /** Settings of the processes, in addition to the common settings of tortures. */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * What is done to the gateway, and how often so far; told while it runs, and with the figures.
   */
  readonly counts: Readonly<Record<string, number>>;
}

export interface Plan {
  readonly orders: number;
  readonly createEveryMs: number;
  /** Makes an order, and plans its deposits. */
  readonly createOrder: (index: number, dice: Dice) => Promise<void>;
  /** What goes wrong meanwhile; each goes on until there is peace. */
  readonly troubles: readonly (() => Promise<void>)[];
  /** From the last deposit to peace. */
  readonly afterDepositsMs: number;
  /** From peace on, the longest time in which the number of open things does not get less. */
  readonly quietTimeoutMs: number;
  /** Runs when nothing is left to do, before the gateway stops. */
  readonly atRest?: () => Promise<void>;
}

export interface Report {
  readonly verdict: Verdict;
  /** Ends of orders that the figures count. */
  readonly statuses: readonly string[];
  readonly behaviours: readonly string[];
  /** Lines to be told before what is wrong. */
  readonly notes?: readonly string[];
  /** Figures in addition to those of every torture. */
  readonly figures?: Readonly<Record<string, number>>;
}

/** Since the program began. */
function secondsSoFar(): number {
  return performance.now() / 1000;
}

const progressEveryMs = 5_000;
/** So long nothing may have been left to do. */
const quietMs = 5_000;
const listedProblems = 40;

/**
 * A gateway of processes from dist on a separate PostgreSQL, whose users make orders while
 * everything goes wrong, until there is peace and nothing is left to do. Who uses it says which
 * orders and which troubles, and judges.
 */
export class Torture<Order extends TortureOrder> {
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  readonly made: Order[] = [];
  readonly workers: BuiltProcess[] = [];
  /** What is wrong with the gateway as a whole, a line each. */
  readonly faults: string[] = [];
  readonly #options: TortureOptions;
  readonly #stopPostgres: () => Promise<void>;
  readonly #pool: Pool;
  readonly #processes: BuiltProcess[] = [];
  /** Lines of the logs by what they say. */
  readonly #events = new Map<string, number>();
  readonly #limits = new Map<string, Promise<{ min: Big; max: Big | null }>>();
  readonly #payments: Promise<void>[] = [];
  #waitingPayments = 0;
  #isPeaceful = false;
  #isRight = false;
  #key = '';
  #rest = '';

  private constructor(
    options: TortureOptions,
    { folder, postgres }: { folder: string; postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>> },
  ) {
    this.#options = options;
    this.folder = folder;
    this.databaseUrl = postgres.url;
    this.#stopPostgres = () => postgres.stop();
    this.#pool = new Pool({ connectionString: postgres.url, max: 3 });
    // PostgreSQL may stop before a connection that is ending is gone; a query that fails says so
    // itself.
    this.#pool.on('error', () => {});
    this.settings = {
      DATA_DIR: folder,
      DATABASE_URL: postgres.url,
      ...testSettings,
      CHAIN_LEASE_MS: '1500',
      ...loadSettings,
      ...options.settings,
    };
  }

  /** With a PostgreSQL that is empty yet. */
  static async open<Order extends TortureOrder>(options: TortureOptions): Promise<Torture<Order>> {
    const folder = await mkdtemp(join(tmpdir(), `gateway-${options.name}-`));
    // Root's PostgreSQL runs as another user, who must get through.
    await chmod(folder, 0o711);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
    const postgres = await startEmbeddedPostgres({ dataDir: folder, ephemeral: true, maxConnections: 200 });
    if (decodeURIComponent(postgres.url).includes('@/proc/'))
      throw new Error('the temporary folder is too deep to share a socket: set TMPDIR');
    return new Torture<Order>(options, { folder, postgres });
  }

  /** The partner's key. */
  get key(): string {
    return this.#key;
  }

  /** Tells people how it goes. */
  say(line: string): void {
    process.stderr.write(`${secondsSoFar().toFixed(0).padStart(4)} s  ${line}\n`);
  }

  async rows<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(sql, values)).rows;
  }

  /** Starts a program, which is to run until the end. */
  launch(name: string, script: string, ready: RegExp, changes: Readonly<Record<string, string>> = {}): BuiltProcess {
    const onOutput = (text: string): void => {
      for (const [, event = ''] of text.matchAll(/"event":"(\w+)"/g)) {
        this.#events.set(event, (this.#events.get(event) ?? 0) + 1);
      }
    };
    const { folder } = this;
    const program = new BuiltProcess({
      script,
      name,
      folder,
      settings: { ...this.settings, ...changes },
      ready,
      onOutput,
    });
    this.#processes.push(program);
    return program;
  }

  /**
   * Fills the database as the first start does. Returns what is read from that gateway, which does
   * nothing by itself.
   */
  async prepare<T>(read: (app: App) => Promise<T> | T): Promise<T> {
    const first = await startApp({
      config: testConfig({ ...this.settings, LOG_LEVEL: 'error' }),
      databaseUrl: this.databaseUrl,
      embedded: true,
      outside: { background: false },
    });
    this.#key = first.demo?.partnerKey ?? '';
    const found = await read(first);
    await first.stop();
    return found;
  }

  /** Starts the gateway: a process for the interfaces, and workers. */
  async start(workerCount: number): Promise<void> {
    const gateway = (role: 'api' | 'worker', number: number): BuiltProcess =>
      this.launch(`${role}-${number}`, 'main.js', /^ready .*$/m, {
        ROLE: role,
        LOG_LEVEL: role === 'worker' ? 'info' : 'warn',
      });
    const api = gateway('api', 1);
    for (let number = 1; number <= workerCount; number += 1) this.workers.push(gateway('worker', number));
    this.#rest = /^ready rest=(\S+)/m.exec(await api.ready())?.[1] ?? '';
    await Promise.all(this.workers.map((worker) => worker.ready()));
    this.say('the gateway is ready');
  }

  /** The least and the most that a pair takes, as its first quote said. */
  limitsOf(from: PaidIn, to: Place, rateType: string): Promise<{ min: Big; max: Big | null }> {
    const query = {
      coin_from: from.coin,
      network_from: from.network,
      coin_to: to.coin,
      network_to: to.network,
      rate_type: rateType,
    };
    const name = Object.values(query).join(' ');
    const known = this.#limits.get(name);
    if (known) return known;
    const amount = formatDecimal(new Big(from.minAmount).times('3'));
    const asked = fetch(`${this.#rest}/partner/rates?${new URLSearchParams({ ...query, amount })}`).then(
      async (reply) => {
        const text = await reply.text();
        if (reply.status !== 200) throw new Error(`no rate of ${name}: ${reply.status} ${text}`);
        const { min_amount: min, max_amount: max } = parseExactly(text) as {
          min_amount: string;
          max_amount?: string | null;
        };
        return { min: new Big(min), max: max ? new Big(max) : null };
      },
    );
    this.#limits.set(name, asked);
    return asked;
  }

  /**
   * Creates an order exactly once: repeats the request with its idempotency key until it is
   * answered.
   */
  async postOrder(body: object): Promise<OrderReply> {
    const headers = {
      Authorization: `Bearer ${this.#key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': crypto.randomUUID(),
    };
    for (let tries = 1; ; tries += 1) {
      const reply = await fetch(`${this.#rest}/partner/orders`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      const text = await reply.text();
      if (reply.status === 201) return parseExactly(text) as OrderReply;
      if (reply.status < 500 || tries === 60) throw new Error(`an order was refused: ${reply.status} ${text}`);
      await sleep(Math.min(tries, 5) * 200);
    }
  }

  /**
   * Changes an order as its partner. Returns the status of the answer; 0 when none came. A refusal
   * is no fault: the order may have moved on.
   */
  async change(path: string, body: object | null): Promise<number> {
    const headers = { Authorization: `Bearer ${this.#key}`, 'Idempotency-Key': crypto.randomUUID() };
    const sent = body && {
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
    const reply = await fetch(`${this.#rest}/partner/orders/${path}`, {
      method: 'POST',
      ...(sent ?? { headers }),
    }).catch(() => null);
    const text = (await reply?.text()) ?? '';
    const status = reply?.status ?? 0;
    if (![0, 200, 409, 503].includes(status)) this.faults.push(`a change was answered with ${status}: ${text}`);
    return status;
  }

  /** Has a user pay, some time from now. */
  payLater(afterMs: number, pay: () => Promise<void>): void {
    this.#waitingPayments += 1;
    this.#payments.push(
      sleep(afterMs)
        .then(pay)
        .catch((error: Error) => void this.faults.push(`a deposit could not be made: ${error.message}`))
        .finally(() => {
          this.#waitingPayments -= 1;
        }),
    );
  }

  /** Whether nothing goes wrong any more. */
  get isPeaceful(): boolean {
    return this.#isPeaceful;
  }

  /** Makes a trouble about so often until there is peace. */
  async often(everyMs: number, dice: Dice, trouble: () => Promise<void>): Promise<void> {
    while (!this.#isPeaceful) {
      await sleep(everyMs * dice.between(0.5, 1.5));
      if (!this.#isPeaceful) await trouble();
    }
  }

  /** The whole of it, until nothing is left to do and the gateway has stopped. */
  async run(plan: Plan): Promise<void> {
    const watching = new AbortController();
    const watched = this.#watch(watching.signal);
    const troubles = plan.troubles.map((trouble) => trouble());
    await this.#createOrders(plan);
    this.say(`${this.made.length} orders are made`);
    await Promise.all(this.#payments);
    this.say(`${this.#payments.length} deposits are made`);
    await sleep(plan.afterDepositsMs);
    this.#isPeaceful = true;
    await Promise.all(troubles);
    this.say('no more kills and reorganisations');
    await Promise.all(this.#processes.map((program) => program.ready()));
    if (!(await this.#comesToRest(plan.quietTimeoutMs))) {
      this.faults.push(`the gateway made no progress for ${plan.quietTimeoutMs / 1000} s`);
    }
    await plan.atRest?.();
    watching.abort();
    await watched;
    await Promise.all(this.#processes.map((program) => program.end('SIGTERM')));
  }

  async #createOrders({ orders, createEveryMs, createOrder }: Plan): Promise<void> {
    const dice = new Dice(this.#options.seed);
    const left = Array.from({ length: orders }, (_, index) => ({
      index,
      dice: new Dice(Math.floor(dice.next() * 2 ** 32)),
    })).values();
    const start = performance.now();
    const worker = async (): Promise<void> => {
      for (const order of left) {
        await sleep(Math.max(0, start + order.index * createEveryMs - performance.now()));
        await createOrder(order.index, order.dice).catch((error: Error) => void this.faults.push(error.message));
      }
    };
    await Promise.all(Array.from({ length: 6 }, worker));
  }

  async #watch(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(progressEveryMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      const open = `open ${await this.#open()}, deposits to come ${this.#waitingPayments}`;
      const running = `workers ${this.workers.filter(({ isReady }) => isReady).length}`;
      this.say(`${shown(await this.#statuses())}; ${open}, ${running}, ${shown(this.#options.counts)}`);
      await this.#letPayoutsGoOn();
      for (const { exitCode } of this.#processes) {
        if (exitCode !== null) this.faults.push(`a process ended with ${exitCode}`);
      }
    }
  }

  /**
   * As two members of staff do who know that a deposit was taken back for good: its debit stands,
   * and payouts go on.
   */
  async #letPayoutsGoOn(): Promise<void> {
    await this.rows(
      `insert into staff_member (id, email, role, created_at)
       select gen_random_uuid(), email, 'operator', now()
         from (values ('first@example.com'), ('second@example.com')) as m (email) on conflict (email) do nothing`,
    );
    const ended = await this.rows(
      `update payout_hold h
          set closed_at = now(), proposed_by = first.id, closed_by = second.id, acknowledged = cleared_at is null
         from staff_member first, staff_member second
        where h.closed_at is null and h.cause = 'client_debit'
          and first.email = 'first@example.com' and second.email = 'second@example.com' returning h.id`,
    );
    if (ended.length > 0) this.say(`${ended.length} holds of payouts ended, whose debits are known`);
  }

  async #comesToRest(timeoutMs: number): Promise<boolean> {
    let quietSince: number | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (let deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(250)) {
      const open = await this.#open();
      // A busy machine is slow, and still makes progress.
      if (open < least) deadline = Date.now() + timeoutMs;
      least = Math.min(least, open);
      quietSince = open === 0 ? (quietSince ?? Date.now()) : null;
      if (quietSince !== null && Date.now() - quietSince >= quietMs) return true;
    }
    return false;
  }

  /** How many orders are where. */
  async #statuses(): Promise<Record<string, number>> {
    const orders = await this.rows<{ name: string; count: number }>(
      `select case when held_at is null then status else 'held' end as name, count(*)::int as count
         from exchange_order group by 1 order by 1`,
    );
    return Object.fromEntries(orders.map(({ name, count }) => [name, count]));
  }

  /** How many orders, deposits and payments have something to do. */
  async #open(): Promise<number> {
    const [open] = await this.rows<{ count: number }>(
      `select ((select count(*) from exchange_order
                 where held_at is null and status in ('waiting_deposit', 'confirming', 'exchanging', 'sending', 'refunding'))
             + (select count(*) from deposit where state in ('mempool', 'mined'))
             + (select count(*) from payment p left join exchange_order o on o.id = p.order_id
                 where p.state in ('signed', 'sent') or (p.state in ('ready', 'prepared') and o.held_at is null))
             + (select count(*) from order_action a join exchange_order o on o.id = a.order_id
                 where a.outcome is null and o.held_at is null)
             + (select count(*) from sandbox_tx where state = 'mempool'))::int as count`,
    );
    return open?.count ?? 0;
  }

  /** The gateway's own verdict, as an operator asks for it. */
  async #reconcile(): Promise<{ differences: number; lines: string[] }> {
    const { code, output, errors } = await runBuilt('surfaces/cli/main.js', ['ledger', 'reconcile', '--json'], this);
    const ended = `reconcile ended with ${code}: ${errors}`;
    if (!output.startsWith('{')) return { differences: Number.NaN, lines: [ended] };
    const report = JSON.parse(output) as { differences: number; rows: Record<string, string>[] };
    const lines = report.rows
      .filter(({ difference }) => difference !== '0')
      .map((row) => `reconcile: ${Object.values(row).join(' | ')}`);
    if ((code !== 0 || report.differences !== 0) && lines.length === 0) lines.push(ended);
    return { differences: report.differences, lines };
  }

  /** How many orders of each behaviour ended how. */
  async #outcomes(behaviours: readonly string[]): Promise<string[]> {
    const ended = await this.rows<{ id: string; name: string }>(
      `select id, case when held_at is null then status else 'held' end as name from exchange_order`,
    );
    const nameOf = new Map(ended.map(({ id, name }) => [id, name]));
    return behaviours.map((behaviour) => {
      const counts: Record<string, number> = {};
      for (const { id } of this.made.filter((each) => each.behaviour === behaviour)) {
        const name = nameOf.get(id) ?? 'gone';
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return `${behaviour.padEnd(14)} ${shown(counts)}`;
    });
  }

  /** Tells what became of it all, the figures last. The chains must still be there. */
  async report({ verdict, statuses, behaviours, notes = [], figures = {} }: Report): Promise<void> {
    const { seed, counts } = this.#options;
    const { lost, paidTwice, wrong } = verdict;
    const ended = await this.#statuses();
    const { differences, lines } = await this.#reconcile();
    const told = [...(await this.#outcomes(behaviours)), ...notes];
    if (this.#events.size > 0) told.push(`in the logs: ${shown(Object.fromEntries([...this.#events].sort()))}`);
    const problems = [...this.faults, ...lost, ...paidTwice, ...wrong, ...lines];
    told.push(...problems.slice(0, listedProblems).map((problem) => `WRONG: ${problem}`));
    if (problems.length > listedProblems) told.push(`and ${problems.length - listedProblems} more`);
    for (const line of told) process.stderr.write(`  ${line}\n`);
    const all = {
      orders: this.made.length,
      ...Object.fromEntries(statuses.map((name) => [name, ended[name] ?? 0])),
      lost: lost.length,
      paid_twice: paidTwice.length,
      wrong: wrong.length + this.faults.length,
      ...counts,
      ...figures,
      reconcile_differences: differences,
      seconds: Math.round(secondsSoFar()),
      seed,
    };
    const line = Object.entries(all).map(([name, value]) => `${name}=${value}`);
    process.stdout.write(`${line.join(' ')}\n`);
    this.#isRight = problems.length === 0;
  }

  /** Ends the program: with 0 when nothing was wrong. */
  async end(): Promise<never> {
    const { seed, keep } = this.#options;
    await this.#pool.end();
    await this.#stopPostgres();
    if (keep || !this.#isRight)
      process.stderr.write(`seed ${seed}; the logs and the database stay in ${this.folder}\n`);
    else await rm(this.folder, { recursive: true, force: true });
    process.exit(this.#isRight ? 0 : 1);
  }
}
