import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type App, startApp } from '../../../src/app/app.ts';
import type { OutsideWorld } from '../../../src/app/outside-world.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import type { ChainAdapter, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { reconcile } from '../../../src/ledger/reconcile.ts';
import type { CrashPoint } from '../../../src/settlement/turns/crash-point.ts';
import { TestClock } from '../gateway/clock.ts';
import { TalkingProcess } from '../gateway/processes.ts';
import { type TestSettings, testConfig, testSettings } from '../gateway/settings.ts';

// A gateway process that settles, for tests that end it in every way: the parent's handle on it,
// and the child itself. The child's one argument is a SettlingStart as JSON. It writes one JSON
// object a line, and obeys the lines of its standard input in turn.
//
//   tick | commission | mine <network> <n> | reorg <network> <n> |
//   pay <network> <units> <address> | advance <ms> | reconcile | fail <Failpoint> |
//   open <SettlingStart> | stop

/** Where a process ends or stops itself. */
export interface Failpoint {
  readonly crashPoint: CrashPoint;
  /** At which passing from now on, from 1. */
  readonly passing: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

/** What a process settles, and how. */
export interface SettlingStart {
  readonly databaseUrl: string;
  readonly settings?: TestSettings;
  /**
   * Its clock stands still here, and it settles when told to. Without it the clock is real, and it
   * settles by itself.
   */
  readonly clock?: string;
  readonly failpoint?: Failpoint;
}

/** A line of a child's. */
export interface SettlingMessage {
  readonly ready?: string;
  /** The command that is done, counted from 1. */
  readonly reply?: number;
  readonly differences?: string[];
  readonly passed?: CrashPoint;
  /** The failpoint is reached. */
  readonly at?: CrashPoint;
  readonly signed?: SignedBytes;
  readonly broadcast?: SignedBytes;
  readonly log?: { readonly level: string; readonly event?: string };
  readonly failed?: string;
}

export interface SignedBytes {
  readonly txid: string;
  readonly raw: string;
}

/** The parent's handle on a child. */
export class SettlingChild extends TalkingProcess {
  #lastNumber = 0;

  constructor(start: SettlingStart) {
    super([
      'env',
      `TSX_TSCONFIG_PATH=${resolve('tsconfig.json')}`,
      process.execPath,
      '--import',
      resolve('node_modules/tsx/dist/loader.mjs'),
      resolve('test/support/faults/settling-child.ts'),
      JSON.stringify({ ...start, settings: { DATA_DIR: process.env.TEST_DATA_DIR, ...start.settings } }),
    ]);
  }

  get lines(): readonly SettlingMessage[] {
    return this.messages;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  ready(): Promise<string> {
    return this.said('ready', 60_000);
  }

  passings(crashPoint: CrashPoint): number {
    return this.lines.filter(({ passed }) => passed === crashPoint).length;
  }

  logged(event: string): number {
    return this.lines.filter(({ log }) => log?.event === event).length;
  }

  /** Lets it settle something else, as a gateway that was just started. */
  open(start: SettlingStart): Promise<SettlingMessage | null> {
    return this.ask(
      `open ${JSON.stringify({ ...start, settings: { DATA_DIR: process.env.TEST_DATA_DIR, ...start.settings } })}`,
    );
  }

  /** Waits until a command is done. Null when the child ends before. */
  async ask(command: string, timeoutMs = 60_000): Promise<SettlingMessage | null> {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    this.tell(command);
    for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(3)) {
      const found = this.lines.find(({ reply }) => reply === number);
      if (found?.failed !== undefined) throw new Error(`'${command}' failed: ${found.failed}`);
      if (found) return found;
      if (this.isAlive) continue;
      await this.end();
      return null;
    }
    throw new Error(`the child did not obey '${command}'`);
  }

