import { ClosingStack } from '../../../src/app/closing-stack.ts';
import type { Log } from '../../../src/base/log.ts';

const errors: Record<string, unknown>[] = [];
const log = { error: (members: Record<string, unknown>) => errors.push(members) } as unknown as Log;

it('the closing stack closes its parts once, in reverse order, one after the other', async () => {
  const closed: string[] = [];
  const stack = new ClosingStack(log);
  stack.add(() => closed.push('first'));
  stack.add(async () => {
    await Promise.resolve();
    closed.push('second');
  });
  await stack.closeAll();
  await stack.closeAll();
  expect(closed).toEqual(['second', 'first']);
});

it('the closing stack logs each failure and closes the other parts', async () => {
  const closed: string[] = [];
  const stack = new ClosingStack(log);
  stack.add(() => closed.push('first'));
  stack.add(() => Promise.reject(new TypeError('stuck')));
  stack.add(() => {
    throw new RangeError('stuck');
  });
  await stack.closeAll();
  expect(closed).toEqual(['first']);
  expect(errors).toMatchObject([
    { event: 'close_failed', error: 'RangeError' },
    { event: 'close_failed', error: 'TypeError' },
  ]);
});
