import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { startGateway } from '../../support/gateway/gateway.ts';
import { inOtherCluster } from '../../support/gateway/order-pages.ts';
import { feedCatchesUp, orderBody } from '../../support/gateway/orders.ts';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';
import type { CallOptions, Reply } from '../../support/http/contract-client.ts';
import type { Recording, TakeOptions } from './recording.ts';
import { addressExample, nowhere, type World } from './world.ts';

/** The ids of the operations of a contract. */
export function operationIds(file: string): string[] {
  const { paths } = parse(readFileSync(file, 'utf8')) as { paths: Record<string, Record<string, unknown>> };
  return Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap((operation) => {
      const { operationId } = (operation ?? {}) as { operationId?: string };
      return operationId === undefined ? [] : [operationId];
    }),
  );
}

const pair = 'coin_from=BTC&coin_to=USDT&network_to=TRC20';
const quoted = { coin_from: 'BTC', coin_to: 'ETH', rate_type: 'fixed', amount_from: 0.1 };

/** A delivery log has how long each attempt took, and when the next one is. */
export const attempts: TakeOptions = {
  moving: [
    [/"ms":\d+/g, '"ms":<ms>'],
    // The pause before another attempt is drawn within bounds.
    [/"next_attempt_at":"[^"]+"/g, '"next_attempt_at":<time>'],
  ],
};
/** How long a client must wait follows the machine's clock. */
const waits: TakeOptions = { moving: [[/retry in \d+ seconds/g, 'retry in <seconds> seconds']] };

/** What partners read of an order, as it is at this moment. */
export async function recordOrder(recording: Recording, world: World, name: string, { id }: MadeOrder): Promise<void> {
  const api = partnerApi(recording, world);
  await api.take(`getOrder ${name}`, 'GET', `/partner/orders/${id}`);
  await api.take(`getOrderDetails ${name}`, 'GET', `/partner/orders/${id}/details`);
  await api.take(`getOrderDetails ${name} in text`, 'GET', `/partner/orders/${id}/details`, {
    headers: { Amounts: 'string' },
  });
  await feedCatchesUp(world.gateway.query);
  await api.take(`listOrderEvents ${name}`, 'GET', `/partner/orders/${id}/events`);
  await api.take(`getPublicStatus ${name}`, 'GET', `/status/${id}`, { key: '' });
}

interface PartnerApi {
  /**
   * Calls with the partner's key unless another one is given, '' for none, and records the answer.
   */
  take(title: string, method: string, path: string, options?: CallOptions, how?: TakeOptions): Promise<Reply>;
}

function partnerApi(recording: Recording, world: World): PartnerApi {
  return {
    take: async (title, method, path, options = {}, how = {}) => {
      const { key = world.gateway.key, ...rest } = options;
      const reply = await world.call(method, path, { ...rest, ...(key === '' ? {} : { key }) });
      recording.take(title, `${method} /api/v1${path}`, reply, how);
      return reply;
    },
  };
}

/** Every operation of the partner API: its answers, and its usual refusals. */
export async function recordPartnerApi(recording: Recording, world: World): Promise<void> {
  const api = partnerApi(recording, world);
  await catalogue(api);
  await quotes(api);
  await creates(api, world);
  await lists(api, recording, world);
  await changes(api, world);
  await sandbox(api, world);
  await webhooks(api, world);
  await refusals(recording, api, world);
  await spentLimits(recording, world);
}

