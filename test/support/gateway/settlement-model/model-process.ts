import type { CrashPoint } from '../../../../src/settlement/turns/crash-point.ts';

function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** One process of the gateway, which can die at any crash point. */
export class ModelProcess {
  isDead = false;
  #crash: { readonly crashPoint: CrashPoint; countdown: number; readonly died: () => void } | null = null;

  /** Lets the process die when it reaches the crash point the nth time. Resolves when it died. */
  dieAt(crashPoint: CrashPoint, nth: number): Promise<void> {
    return new Promise((died) => {
      this.#crash = { crashPoint, countdown: nth, died };
    });
  }

  /** Takes back `dieAt`. */
  disarm(): void {
    this.#crash = null;
  }

  /** Calls the outside world, without an answer when the process is dead before or afterwards. */
  async alive<T>(call: () => Promise<T>): Promise<T> {
    if (this.isDead) return never();
    const result = await call();
    return this.isDead ? never() : result;
  }

  async reach(name: CrashPoint): Promise<void> {
    if (this.isDead) await never();
    if (this.#crash?.crashPoint !== name) return;
    this.#crash.countdown -= 1;
    if (this.#crash.countdown > 0) return;
    this.isDead = true;
    this.#crash.died();
    await never();
  }
}
