import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { StaffBrowser } from '../../support/staff/staff-browser.ts';
import { newMember } from '../../support/staff/staff-client.ts';
import { socketUrl, upgradeStatus } from '../../support/staff/staff-socket.ts';

let gateway: SettledGateway;
let viewer: Awaited<ReturnType<typeof newMember>>;
const clients: Client[] = [];

beforeAll(async () => {
  gateway = await startSettledGateway();
  viewer = await newMember(gateway, 'viewer');
});
afterAll(async () => {
  for (const client of clients) await client.dispose();
  await gateway?.stop();
});

const address = () => socketUrl(gateway.app.internalUrl);

function connect(headers: Record<string, string>): Client {
  class Socket extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols, { headers });
    }
  }
  const client = createClient({ url: address(), webSocketImpl: Socket, retryAttempts: 0 });
  clients.push(client);
  return client;
}

const asViewer = () => connect({ Authorization: `Bearer ${viewer.token}` });

const attempt = (headers: Record<string, string>, url = address()) => upgradeStatus(url, headers);

/**
 * What a subscription tells of what is wanted, one by one. Nothing says when it has begun to
 * listen, so something that it must tell is made to happen until it does.
 */
async function subscribe(
  client: Client,
  query: string,
  variables: Record<string, unknown>,
  happen: () => Promise<unknown>,
  // biome-ignore lint/suspicious/noExplicitAny: replies are looked at member by member
  isWanted: (data: any) => boolean,
) {
  const told = client.iterate({ query, variables });
  let hasBegun = false;
  const first = told.next().then(() => {
    hasBegun = true;
  });
  while (!hasBegun) {
    await happen();
    await Promise.race([first, new Promise((resolve) => setTimeout(resolve, 300))]);
  }
  return {
    // biome-ignore lint/suspicious/noExplicitAny: replies are looked at member by member
    next: async (): Promise<any> => {
      for (;;) {
        const { value } = await told.next();
        if (value.errors || isWanted(value.data)) return value;
      }
    },
    end: () => told.return?.(),
  };
}

const changes = `subscription ($orderId: ID, $partnerId: ID, $statuses: [OrderStatus!]) {
  orderChanged(orderId: $orderId, partnerId: $partnerId, statuses: $statuses) {
    seq at fromStatus toStatus cause order { id status events { seq } } } }`;

describe('changes of orders', () => {
  it('are sent as they happen, each once and in sequence, with the order as it is then', async () => {
    let id = '';
    const feed = await subscribe(
      asViewer(),
      changes,
      {},
      () => gateway.order(),
      ({ orderChanged }) => orderChanged.order.id === id,
    );
    const order = await gateway.order();
    id = order.id;
    await gateway.deposit(order);
    await gateway.settle(order);
    const moves = [];
    for (let i = 0; i < 5; i++) moves.push((await feed.next()).data.orderChanged);
    expect(moves.map(({ seq, cause }) => [seq, cause])).toEqual([
      [1, 'CREATED'],
      [2, 'DEPOSIT_SEEN'],
      [3, 'DEPOSIT_CONFIRMED'],
      [4, 'LIQUIDITY_BOUGHT'],
      [5, 'PAYOUT_CONFIRMED'],
    ]);
    expect(moves.at(-1).order).toMatchObject({ id, status: 'COMPLETED' });
    await feed.end();
  });

  it('are filtered by partner and status, and come from every process', async () => {
    const { id: partnerId, key } = await gateway.partner();
    const worker = await startSettledGateway({
      databaseUrl: gateway.databaseUrl,
      clock: gateway.clock,
      key,
      settings: { ROLE: 'worker' },
    });
    const make = async () => (await gateway.call('POST', '/partner/orders', { key, body: orderBody() })).json.id;
    const pay = async () => {
      const id = await make();
      const [row] = await gateway.query<{ address: string }>(
        'select address from deposit_address a join exchange_order o on o.deposit_address_id = a.id where o.id = $1',
        [id],
      );
      const order = {
        depositAddress: row?.address ?? '',
        depositTag: null,
        coinFrom: 'BTC',
        networkFrom: 'BTC',
        amountFrom: '0.01',
      };
      await worker.deposit({ ...order, id, amountTo: '0', networkTo: 'TRC20' });
      await worker.tick();
      return id;
    };
    let id = '';
    const feed = await subscribe(
      asViewer(),
      changes,
      { partnerId, statuses: ['CONFIRMING'] },
      pay,
      ({ orderChanged }) => orderChanged.order.id === id,
    );
    await gateway.order();
    id = await pay();
    expect((await feed.next()).data.orderChanged).toMatchObject({ toStatus: 'CONFIRMING', order: { id } });
    await feed.end();
    await worker.stop();
  });
});