async function catalogue({ take }: PartnerApi): Promise<void> {
  const { headers } = await take('listCurrencies', 'GET', '/currencies', { key: '' });
  const known = { 'If-None-Match': headers.get('etag') ?? '' };
  await take('listCurrencies unchanged', 'GET', '/currencies', { key: '', headers: known });
  await take('listCurrencies in text', 'GET', '/currencies', { key: '', headers: { Amounts: 'string' } });
  await take('listAssets', 'GET', '/partner/assets', { key: '' });
  await take('listPairs of a coin', 'GET', '/partner/pairs?coin_from=XMR', { key: '' });
  await take('listPairs of the partner', 'GET', '/partner/pairs?coin_from=XMR');
  await take('listPairs of no coin', 'GET', '/partner/pairs?coin_from=NOPE');
  await take('getCoinIcon', 'GET', '/coin-icons/btc.svg', { key: '' }, { isFile: true });
  await take('getCoinIcon drawn', 'GET', '/coin-icons/nope.svg', { key: '' });
  await take('getCoinIcon of a long version', 'GET', `/coin-icons/btc.svg?v=${'x'.repeat(65)}`, { key: '' });
  await take('getDocument', 'GET', '/openapi.json', { key: '' }, { isFile: true });
}

async function quotes({ take }: PartnerApi): Promise<void> {
  for (const type of ['float', 'fixed']) {
    const query = `${pair}&amount=0.1&rate_type=${type}`;
    await take(`getRate ${type}`, 'GET', `/partner/rates?${query}`, { key: '' });
    await take(`getRate ${type} of the partner`, 'GET', `/partner/rates?${query}`);
    await take(`getRate ${type} in text`, 'GET', `/partner/rates?${query}`, { headers: { Amounts: 'string' } });
    const body = { ...quoted, rate_type: type };
    const { json } = await take(`createQuote ${type}`, 'POST', '/partner/quotes', { body });
    await take(`getQuote ${type}`, 'GET', `/partner/quotes/${json.quote_id}`);
  }
  const { amount_from: _given, ...reverse } = quoted;
  await take('createQuote reverse', 'POST', '/partner/quotes', { body: { ...reverse, amount_to: 1.5 } });
  await take('createQuote with a markup', 'POST', '/partner/quotes', { body: { ...quoted, markup_bps: 40 } });
  await take('createQuote below the minimum', 'POST', '/partner/quotes', { body: { ...quoted, amount_from: 1e-8 } });
  await take('getQuote unknown', 'GET', '/partner/quotes/qt_AAAA');
  await take('getRate of the minimum', 'GET', `/partner/rates?${pair}`);
  await take('getRate outside the limits', 'GET', `/partner/rates?${pair}&amount=1000`);
  await take('getRate of no coin', 'GET', '/partner/rates?coin_from=btc&coin_to=NOPE');
  await take('getRate without a coin', 'GET', '/partner/rates?coin_from=BTC');
}

async function creates({ take }: PartnerApi, world: World): Promise<void> {
  const path = '/partner/orders';
  const key = { 'Idempotency-Key': 'recording-1' };
  const create = async (title: string, body: unknown, options: CallOptions = {}): Promise<Reply> =>
    take(`createOrder ${title}`, 'POST', path, { body, ...options });
  await create('float', orderBody({ refund_address: addressExample('BTC') }), { headers: key });
  await create('repeated', orderBody({ refund_address: addressExample('BTC') }), { headers: key });
  await create('with a used key', orderBody(), { headers: key });
  await create('fixed', orderBody({ rate_type: 'fixed', policy: { on_underpaid: 'refund' } }));
  await create('with all members', {
    ...orderBody({ external_id: 'all-1', metadata: { a: 'b' }, refund_address: addressExample('BTC') }),
    min_amount_to: 500,
    markup_bps: 25,
    policy: { on_underpaid: 'ask', on_overpaid: 'ask' },
  });
  await create('with a used name', orderBody({ external_id: 'all-1' }));
  await create('with a tag', orderBody({ coin_from: 'XRP', network_from: 'XRP', amount_from: 100 }));
  await create('in text', orderBody({ amount_from: '0.0100' }), { headers: { Amounts: 'string' } });
  const { json: quote } = await world.call('POST', '/partner/quotes', { key: world.gateway.key, body: quoted });
  const ofQuote = { quote_id: quote.quote_id, recipient_address: addressExample('ETH') };
  await create('of a quote', ofQuote);
  await create('of a used quote', ofQuote);
  await create('with several faults', orderBody({ amount_from: 0, coin_from: 'NOPE', recipient_address: 'x' }));
  await create('above the maximum', orderBody({ amount_from: 100_000 }));
  await create('to an own address', orderBody({ recipient_address: world.order('waiting').depositAddress }));
  await take('validateOrder', 'POST', `${path}/validate`, { body: orderBody() });
  await take('validateOrder with a used name', 'POST', `${path}/validate`, {
    body: orderBody({ external_id: 'all-1' }),
  });
  await take('validateOrder with faults', 'POST', `${path}/validate`, { body: orderBody({ amount_from: 1e-8 }) });
  const address = { coin: 'XRP', network: 'XRP', address: addressExample('XRP') };
  await take('validateAddress', 'POST', '/partner/addresses/validate', { body: { ...address, tag: '7' } });
  await take('validateAddress wrong', 'POST', '/partner/addresses/validate', { body: { ...address, address: 'x' } });
  await take('validateAddress of no coin', 'POST', '/partner/addresses/validate', {
    body: { ...address, coin: 'NOPE' },
  });
}

