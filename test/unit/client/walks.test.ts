import { type EventWalk, type Order, PartnerClient, PartnerError, type SyncPage } from '../../../client/src/main.ts';
import { refusal, ScriptedGateway } from '../../support/client/scripted-gateway.ts';

/** Lists, synchronisation and waiting, against answers from a script. */

const gateway = new ScriptedGateway();
let client: PartnerClient;

beforeAll(async () => {
  await gateway.start();
  client = new PartnerClient({ url: gateway.url, key: 'a.b', retryDelayMs: 1 });
});
afterAll(() => gateway.stop());

const page = (ids: readonly string[], next: string | null, more = false) => ({
  body: { data: ids.map((id) => ({ id })), has_more: more, next_cursor: next },
});
const queries = () =>
  gateway.requests.map(({ target }) => Object.fromEntries(new URL(target, gateway.url).searchParams));

/** The pages of a walk, each as its ids, its cursor and whether it began again. */
async function walked(pages: AsyncIterable<SyncPage>, max = 100): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const { orders, cursor, restarted } of pages) {
    seen.push([orders.map(({ id }) => id).join(), cursor, restarted]);
    if (seen.length === max) break;
  }
  return seen;
}

describe('a list', () => {
  it('is read page by page, with the same filters', async () => {
    gateway.plays(page(['a', 'b'], 'c1', true), page([], 'c2', true), page(['c'], null));
    const ids: string[] = [];
    for await (const { id } of client.listOrders({ coin_to: 'USDT', limit: 2 })) ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    const filters = { coin_to: 'USDT', limit: '2' };
    expect(queries()).toEqual([filters, { ...filters, cursor: 'c1' }, { ...filters, cursor: 'c2' }]);
  });

  it('reads no page that the caller does not want', async () => {
    gateway.plays(page(['a', 'b'], 'c1', true));
    for await (const _ of client.listOrders()) break;
    expect(gateway.requests).toHaveLength(1);
  });

  it('begins again in each walk', async () => {
    gateway.plays(page(['a'], null));
    const list = client.listOrders();
    expect([await list.toArray(), await list.toArray()]).toEqual([[{ id: 'a' }], [{ id: 'a' }]]);
  });

  it('with more items than the caller expects is refused as a whole', async () => {
    gateway.plays(page(['a', 'b', 'c'], null));
    await expect(client.listOrders().toArray(2)).rejects.toThrow(new RangeError('The list has more than 2 items.'));
    expect(await client.listOrders().toArray(3)).toHaveLength(3);
  });

  it('whose pages do not go on ends with an error, and not never', async () => {
    gateway.plays(page(['a'], 'c1', true), page(['b'], 'c1', true));
    await expect(client.listOrders().toArray()).rejects.toMatchObject({ code: 'invalid_answer' });
    gateway.plays(page(['a'], null, true));
    await expect(client.listOrders().toArray()).rejects.toMatchObject({ code: 'invalid_answer' });
  });
});

