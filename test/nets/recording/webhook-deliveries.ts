import { answer, isVerified, type Received } from '../../support/webhooks/receiver.ts';
import type { Recording } from './recording.ts';
import type { World } from './world.ts';

/** Headers by which the receiver's server and the connection differ from one run to the next. */
const transport = new Set(['connection', 'date']);

/**
 * A partner's endpoint that gets every event of the seeded orders, with amounts in one of the two
 * forms.
 */
export interface Subscriber {
  readonly name: string;
  readonly secret: string;
}

/** Makes an endpoint for each form of amounts, before the first order. */
export async function subscribers(world: World): Promise<Subscriber[]> {
  const { gateway, receivers } = world;
  const made: Subscriber[] = [];
  for (const amounts of ['string', 'number'] as const) {
    const body = { url: receivers.url(`in-${amounts}`, '/events'), amounts };
    const { status, text, json } = await world.call('POST', '/partner/webhook-endpoints', { key: gateway.key, body });
    if (status !== 201) throw new Error(text);
    made.push({ name: `in-${amounts}`, secret: json.secret });
  }
  return made;
}

/**
 * Every delivery of the seeded orders; samples of the types that no order had; a test; and a second
 * attempt.
 */
export async function recordDeliveries(recording: Recording, world: World, made: readonly Subscriber[]): Promise<void> {
  const { gateway, receivers } = world;
  await world.send();
  for (const { name, secret } of made) {
    const received = receivers.of(name);
    const first = new Map<string, Received>();
    for (const each of received) {
      if (!isVerified(each, secret, gateway.clock.now())) throw new Error(`${name}: ${each.body} is not signed`);
      const { order_id: orderId, seq } = each.event.data;
      first.set(`${each.event.type} ${world.nameOf(orderId)} ${seq} ${name}`, each);
    }
    for (const title of [...first.keys()].sort()) take(recording, title, first.get(title) as Received);
  }
}

/**
 * A sample of each type, a test, and an attempt after a failed one, at the first of the endpoints.
 */
export async function recordSamples(
  recording: Recording,
  world: World,
  { types, subscriber }: { readonly types: readonly string[]; readonly subscriber: Subscriber },
): Promise<void> {
  const { gateway, receivers } = world;
  const { key } = gateway;
  await world.send();
  receivers.received.length = 0;
  for (const type of types) {
    await world.call('POST', '/partner/sandbox/webhooks/emit', { key, body: { type } });
    await world.send();
    const [sample, ...others] = receivers.of(subscriber.name).filter(({ id }) => id.startsWith('evt_test_'));
    if (!sample || others.length > 0) throw new Error(`${others.length} other samples came with ${type}`);
    // A title has the type that was asked for, whichever the body has.
    take(recording, `${type} sample`, sample);
    receivers.received.length = 0;
  }
  const { json: endpoints } = await world.call('GET', '/partner/webhook-endpoints', { key });
  const [endpoint] = endpoints.data.filter(({ url }: { url: string }) => url.includes(subscriber.name));
  await world.sendUntil(world.call('POST', `/partner/webhook-endpoints/${endpoint.id}/test`, { key }));
  for (const each of receivers.of(subscriber.name)) take(recording, `${each.event.type} of an endpoint`, each);
  receivers.behave(subscriber.name, answer(500));
  const order = await gateway.order();
  await world.know('tried twice', order);
  await world.send();
  receivers.behave(subscriber.name, answer(204));
  gateway.clock.advance(60_000);
  await world.second();
  await world.send();
  const tries = receivers.of(subscriber.name).filter(({ event }) => event.data.order_id === order.id);
  for (const [i, each] of tries.entries()) take(recording, `${each.event.type} attempt ${i + 1}`, each);
}

function take(recording: Recording, title: string, { path, headers, body }: Received): void {
  const known = Object.entries(headers).filter(([name]) => !transport.has(name));
  const sent = new Headers(known.map(([name, value]): [string, string] => [name, String(value)]));
  recording.take(title, `POST ${path}`, { status: null, headers: sent, text: body });
}
