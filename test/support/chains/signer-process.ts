import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { builtScript } from '../gateway/built-process.ts';

/** A signer as an operator starts it, from its sources. */
export class SignerProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #output = '';

  /** @param settings At least DATA_DIR, which holds a seed, and SIGNER_SOCKET. */
  constructor(settings: Readonly<Record<string, string>>) {
    const { PATH = '', HOME = '' } = process.env;
    this.#child = spawn(process.execPath, [builtScript('signer-main.js')], {
      env: { PATH, HOME, LOG_LEVEL: 'silent', ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'close');
  }

  /** Waits until it can be asked. */
  async ready(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const hear = (data: unknown): void => {
        this.#output += String(data);
        if (this.#output.includes('signer ready')) resolve();
      };
      this.#child.stdout?.on('data', hear);
      this.#child.stderr?.on('data', hear);
      void this.#ended.then(() => reject(new Error(`the signer ended: ${this.#output}`)));
    });
  }

  /** Kills the process at once, without a clean end. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#ended;
  }
}