describe('sync', () => {
  it('walks from the stored cursor to the end, and tells the cursor to store', async () => {
    gateway.plays(page(['a'], 'c2', true), page(['b'], 'c3'));
    expect(await walked(client.sync({ include: ['details'] }, { cursor: 'c1' }))).toEqual([
      ['a', 'c2', false],
      ['b', 'c3', false],
    ]);
    const filters = { limit: '100', include: 'details', sort: 'updated' };
    expect(queries()).toEqual([
      { ...filters, cursor: 'c1' },
      { ...filters, cursor: 'c2' },
    ]);
  });

  it('tells the first cursor of an empty list, and nothing when nothing moved', async () => {
    gateway.plays(page([], 'c1'));
    expect(await walked(client.sync())).toEqual([['', 'c1', false]]);
    expect(await walked(client.sync({}, { cursor: 'c1' }))).toEqual([]);
  });

  it('goes on at the end of the list when it follows, also after failures', async () => {
    const failure = refusal(503, 'unavailable');
    gateway.plays(page(['a'], 'c1'), page([], 'c1'), failure, failure, failure, page(['b'], 'c2'));
    expect(await walked(client.sync({}, { follow: true, intervalMs: 100 }), 2)).toEqual([
      ['a', 'c1', false],
      ['b', 'c2', false],
    ]);
    expect(gateway.requests).toHaveLength(6);
  });

  it('begins again at the time that the gateway names when the cursor has expired', async () => {
    gateway.plays(refusal(410, 'cursor_expired', { restart_from: '2026-11-21T00:00:00.000Z' }), page(['a'], 'd1'));
    expect(await walked(client.sync({ updated_since: '2026-01-01T00:00:00Z' }, { cursor: 'c1' }))).toEqual([
      ['a', 'd1', true],
    ]);
    expect(queries()[1]).toEqual({ limit: '100', sort: 'updated', updated_since: '2026-11-21T00:00:00.000Z' });
  });

  it('ends with an error when the gateway names no time, or refuses', async () => {
    gateway.plays(refusal(410, 'cursor_expired'));
    await expect(walked(client.sync({}, { cursor: 'c1' }))).rejects.toMatchObject({ code: 'cursor_expired' });
    gateway.plays(refusal(401, 'unauthorized'));
    await expect(walked(client.sync({}, { follow: true }))).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('ends when the caller says so', async () => {
    gateway.plays(page(['a'], 'c1'), page([], 'c1'));
    const ending = new AbortController();
    const walk = (async () => {
      for await (const _ of client.sync({}, { follow: true, signal: ending.signal })) ending.abort();
    })();
    await expect(walk).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('events', () => {
  const events = (ids: readonly string[], next: string, more = false) => ({
    body: {
      data: ids.map((id) => ({ type: 'order.created', data: { event_id: id } })),
      has_more: more,
      next_cursor: next,
    },
  });
  /** Walks this many events; each with the cursor to store once it is handled. */
  async function taken(walk: EventWalk, count: number): Promise<unknown[]> {
    const seen: unknown[] = [];
    for await (const { data } of walk) {
      seen.push([data.event_id, walk.cursor]);
      if (seen.length === count) break;
    }
    return seen;
  }

  it('come as they happen, and the cursor moves with the last one of a page', async () => {
    gateway.plays(events(['a', 'b'], 'c1', true), events([], 'c2', true), events(['c'], 'c3'));
    expect(await taken(client.events({ types: ['order.created'] }), 3)).toEqual([
      ['a', undefined],
      ['b', 'c1'],
      ['c', 'c3'],
    ]);
    const filters = { limit: '100', types: 'order.created', wait: '25' };
    expect(queries()).toEqual([filters, { ...filters, cursor: 'c1' }, { ...filters, cursor: 'c2' }]);
  });

  it('go on from a stored cursor, and in a later loop from where the last one was left', async () => {
    gateway.plays(events(['b', 'c'], 'c2'), events(['b', 'c'], 'c2'), events(['d'], 'c3'));
    const walk = client.events({ since: '2026-11-21T00:00:00Z', wait: 5, limit: 2 }, { cursor: 'c1' });
    expect(await taken(walk, 1)).toEqual([['b', 'c1']]);
    expect(await taken(walk, 3)).toEqual([
      ['b', 'c1'],
      ['c', 'c2'],
      ['d', 'c3'],
    ]);
    expect(queries().map(({ cursor, wait, limit }) => [cursor, wait, limit])).toEqual([
      ['c1', '5', '2'],
      ['c1', '5', '2'],
      ['c2', '5', '2'],
    ]);
  });

  it('go on after failures that pass and empty pages', async () => {
    const failure = refusal(503, 'unavailable');
    gateway.plays(events([], 'c1'), failure, failure, failure, 'cut', events(['a'], 'c2'));
    expect(await taken(client.events({}, { intervalMs: 100 }), 1)).toEqual([['a', 'c2']]);
    expect(queries().map(({ cursor }) => cursor)).toEqual([undefined, 'c1', 'c1', 'c1', 'c1', 'c1']);
  });

  it('begin again at the time that the gateway names when the cursor has expired', async () => {
    const lost = refusal(410, 'cursor_expired', { restart_from: '2026-11-21T00:00:00.000Z' });
    gateway.plays(lost, events(['a'], 'd1'), events(['b'], 'd2'));
    expect(await taken(client.events({ since: '2026-01-01T00:00:00Z' }, { cursor: 'c1' }), 2)).toEqual([
      ['a', 'd1'],
      ['b', 'd2'],
    ]);
    expect(queries().map(({ cursor, since }) => [cursor, since])).toEqual([
      ['c1', '2026-01-01T00:00:00Z'],
      [undefined, '2026-11-21T00:00:00.000Z'],
      ['d1', '2026-01-01T00:00:00Z'],
    ]);
  });

  it('end with an error when the gateway refuses, and when the caller says so', async () => {
    gateway.plays(refusal(401, 'unauthorized'));
    await expect(taken(client.events(), 1)).rejects.toMatchObject({ code: 'unauthorized' });
    gateway.plays(events(['a'], 'c1'), 'hang');
    const ending = new AbortController();
    const walk = (async () => {
      for await (const _ of client.events({}, { signal: ending.signal })) ending.abort();
    })();
    await expect(walk).rejects.toMatchObject({ code: 'aborted' });
    expect(() => client.events({}, { intervalMs: 99 })).toThrow(RangeError);
  });
});

describe('waitFor', () => {
  const states = (...statuses: string[]) =>
    statuses.map((status) => ({ body: { id: 'x', status }, headers: { ETag: `"${status}"` } }));

  it('looks until the order ends, tells of each change, and costs few bytes between', async () => {
    const [waiting, confirming, completed] = states('waiting_deposit', 'confirming', 'completed');
    if (!waiting || !confirming || !completed) throw new Error('three states');
    gateway.plays(waiting, { status: 304, headers: { ETag: '"waiting_deposit"' } }, confirming, completed);
    const seen: string[] = [];
    const onChange = ({ status }: Order) => void seen.push(status);
    const ended = await client.waitFor({ id: 'x' }, { intervalMs: 100, onChange });
    expect(ended.status).toBe('completed');
    expect(seen).toEqual(['waiting_deposit', 'confirming', 'completed']);
    expect(gateway.requests.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      '"waiting_deposit"',
      '"waiting_deposit"',
      '"confirming"',
    ]);
  });

  it('ends with the statuses that the caller names', async () => {
    gateway.plays(...states('waiting_deposit', 'confirming'));
    expect((await client.waitFor('x', { until: ['confirming'], intervalMs: 100 })).status).toBe('confirming');
  });

  it('outlasts failures that pass, and ends with the others', async () => {
    const failure = refusal(503, 'unavailable');
    gateway.plays(failure, failure, failure, 'cut', ...states('completed'));
    expect((await client.waitFor('x', { intervalMs: 100 })).status).toBe('completed');
    gateway.plays(refusal(404, 'order_not_found'));
    await expect(client.waitFor('x')).rejects.toMatchObject({ code: 'order_not_found' });
  });

  it('ends at its own time, with the last failure as the cause', async () => {
    gateway.plays(...states('waiting_deposit'));
    await expect(client.waitFor('x', { timeoutMs: 150, intervalMs: 100 })).rejects.toMatchObject({
      code: 'wait_timeout',
    });
    gateway.plays('cut');
    const error = await client.waitFor('x', { timeoutMs: 50 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'wait_timeout', cause: expect.any(PartnerError) });
  });

  it('ends when the caller says so, and refuses an interval that would be a flood', async () => {
    gateway.plays(...states('waiting_deposit'));
    const ending = new AbortController();
    const options = { signal: ending.signal, onChange: () => ending.abort() };
    await expect(client.waitFor('x', options)).rejects.toMatchObject({ code: 'aborted' });
    await expect(client.waitFor('x', { intervalMs: 99 })).rejects.toThrow(RangeError);
  });
});
