import { WebSocket } from 'ws';
import { addressExample } from '../../src/chains/address.ts';
import type { StaffRole } from '../../src/staff/staff-member.entity.ts';
import { LogSink } from '../support/log-sink.ts';
import { failedOrder, type MadeOrder, type SettledGateway, startSettledGateway } from '../support/settled-gateway.ts';
import { StaffBrowser } from '../support/staff-browser.ts';
import { newMember, type StaffReply, staffClient } from '../support/staff-client.ts';

type Member = Awaited<ReturnType<typeof newMember>>;

const log = new LogSink();
let gateway: SettledGateway;
let viewer: Member;
let operator: Member;
let second: Member;
let admin: Member;

beforeAll(async () => {
  gateway = await startSettledGateway({
    settings: { LOG_LEVEL: 'debug', RATE_LIMIT_STAFF_PER_MIN: '100000' },
    surroundings: { logStream: log },
  });
  viewer = await newMember(gateway, 'viewer');
  operator = await newMember(gateway, 'operator');
  second = await newMember(gateway, 'operator');
  admin = await newMember(gateway, 'admin');
});
afterAll(() => gateway?.stop());

function send(body: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${gateway.app.internalUrl}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
}

const sendAs = (member: Member, body: string, headers: Record<string, string> = {}) =>
  send(body, { Authorization: `Bearer ${member.token}`, ...headers });

function kinds({ errors }: StaffReply): (string | undefined)[] {
  return errors.map(({ extensions }) => extensions.kind ?? extensions.code);
}

/** Rows of the tables that a mutation could change. */
async function counts(): Promise<unknown> {
  const [row] = await gateway.query(`select
    (select count(*)::int from audit_log) as audit, (select count(*)::int from staff_action) as actions,
    (select count(*)::int from order_note) as notes, (select count(*)::int from partner) as partners,
    (select count(*)::int from api_key) as keys, (select count(*)::int from staff_member) as members,
    (select count(*)::int from price_override) as overrides, (select count(*)::int from payment) as payments,
    (select max(updated_at)::text from partner) as partner_at, (select max(updated_at)::text from currency) as currency_at`);
  return row;
}

const refund =
  'mutation ($id: ID!, $to: String!) { orderRefund(input: { orderId: $id, address: $to }, reason: "x") { id } }';
const approve = 'mutation ($id: ID!) { actionApprove(id: $id, reason: "x") { state } }';

async function proposeRefund(by: Member, order: MadeOrder): Promise<string> {
  return (await by.data(refund, { id: order.id, to: addressExample('BTC') })).orderRefund.id;
}

function refunds(order: MadeOrder): Promise<unknown[]> {
  return gateway.query("select id from payment where order_id = $1 and kind = 'refund'", [order.id]);
}

