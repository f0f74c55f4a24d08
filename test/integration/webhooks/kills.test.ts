import { setTimeout as sleep } from 'node:timers/promises';
import { KeyHasher } from '../../../src/accounts/partners/secret-key.ts';
import { type WebhookCrashPoint, webhookCrashPoints } from '../../../src/webhooks/crash-points.ts';
import { EndpointService } from '../../../src/webhooks/endpoint-service.ts';
import { SecretBox, secretPurpose } from '../../../src/webhooks/secret-box.ts';
import { copyOrder } from '../../support/gateway/order-pages.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { isVerified, Receivers } from '../../support/webhooks/receiver.ts';
import { SendingChild } from '../../support/webhooks/sending-child.ts';

/**
 * Three workers dispatch and send 1,000 events. Each is killed at every commit boundary, again and
 * again, and started again. No event may be lost, and what comes twice has the same id.
 */

const pepper = 'a-pepper-of-these-tests-with-enough-signs';
const count = 1_000;
const speed = 20;

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

it('no event is lost while workers are killed at every commit boundary', async () => {
  const { id: partnerId, key } = await gateway.partner();
  const { orm } = gateway.app;
  const secrets = new SecretBox(new KeyHasher([{ version: 1, secret: pepper }]).derivedKeys(secretPurpose));
  const rules = { ports: [443, receivers.port], denyCidrs: [], denyHosts: [], allowLoopback: true };
  const endpoints = new EndpointService({ orm, clock: gateway.clock, secrets, rules });
  const { endpoint, secret } = await endpoints.create(partnerId, { url: receivers.url('killed') });
  const reply = await gateway.call('POST', '/partner/orders', {
    key,
    body: orderBody(),
  });
  await feedCatchesUp(gateway.query);

  const points = Object.keys(webhookCrashPoints) as WebhookCrashPoint[];
  const kills = new Map<string, number>();
  let isOver = false;
  const common = { databaseUrl: gateway.databaseUrl, pepper, port: receivers.port, ca: receivers.certificate.cert };
  const worker = async (n: number): Promise<void> => {
    for (let life = 0; !isOver; life++) {
      // Each life ends at the next boundary of the list, later in each round; after that it lasts.
      const name = points[(life + n) % points.length] ?? 'webhook.claimed';
      const isLast = life >= points.length;
      const passing =
        name === 'webhook.dispatched' ? 1 + (life % 3) : name === 'webhook.claimed' ? 2 + n : 5 + life * 3;
      const failpoint = isLast ? null : { name, passing };
      const child = new SendingChild({ ...common, speed, failpoint });
      const ended = new Promise<void>((resolve) => child.child.once('close', () => resolve()));
      await Promise.race([ended, untilOver(() => isOver), isLast ? new Promise(() => {}) : sleep(60_000)]);
      await child.end('SIGKILL');
      const at = child.messages.find((message) => 'at' in message)?.at;
      kills.set(String(at ?? 'elsewhere'), (kills.get(String(at ?? 'elsewhere')) ?? 0) + 1);
      for (const { failure } of child.messages) if (failure) throw new Error(String(failure));
    }
  };
  const workers = [0, 1, 2].map(worker);
  const left = async (of = count): Promise<number> => {
    const [row] = await gateway.query<{ left: number }>(
      `select (${of} - (select count(*) from webhook_delivery where state = 'delivered' and endpoint_id = $1))::int as left`,
      [endpoint.id],
    );
    return row?.left ?? -1;
  };
  // Events come all the time, so that each worker has some to dispatch.
  const writing = (async (): Promise<void> => {
    for (let made = 1; made < count; ) {
      const some = Math.min(37, count - made);
      await copyOrder(gateway.query, reply.json.id, some);
      made += some;
      while (!isOver && (await left(made)) > 74) await sleep(50);
    }
  })();
  for (const deadline = Date.now() + 400_000; Date.now() < deadline && (await left()) > 0; ) await sleep(250);
  await writing;
  const lost = await left();
  isOver = true;
  await Promise.all(workers);

  const got = receivers.of('killed');
  const ids = new Set(got.map(({ id }) => id));
  const bodies = new Set(got.map(({ body }) => body));
  const figures = {
    events: count,
    deliveries: got.length,
    twice: got.length - ids.size,
    kills: Object.fromEntries(kills),
  };
  process.stderr.write(`webhook kills: ${JSON.stringify(figures)}\n`);
  expect(lost).toBe(0);
  expect(ids.size).toBe(count);
  expect(bodies.size).toBe(count);
  for (const point of points) expect([point, kills.get(point) ?? 0]).not.toEqual([point, 0]);
  const unverified = got.filter((delivery) => {
    const sentAt = Number.parseInt(String(delivery.headers['webhook-timestamp']), 10);
    return !isVerified(delivery, secret, new Date(sentAt * 1_000));
  });
  expect(unverified).toEqual([]);
  const [rows] = await gateway.query<{ count: number }>(
    'select count(*)::int as count from webhook_delivery where endpoint_id = $1',
    [endpoint.id],
  );
  expect(rows?.count).toBe(count);
}, 300_000);

async function untilOver(isOver: () => boolean): Promise<void> {
  while (!isOver()) await sleep(50);
}