async function lists({ take }: PartnerApi, recording: Recording, world: World): Promise<void> {
  const { gateway } = world;
  await feedCatchesUp(gateway.query);
  const { json: page } = await take('listOrders', 'GET', '/partner/orders?limit=20');
  await take('listOrders on', 'GET', `/partner/orders?limit=20&cursor=${page.next_cursor}`);
  await take('listOrders with details', 'GET', '/partner/orders?limit=10&include=details');
  await take('listOrders of statuses', 'GET', '/partner/orders?status=completed,refunded&limit=100');
  await take('listOrders of a name', 'GET', '/partner/orders?external_id=split-1');
  await take('listOrders of ids', 'GET', `/partner/orders?ids=${world.order('completed').id},XP-AAAAAA`);
  const updated = '/partner/orders?sort=updated&limit=5';
  const { json: moved } = await take('listOrders by update', 'GET', updated);
  await take('listOrders by update on', 'GET', `${updated}&cursor=${moved.next_cursor}`);
  await take('listOrders of a wrong cursor', 'GET', '/partner/orders?cursor=abc');
  await take('listOrders too many', 'GET', '/partner/orders?limit=101');
  const { key, partnerId } = gateway;
  const gone = await inOtherCluster(gateway, partnerId, moved.next_cursor, (cursor) =>
    world.call('GET', `/partner/orders?sort=updated&limit=5&cursor=${cursor}`, { key }),
  );
  recording.take('listOrders of an expired cursor', 'GET /api/v1/partner/orders?sort=updated&cursor=...', gone);
  const { json: events } = await take('listEvents', 'GET', '/partner/events?limit=100');
  await take('listEvents on', 'GET', `/partner/events?limit=5&cursor=${events.next_cursor}`);
  await take('listEvents of types', 'GET', '/partner/events?types=order.completed,order.refunded');
  await take('listEvents of no type', 'GET', '/partner/events?types=order.nope');
  await take('listEvents since no day', 'GET', '/partner/events?since=2026-02-30T00:00:00Z');
  const { json: report } = await take('listOrderReport', 'GET', '/partner/reports/orders?limit=3');
  await take('listOrderReport on', 'GET', `/partner/reports/orders?limit=3&cursor=${report.next_cursor}`);
  await take('listOrderReport until no day', 'GET', '/partner/reports/orders?completed_to=2026-02-30T00:00:00Z');
  await take('getCommissionBalance', 'GET', '/partner/commission/balance');
  const { json: entries } = await take('listCommissionEntries', 'GET', '/partner/commission/entries?limit=1');
  await take('listCommissionEntries on', 'GET', `/partner/commission/entries?limit=1&cursor=${entries.next_cursor}`);
  await take('listCommissionEntries of no month', 'GET', '/partner/commission/entries?month=2026-13');
  await take('listStatements', 'GET', '/partner/statements');
  await take('getStatement', 'GET', '/partner/statements/2026-01');
  await take('getStatement as CSV', 'GET', '/partner/statements/2026-01?format=csv');
  await take('getStatement in no form', 'GET', '/partner/statements/2026-01?format=xml');
  await stream(recording, world);
}

