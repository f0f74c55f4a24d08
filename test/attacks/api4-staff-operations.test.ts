import type { WebSocket } from 'ws';
import { gateway, withAttackedGateway } from '../support/http/resource-attacks.ts';
import { attempt } from '../support/jest/attempts.ts';
import { kinds, type Member, newMember } from '../support/staff/staff-client.ts';
import { nextMessage, openSocket, refusedOn } from '../support/staff/staff-socket.ts';

withAttackedGateway();

describe('an operation of staff', () => {
  let viewer: Member;
  let socket: WebSocket;
  beforeAll(async () => {
    viewer = await newMember(gateway, 'viewer');
    socket = await openSocket(gateway.app.internalUrl, viewer.token);
  });
  afterAll(() => socket?.terminate());

  const page =
    'edges { node { id events { seq at cause } deposits { payments { attempts { txid fee } } } payments { attempts { txid fee } } } }';
  const deep = (levels: number, inner: string): string =>
    levels === 0 ? inner : `order { actions { ${deep(levels - 1, inner)} } }`;
  const fragments = (count: number, on: string, inner: string): string =>
    Array.from(
      { length: count },
      (_, i) => `fragment F${i} on ${on} { ${i + 1 < count ? `...F${i + 1} ...F${i + 1}` : inner} }`,
    ).join(' ');

  /** Selections below the root of a query, or of the change that a subscription tells. */
  const tooMuch: [string, string][] = [
    ['too deep', `order { actions { ${deep(6, 'id')} } }`],
    ['aliases', `order { ${Array.from({ length: 30 }, (_, i) => `a${i}: id`).join(' ')} }`],
    ['words', `order { ${'id '.repeat(3_000)} }`],
    ['directives', `order { id ${'@include(if: true) '.repeat(40)} }`],
    ['unknown directives', `order { id @x }`],
    ['doubling fragments', 'order { ...F0 }'],
    ['a circle of fragments', 'order { ...C }'],
    ['a fragment of itself', 'order { ...S }'],
    ['a field that is not there', 'order { secret }'],
  ];
  const extra: Record<string, string> = {
    'doubling fragments': fragments(20, 'Order', 'id'),
    'a circle of fragments': 'fragment C on Order { ...D } fragment D on Order { ...C }',
    'a fragment of itself': 'fragment S on Order { id ...S }',
  };

  it.each(tooMuch)('with %s is refused by POST and by WebSocket', async (what, selection) => {
    const more = extra[what] ?? '';
    const posted = await viewer.ask(`{ proposals { ${selection} } } ${more}`);
    attempt(`${what} by POST`, { status: posted.status, data: posted.data }, { status: 400, data: null });
    const [error] = await refusedOn(socket, `subscription { orderChanged { ${selection} } } ${more}`);
    attempt(`${what} by WebSocket`, error.message, posted.errors[0]?.message);
  });

  it.each([
    ['alone', `{ orders(first: 100) { ${page} } }`],
    [
      'paid for by a page of less than nothing',
      `{ orders(first: 100) { ${page} } b: orders(first: -2000) { ${page} } }`,
    ],
    ['with a page from a default', `query ($n: Int = 100) { orders(first: $n) { ${page} } }`],
    ['backwards', `{ orders(first: null, last: 100) { ${page} } }`],
    [
      'behind more fields than are counted',
      `{ orders(first: 100) { ${page} } me { ...A } } fragment A on Viewer { ${'...B '.repeat(150)} }
       fragment B on Viewer { ${'id '.repeat(150)} }`,
    ],
    [
      'below a list without pages',
      '{ proposals { order { events { seq } deposits { txid payments { id attempts { txid } } } } } }',
    ],
    ['with a page of a milliard', '{ orders(first: 1000000000) { edges { node { id } } } }'],
    [
      'on both sides of a fragment',
      `{ orders(first: 60) { ...P } b: orders(first: 60) { ...P } } fragment P on OrderConnection { ${page} }`,
    ],
  ])('that could return too much is refused: %s', async (what, operation) => {
    attempt(`too much ${what}`, kinds(await viewer.ask(operation)), ['query_too_complex']);
  });

  it('with circular introspection is refused', async () => {
    const around = (levels: number): string => (levels === 0 ? 'name' : `fields { type { ${around(levels - 1)} } }`);
    for (const levels of [3, 6, 12]) {
      const { status, data } = await viewer.ask(`{ __schema { types { ${around(levels)} } } }`);
      attempt(`the schema ${levels} times around`, { status, data }, { status: 400, data: null });
    }
  });

  it('with too many sums and statistics is refused', async () => {
    await gateway.query(
      `insert into order_stat (grain, dimension, key, at, from_status, to_status, cause, moves, seconds, volume_usd, revenue_usd)
       select 'day', 'partner', partner::text, timestamptz '2025-01-01 00:00Z' + day * interval '1 day', '',
              'waiting_deposit', 'created', 1, 0, 0, 0
         from generate_series(1, 60) as partner, generate_series(0, 360) as day`,
    );
    const stats = (to: string, top: number) =>
      viewer.ask(
        `{ stats(from: "2025-01-01T00:00:00Z", to: "${to}", by: PARTNER, top: ${top}) { series { created } } }`,
      );
    attempt('a year of sixty partners', kinds(await stats('2025-12-31T00:00:00Z', 60)), ['query_too_complex']);
    attempt('the largest 101', kinds(await stats('2025-12-31T00:00:00Z', 101)), ['invalid_value']);
    expect((await stats('2025-02-01T00:00:00Z', 100)).data.stats.series).toHaveLength(60 * 31);
    expect((await stats('2025-02-01T00:00:00Z', 7)).data.stats.series).toHaveLength(7 * 31);
  });

  it('is refused as part of a batch', async () => {
    for (const batch of [
      [{ query: '{ me { id } }' }],
      Array(100).fill({ query: '{ me { id } }' }),
      { 0: { query: '{ me { id } }' }, 1: { query: '{ me { id } }' }, length: 2 },
    ]) {
      const { status } = await fetch(`${gateway.app.internalUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${viewer.token}` },
        body: JSON.stringify(batch),
      });
      attempt(JSON.stringify(batch).slice(0, 60), status, 400);
    }
  });
});

