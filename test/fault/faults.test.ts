import { FaultGateway } from '../support/faults/fault-gateway.ts';
import { faults } from '../support/faults/fault-list.ts';
import { runFault } from '../support/faults/fault-run.ts';
import { endGroup, restartOneByOne } from '../support/faults/restarts.ts';

jest.setTimeout(300_000);

/** The short faults. 'npm run torture -- faults' runs all of them. */
const brief = [
  'postgres-killed',
  'postgres-reset',
  'postgres-cut',
  'postgres-full',
  'postgres-read-only',
  'redis-killed',
  'redis-lost',
  'redis-flushed',
];

describe('a gateway of several processes', () => {
  let gateway: FaultGateway;

  beforeAll(async () => {
    gateway = await FaultGateway.start({ name: 'faults-test' });
  });
  afterAll(() => gateway?.end());

  it.each(brief)('loses nothing, pays no order twice and recovers by itself: %s', async (name) => {
    const fault = faults.find((each) => each.name === name);
    if (!fault) throw new Error(`there is no fault ${name}`);
    const { problems, paid } = await runFault(gateway, fault, 100 * brief.indexOf(name));
    expect(problems).toEqual([]);
    expect(paid).toBeGreaterThan(0);
  });

  it('replaces processes and ends without a failed request', async () => {
    const replaced = await restartOneByOne(gateway, 2);
    expect(replaced.failures).toEqual([]);
    expect(replaced.requests).toBeGreaterThan(0);
    expect(await endGroup(gateway)).toMatchObject({ failures: [], exitCode: 0 });
  });
});
