import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { RunningClock } from '../../support/gateway/clock.ts';
import {
  endWindow,
  type MadeOrder,
  type SettledGateway,
  startSettledGateway,
} from '../../support/gateway/settled-gateway.ts';
import { close, listen } from '../../support/http/local-server.ts';
import { newMember } from '../../support/staff/staff-client.ts';

/** https://opentelemetry.io/docs/specs/otlp/#otlphttp, as far as it is looked at here. */
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: number } }[];
  readonly links?: readonly { traceId: string; spanId: string }[];
  readonly status: { code?: number };
}

let collector: Server;
let gateway: SettledGateway;
const spans: SentSpan[] = [];
/** All that was sent, for what must not be in it. */
let sent = '';
/** Spans of the orders that were made. */
let completed: MadeOrder;
let failed: MadeOrder;
let secrets: string[];
const foreignTrace = '0af7651916cd43dd8448eb211c80319c';

beforeAll(async () => {
  collector = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    sent += text;
    const { resourceSpans } = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  const endpoint = `http://127.0.0.1:${await listen(collector)}`;
  gateway = await startSettledGateway({
    clock: new RunningClock(),
    settings: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, SANDBOX_BLOCK_MS: '20', CHAIN_POLL_MS: '20' },
    outside: { background: true },
  });
  const member = await newMember(gateway, 'operator');
  const second = await newMember(gateway, 'operator');
  completed = await gateway.order();
  await gateway.deposit(completed);
  // Late, and with nowhere to refund it to.
  failed = await gateway.order({ refund_address: undefined });
  await endWindow(gateway, failed);
  const until = async (order: MadeOrder, status: string): Promise<void> => {
    while ((await gateway.show(order)).status !== status) await sleep(50);
  };
  await until(failed, 'expired');
  await gateway.deposit(failed);
  await until(failed, 'failed');
  const refund =
    'mutation Refund($id: ID!, $to: String!) { orderRefund(input: { orderId: $id, address: $to }, reason: "x") { id } }';
  const { id } = (await member.data(refund, { id: failed.id, to: addressExample('BTC') })).orderRefund;
  await second.data('mutation Approve($id: ID!) { actionApprove(id: $id, reason: "x") { state } }', { id });
  await fetch(`${gateway.app.restUrl}/api/v1/currencies`, {
    headers: { traceparent: `00-${foreignTrace}-b7ad6b7169203331-01` },
  });
  await until(completed, 'completed');
  await until(failed, 'refunded');
  const shown = await gateway.show(completed);
  secrets = [gateway.key, gateway.key.split('.')[1] ?? '', member.token, shown.deposit_address, shown.payout_txid];
  secrets.push(shown.recipient_address, addressExample('BTC'));
  // Stopping the app sends the spans that are still buffered.
  await gateway.app.stop();
});
afterAll(async () => {
  await gateway?.stop();
  await close(collector);
});

const attribute = ({ attributes }: SentSpan, key: string): string | number | undefined => {
  const found = attributes.find((one) => one.key === key)?.value;
  return found?.stringValue ?? found?.intValue;
};

/** The spans of a trace, by what they stand below: `name > name`. */
function pathsOf(traceId: string): string[] {
  const own = spans.filter((one) => one.traceId === traceId);
  const path = (one: SentSpan): string => {
    const parent = own.find(({ spanId }) => spanId === one.parentSpanId);
    return parent ? `${path(parent)} > ${one.name}` : one.name;
  };
  return own.map(path);
}

/** Traces that have a span of this name with this attribute. */
function tracesOf(name: string, orderId: string): string[] {
  return spans
    .filter((one) => one.name === name && attribute(one, 'order.id') === orderId)
    .map(({ traceId }) => traceId);
}

describe('traces', () => {
  it('lead from a request to its limit and its statement', () => {
    const [trace = ''] = tracesOf('POST /api/v1/partner/orders', completed.id);
    const [root] = spans.filter(({ traceId, parentSpanId }) => traceId === trace && !parentSpanId);
    if (!root) throw new Error('no trace of the create was sent');
    expect(attribute(root, 'http.response.status_code')).toBe(201);
    expect(attribute(root, 'http.route')).toBe('/api/v1/partner/orders');
    expect(attribute(root, 'request.id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(pathsOf(trace)).toContain('POST /api/v1/partner/orders > postgresql order_create');
  });

  it('lead from a job through the moves of its orders to statements and the venue', () => {
    const [trace = ''] = tracesOf('order deposit_confirmed', completed.id);
    const paths = pathsOf(trace);
    expect(paths).toContain('jobs settle');
    expect(paths).toContain('jobs settle > postgresql update exchange_order');
    const traded = tracesOf('order liquidity_bought', completed.id).flatMap(pathsOf);
    expect(traded.some((path) => path.includes('venue '))).toBe(true);
  });

  it('lead from a payment to signer, chain and statements', () => {
    const paths = spans.filter(({ name }) => name === 'payments').flatMap(({ traceId }) => pathsOf(traceId));
    for (const below of ['signer sign', 'chain broadcastAll', 'postgresql update payment']) {
      expect(paths).toContain(`payments > ${below}`);
    }
  });

  it('link a job to the request of staff that woke its order', () => {
    const requests = spans.filter(({ name }) => name === 'POST /graphql');
    const links = spans.filter(({ name }) => name === 'jobs settle').flatMap((job) => job.links ?? []);
    const linked = requests.filter(({ traceId }) => links.some((link) => link.traceId === traceId));
    expect(linked).toHaveLength(1);
    expect(pathsOf(linked[0]?.traceId ?? '')).toContain('POST /graphql > postgresql update staff_action');
  });

  it('do not go on with the trace of a stranger', () => {
    expect(spans.map(({ traceId }) => traceId)).not.toContain(foreignTrace);
  });

  it('hold no key, token, address, amount or statement', () => {
    expect(spans.length).toBeGreaterThan(50);
    expect(secrets.filter((secret) => sent.includes(secret))).toEqual([]);
    expect(/ from |insert into|\$1/i.test(sent)).toBe(false);
    const allowed = /^(?:GET|POST|redis|postgresql|jobs|order|orders|overdue|payments|signer|chain|venue|node)\b/;
    expect(spans.map(({ name }) => name).filter((name) => !allowed.test(name))).toEqual([]);
  });
});
