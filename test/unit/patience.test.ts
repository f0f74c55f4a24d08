import { setTimeout as sleep } from 'node:timers/promises';
import { Patience } from '../../src/limits/patience.ts';

describe('Patience', () => {
  it('passes on what a call settles to', async () => {
    const patience = new Patience(1_000);
    await expect(patience.within(Promise.resolve(7))).resolves.toBe(7);
    await expect(patience.within(Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('gives up a call that does not settle, and not a later one that does', async () => {
    const patience = new Patience(60);
    const hanging = patience.within(new Promise(() => {}));
    const late = sleep(30).then(() => patience.within(sleep(10, 'in time')));
    await expect(hanging).rejects.toThrow('no answer within 60 ms');
    await expect(late).resolves.toBe('in time');
  });

  it('takes what arrived while the event loop was busy', async () => {
    const patience = new Patience(20);
    const answer = patience.within(new Promise((resolve) => setImmediate(resolve, 'arrived')));
    const until = performance.now() + 100;
    while (performance.now() < until);
    await expect(answer).resolves.toBe('arrived');
  });

  it('lets what could only be sent once the event loop was free again be answered', async () => {
    const patience = new Patience(20);
    const answer = patience.within(new Promise((resolve) => setImmediate(() => setTimeout(resolve, 10, 'answered'))));
    const until = performance.now() + 100;
    while (performance.now() < until);
    await expect(answer).resolves.toBe('answered');
  });
});
