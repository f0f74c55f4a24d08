import { setTimeout as sleep } from 'node:timers/promises';
import { Dice } from '../../support/gateway/dice.ts';
import { moveAtRandom } from '../../support/gateway/moving-orders.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { StreamClient } from '../../support/http/event-stream.ts';

/**
 * Readers follow the events of a partner by long poll and by stream, while orders move in
 * transactions that commit in any order, some of them seconds late. No event is missed or comes
 * twice.
 */

const seed = Number.parseInt(process.env.SYNC_SEED ?? String(Math.floor(Math.random() * 2 ** 31)), 10);

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

async function newOrders(key: string, count: number): Promise<string[]> {
  const made = await Promise.all(
    Array.from({ length: count }, () => gateway.call('POST', '/partner/orders', { key, body: orderBody() })),
  );
  return made.map(({ json }) => json.id);
}

const named = ({ data }: { data: { order_id: string; seq: number } }): string => `${data.order_id} ${data.seq}`;

/** Polls with waits of any length until there is nothing more after `isOver`. */
async function poll(key: string, dice: Dice, isOver: () => boolean, types = ''): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const wasOver = isOver();
    const limit = dice.pick([1, 3, 20, 100]);
    const wait = wasOver ? 0 : dice.pick([0, 1, 5]);
    const path = `/partner/events?limit=${limit}&wait=${wait}${types}${cursor}`;
    const { status, text, json } = await gateway.call('GET', path, { key });
    if (status !== 200) throw new Error(text);
    seen.push(...json.data.map(named));
    if (wasOver && !json.has_more) return seen;
    cursor = `&cursor=${json.next_cursor}`;
  }
}

/** Streams, and is cut at random moments, until all wanted events came. */
async function streamAll(key: string, dice: Dice, isOver: () => boolean, count: () => number): Promise<string[]> {
  const seen: string[] = [];
  let last: string | null = null;
  while (!isOver() || seen.length < count()) {
    const headers = { 'X-API-Key': key, ...(last === null ? {} : { 'Last-Event-ID': last }) };
    const client = new StreamClient(`${gateway.app.restUrl}/api/v1/partner/events/stream`, headers);
    await Promise.race([client.ended, sleep(dice.between(50, 1_500))]);
    client.close();
    await client.ended;
    for (const { id, event, data } of client.events) {
      if (event === 'reconnect') continue;
      seen.push(named(JSON.parse(data)));
      last = id;
    }
  }
  return seen;
}

it(`polls and streams miss nothing while transactions commit late (seed ${seed})`, async () => {
  const [partner, other] = [await gateway.partner(), await gateway.partner()];
  const ids = await newOrders(partner.key, 100);
  const foreign = await newOrders(other.key, 30);
  let isOver = false;
  let count = Number.POSITIVE_INFINITY;
  const over = () => isOver;
  const writers = Array.from({ length: 5 }, (_, n) =>
    moveAtRandom(gateway.databaseUrl, [...ids, ...foreign], new Dice(seed + n), 40),
  );
  const polls = [1, 2, 3].map((n) => poll(partner.key, new Dice(seed - n), over));
  const some = poll(partner.key, new Dice(seed - 4), over, '&types=order.deposit_lost');
  const streams = [5, 6].map((n) => streamAll(partner.key, new Dice(seed - n), over, () => count));
  const strange = poll(other.key, new Dice(seed - 7), over);
  await Promise.all(writers);
  await feedCatchesUp(gateway.query);
  const rows = (orders: readonly string[], where = 'true') =>
    gateway.query<{ name: string }>(
      `select order_id || ' ' || seq as name from order_event where order_id = any ($1) and ${where}`,
      [orders],
    );
  const all = (await rows(ids)).map(({ name }) => name).sort();
  count = all.length;
  isOver = true;
  for (const seen of await Promise.all([...polls, ...streams])) expect(seen.sort()).toEqual(all);
  const lost = (await rows(ids, `cause = 'deposit_lost'`)).map(({ name }) => name).sort();
  expect(lost.length).toBeGreaterThan(0);
  expect((await some).sort()).toEqual(lost);
  expect((await strange).sort()).toEqual((await rows(foreign)).map(({ name }) => name).sort());
}, 120_000);