describe('a WebSocket', () => {
  const closed = (socket: WebSocket) => new Promise((resolve) => socket.once('close', resolve));
  const open = ({ token }: Member) => openSocket(gateway.app.internalUrl, token);

  it('is closed after too many messages, a malformed message or a second handshake', async () => {
    const viewer = await newMember(gateway, 'viewer');
    for (const [what, message, code] of [
      ['a message of 70,000 bytes', `{"type":"ping","payload":{"x":"${'x'.repeat(70_000)}"}}`, 1009],
      ['an unknown type', '{"type":"nonsense"}', 4400],
      ['a type of a prototype', '{"type":"__proto__"}', 4400],
      ['no JSON', '{', 4400],
      ['a list', '[]', 4400],
      ['lists, 30,000 deep', '['.repeat(30_000), 4400],
      ['a second beginning', '{"type":"connection_init"}', 4429],
      ['a subscription without an operation', '{"type":"subscribe","id":"1","payload":{}}', 4400],
      ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe]), 4400],
    ] as const) {
      const socket = await open(viewer);
      socket.send(message);
      attempt(what, await closed(socket), code);
    }
    const twice = await open(viewer);
    const subscribe = '{"type":"subscribe","id":"1","payload":{"query":"subscription { orderChanged { seq } }"}}';
    twice.send(subscribe);
    twice.send(subscribe);
    attempt('one id twice', await closed(twice), 4409);
  });

  it('has at most twenty subscriptions, and each member has at most ten WebSockets', async () => {
    const member = await newMember(gateway, 'viewer');
    const socket = await open(member);
    const told = nextMessage(socket);
    for (let id = 0; id < 21; id++) {
      const payload = {
        query: 'subscription { orderChanged(orderId: "01900000-0000-7000-8000-000000000000") { seq } }',
      };
      socket.send(JSON.stringify({ type: 'subscribe', id: `s${id}`, payload }));
    }
    attempt('21 subscriptions', (await told).payload[0].extensions.kind, 'query_too_complex');
    const others = await Promise.allSettled(Array.from({ length: 14 }, () => open(member)));
    attempt('15 connections', others.filter(({ status }) => status === 'fulfilled').length, 9);
    for (const other of others) if (other.status === 'fulfilled') other.value.terminate();
    socket.terminate();
  });
});
