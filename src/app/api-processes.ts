import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemMs } from '../base/clock.ts';
import type { Config } from '../config/settings.ts';

/** Addresses of a gateway's listeners. */
export interface Addresses {
  /** Without /api/v1; null for a worker, which has no public listener. */
  readonly restUrl: string | null;
  readonly internalUrl: string;
}

/** The data that one process contributes when the primary gathers. */
type Part = readonly object[];

/**
 * A message of a process to the primary. A process that a signal asks to end is `leaving`. It
 * serves on until the primary tells it to stop.
 */
type Report = { readonly ready: Addresses } | { readonly failed: string } | { readonly leaving: true };

/** Why a process stops: the gateway ends, or another process replaces it. */
type StopReason = 'ending' | 'replaced';

/** A message of the primary to a process. */
interface Order {
  readonly stop: StopReason;
}

/**
 * Requests and answers, which both sides send: a process requests the parts of all processes, and
 * the primary then requests the part of each.
 */
type Exchanged = { readonly request: number } | { readonly answer: unknown; readonly to: number };

let requests = 0;

/**
 * Requests an answer from the other end: the primary of a process, or a process of the primary.
 *
 * @param limitMs Without an answer in that time the result is undefined.
 */
function request<T>(end: Worker, limitMs: number): Promise<T | undefined> {
  const id = ++requests;
  return new Promise((resolve) => {
    const finish = (answer?: T): void => {
      clearTimeout(limit);
      end.off('message', receive);
      resolve(answer);
    };
    const receive = (message: Exchanged): void => {
      if ('answer' in message && message.to === id) finish(message.answer as T);
    };
    const limit = setTimeout(finish, limitMs);
    end.on('message', receive);
    end.send({ request: id } satisfies Exchanged, (error) => {
      if (error) finish();
    });
  });
}

/** Answers each request of the other end. */
function answerWith(end: Worker, answer: () => Promise<unknown>): void {
  end.on('message', (message: Exchanged) => {
    if (!('request' in message)) return;
    void answer().then((made) => end.send({ answer: made, to: message.request } satisfies Exchanged, () => {}));
  });
}

/** The primary, from the view of one of its processes. */
export interface ProcessGroup {
  ready(addresses: Addresses): void;
  /** Reports a failed start. Resolves when the primary has the message. */
  failed(text: string): Promise<void>;
  onStop(stop: (isReplaced: boolean) => void): void;
  /** Sets the function that makes this process's part whenever a process gathers. */
  onGather(part: () => Promise<Part>): void;
  /** Returns the parts of all processes that answer in time. */
  gather(): Promise<readonly Part[]>;
  /** The last step of a stop. Resolves when no more connections are handed to this process. */
  leave(): Promise<void>;
}

/** Joins the primary's group. Returns null in a process that no primary started. */
export function joinGroup(): ProcessGroup | null {
  const own = cluster.worker;
  if (!own) return null;
  const report = (message: Report): Promise<void> => new Promise((resolve) => own.send(message, () => resolve()));
  // A terminal sends these to every process. The primary decides what happens.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('SIGTERM', () => void report({ leaving: true }));
  return {
    ready: (addresses) => void report({ ready: addresses }),
    failed: (text) => report({ failed: text }),
    onStop: (stop) =>
      own.on('message', (order: Order | Exchanged) => {
        if ('stop' in order) stop(order.stop === 'replaced');
      }),
    onGather: (part) => answerWith(own, part),
    // The primary answers once each process answered or took too long.
    gather: async () => (await request<readonly Part[]>(own, 2 * gatherMs)) ?? [],
    leave: () =>
      new Promise((resolve) => {
        process.once('disconnect', resolve);
        own.disconnect();
      }),
  };
}

/** Why a process could not start, in the words that the process would print. */
export class ProcessFailure extends Error {}

interface ApiProcessesOptions {
  readonly count: number;
  /** The environment of each process, with the secrets. */
  readonly environment: NodeJS.ProcessEnv;
  readonly config: Pick<Config, 'TLS_CERT_FILE'>;
}