describe('a role', () => {
  it('is not exceeded below other objects, in fragments, by aliases or in variables', async () => {
    const { id } = await gateway.order();
    const partner = await gateway.partner();
    const asked = [
      `{ order(id: "${id}") { ...A } } fragment A on Order { partner { ... on Partner { k: keys { keyId } } } }`,
      `{ order(id: "${id}") { l: ledgerLines { amount } } }`,
      `query ($yes: Boolean = true) { order(id: "${id}") { actions @include(if: $yes) { id } } }`,
      `{ partner(id: "${partner.id}") { keys { ...K } } } fragment K on ApiKey { last4 }`,
      '{ a: staff { email } }',
      '{ ...Q } fragment Q on Query { auditLog { edges { node { actor { email } } } } }',
    ];
    await operator.data('mutation ($id: ID!) { orderHold(orderId: $id, reason: "x") { id } }', { id });
    for (const query of asked) {
      const reply = await viewer.ask(query);
      expect({ query, kinds: [...new Set(kinds(reply))], data: reply.data }).toEqual({
        query,
        kinds: ['insufficient_role'],
        data: null,
      });
    }
  });

  it('does not show why something was proposed to whoever may not read actions', async () => {
    const order = await gateway.order();
    await operator.data('mutation ($id: ID!) { orderHold(orderId: $id, reason: "x") { id } }', { id: order.id });
    const { orderRelease } = await operator.data(
      'mutation ($id: ID!) { orderRelease(orderId: $id, reason: "a secret reason") { id } }',
      { id: order.id },
    );
    const reply = await viewer.ask('{ attention { kind subjectId detail } }');
    expect(reply.data.attention).toContainEqual({
      kind: 'PROPOSAL_OPEN',
      subjectId: orderRelease.id,
      detail: 'release',
    });
    expect(reply.text).not.toContain('a secret reason');
  });

  it('ends with the role, the token and the member, in sessions as well', async () => {
    const member = await newMember(gateway, 'admin');
    const browser = new StaffBrowser(gateway.app.internalUrl);
    const signIn = async (token: string) => {
      await browser.post('/sign-in', { token });
      return `__Host-staff=${browser.cookies.get('__Host-staff')}`;
    };
    const bySession = (Cookie: string) =>
      send('{"query":"{ staff { id } }"}', { Cookie, Origin: gateway.app.internalUrl }).then(({ status }) => status);
    let cookie = await signIn(member.token);
    expect(await bySession(cookie)).toBe(200);
    await admin.data('mutation ($id: ID!) { staffRole(id: $id, role: VIEWER, reason: "x") { id } }', member);
    expect(await bySession(cookie)).toBe(401);
    expect(kinds(await member.ask('{ staff { id } }'))).toEqual(['insufficient_role']);
    cookie = await signIn(member.token);
    expect(await bySession(cookie)).toBe(200);
    await admin.data('mutation ($id: ID!) { staffRevoke(id: $id, reason: "x") { id } }', member);
    expect(await bySession(cookie)).toBe(401);
    expect((await member.ask('{ me { id } }')).status).toBe(401);
    expect((await browser.post('/sign-in', { token: member.token })).status).toBe(401);
  });

  it('is not had with a token as cookie, a cookie as token, two cookies or both at once', async () => {
    const browser = new StaffBrowser(gateway.app.internalUrl);
    await browser.post('/sign-in', { token: viewer.token });
    const secret = browser.cookies.get('__Host-staff') ?? '';
    const Origin = gateway.app.internalUrl;
    const ask = (headers: Record<string, string>) =>
      send('{"query":"{ me { role } }"}', { Origin, ...headers }).then(({ status }) => status);
    expect(await ask({ Cookie: `__Host-staff=${secret}` })).toBe(200);
    expect(await ask({ Authorization: `Bearer ${secret}` })).toBe(401);
    expect(await ask({ Cookie: `__Host-staff=${admin.token}` })).toBe(401);
    expect(await ask({ Cookie: `__Host-staff=${secret}; __Host-staff=${secret}` })).toBe(401);
    expect(await ask({ Cookie: `__Host-staff=${secret}`, Authorization: 'Bearer xs_x' })).toBe(401);
    expect(await ask({ Cookie: `__Host-staff=${secret}`, Authorization: 'Basic eDp4' })).toBe(401);
    const { key } = await gateway.partner();
    expect(await ask({ Authorization: `Bearer ${key}` })).toBe(401);
  });

  it('is asked for again by each subscription of an open WebSocket', async () => {
    const member = await newMember(gateway, 'viewer');
    const socket = await open(member);
    await admin.data('mutation ($id: ID!) { staffRevoke(id: $id, reason: "x") { id } }', member);
    const [error] = await refused(socket, 'subscription { orderChanged { seq } }');
    expect(error.extensions).toMatchObject({ code: 'UNAUTHENTICATED', kind: 'unauthorized' });
    socket.terminate();
  });
});

// biome-ignore lint/suspicious/noExplicitAny: messages are looked at member by member
type Message = any;