/** Records the head and the first events of a stream, which does not end. */
async function stream(recording: Recording, { gateway }: World): Promise<void> {
  const path = '/api/v1/partner/events/stream?types=order.completed';
  const over = new AbortController();
  const response = await fetch(`${gateway.app.restUrl}${path}`, {
    headers: { Authorization: `Bearer ${gateway.key}` },
    signal: over.signal,
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.split('\n\n').length > 3) break;
  }
  over.abort();
  const begun = `${text.split('\n\n').slice(0, 3).join('\n\n')}\n\n`;
  recording.take('streamEvents', `GET ${path}`, { status: response.status, headers: response.headers, text: begun });
}

async function changes({ take }: PartnerApi, world: World): Promise<void> {
  const at = (name: string, rest = ''): string => `/partner/orders/${world.order(name).id}${rest}`;
  const repeated = { 'Idempotency-Key': 'recording-2' };
  await take('changeOrder', 'PATCH', at('waiting'), { body: { metadata: { a: 'b' }, external_id: 'changed-1' } });
  await take('changeOrder with a used name', 'PATCH', at('waiting'), { body: { external_id: 'split-1' } });
  await take('changeOrder with a long value', 'PATCH', at('waiting'), { body: { metadata: { a: 'x'.repeat(501) } } });
  const body = { refund_address: addressExample('BTC') };
  await take('setRefundAddress', 'PUT', at('failed', '/refund-address'), { body });
  await take('setRefundAddress too late', 'PUT', at('completed', '/refund-address'), { body });
  await take('setRefundAddress wrong', 'PUT', at('waiting', '/refund-address'), { body: { refund_address: 'x' } });
  await take('renewOrderPage', 'POST', at('waiting-memo', '/page'));
  await take('revokeOrderPage', 'DELETE', at('waiting-memo', '/page'));
  const { json } = await world.call('GET', at('asked', '/details'), { key: world.gateway.key });
  const { id: action_id } = json.action_required;
  await take('actOnOrder with a stale question', 'POST', at('asked', '/actions'), {
    body: { action_id: 'act_99', action: 'refund' },
  });
  await take('actOnOrder with an amount', 'POST', at('asked', '/actions'), {
    body: { action_id, action: 'refund', amount_to: 1 },
  });
  await take('actOnOrder', 'POST', at('asked', '/actions'), { body: { action_id, action: 'refund' } });
  await take('actOnOrder without a question', 'POST', at('completed', '/actions'), {
    body: { action_id, action: 'refund' },
  });
  await take('cancelOrder', 'POST', at('waiting-memo', '/cancel'), { headers: repeated });
  await take('cancelOrder repeated', 'POST', at('waiting-memo', '/cancel'), { headers: repeated });
  await take('cancelOrder with a used key', 'POST', at('waiting', '/cancel'), { headers: repeated });
  await take('cancelOrder too late', 'POST', at('completed', '/cancel'));
}

