import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer } from 'node:https';
import { createServer as createTcpServer, connect as createTunnel, type Server as TcpServer } from 'node:net';
import { loadConfig } from '../../src/config/load-config.ts';
import { Egress, type Sent } from '../../src/webhooks/egress.ts';
import type { EgressRules } from '../../src/webhooks/egress-rules.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { problemsOf } from '../support/gateway/settings.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { close, listen } from '../support/http/local-server.ts';
import { attempt } from '../support/jest/attempts.ts';
import { type Certificate, makeCertificate } from '../support/webhooks/certificates.ts';

/**
 * OWASP API7:2023, server side request forgery by webhooks. A webhook is the one place where a
 * partner names an address that the gateway calls. The attempts: literals in every spelling, names
 * of inside hosts, rebinding, mixed answers, redirects and endless answers.
 */

let gateway: SettledGateway;
let key: string;
let certificate: Certificate;
/** Counts the connections that came to this machine. */
let inside: TcpServer;
let insidePort: number;
let connections = 0;

beforeAll(async () => {
  gateway = await startSettledGateway({
    settings: { WEBHOOK_DENY: '198.51.100.0/24,gateway.example.com', WEBHOOK_PORTS: '443,8443' },
  });
  ({ key } = await gateway.partner());
  certificate = await makeCertificate(['hooks.test', '*.hooks.test']);
  inside = createTcpServer((socket) => {
    connections++;
    socket.on('error', () => {}).destroy();
  });
  insidePort = await listen(inside);
});
afterAll(async () => {
  await gateway?.stop();
  inside?.close();
});

const closed: EgressRules = { ports: [443], denyCidrs: [], denyHosts: [], allowLoopback: false };

/** URLs that lead, or may lead some parser, to an address or to this machine. */
const urls: readonly string[] = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
    '0',
    '0.0.0.0',
  ],
  ...['①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '127.0.0.1.', '0x7f.0x0.0x0.0x1', '00000177.0.0.1', '4294967295'],
  ...[
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[64:ff9b::7f00:1]'],
  ...['[2002:7f00:1::]', '[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[2001:db8::1]', '[::127.0.0.1]'],
  ...['8.8.8.8', '[2606:4700:4700::1111]', '[2606:4700:4700::1111%25eth0]'],
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost.localdomain.local',
    'a.localhost',
    'metadata',
    'kubernetes',
    'gateway',
  ],
  ...[
    'metadata.google.internal',
    'postgres.data.svc.cluster.local',
    'printer.lan',
    'x.home.arpa',
    'hooks.test',
    'a.onion',
  ],
  ...[
    'gateway.example.com',
    'GATEWAY.example.com',
    'api.gateway.example.com',
    'gateway.example.com.',
    'ｇateway.example.com',
  ],
].map((host) => `https://${host}/`);

const oddUrls: readonly string[] = [
  'http://hooks.example.com/',
  'HTTP://hooks.example.com/',
  'ftp://hooks.example.com/',
  'file:///etc/passwd',
  'data:text/plain,x',
  'javascript:alert(1)',
  'gopher://hooks.example.com/_x',
  '//hooks.example.com/',
  'hooks.example.com',
  'https://',
  'https:///x',
  'https://user@hooks.example.com/',
  'https://user:secret@hooks.example.com/',
  'https://:@hooks.example.com@127.0.0.1/',
  'https://hooks.example.com@127.0.0.1/',
  'https://hooks.example.com:22/',
  'https://hooks.example.com:80/',
  'https://hooks.example.com:0/',
  'https://hooks.example.com:5432/',
  'https://hooks.example.com:65536/',
  'https://hooks.example.com/#fragment',
  'https://127.0.0.1#@hooks.example.com/',
  ' https://hooks.example.com/',
  'https://hooks.example.com/ ',
  'https://hooks.exam\tple.com/',
  'https://hooks.example.com/\r\nHost: 127.0.0.1',
  'https://hooks.example.com\\@127.0.0.1/',
  'https://127.0.0.1\\@hooks.example.com/',
  'https://hooks.example.com\u0000.evil.com/',
  `https://hooks.example.com/${'x'.repeat(2_100)}`,
  `https://${'a.'.repeat(200)}com/`,
];

describe('the URL of an endpoint', () => {
  it('is refused in every spelling of an address, of an inside name and of our own names', async () => {
    await changingNothing(gateway, async () => {
      for (const url of [...urls, ...oddUrls]) {
        const { status } = await gateway.call('POST', '/partner/webhook-endpoints', { key, body: { url } });
        attempt(`an endpoint at ${JSON.stringify(url).slice(0, 100)}`, [400, 422].includes(status), true);
      }
    });
  });

  it('is refused in a change as well', async () => {
    const body = { url: 'https://hooks.example.com/' };
    const { json } = await gateway.call('POST', '/partner/webhook-endpoints', { key, body });
    await changingNothing(gateway, async () => {
      for (const url of [...urls, ...oddUrls]) {
        const path = `/partner/webhook-endpoints/${json.endpoint.id}`;
        const { status } = await gateway.call('PATCH', path, { key, body: { url } });
        attempt(`a change to ${JSON.stringify(url).slice(0, 100)}`, [400, 422].includes(status), true);
      }
    });
  });

  it('is refused by a sender too, where an older check admitted it', async () => {
    const egress = new Egress({
      rules: { ...closed, denyHosts: ['gateway.example.com'] },
      proxy: null,
      resolve: async () => ['127.0.0.1'],
      connectMs: 300,
    });
    for (const url of [...urls, ...oddUrls]) {
      const { fault } = await egress.post(url, {}, '{}');
      attempt(`a delivery to ${JSON.stringify(url).slice(0, 100)}`, fault, 'url_not_allowed');
    }
    expect(connections).toBe(0);
  });
});

