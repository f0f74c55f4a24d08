import { AppError } from '../../../src/base/errors.ts';
import { ProcessMetrics } from '../../../src/base/telemetry/process-metrics.ts';
import { apiTraffic, TrafficRecorder } from '../../../src/operations/api-traffic.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';

const clock = new TestClock(new Date('2026-01-01T12:00:30Z'));
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ outside: { clock, background: false } });
});
afterAll(() => gateway?.stop());
beforeEach(() => gateway.app.orm.em.fork().execute('delete from api_traffic'));

/** A process that counts requests and stores them. */
function newProcess() {
  const metrics = new ProcessMetrics();
  const recorder = new TrafficRecorder(gateway.app.orm, clock, () => metrics.requestCounts());
  const serve = (route: string, status: number, seconds: number, times = 1): void => {
    for (let time = 0; time < times; time++) metrics.observeRequest({ method: 'GET', route, status, seconds });
  };
  return { metrics, recorder, serve };
}

const read = (minutes = 15) => apiTraffic(gateway.app.orm.em.fork(), minutes, clock.now());

describe('the figures of the REST API', () => {
  it('are those of all processes, each request once', async () => {
    const [first, second] = [newProcess(), newProcess()];
    first.serve('/rates', 200, 0.003, 90);
    first.serve('/rates', 404, 0.003, 8);
    second.serve('/rates', 503, 0.7, 2);
    second.serve('/currencies', 304, 0.0004, 3);
    await Promise.all([first.recorder.flush(), second.recorder.flush()]);
    await Promise.all([first.recorder.flush(), second.recorder.flush()]);
    const { from, to, endpoints } = await read();
    expect([from, to]).toEqual([new Date('2026-01-01T11:46:00Z'), clock.now()]);
    expect(endpoints).toEqual([
      {
        endpoint: 'GET /rates',
        requests: 100,
        clientErrors: 8,
        serverErrors: 2,
        p50Ms: expect.any(Number),
        p99Ms: 750,
      },
      { endpoint: 'GET /currencies', requests: 3, clientErrors: 0, serverErrors: 0, p50Ms: 0.5, p99Ms: 0.99 },
    ]);
    // Half of the requests lie within the bucket from 2.5 to 5 milliseconds.
    expect(endpoints[0]?.p50Ms).toBeCloseTo(2.5 + (2.5 * 50) / 98, 6);

    first.serve('/rates', 200, 0.003, 1);
    await first.recorder.flush();
    expect((await read()).endpoints[0]?.requests).toBe(101);
  });

  it('say that a request took longer than the last bound', async () => {
    const { recorder, serve } = newProcess();
    serve('/rates', 200, 60);
    await recorder.flush();
    expect((await read()).endpoints).toMatchObject([{ p50Ms: 10_000, p99Ms: 10_000 }]);
  });

  it('leave out what is older, and forget it', async () => {
    const { recorder, serve } = newProcess();
    serve('/rates', 200, 0.003);
    await recorder.flush();
    clock.advance(15 * 60_000);
    serve('/rates', 200, 0.003, 2);
    await recorder.flush();
    expect((await read(15)).endpoints).toMatchObject([{ requests: 2 }]);
    expect((await read(16)).endpoints).toMatchObject([{ requests: 3 }]);
    clock.advance(119 * 60_000);
    await recorder.flush();
    expect(await gateway.app.orm.em.fork().execute('select requests::int from api_traffic')).toEqual([{ requests: 2 }]);
  });

  it('are stored by the next flush when one fails', async () => {
    const { metrics, serve } = newProcess();
    let isDown = true;
    const orm = { em: { fork: () => (isDown ? { execute: () => Promise.reject(new Error('away')) } : fork()) } };
    const fork = () => gateway.app.orm.em.fork();
    const recorder = new TrafficRecorder(orm as never, clock, () => metrics.requestCounts());
    serve('/rates', 200, 0.003, 5);
    await expect(recorder.flush()).rejects.toThrow('away');
    isDown = false;
    await recorder.flush();
    expect((await read()).endpoints).toMatchObject([{ requests: 5 }]);
  });

  it.each([0, 61, 1.5])('are not read for %p minutes', async (minutes) => {
    await expect(read(minutes)).rejects.toThrow(AppError);
  });

  it('are stored by a gateway in the background, and read by staff', async () => {
    const viewer = await newMember(gateway, 'viewer');
    await gateway.call('GET', '/currencies');
    let endpoints: { endpoint: string }[] = [];
    while (endpoints.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      ({ endpoints } = (
        await viewer.data('{ apiTraffic { endpoints { endpoint requests clientErrors p99Ms } } }')
      ).apiTraffic);
    }
    expect(endpoints).toContainEqual({
      endpoint: 'GET /api/v1/currencies',
      requests: 1,
      clientErrors: 0,
      p99Ms: expect.any(Number),
    });
  });
});