/**
 * Decides what SIGHUP means: with TLS in the gateway a renewed certificate, as for other servers;
 * otherwise a terminal that closed, which ends the gateway in order.
 */
export function onHangUp(
  { TLS_CERT_FILE }: ApiProcessesOptions['config'],
  { renew, end }: { readonly renew: () => void; readonly end: () => void },
): void {
  process.on('SIGHUP', () => {
    if (TLS_CERT_FILE !== null) return renew();
    print('SIGHUP: finishing what is under way');
    end();
  });
}

/** A process that is not ready within this time is killed. */
const startLimitMs = 120_000;
/** From the order to stop until the process is killed. */
const stopLimitMs = 25_000;
/** Unexpected ends within this time increase the delay of replacements. */
const restlessMs = 60_000;
/** A process that does not send its part within this time is left out. */
const gatherMs = 1_000;
const firstDelayMs = 250;
const longestDelayMs = 30_000;

/**
 * Delay before the replacement of a process that ended: zero at first, then growing while processes
 * keep ending.
 */
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
 * Makes this process the primary of `count` api processes that share its ports. It accepts
 * connections and hands them out in turn. It replaces a process that ends, replaces all processes
 * one by one at SIGUSR2, and at SIGHUP with TLS. It ends them at SIGTERM and SIGINT.
 *
 * @returns the addresses once all processes are ready, or null when a signal came first.
 * @throws ProcessFailure with the first reason why one of them could not start.
 */
export async function runApiProcesses(options: ApiProcessesOptions): Promise<Addresses | null> {
  const processes = new ApiProcesses(options);
  const end = (): void => void processes.stop().then((isClean) => process.exit(isClean ? 0 : 1));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      print(`${signal}: finishing what is under way`);
      end();
    });
  }
  const replaceAll = (signal: string): void => {
    print(`${signal}: replacing ${options.count} api processes one by one`);
    processes.replaceAll();
  };
  process.on('SIGUSR2', () => replaceAll('SIGUSR2'));
  onHangUp(options.config, { renew: () => replaceAll('SIGHUP'), end });
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
  /**
   * The running processes. A process is `leaving` while its replacement starts, and `stopping`
   * after it was told to end.
   */
  readonly #states = new Map<Worker, 'starting' | 'serving' | 'leaving' | 'stopping'>();
  /** Times of unexpected ends. */
  #ends: number[] = [];
  /** Replacements run one after the other. */
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

  /** Ends all processes. Resolves to whether each one ended as told. */
  stop(): Promise<boolean> {
    this.#stopped ??= Promise.all([...this.#states.keys()].map((worker) => this.#stopOne(worker, 'ending'))).then(
      (ends) => ends.every((isClean) => isClean),
    );
    return this.#stopped;
  }

  /** Replaces the processes that serve now. If a new one cannot start, the rest stay. */
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
      answerWith(worker, () => this.#gather());
      worker.on('message', (report: Report | Exchanged) => {
        if ('failed' in report) {
          reason = report.failed;
        } else if ('leaving' in report) {
          this.#takeTurn(() => this.#letGo(worker));
        } else if ('ready' in report) {
          clearTimeout(limit);
          if (this.#states.get(worker) === 'starting') this.#states.set(worker, 'serving');
          resolve({ worker, addresses: report.ready });
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

  /** Tells a process to end. Resolves to whether it ended on its own with its work done. */
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

  /** The parts of the processes that answer in time. */
  async #gather(): Promise<readonly Part[]> {
    const serving = [...this.#states].filter(([, state]) => state === 'serving' || state === 'leaving');
    const parts = await Promise.all(serving.map(([worker]) => request<Part>(worker, gatherMs)));
    return parts.filter((part) => part !== undefined);
  }

  /**
   * Starts a replacement for a serving process, which then ends. Returns whether the replacement
   * started.
   */
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

  /**
   * Starts a replacement for a process that ended, repeatedly until it succeeds. Gives up when no
   * process serves partners any more.
   */
  async #restore(): Promise<void> {
    for (;;) {
      this.#ends = [...this.#ends, systemMs()].filter((at) => at > systemMs() - restlessMs);
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
