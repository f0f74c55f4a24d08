import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where a gateway listens. */
export interface Addresses {
  /** Without /api/v1; null for a worker, which has no public listener. */
  readonly restUrl: string | null;
  readonly internalUrl: string;
}

/** What one process tells of itself when all are asked. */
type Part = readonly object[];

/** What a process says to the primary. One that is asked to end by a signal is `leaving`, and serves on until it may go. */
type Saying =
  | { readonly ready: Addresses }
  | { readonly failed: string }
  | { readonly leaving: true }
  /** Asks for the parts of all processes, or gives its own part. */
  | { readonly gather: number }
  | { readonly part: Part; readonly of: number };

/** That the gateway ends, or that another process has taken a process's place. */
type StopReason = 'ending' | 'replaced';

/** What the primary says to a process. */
type Order =
  | { readonly stop: StopReason }
  /** Asks for its part, or gives the parts that it asked for. */
  | { readonly tell: number }
  | { readonly parts: readonly Part[]; readonly of: number };

/** The primary as one of its processes sees it. */
export interface ProcessGroup {
  ready(addresses: Addresses): void;
  /** Resolves when the primary was told. */
  failed(text: string): Promise<void>;
  onStop(stop: (isReplaced: boolean) => void): void;
  /** Gives this process's part whenever one of them gathers. */
  onGather(part: () => Promise<Part>): void;
  /** The parts of all processes that give one in time. */
  gather(): Promise<readonly Part[]>;
  /** The last step of an end. Resolves when no connection is on its way here any more. */
  leave(): Promise<void>;
}

/** Null in a process that no primary started. */
export function joinGroup(): ProcessGroup | null {
  const own = cluster.worker;
  if (!own) return null;
  let questions = 0;
  const say = (saying: Saying): Promise<void> =>
    new Promise((resolve) => process.send?.(saying, undefined, undefined, () => resolve()));
  // A terminal sends it to every process, and the primary says what to do.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => void say({ leaving: true }));
  return {
    ready: (addresses) => void say({ ready: addresses }),
    failed: (text) => say({ failed: text }),
    onStop: (stop) =>
      process.on('message', (order: Order) => {
        if ('stop' in order) stop(order.stop === 'replaced');
      }),
    onGather: (part) =>
      process.on('message', (order: Order) => {
        if ('tell' in order) void part().then((own) => say({ part: own, of: order.tell }));
      }),
    gather: () => {
      const of = ++questions;
      return new Promise((resolve) => {
        const hear = (order: Order): void => {
          if (!('parts' in order) || order.of !== of) return;
          process.off('message', hear);
          resolve(order.parts);
        };
        process.on('message', hear);
        void say({ gather: of });
      });
    },
    leave: () =>
      new Promise((resolve) => {
        process.once('disconnect', resolve);
        own.disconnect();
      }),
  };
}

/** Why a process could not start, in the words that it would have printed. */
export class ProcessFailure extends Error {}

export interface ApiProcessesOptions {
  readonly count: number;
  /** Of each process, with the secrets. */
  readonly environment: NodeJS.ProcessEnv;
}

/** A process that is not ready by then is killed. */
const startLimitMs = 120_000;
/** From the word to the end, whatever hangs. */
const stopLimitMs = 25_000;
/** Ends within this time are counted for the delay. */
const restlessMs = 60_000;
/** A process that has not given its part by then is left out. */
const gatherMs = 1_000;
const firstDelayMs = 250;
const longestDelayMs = 30_000;

/** Until a process is started in the place of one that ended: none at first, then growing while they keep ending. */
export function replacementDelayMs(endsOfLate: number): number {
  return endsOfLate < 2 ? 0 : Math.min(longestDelayMs, firstDelayMs * 2 ** (endsOfLate - 2));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Makes this process the primary of so many api processes that share its ports. It accepts connections and hands them
 * out in turn, replaces a process that ends, replaces all one by one at SIGUSR2, and ends them at SIGTERM and SIGINT.
 *
 * @returns where they listen, once all are ready, or null when a signal came first.
 * @throws ProcessFailure with the first reason why one of them could not start.
 */
export async function runApiProcesses(options: ApiProcessesOptions): Promise<Addresses | null> {
  const processes = new ApiProcesses(options);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      print(`${signal}: finishing what is under way`);
      void processes.stop().then((isClean) => process.exit(isClean ? 0 : 1));
    });
  }
  process.on('SIGUSR2', () => {
    print(`SIGUSR2: replacing ${options.count} api processes one by one`);
    processes.replaceAll();
  });
  const addresses = await processes.start();
  if (addresses)
    print(`${options.count} api processes share the ports; SIGUSR2 to ${process.pid} replaces them one by one`);
  return addresses;
}

interface Started {
  readonly worker: Worker;
  readonly addresses: Addresses;
}

