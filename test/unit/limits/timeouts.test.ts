import { setTimeout as sleep } from 'node:timers/promises';
import { Timeouts } from '../../../src/base/limits/timeouts.ts';

describe('Timeouts', () => {
  it('returns the result or the error of a call', async () => {
    const timeouts = new Timeouts(1_000);
    await expect(timeouts.within(Promise.resolve(7))).resolves.toBe(7);
    await expect(timeouts.within(Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('rejects a call that does not settle, and not a later call that settles', async () => {
    const timeouts = new Timeouts(60);
    const hanging = timeouts.within(new Promise(() => {}));
    const late = sleep(30).then(() => timeouts.within(sleep(10, 'in time')));
    await expect(hanging).rejects.toThrow('no answer within 60 ms');
    await expect(late).resolves.toBe('in time');
  });

  it('accepts an answer that arrived while the event loop was busy', async () => {
    const timeouts = new Timeouts(20);
    const answer = timeouts.within(new Promise((resolve) => setImmediate(resolve, 'arrived')));
    const until = performance.now() + 100;
    while (performance.now() < until);
    await expect(answer).resolves.toBe('arrived');
  });

  it('waits for the answer to a request that a busy event loop sent late', async () => {
    const timeouts = new Timeouts(20);
    const answer = timeouts.within(new Promise((resolve) => setImmediate(() => setTimeout(resolve, 10, 'answered'))));
    const until = performance.now() + 100;
    while (performance.now() < until);
    await expect(answer).resolves.toBe('answered');
  });
});
