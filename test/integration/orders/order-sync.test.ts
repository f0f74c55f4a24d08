import { setTimeout as sleep } from 'node:timers/promises';
import { fillEventPartners } from '../../../src/orders/read/event-partners.ts';
import { Dice } from '../../support/gateway/dice.ts';
import { moveAtRandom } from '../../support/gateway/moving-orders.ts';
import { copyOrder } from '../../support/gateway/order-pages.ts';
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

/**
 * Takes the partner from all events, as if they were older than the column, and lets the filling
 * begin anew.
 */
async function asBeforeTheColumn(): Promise<void> {
  await gateway.query('alter table order_event disable trigger order_event_append_only');
  await gateway.query('update order_event set partner_id = null');
  await gateway.query('alter table order_event enable trigger order_event_append_only');
  await gateway.query(
    `update order_event_filling set xid = '0', order_id = '00000000-0000-0000-0000-000000000000', seq = 0,
       until_xid = pg_snapshot_xmax(pg_current_snapshot())`,
  );
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
  // So many that the last move of some is one that commits late.
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

it(`a copy misses nothing while old events get their partner (seed ${seed})`, async () => {
  let filling: Promise<unknown> = Promise.resolve();
  await keepACopy(async () => {
    await asBeforeTheColumn();
    filling = sleep(400).then(() => fillEventPartners(gateway.app.orm));
  });
  await filling;
  const [left] = await gateway.query<{ count: number }>(
    'select count(*)::int as count from order_event where partner_id is null',
  );
  expect(left?.count).toBe(0);
}, 120_000);

describe('old events', () => {
  it('are listed before they have their partner, in bounded pages, and to their own partner only', async () => {
    const [one, two] = [await gateway.partner(), await gateway.partner()];
    const [mine, theirs] = [await newOrders(one.key, 3), await newOrders(two.key, 3)];
    // More than a page looks at.
    await copyOrder(gateway.query, theirs[0] ?? '', 2_500);
    await asBeforeTheColumn();
    const late = await newOrders(one.key, 2);
    await feedCatchesUp(gateway.query);
    const over = () => true;
    const names = (seen: readonly Seen[]) => seen.map(({ id }) => id).sort();
    expect(names(await read(one.key, new Dice(1), over))).toEqual([...mine, ...late].sort());
    const copied = await read(two.key, new Dice(2), over, `&ids=${theirs.join(',')}`);
    expect(names(copied)).toEqual([...theirs].sort());
    // Two processes fill at once; each event is filled once.
    const filled = await Promise.all([1, 2, 3].map(() => fillEventPartners(gateway.app.orm)));
    const all = await gateway.query<{ wrong: number; count: number }>(
      `select count(*) filter (where e.partner_id is distinct from o.partner_id)::int as wrong, count(*)::int as count
         from order_event e join exchange_order o on o.id = e.order_id`,
    );
    expect(all[0]?.wrong).toBe(0);
    expect(filled.reduce((sum, each) => sum + each, 0)).toBe((all[0]?.count ?? 0) - late.length);
    expect(await fillEventPartners(gateway.app.orm)).toBe(0);
    expect(names(await read(one.key, new Dice(3), over))).toEqual([...mine, ...late].sort());
  });

  it('get the partner of their order, once, and nothing else about them changes', async () => {
    const [{ key }, other] = [await gateway.partner(), await gateway.partner()];
    const [id] = await newOrders(key, 1);
    const set = (what: string) => gateway.query(`update order_event set ${what} where order_id = '${id}'`);
    await expect(set('partner_id = null')).rejects.toThrow('append-only');
    await asBeforeTheColumn();
    await expect(set(`partner_id = '${other.id}'`)).rejects.toThrow('append-only');
    const own = '(select o.partner_id from exchange_order o where o.id = order_id)';
    await expect(set(`partner_id = ${own}, detail = 'changed'`)).rejects.toThrow('append-only');
    await expect(set('seq = seq + 1')).rejects.toThrow('append-only');
    await set(`partner_id = ${own}`);
    await expect(set(`partner_id = ${own}`)).rejects.toThrow('append-only');
    await fillEventPartners(gateway.app.orm);
  });
});
