import { errorMembers, type Log } from '../log.ts';

/**
 * Tells when a repeated task runs next.
 *
 * @param tookMs Milliseconds that the last run took; null before the first run.
 * @returns Milliseconds to wait from now.
 */
type Rhythm = (tookMs: number | null) => number;

/** One run each `ms` milliseconds. A run that takes longer than that skips the turns it misses. */
export function every(ms: number): Rhythm {
  return (tookMs) => ms - ((tookMs ?? 0) % ms);
}

/** The first run at once, then a pause of `ms` milliseconds after each run. */
export function withPause(ms: number): Rhythm {
  return (tookMs) => (tookMs === null ? 0 : ms);
}

interface RepeatOptions {
  readonly task: () => Promise<unknown>;
  readonly rhythm: Rhythm;
  /** Called with the error of each run that fails. The task goes on. */
  readonly onFailure: (error: unknown) => void;
}

/** A task that runs again and again. */
export interface Repeated {
  /**
   * Begins no further run. Resolves when the run under way has ended; a caller that must not wait
   * ignores the promise.
   */
  stop(): Promise<void>;
}

/**
 * Repeats a task until `stop`, one run at a time. Its timer does not keep the process alive.
 */
export function repeat({ task, rhythm, onFailure }: RepeatOptions): Repeated {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    const beganMs = performance.now();
    try {
      await task();
    } catch (error) {
      onFailure(error);
    }
    if (!isStopped) wait(performance.now() - beganMs);
  };
  const wait = (tookMs: number | null): void => {
    timer = setTimeout(() => {
      running = run();
    }, rhythm(tookMs)).unref();
  };
  wait(null);
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

/** An `onFailure` that writes one warning for each failure. */
export function warning(log: Log, event: string, text: string): (error: unknown) => void {
  return (error) => log.warn({ event, ...errorMembers(error) }, text);
}