async function sandbox({ take }: PartnerApi, world: World): Promise<void> {
  const { gateway } = world;
  const order = await gateway.order();
  await world.know('of the sandbox', order);
  const at = (rest: string): string => `/partner/sandbox/orders/${order.id}/${rest}`;
  await take('forceSandboxOutcome', 'POST', at('force'), { body: { outcome: 'hold' } });
  await take('forceSandboxOutcome again', 'POST', at('force'), { body: { outcome: 'hold' } });
  await take('forceSandboxOutcome none', 'POST', at('force'), { body: { outcome: 'none' } });
  await take('reorgSandboxDeposit without a deposit', 'POST', at('reorg'));
  await take('makeSandboxDeposits', 'POST', at('deposits'), { body: { blocks: 1 } });
  await take('makeSandboxDeposits of no coin', 'POST', at('deposits'), { body: { coin: 'NOPE' } });
  await gateway.mine('BTC', 1);
  await gateway.tick();
  await take('reorgSandboxDeposit', 'POST', at('reorg'));
  await take('makeSandboxDeposits of two', 'POST', at('deposits'), { body: { count: 2, amount: 0.005 } });
  const waiting = await gateway.order();
  await world.know('to expire', waiting);
  await take('expireSandboxOrder', 'POST', `/partner/sandbox/orders/${waiting.id}/expire`);
  const { id: cancelled } = world.order('cancelled');
  await take('expireSandboxOrder too late', 'POST', `/partner/sandbox/orders/${cancelled}/expire`);
  await take('emitSandboxEvent without an endpoint', 'POST', '/partner/sandbox/webhooks/emit', {
    body: { type: 'order.completed' },
  });
}

async function webhooks({ take }: PartnerApi, world: World): Promise<void> {
  const path = '/partner/webhook-endpoints';
  const { gateway, receivers } = world;
  const url = receivers.url('shop', '/orders');
  const { json: made } = await take('createWebhookEndpoint', 'POST', path, { body: { url, amounts: 'number' } });
  const at = (rest = ''): string => `${path}/${made.endpoint.id}${rest}`;
  await take('createWebhookEndpoint of a private address', 'POST', path, { body: { url: 'https://10.0.0.1/' } });
  await take('getWebhookEndpoint', 'GET', at());
  const order = await gateway.order({ external_id: 'hooked-1' });
  await world.know('hooked', order);
  await gateway.deposit(order);
  await gateway.settle(order);
  await world.send();
  const testing = take('testWebhookEndpoint', 'POST', at('/test'), {}, attempts);
  await world.sendUntil(testing);
  await take('emitSandboxEvent', 'POST', '/partner/sandbox/webhooks/emit', { body: { type: 'order.refunded' } });
  await world.send();
  await take('listWebhookDeliveries', 'GET', at('/deliveries?limit=100'), {}, attempts);
  await take('listWebhookDeliveries too many', 'GET', at('/deliveries?limit=101'));
  await take('replayWebhookEvents', 'POST', at('/replay'), { body: { from: '2026-01-01T00:00:00Z' } });
  await take('replayWebhookEvents of ids and a range', 'POST', at('/replay'), {
    body: { event_ids: ['evt_x'], failed_only: true },
  });
  await world.send();
  await take('listWebhookDeliveries after a replay', 'GET', at('/deliveries?limit=5'), {}, attempts);
  await take('rotateWebhookSecret', 'POST', at('/rotate-secret'), { body: { old_secret_hours: 24 } });
  await take('rotateWebhookSecret for too long', 'POST', at('/rotate-secret'), { body: { old_secret_hours: 169 } });
  await take('updateWebhookEndpoint', 'PATCH', at(), {
    body: { status: 'disabled', types: ['order.completed'], coin_from: 'BTC' },
  });
  await take('testWebhookEndpoint disabled', 'POST', at('/test'));
  await take('listWebhookEndpoints', 'GET', path);
  await take('deleteWebhookEndpoint', 'DELETE', at());
  await take('getWebhookEndpoint deleted', 'GET', at());
}