describe('what needs attention', () => {
  it('is sent when it begins and when it ends', async () => {
    const support = await newMember(gateway, 'support');
    const [operator, second] = [await newMember(gateway, 'operator'), await newMember(gateway, 'operator')];
    const hold = async () => {
      const { id } = await gateway.order();
      await support.data('mutation ($id: ID!) { orderHold(orderId: $id, reason: "odd") { id } }', { id });
      return id;
    };
    const wanted = new Set<string>();
    const feed = await subscribe(
      asViewer(),
      'subscription { attentionChanged { isOver item { kind subjectId order { id } } } }',
      {},
      hold,
      ({ attentionChanged }) => wanted.has(attentionChanged.item.order?.id),
    );
    const id = (await gateway.order()).id;
    wanted.add(id);
    const told = async () => {
      const { isOver, item } = (await feed.next()).data.attentionChanged;
      return [isOver, item.kind];
    };
    await support.data('mutation ($id: ID!) { orderHold(orderId: $id, reason: "odd") { id } }', { id });
    expect(await told()).toEqual([false, 'HELD_ORDER']);
    await support.data(`mutation { attentionTake(itemId: "held_order:${id}") { id } }`);
    expect(await told()).toEqual([false, 'HELD_ORDER']);
    const { orderRelease } = await operator.data(
      'mutation ($id: ID!) { orderRelease(orderId: $id, reason: "fine") { id } }',
      { id },
    );
    expect(await told()).toEqual([false, 'PROPOSAL_OPEN']);
    await second.data('mutation ($id: ID!) { actionApprove(id: $id, reason: "fine") { id } }', { id: orderRelease.id });
    expect([await told(), await told()].sort()).toEqual([
      [true, 'HELD_ORDER'],
      [true, 'PROPOSAL_OPEN'],
    ]);
    await feed.end();
  });
});

describe('a connection', () => {
  it('is made by staff only, from pages of the gateway, to /graphql', async () => {
    const bearer = { Authorization: `Bearer ${viewer.token}` };
    expect(await attempt(bearer)).toBe(101);
    expect(await attempt({})).toBe(401);
    expect(await attempt({ Authorization: 'Bearer xs_nonsense' })).toBe(401);
    expect(await attempt({ ...bearer, Origin: 'https://evil.example' })).toBe(403);
    expect(await attempt(bearer, address().replace('/graphql', '/other'))).toBe(404);
    const browser = new StaffBrowser(gateway.app.internalUrl);
    await browser.post('/sign-in', { token: viewer.token });
    const cookie = { Cookie: `__Host-staff=${browser.cookies.get('__Host-staff')}` };
    expect(await attempt({ ...cookie, Origin: gateway.app.internalUrl })).toBe(101);
    expect(await attempt(cookie)).toBe(403);
    expect(await attempt({ ...cookie, Origin: 'https://evil.example' })).toBe(403);
  });

  it('has the limits of HTTP, and takes subscriptions only', async () => {
    const client = asViewer();
    const refusal = async (query: string): Promise<{ message: string; extensions: { code: string } }> => {
      const told = client.iterate({ query });
      try {
        const { value } = await told.next();
        return value.errors[0];
      } catch (errors) {
        return (errors as { message: string; extensions: { code: string } }[])[0] as never;
      }
    };
    for (const query of [
      '{ me { id } }',
      'mutation { orderHold(orderId: "x", reason: "x") { id } }',
      'subscription { unknown }',
      'subscription { orderChanged(orderId: "x") { seq } }',
      'subscription { orderChanged { order { actions { order { actions { order { actions { order { actions { id } } } } } } } } } }',
      `subscription { orderChanged { ${Array.from({ length: 20 }, (_, i) => `a${i}: seq`).join(' ')} } }`,
      `subscription { orderChanged { ${'seq '.repeat(3_000)} } }`,
    ]) {
      const error = await refusal(query);
      expect({ query: query.slice(0, 60), code: error.extensions?.code }).toMatchObject({
        code: expect.stringMatching(/^(BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED)$/),
      });
    }
  });

  it('masks what fails, and names the request', async () => {
    const query = 'subscription { orderChanged { order { notes { text } } } }';
    const feed = await subscribe(
      asViewer(),
      query,
      {},
      () => gateway.order(),
      () => false,
    );
    // What only staff read, so that orders are made all the same.
    await gateway.query('alter table order_note rename to mislaid_note');
    await gateway.order();
    const { errors } = await feed.next();
    await gateway.query('alter table mislaid_note rename to order_note');
    expect(errors).toMatchObject([
      { extensions: { code: 'INTERNAL_SERVER_ERROR', request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) } },
    ]);
    expect(JSON.stringify(errors)).not.toMatch(/_note|select|relation/);
    await feed.end();
  });
});
