import { setTimeout as sleep } from 'node:timers/promises';
import { KeyHasher } from '../../../src/accounts/partners/secret-key.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { WebhookDispatcher } from '../../../src/webhooks/dispatcher.ts';
import { Egress } from '../../../src/webhooks/egress.ts';
import { EndpointService } from '../../../src/webhooks/endpoint-service.ts';
import { SecretBox, secretPurpose } from '../../../src/webhooks/secret-box.ts';
import { WebhookSender } from '../../../src/webhooks/sender.ts';
import { WebhookWorker } from '../../../src/webhooks/webhook-worker.ts';
import { copyOrder } from '../../support/gateway/order-pages.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { answer, type Behaviour, hang, Receivers } from '../../support/webhooks/receiver.ts';

/**
 * A hundred endpoints of ten partners, of which ten hang, ten fail and ten answer slowly. The
 * healthy ones get all their events before the slow ones have theirs.
 */

const eventsOfPartner = 10;
/** How long a slow endpoint takes for its answer, in milliseconds. */
let slowMs = 4_000;

let gateway: SettledGateway;
let receivers: Receivers;
beforeAll(async () => {
  receivers = await Receivers.start();
  gateway = await startSettledGateway();
});
afterAll(async () => {
  await gateway?.stop();
  await receivers?.stop();
});

const slow: Behaviour = (_received, res) => void setTimeout(() => res.writeHead(204).end(), slowMs);

/** What an endpoint does, by its number among the ten of a partner. */
const kindOf = (n: number, withBad: boolean): string =>
  withBad ? (['hangs', 'fails', 'slow'][n] ?? 'healthy') : 'healthy';

interface Run {
  /** Milliseconds from the beginning to each delivery to a healthy endpoint. */
  readonly healthyMs: readonly number[];
  /** Deliveries in the order of their arrival, by the kind of the endpoint. */
  readonly order: readonly string[];
}

async function run(name: string, withBad: boolean): Promise<Run> {
  const { orm } = gateway.app;
  const secrets = new SecretBox(new KeyHasher([{ version: 1, secret: 'p'.repeat(40) }]).derivedKeys(secretPurpose));
  const rules = { ports: [443, receivers.port], denyCidrs: [], denyHosts: [], allowLoopback: true };
  const endpoints = new EndpointService({ orm, clock: systemClock, secrets, rules });
  const kinds = new Map<string, string>();
  const orders: string[] = [];
  for (let p = 0; p < 10; p++) {
    const { id, key } = await gateway.partner();
    for (let n = 0; n < 10; n++) {
      const host = `${name}-${p}-${n}`;
      const kind = kindOf(n, withBad);
      kinds.set(`${host}.hooks.test`, kind);
      if (kind === 'hangs') receivers.behave(host, hang);
      if (kind === 'fails') receivers.behave(host, answer(500));
      if (kind === 'slow') receivers.behave(host, slow);
      await endpoints.create(id, { url: receivers.url(host) });
    }
    orders.push((await gateway.call('POST', '/partner/orders', { key, body: orderBody() })).json.id);
  }
  for (const id of orders) await copyOrder(gateway.query, id, eventsOfPartner - 1);
  await feedCatchesUp(gateway.query);
  const order: string[] = [];
  const healthyMs: number[] = [];
  const beganMs = performance.now();
  receivers.onReceived = ({ host }) => {
    const kind = kinds.get(host) ?? 'unknown';
    order.push(kind);
    if (kind === 'healthy') healthyMs.push(performance.now() - beganMs);
  };
  const egress = new Egress({ rules, proxy: null, ...receivers.outside, connectMs: 60_000, totalMs: slowMs + 60_000 });
  const failures: unknown[] = [];
  const onFailure = (error: unknown): void => void failures.push(error);
  const sender = new WebhookSender({ orm, clock: systemClock, egress, secrets, most: 40, onFailure });
  const worker = new WebhookWorker({ dispatcher: new WebhookDispatcher(orm, systemClock), sender, onFailure });
  worker.start();
  const wanted = [...kinds.values()].filter((kind) => kind === 'healthy').length * eventsOfPartner;
  const slowWanted = [...kinds.values()].filter((kind) => kind === 'slow').length * eventsOfPartner;
  const have = (kind: string): number => order.filter((each) => each === kind).length;
  for (const deadline = Date.now() + 240_000; Date.now() < deadline; await sleep(50)) {
    if (have('healthy') >= wanted && have('slow') >= slowWanted) break;
  }
  await worker.stop();
  expect(failures).toEqual([]);
  expect(have('healthy')).toBe(wanted);
  await gateway.query(`update webhook_endpoint set status = 'deleted'`);
  return { healthyMs, order };
}

const p99 = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

it('slow, hanging and failing receivers starve no healthy one', async () => {
  const alone = await run('a', false);
  // The slow ones take longer in all than the healthy ones, on a busy machine too.
  slowMs = Math.max(slowMs, Math.max(...alone.healthyMs) / 5);
  const concurrent = await run('b', true);
  const lastHealthy = concurrent.order.lastIndexOf('healthy');
  const lastSlow = concurrent.order.lastIndexOf('slow');
  const before = concurrent.order.slice(0, lastHealthy);
  const figures = {
    p99AloneMs: Math.round(p99(alone.healthyMs)),
    p99BesideMs: Math.round(p99(concurrent.healthyMs)),
    slowBeforeLastHealthy: before.filter((kind) => kind === 'slow').length,
    hangsBeforeLastHealthy: before.filter((kind) => kind === 'hangs').length,
    failsBeforeLastHealthy: before.filter((kind) => kind === 'fails').length,
  };
  process.stderr.write(`webhook starvation: ${JSON.stringify(figures)}\n`);
  expect(lastHealthy).toBeLessThan(lastSlow);
  // All that the bad ones had until then is a fraction of what they have to get.
  expect(figures.slowBeforeLastHealthy).toBeLessThan(100);
}, 600_000);