  /** Ends it in good order. */
  async stop(): Promise<void> {
    await this.ask('stop', 20_000);
    await this.end('SIGTERM');
  }
}

function say(message: SettlingMessage): void {
  // Synchronous on a pipe: what was said is with the parent even if the next statement ends the
  // process.
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** A gateway in this process. */
interface Gateway {
  readonly app: App;
  readonly clock: TestClock | null;
  failAt(failpoint: Failpoint): void;
}

async function open({ databaseUrl, settings, clock: startsAt, ...start }: SettlingStart): Promise<Gateway> {
  const clock = startsAt === undefined ? null : new TestClock(new Date(startsAt));
  const config = testConfig({
    DATABASE_URL: databaseUrl,
    ...testSettings,
    ROLE: 'worker',
    LOG_LEVEL: 'info',
    CHAIN_LEASE_MS: '500',
    PRICE_MAX_AGE_SEC: '86400',
    ...settings,
  });
  let { failpoint } = start;
  let passings = 0;
  const outside: OutsideWorld = {
    clock: clock ?? systemClock,
    background: clock === null,
    logStream: { write: (line) => say({ log: JSON.parse(line) }) },
    onCrashPoint: (name) => {
      say({ passed: name });
      if (name !== failpoint?.crashPoint) return;
      passings += 1;
      if (passings !== failpoint.passing) return;
      say({ at: name });
      process.kill(process.pid, failpoint.signal);
    },
    signer: (signer) => ({
      hotWallet: (chain) => signer.hotWallet(chain),
      channels: (chain) => signer.channels(chain),
      sign: async (...args) => {
        const signed = await signer.sign(...args);
        say({ signed: bytesOf(signed) });
        return signed;
      },
      revoke: (...args) => signer.revoke(...args),
    }),
    chain: listenTo,
  };
  return {
    app: await startApp({ config, databaseUrl, embedded: true, outside }),
    clock,
    failAt: (next) => {
      failpoint = next;
      passings = 0;
    },
  };
}

/** Says what is handed to the node. */
function listenTo(adapter: ChainAdapter): ChainAdapter {
  return new Proxy(adapter, {
    get(target, name) {
      if (name === 'broadcast') {
        return (tx: SignedTx) => {
          say({ broadcast: bytesOf(tx) });
          return target.broadcast(tx);
        };
      }
      if (name === 'broadcastAll' && target.broadcastAll) {
        return (txs: readonly SignedTx[]) => {
          for (const tx of txs) say({ broadcast: bytesOf(tx) });
          return target.broadcastAll?.(txs);
        };
      }
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function bytesOf({ txid, raw }: SignedTx): SignedBytes {
  return { txid, raw };
}

async function obey({ app, clock }: Gateway, line: string): Promise<Pick<SettlingMessage, 'differences'>> {
  const { settlement } = app;
  if (!settlement) throw new Error('this gateway does not settle');
  const [command = '', first = '', second = '1', third = ''] = line.split(' ');
  const chain = networkById(first)?.chain ?? '';
  switch (command) {
    case 'tick':
      await settlement.worker.tick();
      return {};
    case 'commission':
      await settlement.commission.run();
      return {};
    case 'mine':
      await settlement.sandbox.mine(chain, Number(second));
      return {};
    case 'reorg':
      await settlement.sandbox.reorg(chain, Number(second));
      return {};
    case 'pay': {
      const coins = { to: third, tag: null, contract: null, amount: BigInt(second), busyBlocks: 10 };
      await settlement.sandbox.pay(chain, coins);
      return {};
    }
    case 'advance':
      clock?.advance(Number(first));
      return {};
    case 'reconcile': {
      const { rows } = await reconcile({ orm: app.orm, adapters: settlement.adapters });
      const wrong = rows.filter(({ difference }) => difference !== '0');
      return { differences: wrong.map((row) => Object.values(row).join(' | ')) };
    }
    default:
      throw new Error(`there is no command '${command}'`);
  }
}

async function settle(start: SettlingStart): Promise<void> {
  let gateway = await open(start);
  say({ ready: gateway.app.internalUrl });
  let reply = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    reply += 1;
    try {
      if (line.startsWith('open ')) {
        await gateway.app.stop();
        gateway = await open(JSON.parse(line.slice('open '.length)));
        say({ reply });
      } else if (line.startsWith('fail ')) {
        gateway.failAt(JSON.parse(line.slice('fail '.length)));
        say({ reply });
      } else if (line === 'stop') {
        await gateway.app.stop();
        say({ reply });
        return;
      } else {
        say({ reply, ...(await obey(gateway, line)) });
      }
    } catch (error) {
      say({ reply, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
}

if (process.argv[1] === import.meta.filename) {
  try {
    await settle(JSON.parse(process.argv[2] ?? '{}'));
    process.exit(0);
  } catch (error) {
    say({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    process.exit(1);
  }
}
