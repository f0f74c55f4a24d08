import { createInterface } from 'node:readline';
import { TestClock } from '../../support/gateway/clock.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { type CrashPoint, networkById, SandboxPriceSource, toUnits } from './product.ts';

// The gateway of a town, as a process that can be killed. It does nothing by itself: each line of
// its standard input is a command, and it writes one JSON object for each. The clock stands still
// between commands.

/** What a gateway is started with. */
export interface TownStart {
  readonly databaseUrl: string;
  /** Settings that differ from those of every test. */
  readonly settings: Readonly<Record<string, string>>;
  /** The certificate of the receivers of webhooks, as PEM. */
  readonly ca: string;
  /** Milliseconds since 1970. */
  readonly clock: number;
  readonly priceSeed: string;
  /** Prices stay the same for this long. */
  readonly priceMs: number;
  /** When the first period of prices begins, in milliseconds since 1970. */
  readonly dayStart: number;
}

/** Coins that a user sends. */
export interface UserPayment {
  readonly coin: string;
  readonly network: string;
  readonly to: string;
  readonly tag: string | null;
  /** As a decimal string. */
  readonly amount: string;
}

/** Where a process kills itself. */
export interface Failpoint {
  readonly crashPoint: CrashPoint;
  /** At which passing from now on, from 1. */
  readonly passing: number;
}

/** What a process can be told, and the result of each. */
export interface Commands {
  open: { readonly args: TownStart; readonly result: { readonly rest: string; readonly internal: string } };
  people: { readonly args: { readonly partners: number }; readonly result: People };
  advance: { readonly args: { readonly ms: number }; readonly result: null };
  refresh: { readonly args: null; readonly result: null };
  pay: { readonly args: readonly UserPayment[]; readonly result: readonly string[] };
  drop: { readonly args: { readonly network: string; readonly txid: string }; readonly result: boolean };
  refuse: { readonly args: { readonly network: string; readonly address: string }; readonly result: null };
  mine: { readonly args: readonly string[]; readonly result: null };
  reorg: {
    readonly args: { readonly network: string; readonly depth: number; readonly keep: boolean };
    readonly result: null;
  };
  fail: { readonly args: Failpoint | null; readonly result: null };
  tick: { readonly args: null; readonly result: null };
  send: { readonly args: null; readonly result: number };
  reconcile: { readonly args: null; readonly result: readonly string[] };
}

/** Keys of partners, and tokens of staff. */
export interface People {
  readonly keys: readonly string[];
  readonly tokens: readonly string[];
}

export type CommandName = keyof Commands;

interface Opened {
  readonly gateway: SettledGateway;
  readonly clock: TestClock;
}

/** What the log says when something took too long, which on a busy machine may be anything. */
const belated = new Set(['chain_failed', 'answers_failed', 'venue_failed']);
/** For receivers of webhooks, so that no attempt fails because the machine is busy. */
const patienceMs = 300_000;
/** What node-postgres says when a connection takes too long. */
const noConnection = /timeout expired|timeout exceeded when trying to connect|due to connection timeout/;
const mostTries = 30;
/** Ticks that may follow one in which something took too long. */
const mostTicks = 10;

let opened: Opened | null = null;
let failures = 0;
let failpoint: Failpoint | null = null;
let passings = 0;

function town(): Opened {
  if (!opened) throw new Error('no gateway is open');
  return opened;
}

function chainOf(network: string): string {
  return networkById(network)?.chain ?? '';
}

function onCrashPoint(name: CrashPoint): Promise<void> | void {
  if (name !== failpoint?.crashPoint) return;
  passings += 1;
  if (passings !== failpoint.passing) return;
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

function hearLog(line: string): void {
  const { event = 'other' } = JSON.parse(line) as { event?: string };
  if (belated.has(event)) failures += 1;
  say({ log: event });
}

/**
 * Repeats an operation that found no connection to PostgreSQL in time, which takes long on a busy
 * machine. Such an operation has done nothing yet.
 */
async function patiently<T>(operation: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await operation();
    } catch (error) {
      if (tries === mostTries || !noConnection.test(error instanceof Error ? error.message : '')) throw error;
    }
  }
}

/** The clock of the prices, which moves from one period to the next. */
class PeriodClock {
  readonly #clock: TestClock;
  readonly #start: number;
  readonly #ms: number;

  constructor(clock: TestClock, { dayStart, priceMs }: TownStart) {
    this.#clock = clock;
    this.#start = dayStart;
    this.#ms = priceMs;
  }

