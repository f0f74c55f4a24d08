import { setTimeout as sleep } from 'node:timers/promises';
import { Dice } from '../../support/gateway/dice.ts';
import { moveAtRandom } from '../../support/gateway/moving-orders.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

/**
 * A partner keeps a copy of its orders by `sort=updated`, while orders move in transactions that
 * commit in any order, some of them seconds late.
 */

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

const seed = Number.parseInt(process.env.SYNC_SEED ?? String(Math.floor(Math.random() * 2 ** 31)), 10);

async function newOrders(key: string, count: number): Promise<string[]> {
  const made = await Promise.all(
    Array.from({ length: count }, () => gateway.call('POST', '/partner/orders', { key, body: orderBody() })),
  );
  return made.map(({ json }) => json.id);
}

interface Seen {
  readonly id: string;
  readonly seq: number;
}

/** Reads pages until there is nothing more after `isOver`. Returns each order as it was named. */
async function read(key: string, dice: Dice, isOver: () => boolean, query = ''): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (let cursor = ''; ; ) {
    const wasOver = isOver();
    const limit = dice.pick([1, 2, 7, 100]);
    const path = `/partner/orders?sort=updated&include=details&limit=${limit}${query}${cursor}`;
    const { status, text, json } = await gateway.call('GET', path, { key });
    if (status !== 200) throw new Error(text);
    for (const { id, details } of json.data) seen.push({ id, seq: details.seq });
    if (wasOver && !json.has_more) return seen;
    cursor = `&cursor=${json.next_cursor}`;
  }
}

async function lastSeqs(ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await gateway.query<{ id: string; seq: number }>(
    'select id, event_seq as seq from exchange_order where id = any ($1)',
    [ids],
  );
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}

/** Nothing is missed, no order goes back, and none is named more often than it moved. */
function expectACopy(seen: readonly Seen[], last: ReadonlyMap<string, number>): void {
  const copy = new Map<string, number>();
  const named = new Map<string, number>();
  for (const { id, seq } of seen) {
    expect(seq).toBeGreaterThanOrEqual(copy.get(id) ?? 0);
    copy.set(id, seq);
    named.set(id, (named.get(id) ?? 0) + 1);
  }
  expect(new Map([...copy].sort())).toEqual(new Map([...last].sort()));
  for (const [id, times] of named) expect(times).toBeLessThanOrEqual(last.get(id) ?? 0);
}

async function keepACopy(fill: () => Promise<unknown>): Promise<void> {
  const [partner, other] = [await gateway.partner(), await gateway.partner()];
  // This many that the last move of some is one that commits late.
  const ids = await newOrders(partner.key, 150);
  const foreign = await newOrders(other.key, 30);
  const before = new Dice(seed);
  await moveAtRandom(gateway.databaseUrl, [...ids, ...foreign], before, 20);
  await fill();
  let isOver = false;
  const writers = Array.from({ length: 5 }, (_, n) =>
    moveAtRandom(gateway.databaseUrl, [...ids, ...foreign], new Dice(seed + n + 1), 40),
  );
  const created = Promise.all([sleep(200), sleep(500)].map((wait) => wait.then(() => newOrders(partner.key, 3))));
  const readers = [1, 2, 3].map((n) => read(partner.key, new Dice(seed - n), () => isOver));
  const strange = read(other.key, new Dice(seed - 4), () => isOver);
  await Promise.all(writers);
  const all = [...ids, ...(await created).flat()];
  await feedCatchesUp(gateway.query);
  isOver = true;
  for (const seen of await Promise.all(readers)) expectACopy(seen, await lastSeqs(all));
  expectACopy(await strange, await lastSeqs(foreign));
}

it(`a copy misses nothing while transactions commit late (seed ${seed})`, async () => {
  await keepACopy(async () => {});
}, 120_000);