async function open({ token }: Member): Promise<WebSocket> {
  const socket = new WebSocket(`${gateway.app.internalUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    headers: { Authorization: `Bearer ${token}` },
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.send('{"type":"connection_init"}');
  expect((await next(socket)).type).toBe('connection_ack');
  return socket;
}

function next(socket: WebSocket): Promise<Message> {
  return new Promise((resolve, reject) => {
    socket.once('message', (data) => resolve(JSON.parse(String(data))));
    socket.once('close', (code) => reject(new Error(`closed with ${code}`)));
  });
}

async function refused(socket: WebSocket, query: string, variables = {}): Promise<Message[]> {
  const told = next(socket);
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
  const { type, payload } = await told;
  expect(type).toBe('error');
  return payload;
}

describe('a proposal', () => {
  it('is approved by nobody who made it, in whatever session, and in no spelling of its id', async () => {
    const order = await failedOrder(gateway);
    const id = await proposeRefund(operator, order);
    const browser = new StaffBrowser(gateway.app.internalUrl);
    await browser.post('/sign-in', { token: operator.token });
    const Cookie = `__Host-staff=${browser.cookies.get('__Host-staff')}`;
    const reply = await send(JSON.stringify({ query: approve, variables: { id } }), {
      Cookie,
      Origin: gateway.app.internalUrl,
    });
    expect(await reply.json()).toMatchObject({ errors: [{ extensions: { kind: 'second_member_needed' } }] });
    expect(kinds(await operator.ask(approve, { id: id.toUpperCase() }))).toEqual(['second_member_needed']);
    expect(kinds(await second.ask(approve, { id: `{${id}}` }))).toEqual(['action_not_found']);
    expect(await refunds(order)).toEqual([]);
  });

  it('is carried out once, however many approve it at once', async () => {
    const order = await failedOrder(gateway);
    const id = await proposeRefund(operator, order);
    const third = await newMember(gateway, 'admin');
    const replies = await Promise.all([second, second, third, third, operator].map((one) => one.ask(approve, { id })));
    expect(replies.filter(({ errors }) => errors.length === 0)).toHaveLength(1);
    // Whoever comes late is told that it was decided, even the proposer.
    for (const kind of replies.flatMap(kinds)) expect(kind).toMatch(/^(action_not_possible|second_member_needed)$/);
    expect(replies[4]?.errors).toHaveLength(1);
    expect(await refunds(order)).toHaveLength(1);
    const audited = await gateway.query("select 1 from audit_log where target = $1 and operation = 'actionApprove'", [
      `order:${order.id}`,
    ]);
    expect(audited).toHaveLength(1);
  });

  it('is there once, however many propose at once, and pays once, however many approve', async () => {
    const order = await failedOrder(gateway);
    const input = { orderId: order.id, address: addressExample('BTC') };
    const propose = 'mutation ($input: RefundInput!) { orderRefund(input: $input, reason: "x") { id } }';
    const proposals = await Promise.all(Array.from({ length: 4 }, () => operator.ask(propose, { input })));
    expect(proposals.flatMap(kinds)).toEqual(['already_exists', 'already_exists', 'already_exists']);
    const id = proposals.find(({ data }) => data)?.data.orderRefund.id;
    const replies = await Promise.all([second, admin, second].map((member) => member.ask(approve, { id })));
    expect(replies.flatMap(kinds)).toEqual(['action_not_possible', 'action_not_possible']);
    expect(await refunds(order)).toHaveLength(1);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    expect((await second.ask(approve, { id })).errors).toHaveLength(1);
    expect(await refunds(order)).toHaveLength(1);
  });

  it('is either approved or rejected, and stays so', async () => {
    const order = await failedOrder(gateway);
    const id = await proposeRefund(operator, order);
    const reject = 'mutation ($id: ID!) { actionReject(id: $id, reason: "x") { state } }';
    const replies = await Promise.all([second.ask(approve, { id }), admin.ask(reject, { id })]);
    expect(replies.flatMap(kinds)).toEqual(['action_not_possible']);
    expect(kinds(await second.ask(reject, { id }))).toEqual(['action_not_possible']);
    expect(kinds(await second.ask(approve, { id }))).toEqual(['action_not_possible']);
  });

  it('needs one connection of the pool, so that many at once do not wait for each other', async () => {
    const small = await startSettledGateway({ settings: { STAFF_POOL_SIZE: '2' } });
    const api = await startSettledGateway({
      databaseUrl: small.databaseUrl,
      clock: small.clock,
      settings: { STAFF_POOL_SIZE: '2', ROLE: 'api' },
    }).catch(() => null);
    try {
      const { app } = api ?? small;
      const { token } = await newMember(small, 'operator');
      const ask = staffClient(app.internalUrl, token);
      const orders = await Promise.all([small.order(), small.order(), small.order(), small.order()]);
      for (const { id } of orders)
        await ask('mutation ($id: ID!) { orderHold(orderId: $id, reason: "x") { id } }', { id });
      const release = 'mutation ($id: ID!) { orderRelease(orderId: $id, reason: "x") { state } }';
      const replies = await Promise.all(orders.map(({ id }) => ask(release, { id })));
      expect(replies.map(({ data }) => data?.orderRelease.state)).toEqual(orders.map(() => 'PROPOSED'));
    } finally {
      await api?.stop();
      await small.stop();
    }
  });
});

describe('what cannot be stored', () => {
  const texts = { 'a NUL character': 'abcd\0', 'half of a surrogate pair': 'abcd\ud800' };
  const fields: [StaffRole, string][] = [
    ['operator', 'mutation ($s: String!) { partnerCreate(name: $s, reason: "x") { id } }'],
    ['operator', 'mutation ($s: String!) { partnerCreate(name: "x", reason: $s) { id } }'],
    ['operator', 'mutation ($s: ID!) { keyRevoke(keyId: $s, reason: "x") { keyId } }'],
    ['operator', 'mutation ($s: String!) { orderNote(orderId: "XP-AAAAAA", text: $s) { id } }'],
    ['admin', 'mutation ($s: String!) { staffInvite(email: $s, role: VIEWER, reason: "x") { token } }'],
    [
      'admin',
      'mutation ($s: String!) { currencySwitch(coin: $s, network: "BTC", switches: { isActive: true }, reason: "x") { coin } }',
    ],
    ['admin', 'mutation ($s: String!) { priceOverrideEnd(coinFrom: $s, coinTo: "BTC", reason: "x") { id } }'],
    ['operator', 'query ($s: String!) { auditLog(target: $s) { edges { cursor } } }'],
    [
      'viewer',
      'query ($s: String!) { stats(from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z", by: PAIR, key: $s) { series { at } } }',
    ],
    ['viewer', 'query ($s: String!) { orders(filter: { coin: $s }) { edges { cursor } } }'],
  ];

  it.each(Object.entries(texts))('%s is refused in each text, and nothing is changed', async (_name, s) => {
    const members: Record<StaffRole, Member> = { viewer, support: operator, operator, admin };
    const before = await counts();
    for (const [role, query] of fields) {
      const reply = await members[role].ask(query, { s });
      expect({ query, kinds: kinds(reply) }).toEqual({ query, kinds: ['invalid_value'] });
    }
    const literal = 'mutation { partnerCreate(name: "x", reason: "a\\u0000") { id } }';
    expect(kinds(await operator.ask(literal))).toEqual(['invalid_value']);
    const socket = await open(viewer);
    const [error] = await refused(socket, 'subscription ($s: ID) { orderChanged(orderId: $s) { seq } }', { s });
    expect(error.extensions.kind).toBe('invalid_value');
    socket.terminate();
    expect(await counts()).toEqual(before);
  });

  it.each([
    '{ orders(filter: { createdFrom: "0000-01-01T00:00:00Z" }) { edges { cursor } } }',
    '{ orders(filter: { createdFrom: "0001-01-01T00:00:00+14:00" }) { edges { cursor } } }',
    '{ orders(filter: { createdFrom: "+300000-01-01T00:00:00Z" }) { edges { cursor } } }',
    '{ stats(from: "0000-01-01T00:00:00Z", to: "0000-01-02T00:00:00Z") { series { at } } }',
    '{ orders(filter: { coinFrom: "BTC", minAmount: "1e1000000" }) { edges { cursor } } }',
    '{ orders(filter: { coinFrom: "BTC", minAmount: "-1" }) { edges { cursor } } }',
    `{ orders(filter: { coinFrom: "BTC", minAmount: ${'9'.repeat(10_000)} }) { edges { cursor } } }`,
    '{ quote(input: { coinFrom: "ETH", networkFrom: "ETH", coinTo: "BTC", amount: "1.2345678901e-30" }) { rate } }',
    '{ quote(input: { coinFrom: "__proto__", coinTo: "constructor" }) { rate } }',
    '{ auditLog(after: "") { edges { cursor } } }',
    '{ orders(after: "") { edges { cursor } } }',
    '{ auditLog(staffId: "") { edges { cursor } } }',
    '{ orders(first: -2147483648) { edges { cursor } } }',
    '{ attention(limit: -1) { id } }',
    'mutation { currencyTerms(coin: "LTC", network: "LTC", terms: {}, reason: "x") { coin } }',
    'mutation { currencySwitch(coin: "LTC", network: "LTC", switches: {}, reason: "x") { coin } }',
    'mutation { staffInvite(email: "a\\u001b[2J@example.com", role: VIEWER, reason: "x") { token } }',
  ])('is a fault of whoever asks: %s', async (query) => {
    const before = await counts();
    const { errors } = await admin.ask(query);
    expect(errors.length).toBeGreaterThan(0);
    for (const { extensions } of errors)
      expect(extensions.code).toMatch(/^(BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED)$/);
    expect(await counts()).toEqual(before);
  });

  it('is no odd body, operation name or encoding', async () => {
    const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
    for (const body of [
      '{"query":"{ me { id } }","operationName":""}',
      '{"query":"{ me { id } }","operationName":{}}',
      '{"query":"{ me { id } }","variables":[]}',
      '{"query":"subscription { orderChanged { seq } }"}',
      `{"query":"query ($id: ID!) { order(id: $id) { id } }","variables":{"id":${deep}}}`,
      'null',
      '1',
    ]) {
      expect([body.slice(0, 60), (await sendAs(viewer, body)).status]).toEqual([body.slice(0, 60), 400]);
    }
    for (const encoding of ['gzip', 'br', 'deflate', 'x']) {
      const { status } = await sendAs(viewer, '{"query":"{ me { id } }"}', { 'Content-Encoding': encoding });
      expect([encoding, status]).toEqual([encoding, 415]);
    }
  });
});

describe('the limit of what an operation costs', () => {
  const page =
    'edges { node { id events { seq at cause } deposits { payments { attempts { txid fee } } } payments { attempts { txid fee } } } }';

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
  ])('holds: %s', async (_name, query) => {
    expect(kinds(await viewer.ask(query))).toEqual(['query_too_complex']);
  });
});

describe('the limit of what statistics answer', () => {
  it('holds for a year of many partners', async () => {
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
    expect(kinds(await stats('2025-12-31T00:00:00Z', 60))).toEqual(['query_too_complex']);
    expect(kinds(await stats('2025-12-31T00:00:00Z', 101))).toEqual(['invalid_value']);
    expect((await stats('2025-02-01T00:00:00Z', 100)).data.stats.series).toHaveLength(60 * 31);
    expect((await stats('2025-02-01T00:00:00Z', 7)).data.stats.series).toHaveLength(7 * 31);
  });
});

describe('what is written down', () => {
  it('is found by the id of what was changed, however that was spelt', async () => {
    const { id } = await gateway.partner();
    const member = await newMember(gateway, 'viewer');
    await operator.data('mutation ($id: ID!) { partnerRename(id: $id, name: "Big", reason: "x") { id } }', {
      id: id.toUpperCase(),
    });
    await admin.data('mutation ($id: ID!) { staffRole(id: $id, role: SUPPORT, reason: "x") { id } }', {
      id: member.id.toUpperCase(),
    });
    const { auditLog } = await admin.data('{ auditLog(first: 2) { edges { node { target before } } } }');
    expect(auditLog.edges).toMatchObject([
      { node: { target: `staff:${member.id}`, before: '{"role":"viewer"}' } },
      { node: { target: `partner:${id}` } },
    ]);
  });

  it('is one row for each change of a document, and none for the one that fails', async () => {
    const before = await counts();
    const reply = await operator.ask(
      'mutation { a: partnerCreate(name: "one", reason: "x") { id } b: partnerCreate(name: "", reason: "x") { id } }',
    );
    expect(kinds(reply)).toEqual(['invalid_value']);
    const { audit, partners } = (await counts()) as { audit: number; partners: number };
    expect({ audit, partners }).toEqual({
      audit: (before as { audit: number }).audit + 1,
      partners: (before as { partners: number }).partners + 1,
    });
  });

  it('is undone with the change, and the change with it', async () => {
    await gateway.query('alter table audit_log add constraint never check (false) not valid');
    const before = await counts();
    const { id } = await gateway.order();
    try {
      for (const [member, query] of [
        [operator, 'mutation { partnerCreate(name: "x", reason: "x") { id } }'],
        [operator, `mutation { orderHold(orderId: "${id}", reason: "x") { id } }`],
        [operator, `mutation { orderNote(orderId: "${id}", text: "x") { id } }`],
        [admin, 'mutation { staffInvite(email: "never@example.com", role: ADMIN, reason: "x") { token } }'],
      ] as const) {
        const reply = await member.ask(query);
        expect(kinds(reply)).toEqual(['INTERNAL_SERVER_ERROR']);
        expect(reply.text).not.toMatch(/xs_|never|constraint/);
      }
    } finally {
      await gateway.query('alter table audit_log drop constraint never');
    }
    expect(await counts()).toEqual(before);
    expect(await gateway.query('select 1 from exchange_order where id = $1 and held_at is not null', [id])).toEqual([]);
  });

  it('tells each change as it followed the one before, when they come at once', async () => {
    const { id } = await gateway.partner();
    const names = ['A', 'B', 'C', 'D'];
    await Promise.all(
      names.map((name) =>
        operator.data(
          'mutation ($id: ID!, $name: String!) { partnerRename(id: $id, name: $name, reason: "x") { id } }',
          {
            id,
            name,
          },
        ),
      ),
    );
    const { auditLog } = await operator.data(
      'query ($target: String) { auditLog(target: $target) { edges { node { before after } } } }',
      { target: `partner:${id}` },
    );
    const steps: { before: string; after: string }[] = auditLog.edges.map(({ node }: { node: unknown }) => node);
    const befores = steps.map(({ before }) => JSON.parse(before).name).sort();
    const afters = steps.map(({ after }) => JSON.parse(after).name);
    expect(afters.sort()).toEqual(names);
    // Each name but the last was also what a change began with.
    expect(new Set(befores).size).toBe(names.length);
  });
});

describe('at once', () => {
  it('a price is set by hand many times, and one of them counts', async () => {
    const { quote } = await viewer.data(
      '{ quote(input: { coinFrom: "ETH", networkFrom: "ETH", coinTo: "BTC", amount: "1" }) { amountTo } }',
    );
    const input = {
      coinFrom: 'ETH',
      coinTo: 'BTC',
      price: quote.amountTo,
      endsAt: new Date(gateway.clock.now().getTime() + 60_000),
    };
    const set = 'mutation ($input: PriceOverrideInput!) { priceOverride(input: $input, reason: "x") { id } }';
    const replies = await Promise.all(Array.from({ length: 5 }, () => admin.ask(set, { input })));
    expect(replies.flatMap(kinds)).toEqual([]);
    expect((await admin.data('{ priceOverrides { id } }')).priceOverrides).toHaveLength(1);
    await admin.data('mutation { priceOverrideEnd(coinFrom: "ETH", coinTo: "BTC", reason: "x") { id } }');
    for (const changes of [{ coinFrom: 'eth' }, { coinTo: 'BTC2' }]) {
      expect(kinds(await admin.ask(set, { input: { ...input, ...changes } }))).toEqual(['unknown_coin']);
    }
  });

  it('a partner gets five keys, not six', async () => {
    const partner = await gateway.partners.create('Keys');
    const issue = 'mutation ($id: ID!) { keyIssue(partnerId: $id, reason: "x") { keyId } }';
    const replies = await Promise.all(Array.from({ length: 8 }, () => operator.ask(issue, { id: partner.id })));
    expect(replies.flatMap(kinds)).toEqual(['too_many_keys', 'too_many_keys', 'too_many_keys']);
  });

  it('a key has networks and scopes that can be checked at each request', async () => {
    const { id } = await gateway.partners.create('Networks');
    const issue = 'mutation ($id: ID!, $key: KeyInput!) { keyIssue(partnerId: $id, key: $key, reason: "x") { keyId } }';
    for (const allowedCidrs of [['1/8'], ['0x7f000001/8'], Array(101).fill('192.0.2.0/24')]) {
      expect(kinds(await operator.ask(issue, { id, key: { allowedCidrs } }))).toEqual(['invalid_value']);
    }
    await operator.data(issue, {
      id,
      key: { scopes: Array(500).fill('ORDERS_READ'), allowedCidrs: ['2001:db8::/32'] },
    });
    const { partner } = await operator.data('query ($id: ID!) { partner(id: $id) { keys { scopes } } }', { id });
    expect(partner.keys).toEqual([{ scopes: ['ORDERS_READ'] }]);
  });

  it('two admins cannot shut out each other', async () => {
    const small = await startSettledGateway();
    try {
      // The admin of the first start would be left in any case.
      await small.query('update staff_member set revoked_at = now()');
      const [one, two] = [await newMember(small, 'admin'), await newMember(small, 'admin')];
      const revoke = 'mutation ($id: ID!) { staffRevoke(id: $id, reason: "x") { id } }';
      await Promise.all([one.ask(revoke, { id: two.id }), two.ask(revoke, { id: one.id })]);
      const left = await small.query("select 1 from staff_member where role = 'admin' and revoked_at is null");
      expect(left).toHaveLength(1);
    } finally {
      await small.stop();
    }
  });
});

describe('texts that mean something to SQL', () => {
  it('mean nothing in filters, searches and cursors', async () => {
    const order = await gateway.order();
    for (const text of [
      '%%%%',
      '____',
      '\\\\\\\\',
      "' or 1=1 --",
      "a'b??",
      '????',
      '$1$1',
      "\\' or true --",
      ':id:id',
    ]) {
      const { orders } = await viewer.data(
        'query ($s: String!) { a: orders(filter: { coin: $s }) { count { value } } orders(filter: { search: $s }) { edges { cursor } } }',
        { s: text },
      );
      expect({ text, orders }).toEqual({ text, orders: { edges: [] } });
      const { auditLog } = await operator.data('query ($s: String!) { auditLog(target: $s) { edges { cursor } } }', {
        s: text,
      });
      expect({ text, auditLog }).toEqual({ text, auditLog: { edges: [] } });
    }
    for (const cursor of [
      `c1.${order.id}' or true`,
      `c-1.${order.id}`,
      `x1.${order.id}`,
      'c1',
      `c1.${'0'.repeat(36)}`,
    ]) {
      const after = Buffer.from(cursor).toString('base64url');
      expect(
        kinds(await viewer.ask('query ($after: String) { orders(after: $after) { edges { cursor } } }', { after })),
      ).toEqual(['invalid_value']);
    }
  });
});

