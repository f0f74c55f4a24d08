import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { TalkingProcess } from '../../support/gateway/processes.ts';
import type { CommandName, Commands } from './gateway-child.ts';

/** The process ended before it answered. */
export class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded';
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Message {
  readonly reply?: number;
  readonly result?: unknown;
  readonly failed?: string;
  readonly log?: string;
}

/** The handle on the process of a gateway. */
export class GatewayProcess extends TalkingProcess {
  readonly #waiting = new Map<number, Waiting>();
  readonly #onLog: (event: string) => void;
  #lastNumber = 0;
  #errors = '';
  #hasEnded = false;

  /** @param onLog Called with the event of each warning and error of its log. */
  constructor(onLog: (event: string) => void) {
    super([
      'env',
      `TSX_TSCONFIG_PATH=${resolve('tsconfig.json')}`,
      process.execPath,
      '--import',
      resolve('node_modules/tsx/dist/loader.mjs'),
      resolve('test/nets/replay/gateway-child.ts'),
    ]);
    this.#onLog = onLog;
    createInterface({ input: this.child.stdout }).on('line', (line) => this.#hear(JSON.parse(line)));
    this.child.stderr.on('data', (data) => {
      this.#errors += data;
    });
    this.child.once('close', () => {
      this.#hasEnded = true;
      for (const { reject } of this.#waiting.values()) reject(new ProcessEnded(this.#errors));
      this.#waiting.clear();
    });
  }

  /**
   * Gives a command and waits for its result.
   *
   * @throws ProcessEnded when the process ends before.
   */
  ask<Name extends CommandName>(name: Name, args: Commands[Name]['args']): Promise<Commands[Name]['result']> {
    if (this.#hasEnded) return Promise.reject(new ProcessEnded(this.#errors));
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const answered = new Promise<unknown>((done, reject) => this.#waiting.set(number, { resolve: done, reject }));
    this.tell(JSON.stringify({ number, name, args }));
    return answered as Promise<Commands[Name]['result']>;
  }

  #hear({ reply, result, failed, log }: Message): void {
    // The list that the base class keeps would grow for the whole day.
    this.messages.length = 0;
    if (log !== undefined) this.#onLog(log);
    const waiting = reply === undefined ? undefined : this.#waiting.get(reply);
    if (reply === undefined || !waiting) return;
    this.#waiting.delete(reply);
    if (failed === undefined) waiting.resolve(result);
    else waiting.reject(new Error(failed));
  }
}
