import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { isVerified, type Received } from '../../support/webhooks/receiver.ts';

const received: Pick<Received, 'path' | 'headers' | 'body'>[] = [];
let receiver: Server;
let port: number;

beforeAll(async () => {
  receiver = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    received.push({ path: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks).toString('utf8') });
    res.writeHead(204).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  port = (receiver.address() as AddressInfo).port;
});
afterAll(() => receiver.close());

/** Makes an endpoint and has it tested. */
async function tested(settings: Record<string, string>, url: string) {
  const asked: string[] = [];
  const resolve = async (name: string): Promise<readonly string[]> => {
    asked.push(name);
    return [];
  };
  const gateway = await startSettledGateway({ settings, outside: { receivers: { resolve } } });
  try {
    const { key } = gateway;
    const made = await gateway.call('POST', '/partner/webhook-endpoints', { key, body: { url } });
    if (made.status !== 201) return { status: made.status, json: made.json, asked, secret: '', at: new Date() };
    const { status, json } = await gateway.call('POST', `/partner/webhook-endpoints/${made.json.endpoint.id}/test`, {
      key,
    });
    await gateway.app.webhooks?.sender.begin();
    await gateway.app.webhooks?.sender.idle();
    return { status, json, asked, secret: String(made.json.secret), at: gateway.clock.now() };
  } finally {
    await gateway.stop();
  }
}

describe('a receiver on the machine of a sandbox', () => {
  it.each([
    'localhost',
    '127.0.0.1',
    'hooks.localhost',
  ])('gets webhooks without TLS and without DNS at %s', async (host) => {
    const { asked, secret, at } = await tested({ WEBHOOK_ALLOW_LOOPBACK: 'on' }, `http://${host}:${port}/${host}`);
    const got = received.filter(({ path }) => path === `/${host}`);
    expect(got).toHaveLength(1);
    for (const delivery of got) expect(isVerified(delivery, secret, at)).toBe(true);
    expect(asked).toEqual([]);
  });

  it('is refused unless the operator allows it', async () => {
    const before = received.length;
    for (const host of ['localhost', '127.0.0.1']) {
      const { status, json } = await tested({}, `http://${host}:${port}/`);
      expect([status, json.code]).toEqual([422, 'url_not_allowed']);
    }
    expect(received).toHaveLength(before);
  });
});