/** Requests that each operation with a key refuses in the same way. */
async function refusals(recording: Recording, { take }: PartnerApi, world: World): Promise<void> {
  const { gateway } = world;
  const inactive = await gateway.partner();
  await gateway.partners.change(inactive.id, { status: 'inactive' });
  const ofSandbox = await gateway.partner({ scopes: ['sandbox'] });
  const ofRates = await gateway.partner({ scopes: ['rates:read'] });
  const document = parse(readFileSync('openapi.yaml', 'utf8')) as {
    paths: Record<string, Record<string, { operationId?: string; security?: unknown[]; requestBody?: unknown }>>;
  };
  for (const [template, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, security, requestBody }] of Object.entries(methods)) {
      if (operationId === undefined || security?.length === 0) continue;
      const path = template.replace(/\{quote_id\}/, 'qt_AAAA').replace(/\{\w+\}/, nowhere);
      const other = template.includes('/sandbox/') ? ofRates : ofSandbox;
      // An operation that needs no values is recorded without a line of its own.
      const isPlain = method === 'get' && !template.includes('{');
      if (isPlain && !recording.called.has(operationId)) await take(operationId, 'GET', template);
      const body = requestBody === undefined ? {} : { raw: '{"coin_from":' };
      const send = (title: string, options: CallOptions): Promise<Reply> =>
        take(`${operationId} ${title}`, method.toUpperCase(), path, { ...body, ...options });
      await send('without a key', { key: '' });
      await send('by an inactive partner', { key: inactive.key });
      await send('without the scope', { key: other.key });
      if (requestBody !== undefined) await send('of broken JSON', {});
      else if (path.includes(nowhere)) await send('of nothing', {});
    }
  }
  await take('getOrder of another partner', 'GET', `/partner/orders/${world.order('waiting').id}`, {
    key: (await gateway.partner()).key,
  });
  await take('getOrder with an unknown key', 'GET', '/partner/orders', { key: 'nonsense' });
  await take('getOrder with a wrong signature', 'GET', `/partner/orders/${world.order('waiting').id}`, {
    headers: { 'X-Signature': '0'.repeat(64) },
  });
  await take('getOrder in no form', 'GET', `/partner/orders/${world.order('waiting').id}`, {
    headers: { Amounts: 'text' },
  });
  await take('createOrder as text', 'POST', '/partner/orders', {
    body: orderBody(),
    headers: { 'Content-Type': 'text/plain' },
  });
  await take('createOrder too long', 'POST', '/partner/orders', { body: orderBody({ metadata: 'x'.repeat(70_000) }) });
  await take('getOrder by another method', 'POST', `/partner/orders/${nowhere}`);
  const nothing = await world.call('GET', '/nowhere', { key: gateway.key });
  recording.take('getOrder at no path', 'GET /api/v1/nowhere', nothing);
}

/**
 * A request of each limit after the limit is spent, at a second gateway whose limits are one a
 * minute.
 */
async function spentLimits(recording: Recording, { gateway }: World): Promise<void> {
  const limits = ['PUBLIC', 'PARTNER', 'ORDERS', 'LISTS', 'VALIDATIONS', 'CHANGES', 'ICONS', 'QUOTES'];
  const tight = await startGateway({
    settings: {
      PRICE_MAX_AGE_SEC: '86400',
      ...Object.fromEntries(limits.map((name) => [`RATE_LIMIT_${name}_PER_MIN`, '1'])),
    },
    outside: { clock: gateway.clock, background: false },
  });
  try {
    const { key } = await tight.partner();
    const requests: [string, string, string, CallOptions][] = [
      ['getRate', 'GET', `/partner/rates?${pair}`, {}],
      ['getCoinIcon', 'GET', '/coin-icons/btc.svg', {}],
      ['getOrder', 'GET', `/partner/orders/${nowhere}`, { key }],
      ['createQuote', 'POST', '/partner/quotes', { key, body: quoted }],
    ];
    for (const [id, method, path, options] of requests) {
      await tight.call(method, path, options);
      const reply = await tight.call(method, path, options);
      if (reply.status !== 429) throw new Error(`${id}: the limit is not spent: ${reply.text}`);
      const headers = new Headers(reply.headers);
      headers.set('retry-after', '<seconds>');
      recording.take(`${id} above the limit`, `${method} /api/v1${path}`, { ...reply, headers }, waits);
    }
  } finally {
    await tight.stop();
  }
}
