import { AppError } from '../../../src/base/errors.ts';
import type { TestResult } from '../../../src/webhooks/endpoint-service.ts';
import { TestWaits } from '../../../src/webhooks/test-waits.ts';

describe('the wait for the result of a test', () => {
  it('goes on when the turn to look did not come, as the test is ordered already', async () => {
    const delivered: TestResult = { state: 'delivered', status: 200, ms: 12, error: null };
    const looks = [() => Promise.reject(new AppError('rate_limited', 'no turn')), () => Promise.resolve(delivered)];
    const look = async (): Promise<TestResult> => (await looks.shift()?.()) ?? delivered;
    expect(await new TestWaits().result('1', look, { destroyed: false })).toEqual(delivered);
    expect(looks).toEqual([]);
  });

  it('ends with a failure to read the result', async () => {
    const look = () => Promise.reject(new Error('the database is away'));
    await expect(new TestWaits().result('1', look, { destroyed: false })).rejects.toThrow('away');
  });
});
