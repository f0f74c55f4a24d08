import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { systemMs } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import {
  type ExchangeAccount,
  type ExchangeName,
  ExchangeRefusal,
  ExchangeUnavailable,
  refusalCodes,
} from './exchange.ts';
import type { ExchangeMethod, ExchangeQuestions, Introduction, Question, Reply } from './exchange-messages.ts';

export interface ExchangeProcessOptions {
  readonly exchanges: readonly ExchangeAccount[];
  readonly log: Log;
  /** For one HTTP request of the child. */
  readonly requestTimeoutMs?: number;
  /** For all requests of the child that read one list of movements; it then gives up. */
  readonly listTimeoutMs?: number;
  /**
   * For one answer of the child, in addition to the time for a list. A child that takes longer
   * hangs and is killed.
   */
  readonly answerTimeoutMs?: number;
  readonly maxAnswerBytes?: number;
  /** Milliseconds between two requests to one exchange. Absent: ccxt's own rate limit; 0: none. */
  readonly paceMs?: number;
  /**
   * Backoff between an end and the next start. It doubles up to a hundred times that value, and is
   * reset when a child has lived for the largest backoff.
   */
  readonly restartMs?: number;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const largestBackoff = 100;
/** Memory limit of the child. A child that needs more was probably sent a harmful answer. */
const memoryMb = 512;

/**
 * Runs the child process in which ccxt talks to exchanges. The first question starts it; after it
 * ended, the first question after the backoff starts it again. Its environment is empty: no
 * address, key or pepper of the gateway is in it. It gets only the exchange keys that it needs.
 */
export class ExchangeProcess {
  readonly #options: Required<Omit<ExchangeProcessOptions, 'paceMs'>> & { readonly paceMs: number | null };
  readonly #pending = new Map<number, Pending>();
  #child: ChildProcess | null = null;
  #lastId = 0;
  #failures = 0;
  #startedAtMs = 0;
  #restartAtMs = 0;
  #closed = false;

  constructor(options: ExchangeProcessOptions) {
    this.#options = {
      requestTimeoutMs: 10_000,
      listTimeoutMs: 600_000,
      answerTimeoutMs: 45_000,
      maxAnswerBytes: 64 * 1024 * 1024,
      restartMs: 500,
      ...options,
      paceMs: options.paceMs ?? null,
    };
  }

  /** The id of the running child process; null when none runs. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /**
   * Puts a question to an exchange.
   *
   * @throws ExchangeRefusal when the exchange declined; ExchangeUnavailable when there is no
   *   answer. After the latter, an order that was sent may have been placed or not.
   */
  async ask<M extends ExchangeMethod>(
    exchange: ExchangeName,
    method: M,
    ...args: Parameters<ExchangeQuestions[M]>
  ): Promise<unknown> {
    const child = this.#running();
    this.#lastId += 1;
    const id = this.#lastId;
    const { answerTimeoutMs, listTimeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.#end(id, new ExchangeUnavailable(`${exchange} did not answer '${method}' in time`));
          child.kill('SIGKILL');
          this.#gone(child, 'hung');
        },
        answerTimeoutMs + (method === 'movements' ? listTimeoutMs : 0),
      ).unref();
      this.#pending.set(id, { resolve, reject, timer });
      child.channel?.ref();
      child.send({ id, exchange, method, args } satisfies Question, (error) => {
        if (!error) return;
        // The child has ended and its exit event is still to come, or it no longer reads its
        // messages.
        child.kill('SIGKILL');
        this.#gone(child, 'unreachable');
      });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  #running(): ChildProcess {
    if (this.#child) return this.#child;
    if (this.#closed || systemMs() < this.#restartAtMs) throw new ExchangeUnavailable('the exchange process is down');
    const { exchanges, requestTimeoutMs, listTimeoutMs, maxAnswerBytes, paceMs } = this.#options;
    // The file has this file's extension, compiled or not; Node strips the types itself.
    const program = new URL(`./exchange-child${extname(import.meta.filename)}`, import.meta.url);
    const child = fork(program, {
      env: {},
      execArgv: [`--max-old-space-size=${memoryMb}`, '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child = child;
    this.#startedAtMs = systemMs();
    child.on('message', (reply: Reply) => this.#take(reply));
    child.on('error', () => this.#gone(child, 'error'));
    child.on('exit', (code, signal) => this.#gone(child, signal ?? `exit ${code}`));
    // The child keeps the gateway alive only while a caller waits for its answer. It ends with the
    // channel.
    child.unref();
    child.channel?.unref();
    child.send({ exchanges, requestTimeoutMs, listTimeoutMs, maxAnswerBytes, paceMs } satisfies Introduction, () => {});
    return child;
  }

  #take(reply: Reply): void {
    if ('result' in reply) this.#end(reply.id, null, reply.result);
    else if ('refusal' in reply && refusalCodes.includes(reply.refusal)) {
      this.#end(reply.id, new ExchangeRefusal(reply.refusal, reply.message));
    } else if ('failure' in reply) {
      this.#end(reply.id, new ExchangeUnavailable(`the exchange gave no valid answer: ${reply.failure}`));
    }
  }

  #end(id: number, error: Error | null, result?: unknown): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (this.#pending.size === 0) this.#child?.channel?.unref();
    if (error) pending.reject(error);
    else pending.resolve(result);
  }

  #gone(child: ChildProcess, how: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    // An answer alone is no sign of health: a child may die on every second question.
    if (systemMs() - this.#startedAtMs >= this.#options.restartMs * largestBackoff) this.#failures = 0;
    const backoff = Math.min(2 ** this.#failures, largestBackoff);
    this.#failures += 1;
    this.#restartAtMs = systemMs() + this.#options.restartMs * backoff;
    if (!this.#closed) {
      this.#options.log.warn({ event: 'exchange_process_ended', code: how }, 'the exchange process ended');
    }
    for (const id of [...this.#pending.keys()]) this.#end(id, new ExchangeUnavailable('the exchange process ended'));
  }
}
