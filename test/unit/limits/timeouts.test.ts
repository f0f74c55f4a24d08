import { setTimeout as sleep } from 'node:timers/promises';
import { Timeouts } from '../../../src/limits/timeouts.ts';

describe('Timeouts', () => {
  it('passes on what a call settles to', async () => {
    const timeouts = new Timeouts(1_000);
    await expect(timeouts.within(Promise.resolve(7))).resolves.toBe(7);
    await expect(timeouts.within(Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('gives up a call that does not settle, and not a later one that does', async () => {
    const timeouts = new Timeouts(60);
    const hanging = timeouts.within(new Promise(() => {}));
    const late = sleep(30).then(() => timeouts.within(sleep(10, 'in time')));
    await expect(hanging).rejects.toThrow('no answer within 60 ms');
    await expect(late).resolves.toBe('in time');
  });

  it('takes what arrived while the event loop was busy', async () => {
    const timeouts = new Timeouts(20);
    const answer = timeouts.within(new Promise((resolve) => setImmediate(resolve, 'arrived')));
    const until = performance.now() + 100;
    while (performance.now() < until);
    await expect(answer).resolves.toBe('arrived');
  });

  it('lets what could only be sent once the event loop was free again be answered', async () => {
    const timeouts = new Timeouts(20);
    const answer = timeouts.within(new Promise((resolve) => setImmediate(() => setTimeout(resolve, 10, 'answered'))));
    const until = performance.now() + 100;
    while (performance.now() < until);
    await expect(answer).resolves.toBe('answered');
  });
});
