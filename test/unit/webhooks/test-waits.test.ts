import type { TestResult } from '../../../src/webhooks/endpoint-service.ts';
import { TestWaits } from '../../../src/webhooks/test-waits.ts';

const pending: TestResult = { state: 'pending', status: null, ms: null, error: null };
const delivered: TestResult = { state: 'delivered', status: 204, ms: 5, error: null };
const here = { destroyed: false };

/** Looks that find the results in turn, and the last one from then on. */
function looks(...results: readonly TestResult[]) {
  let count = 0;
  const look = async () => results[Math.min(count++, results.length - 1)] ?? pending;
  return { look, count: () => count };
}

describe('the repetitions of a test', () => {
  it('share one wait and its result', async () => {
    const waits = new TestWaits();
    const { look, count } = looks(pending, delivered);
    const all = Array.from({ length: 50 }, () => waits.result('7', look, here));
    expect(await Promise.all(all)).toEqual(Array(50).fill(delivered));
    expect(count()).toBe(2);
    expect(await waits.result('7', look, here)).toEqual(delivered);
    expect(count()).toBe(3);
  });

  it('share no wait with another test', async () => {
    const waits = new TestWaits();
    const other = waits.result('8', looks(delivered).look, here);
    expect(await waits.result('7', looks(pending, pending, delivered).look, here)).toEqual(delivered);
    expect(await other).toEqual(delivered);
  });

  it('wait as long as one of them is there', async () => {
    const waits = new TestWaits();
    const { look } = looks(pending, pending, delivered);
    const gone = waits.result('7', look, { destroyed: true });
    const waiting = waits.result('7', look, here);
    expect(await waiting).toEqual(delivered);
    expect(await gone).toEqual(delivered);
    expect(await waits.result('7', looks(pending).look, { destroyed: true })).toEqual(pending);
  });

  it('share its failure, and a later one looks again', async () => {
    const waits = new TestWaits();
    const fail = () => Promise.reject(new Error('away'));
    const all = [waits.result('7', fail, here), waits.result('7', fail, here)];
    for (const one of all) await expect(one).rejects.toThrow('away');
    expect(await waits.result('7', looks(delivered).look, here)).toEqual(delivered);
  });
});