/** A delivery to a public name that resolves as given, and whether anything was connected. */
async function resolved(addresses: readonly string[], changes: Partial<EgressRules> = {}): Promise<Sent> {
  const rules = { ...closed, ports: [443, insidePort], ...changes };
  const egress = new Egress({ rules, proxy: null, resolve: async () => addresses, connectMs: 300, totalMs: 500 });
  return egress.post(`https://hooks.example.com:${insidePort}/`, {}, '{}');
}

describe('a name', () => {
  const privateAddresses: readonly string[] = [
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.8.8.8', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.51.100.1'],
    ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1'],
    ...['64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1', 'fc00::1'],
    ...['fd00:ec2::254', 'fe80::1', 'fe80::1%lo', 'fec0::1', 'ff02::1', '4000::1', 'e000::1', 'not an address', ''],
  ];

  it('is not connected at an address that is not plain public unicast', async () => {
    connections = 0;
    for (const address of privateAddresses) {
      attempt(`a name at ${address}`, (await resolved([address])).fault, 'address_not_allowed');
      const mixed = await resolved(['93.184.216.34', address]);
      attempt(`a name at a public address and ${address}`, mixed.fault, 'address_not_allowed');
      attempt(
        `the same the other way round`,
        (await resolved([address, '93.184.216.34'])).fault,
        'address_not_allowed',
      );
    }
    attempt('connections', connections, 0);
  });

  it('is not connected at an address of ours', async () => {
    const denyCidrs = ['93.184.216.0/24', '2606:2800::/32'];
    for (const address of ['93.184.216.34', '2606:2800:220:1::1', '::ffff:93.184.216.34']) {
      attempt(`a name at our ${address}`, (await resolved([address], { denyCidrs })).fault, 'address_not_allowed');
    }
  });

  it('without an address is not connected', async () => {
    attempt('a name without addresses', (await resolved([])).fault, 'dns');
  });

  it('that is rebound after the check has no effect: the judged address is the connected one', async () => {
    connections = 0;
    const asked: string[] = [];
    // Public at the first question, inside ever after.
    const answers = [['198.51.99.1'], ['127.0.0.1']];
    const rules = { ...closed, ports: [443, insidePort] };
    const resolve = async (name: string): Promise<readonly string[]> => {
      asked.push(name);
      return answers[Math.min(asked.length - 1, 1)] ?? [];
    };
    const egress = new Egress({ rules, proxy: null, resolve, connectMs: 300, totalMs: 500 });
    const url = `https://hooks.example.com:${insidePort}/`;
    const first = await egress.post(url, {}, '{}');
    attempt('the questions of one attempt', asked.length, 1);
    attempt('an attempt at the first address', ['timeout', 'connect', 'reset'].includes(first.fault ?? ''), true);
    // The next attempt judges again.
    attempt('an attempt after rebinding', (await egress.post(url, {}, '{}')).fault, 'address_not_allowed');
    attempt('connections inside', connections, 0);
  });
});