describe('a connection', () => {
  it('is refused to whoever guesses tokens', async () => {
    const small = await startSettledGateway({ settings: { RATE_LIMIT_SIGN_IN_PER_MIN: '3' } });
    const attempt = (): Promise<number> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${small.app.internalUrl.replace('http', 'ws')}/graphql`, {
          headers: { Authorization: 'Bearer xs_nonsense' },
        });
        socket.on('unexpected-response', (_req, { statusCode }) => resolve(statusCode ?? 0));
        socket.on('error', () => {});
      });
    try {
      const statuses: number[] = [];
      for (let i = 0; i < 5; i++) statuses.push(await attempt());
      expect(statuses).toEqual([401, 401, 401, 429, 429]);
    } finally {
      await small.stop();
    }
  });

  it('ends when it says nothing, too much or nonsense', async () => {
    const closed = (socket: WebSocket) => new Promise((resolve) => socket.once('close', resolve));
    const large = await open(viewer);
    large.send(`{"type":"ping","payload":{"x":"${'x'.repeat(70_000)}"}}`);
    expect(await closed(large)).toBe(1009);
    const nonsense = await open(viewer);
    nonsense.send('{"type":"nonsense"}');
    expect(await closed(nonsense)).toBe(4400);
    const twice = await open(viewer);
    twice.send('{"type":"connection_init"}');
    expect(await closed(twice)).toBe(4429);
  });

  it('has at most twenty subscriptions, and a member ten connections', async () => {
    const member = await newMember(gateway, 'viewer');
    const socket = await open(member);
    const told = next(socket);
    for (let id = 0; id < 21; id++) {
      const payload = {
        query: 'subscription { orderChanged(orderId: "01900000-0000-7000-8000-000000000000") { seq } }',
      };
      socket.send(JSON.stringify({ type: 'subscribe', id: `s${id}`, payload }));
    }
    expect(await told).toMatchObject({ type: 'error', payload: [{ extensions: { kind: 'query_too_complex' } }] });
    const others = await Promise.allSettled(Array.from({ length: 14 }, () => open(member)));
    expect(others.filter(({ status }) => status === 'fulfilled')).toHaveLength(9);
    for (const other of others) if (other.status === 'fulfilled') other.value.terminate();
    socket.terminate();
  });
});

describe('the log', () => {
  it('holds no token, session or text of what was asked', () => {
    const secrets = [viewer, operator, second, admin].map(({ token }) => token.split('.')[1] ?? '');
    for (const line of log.lines()) {
      for (const secret of [...secrets, 'never@example.com', 'a secret reason']) expect(line).not.toContain(secret);
    }
  });
});
