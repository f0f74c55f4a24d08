import { systemStatus } from '../../../src/operations/system-status.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

const everySec = 3_600;
const log = new LogSink();
let gateway: SettledGateway;

beforeAll(async () => {
  gateway = await startSettledGateway({ outside: { logStream: log }, settings: { LOG_LEVEL: 'error' } });
});
afterAll(() => gateway?.stop());

const newWorker = () => gateway.reconciliations();

const latest = async () => (await systemStatus(gateway.app.orm.em.fork(), gateway.clock.now())).reconciliation;

async function differences(): Promise<string[]> {
  const text = await (await fetch(`${gateway.app.internalUrl}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith('gateway_ledger_differences{') && !line.endsWith(' 0'));
}

describe('reconciling by the clock', () => {
  it('is done once for all workers, each time that it is due', async () => {
    expect(await latest()).toBeNull();
    const workers = [newWorker(), newWorker(), newWorker()];
    const once = async () => (await Promise.all(workers.map((worker) => worker.runIfDue()))).filter(Boolean).length;
    expect(await once()).toBe(1);
    expect(await once()).toBe(0);
    expect(await latest()).toMatchObject({ differences: 0, byCheck: {}, checks: expect.any(Number) });
    expect((await latest())?.checks).toBeGreaterThan(0);
    gateway.clock.advance(everySec * 1000);
    expect(await once()).toBe(1);
  });

  it('reports a difference in the log, the metrics and the staff API', async () => {
    expect(await differences()).toEqual([]);
    const order = await gateway.order();
    // As a mistake of ours or a stranger's hand would.
    await gateway.query(`alter table exchange_order disable trigger user`);
    await gateway.query(`update exchange_order set status = 'completed' where id = $1`, [order.id]);
    await gateway.query(`alter table exchange_order enable trigger user`);
    gateway.clock.advance(everySec * 1000);
    expect(await newWorker().runIfDue()).toBe(true);
    expect((await latest())?.differences).toBeGreaterThan(0);
    expect(await differences()).toContainEqual(expect.stringContaining('check="histories"'));
    expect(log.lines().join('')).toContain('"event":"ledger_differs","code":"histories","count":1');
  });

  it('is run again when the worker that began it was lost', async () => {
    gateway.clock.advance(everySec * 1000);
    const now = gateway.clock.now();
    const dueAt = new Date(now.getTime() - (now.getTime() % (everySec * 1000)));
    await gateway.query('insert into reconciliation (due_at, started_at) values ($1, $2)', [dueAt, now]);
    const before = await latest();
    expect(await newWorker().runIfDue()).toBe(false);
    expect(await latest()).toEqual(before);
    gateway.clock.advance(everySec * 1000);
    expect(await newWorker().runIfDue()).toBe(true);
    expect((await latest())?.endedAt.getTime()).toBeGreaterThan(before?.endedAt.getTime() ?? 0);
  });
});