  now(): Date {
    const since = this.#clock.now().getTime() - this.#start;
    return new Date(this.#start + Math.floor(since / this.#ms) * this.#ms);
  }
}

type Handlers = { readonly [Name in CommandName]: (args: Commands[Name]['args']) => Promise<Commands[Name]['result']> };

const handlers: Handlers = {
  open: async (start) => {
    const clock = new TestClock(new Date(start.clock));
    const options = {
      clock,
      databaseUrl: start.databaseUrl,
      // Another key would be issued with each start.
      key: 'none',
      settings: start.settings,
      outside: {
        clock,
        background: false,
        onCrashPoint,
        logStream: { write: hearLog },
        priceSource: new SandboxPriceSource(new PeriodClock(clock, start), start.priceSeed),
        receivers: { resolve: async () => ['127.0.0.1'], ca: start.ca, connectMs: patienceMs, totalMs: patienceMs },
      },
    };
    const gateway = await patiently(() => startSettledGateway(options));
    opened = { gateway, clock };
    return { rest: `${gateway.app.restUrl}/api/v1`, internal: gateway.app.internalUrl };
  },
  people: async ({ partners }) => {
    const { gateway } = town();
    const keys: string[] = [];
    for (let i = 0; i < partners; i += 1) keys.push((await patiently(() => gateway.partner())).key);
    const tokens: string[] = [];
    for (const name of ['first', 'second'])
      tokens.push((await patiently(() => gateway.staff.create(`${name}@example.com`, 'operator'))).token);
    return { keys, tokens };
  },
  advance: async ({ ms }) => {
    town().clock.advance(ms);
    return null;
  },
  refresh: async () => {
    const { app, settlement } = town().gateway;
    await patiently(() => settlement.settler.tools.prices.refresh(app.catalogue.coins()));
    return null;
  },
  pay: async (payments) => {
    const { gateway } = town();
    const txids: string[] = [];
    for (const { coin, network, to, tag, amount } of payments) {
      const currency = gateway.app.catalogue.find(coin, network);
      if (!currency) throw new Error(`there is no ${coin} on ${network}`);
      const units = toUnits(amount, currency.decimals);
      const payment = { to, tag, contract: currency.contract, amount: units, busyBlocks: 0 };
      txids.push(await patiently(() => gateway.settlement.sandbox.pay(chainOf(network), payment)));
    }
    return txids;
  },
  drop: ({ network, txid }) => patiently(() => town().gateway.settlement.sandbox.drop(chainOf(network), txid)),
  refuse: async ({ network, address }) => {
    await patiently(() => town().gateway.settlement.sandbox.refuse(chainOf(network), address));
    return null;
  },
  mine: async (chains) => {
    for (const chain of chains) await patiently(() => town().gateway.settlement.sandbox.mine(chain));
    return null;
  },
  reorg: async ({ network, depth, keep }) => {
    await patiently(() => town().gateway.reorg(network, depth, keep));
    return null;
  },
  fail: async (next) => {
    failpoint = next;
    passings = 0;
    return null;
  },
  tick: async () => {
    for (let ticks = 0; ticks < mostTicks; ticks += 1) {
      const before = failures;
      await patiently(() => town().gateway.tick());
      if (failures === before) break;
    }
    return null;
  },
  send: async () => {
    const { webhooks } = town().gateway.app;
    if (!webhooks) throw new Error('this gateway sends no webhooks');
    const { deliveries } = await patiently(() => webhooks.dispatcher.dispatch());
    for (;;) {
      const begun = await patiently(() => webhooks.sender.begin());
      await webhooks.sender.next();
      if (begun > 0) continue;
      await webhooks.sender.idle();
      // Deliveries of the same endpoint may have waited for room.
      if ((await patiently(() => webhooks.sender.begin())) === 0) return deliveries;
    }
  },
  reconcile: async () =>
    (await patiently(() => town().gateway.differences())).map((row) => `reconcile: ${Object.values(row).join(' | ')}`),
};

async function obey(name: CommandName, args: never): Promise<unknown> {
  return handlers[name](args);
}

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

if (process.argv[1] === import.meta.filename) {
  say({ loaded: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const { number, name, args } = JSON.parse(line);
    try {
      say({ reply: number, result: await obey(name, args as never) });
    } catch (error) {
      say({ reply: number, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
  // The parent has closed the input, or is gone.
  process.exit(0);
}
