import { errorMembers, type Log } from '../base/log.ts';

/**
 * What a process has opened, to be closed in reverse order: at its end, or when its start fails
 * half way.
 */
export class ClosingStack {
  readonly #log: Log;
  readonly #closers: (() => unknown)[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /**
   * Closes the parts one after the other. A failure is logged, and the other parts still close.
   * Never rejects.
   */
  async closeAll(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        this.#log.error({ event: 'close_failed', ...errorMembers(error) }, 'something could not be closed');
      }
    }
  }
}