class ApiProcesses {
  readonly #options: ApiProcessesOptions;
  /** Those that live. A process is `leaving` while its replacement starts, and `stopping` once it was told to end. */
  readonly #states = new Map<Worker, 'starting' | 'serving' | 'leaving' | 'stopping'>();
  #questions = 0;
  /** Times of unexpected ends. */
  #ends: number[] = [];
  /** Replacements are made one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #stopped: Promise<boolean> | undefined;

  constructor(options: ApiProcessesOptions) {
    this.#options = options;
    cluster.schedulingPolicy = cluster.SCHED_RR;
  }

  async start(): Promise<Addresses | null> {
    try {
      const started = await Promise.all(Array.from({ length: this.#options.count }, () => this.#startOne()));
      return started[0]?.addresses ?? null;
    } catch (error) {
      if (this.#stopped) return null;
      await this.stop();
      throw error;
    }
  }

  /** Ends all. Resolves to whether each ended as it was told. */
  stop(): Promise<boolean> {
    this.#stopped ??= Promise.all([...this.#states.keys()].map((worker) => this.#stopOne(worker, 'ending'))).then(
      (ends) => ends.every((isClean) => isClean),
    );
    return this.#stopped;
  }

  /** Replaces those that serve now. If a new one cannot start, the rest stay. */
  replaceAll(): void {
    this.#takeTurn(async () => {
      const before = [...this.#states].filter(([, state]) => state === 'serving');
      for (const [worker] of before) {
        if (!(await this.#replace(worker))) return;
      }
      print(`replaced ${before.length} api processes`);
    });
  }

  #takeTurn(task: () => Promise<unknown>): void {
    this.#turn = this.#turn.then(task);
  }

  /** Rejects when the process ends before it is ready, with its own reason where it gave one. */
  #startOne(): Promise<Started> {
    const worker = cluster.fork(this.#options.environment);
    this.#states.set(worker, 'starting');
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => worker.process.kill('SIGKILL'), startLimitMs);
      let reason: string | undefined;
      worker.on('message', (saying: Saying) => {
        if ('failed' in saying) {
          reason = saying.failed;
        } else if ('leaving' in saying) {
          this.#takeTurn(() => this.#letGo(worker));
        } else if ('gather' in saying) {
          void this.#gather(worker, saying.gather);
        } else if ('ready' in saying) {
          clearTimeout(limit);
          if (this.#states.get(worker) === 'starting') this.#states.set(worker, 'serving');
          resolve({ worker, addresses: saying.ready });
        }
      });
      const ended = (how: string): void => {
        clearTimeout(limit);
        const state = this.#states.get(worker);
        this.#states.delete(worker);
        reject(new ProcessFailure(reason ?? `cannot start: an api process ended (${how}) before it was ready`));
        if (state !== 'serving' || this.#stopped) return;
        printError(`api process ${worker.process.pid} ended (${how}); another takes its place`);
        void this.#restore();
      };
      worker.once('exit', (code, signal) => ended(signal ?? `code ${code}`));
      worker.on('error', (error) => {
        if (worker.process.pid === undefined) ended(error.message);
      });
    });
  }

  /** Tells a process to end. Resolves to whether it did so by itself, with its work done. */
  #stopOne(worker: Worker, why: StopReason): Promise<boolean> {
    if (worker.isDead()) return Promise.resolve(true);
    const wasStarting = this.#states.get(worker) === 'starting';
    this.#states.set(worker, 'stopping');
    return new Promise((resolve) => {
      const limit = setTimeout(() => worker.process.kill('SIGKILL'), stopLimitMs);
      worker.once('exit', (code) => {
        clearTimeout(limit);
        resolve(code === 0 || wasStarting);
      });
      worker.send({ stop: why } satisfies Order, () => {});
    });
  }

  async #gather(asking: Worker, of: number): Promise<void> {
    const serving = [...this.#states].filter(([, state]) => state === 'serving' || state === 'leaving');
    const parts = await Promise.all(serving.map(([worker]) => this.#partOf(worker)));
    asking.send({ parts: parts.filter((part) => part !== undefined), of } satisfies Order, () => {});
  }

  /** Undefined when it does not give one. */
  #partOf(worker: Worker): Promise<Part | undefined> {
    const of = ++this.#questions;
    return new Promise((resolve) => {
      const finish = (part?: Part): void => {
        clearTimeout(limit);
        worker.off('message', hear);
        resolve(part);
      };
      const limit = setTimeout(finish, gatherMs);
      const hear = (saying: Saying): void => {
        if ('part' in saying && saying.of === of) finish(saying.part);
      };
      worker.on('message', hear);
      worker.send({ tell: of } satisfies Order, (error) => {
        if (error) finish();
      });
    });
  }

  /** Starts a process in the place of one that serves, which then ends. Returns whether there is a new one. */
  async #replace(old: Worker): Promise<boolean> {
    if (this.#stopped || this.#states.get(old) !== 'serving') return true;
    this.#states.set(old, 'leaving');
    try {
      await this.#startOne();
    } catch (error) {
      if (this.#stopped) return false;
      printError(`${textOf(error)}\napi process ${old.process.pid} stays, as its replacement did not start`);
      if (this.#states.has(old)) this.#states.set(old, 'serving');
      else void this.#restore();
      return false;
    }
    if (this.#states.get(old) === 'leaving') await this.#stopOne(old, 'replaced');
    return true;
  }

  /** Replaces a process that wants to end, and lets it end in any case. */
  async #letGo(worker: Worker): Promise<void> {
    if (!(await this.#replace(worker)) && this.#states.get(worker) === 'serving') {
      worker.send({ stop: 'replaced' } satisfies Order, () => {});
    }
  }

  /** Starts one in the place of one that ended, again and again, unless none is left that serves partners. */
  async #restore(): Promise<void> {
    for (;;) {
      this.#ends = [...this.#ends, Date.now()].filter((at) => at > Date.now() - restlessMs);
      await sleep(replacementDelayMs(this.#ends.length));
      if (this.#stopped) return;
      try {
        const { worker } = await this.#startOne();
        print(`api process ${worker.process.pid} is ready`);
        return;
      } catch (error) {
        if (this.#stopped) return;
        printError(textOf(error));
        if (this.#states.size > 0) continue;
        printError('no api process is left');
        process.exit(1);
      }
    }
  }
}