describe('an answer', () => {
  const open: EgressRules = { ...closed, allowLoopback: true };
  let requests: string[] = [];
  let server: ReturnType<typeof createServer>;
  let port: number;

  async function answered(handle: Parameters<typeof createServer>[1], trusts = true): Promise<Sent> {
    requests = [];
    server = createServer(certificate, (req, res) => {
      requests.push(`${req.method} ${req.headers.host}`);
      req.resume();
      handle?.(req, res);
    });
    port = await listen(server);
    const egress = new Egress({
      rules: { ...open, ports: [port] },
      proxy: null,
      resolve: async () => ['127.0.0.1'],
      totalMs: 4_000,
      connectMs: 3_000,
      ...(trusts ? { ca: certificate.cert } : {}),
    });
    try {
      return await egress.post(`https://a.hooks.test:${port}/`, {}, '{}');
    } finally {
      server.closeAllConnections();
      await close(server);
    }
  }

  it.each([301, 302, 303, 307, 308])('of status %i leads nowhere', async (status) => {
    connections = 0;
    const Location = `https://b.hooks.test:${insidePort}/`;
    const { fault } = await answered((_req, res) => void res.writeHead(status, { Location }).end());
    attempt(`a redirect by ${status}`, [fault, requests.length, connections], ['redirect', 1, 0]);
  });

  it('without end is read to its bound only', async () => {
    let written = 0;
    const sent = await answered((_req, res) => {
      res.writeHead(200);
      const more = (): void => {
        while (!res.destroyed && res.write(Buffer.alloc(65_536))) written += 65_536;
      };
      res.on('drain', more);
      more();
    });
    attempt('an endless body', [sent.status, written < 16 * 1024 * 1024], [200, true]);
    const dripping = await answered((_req, res) => {
      res.writeHead(200);
      const timer = setInterval(() => res.write('x'), 20);
      res.on('close', () => clearInterval(timer));
    });
    attempt('a body that drips', [dripping.status, dripping.ms < 30_000], [200, true]);
    const heads = await answered((_req, res) => {
      res.socket?.write(`HTTP/1.1 200 OK\r\n${`X-A: ${'b'.repeat(1_000)}\r\n`.repeat(100)}`);
    });
    attempt('endless headers', heads.status, null);
    const hints = await answered((_req, res) => {
      const timer = setInterval(() => res.writeProcessing(), 10);
      res.on('close', () => clearInterval(timer));
    });
    attempt('endless hints', [hints.status, hints.fault], [null, 'timeout']);
    const upgraded = await answered((_req, res) => {
      res.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    });
    attempt('an upgrade', upgraded.status, null);
  });

  it('of a server with a certificate that is not trusted is none', async () => {
    const { fault } = await answered((_req, res) => void res.end(), false);
    attempt('an unknown certificate', [fault, requests.length], ['tls', 0]);
  });

  it('of a plain server is none', async () => {
    let plain = 0;
    const http: Server = createHttpServer((_req, res) => {
      plain++;
      res.end();
    });
    const plainPort = await listen(http);
    const egress = new Egress({
      rules: { ...open, ports: [plainPort] },
      proxy: null,
      resolve: async () => ['127.0.0.1'],
    });
    const { fault } = await egress.post(`https://a.hooks.test:${plainPort}/`, {}, '{}');
    attempt('a server without TLS', [fault === null, plain], [false, 0]);
    http.closeAllConnections();
    await close(http);
  });
});

describe('a proxy', () => {
  it('of the environment is not used', async () => {
    connections = 0;
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'https_proxy', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${insidePort}`;
    try {
      const egress = new Egress({
        rules: closed,
        proxy: null,
        resolve: async () => ['198.51.99.1'],
        connectMs: 200,
        totalMs: 300,
      });
      await egress.post('https://hooks.example.com/', {}, '{}');
      attempt('connections to a proxy of the environment', connections, 0);
    } finally {
      for (const name of names) delete process.env[name];
    }
  });

  it('of the settings gets a judged address, never a name', async () => {
    const targets: string[] = [];
    const receiver = createServer(certificate, (req, res) => {
      req.resume();
      res.writeHead(204).end();
    });
    const receiverPort = await listen(receiver);
    const proxy = createHttpServer();
    proxy.on('connect', (req, socket) => {
      targets.push(req.url ?? '');
      socket.on('error', () => {});
      const [host = '', port = ''] = (req.url ?? '').split(':');
      const onward = createTunnel(Number.parseInt(port, 10), host);
      onward.on('error', () => {});
      onward.on('close', () => socket.destroy());
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    const proxyPort = await listen(proxy);
    const open = { ...closed, allowLoopback: true, ports: [receiverPort] };
    const egress = (resolve: () => Promise<string[]>, rules: EgressRules = open) =>
      new Egress({ rules, proxy: new URL(`http://127.0.0.1:${proxyPort}`), resolve, ca: certificate.cert });
    const url = `https://a.hooks.test:${receiverPort}/`;
    expect(await egress(async () => ['127.0.0.1']).post(url, {}, '{}')).toMatchObject({ status: 204, fault: null });
    attempt('what a proxy was told', targets, [`127.0.0.1:${receiverPort}`]);
    const { fault } = await egress(async () => ['10.0.0.1']).post(url, {}, '{}');
    attempt('a private address by a proxy', [fault, targets.length], ['address_not_allowed', 1]);
    for (const server of [receiver, proxy]) server.closeAllConnections();
    await Promise.all([close(receiver), close(proxy)]);
  });
});

it('only a gateway that this machine alone reaches may open this machine to webhooks', () => {
  expect(loadConfig({}).WEBHOOK_ALLOW_LOOPBACK).toBe('off');
  const on = { WEBHOOK_ALLOW_LOOPBACK: 'on' };
  expect(loadConfig(on).WEBHOOK_ALLOW_LOOPBACK).toBe('on');
  const databases = { DATABASE_URL: 'postgres://db.example.com/gateway', REDIS_URL: 'redis://redis.example.com' };
  const beyond: Record<string, string>[] = [
    { HOST: '0.0.0.0' },
    { HOST: '10.0.0.5', TRUSTED_PROXIES: '10.0.0.0/8' },
    { TRUSTED_PROXIES: '127.0.0.1/32' },
    { ROLE: 'api' },
    { ROLE: 'worker' },
  ];
  for (const settings of beyond) {
    const problems = problemsOf({ ...databases, ...settings, ...on });
    attempt(
      JSON.stringify(settings),
      problems.filter((text) => /^WEBHOOK_ALLOW_LOOPBACK=on lets/.test(text)).length,
      1,
    );
  }
});
