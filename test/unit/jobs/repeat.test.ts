import { setTimeout as sleep } from 'node:timers/promises';
import { every, type Repeated, repeat, withPause } from '../../../src/base/jobs/repeat.ts';

let repeated: Repeated | undefined;
afterEach(() => repeated?.stop());

/** Waits until a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(1);
}

describe('a repeated task', () => {
  it('runs once at a time, and again after its end', async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const task = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await sleep(15);
      running--;
      runs++;
    };
    repeated = repeat({ task, rhythm: every(5), onFailure: () => {} });
    await until(() => runs >= 3);
    expect(most).toBe(1);
  });

  it('logs each failure once and goes on', async () => {
    const failures: unknown[] = [];
    let runs = 0;
    const task = async (): Promise<void> => {
      if (++runs <= 2) throw new Error(`run ${runs}`);
    };
    repeated = repeat({ task, rhythm: every(2), onFailure: (error) => failures.push(error) });
    await until(() => runs >= 4);
    expect(failures.map(String)).toEqual(['Error: run 1', 'Error: run 2']);
  });

  it('goes on after a task that throws before its first await', async () => {
    let runs = 0;
    const task = (): Promise<void> => {
      runs++;
      throw new Error('at once');
    };
    repeated = repeat({ task, rhythm: every(2), onFailure: () => {} });
    await until(() => runs >= 2);
  });

  it('stops after the run under way and begins no other', async () => {
    let begun = 0;
    let ended = 0;
    const task = async (): Promise<void> => {
      begun++;
      await sleep(10);
      ended++;
    };
    repeated = repeat({ task, rhythm: withPause(0), onFailure: () => {} });
    await until(() => begun === 1);
    await repeated.stop();
    expect({ begun, ended }).toEqual({ begun: 1, ended: 1 });
    await sleep(10);
    expect(begun).toBe(1);
  });

  it('does not run when it is stopped before its first turn', async () => {
    let runs = 0;
    repeated = repeat({ task: async () => runs++, rhythm: withPause(0), onFailure: () => {} });
    await repeated.stop();
    await sleep(5);
    expect(runs).toBe(0);
  });
});

describe('the rhythm of a repeated task', () => {
  it('keeps its rate: a run that takes longer than the interval skips the turns it misses', () => {
    const next = every(1_000);
    expect([next(null), next(0), next(400), next(1_300)]).toEqual([1_000, 1_000, 600, 700]);
  });

  it('in pause mode begins at once, and pauses as long after each run', () => {
    const next = withPause(250);
    expect([next(null), next(0), next(5_000)]).toEqual([0, 250, 250]);
  });
});
