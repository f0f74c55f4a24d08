import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { describeWithRedis, startRedis } from '../../support/database/redis.ts';
import { BuiltProcess, builtScript } from '../../support/gateway/built-process.ts';
import { makeCertificate } from '../../support/webhooks/certificates.ts';

let folder: string;
let database: TestDatabase;
let gateway: BuiltProcess | undefined;
let output: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-certificates-'));
  database = await createDatabase();
});
afterEach(async () => {
  await gateway?.end('SIGTERM');
  gateway = undefined;
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const files = () => ({ TLS_CERT_FILE: join(folder, 'tls.crt'), TLS_KEY_FILE: join(folder, 'tls.key') });

/** Writes another certificate, as a renewal does. */
async function renew(): Promise<void> {
  const { cert, key } = await makeCertificate(['localhost']);
  await writeFile(files().TLS_CERT_FILE, cert);
  await writeFile(files().TLS_KEY_FILE, key);
}

/** Starts a gateway; the port of its public listener. */
async function start(settings: Record<string, string>): Promise<number> {
  builtScript('main.js');
  output = '';
  gateway = new BuiltProcess({
    script: 'main.js',
    name: 'gateway',
    folder,
    settings: {
      DATA_DIR: process.env.TEST_DATA_DIR ?? '',
      DATABASE_URL: database.url,
      REQUIRE_DURABLE_COMMITS: 'false',
      PORT: '0',
      INTERNAL_PORT: '0',
      LOG_LEVEL: 'error',
      ...settings,
    },
    ready: /^ready rest=/m,
    isGroupLeader: true,
    onOutput: (text) => {
      output += text;
    },
  });
  const url = /^ready rest=(\S+)/m.exec(await gateway.ready())?.[1] ?? '';
  return Number(new URL(url).port);
}

async function printed(pattern: RegExp): Promise<void> {
  for (let i = 0; i < 1_200 && gateway?.isRunning && !pattern.test(output); i++) await sleep(50);
  expect(output).toMatch(pattern);
}

/** The certificate that a new connection is shown. */
function shown(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

/** Asks over a connection that is kept; the status, and whether the connection was used before. */
function ask(port: number, agent: Agent): Promise<[number | undefined, boolean]> {
  return new Promise((resolve, reject) => {
    const path = '/api/v1/openapi.json';
    const asked = request({ host: '127.0.0.1', port, path, agent, rejectUnauthorized: false }, (answer) => {
      answer.resume().once('end', () => resolve([answer.statusCode, asked.reusedSocket]));
    });
    asked.once('error', reject).end();
  });
}

describe('a certificate', () => {
  it('is renewed at SIGHUP, while open connections go on', async () => {
    await renew();
    const port = await start(files());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await ask(port, agent)).toEqual([200, false]);
    const first = await shown(port);

    await renew();
    expect(await shown(port)).toBe(first);
    gateway?.signal('SIGHUP');
    await printed(/^SIGHUP: the certificate was read again$/m);
    const second = await shown(port);
    expect(second).not.toBe(first);
    expect(await ask(port, agent)).toEqual([200, true]);

    await writeFile(files().TLS_CERT_FILE, 'no certificate');
    gateway?.signal('SIGHUP');
    await printed(/^SIGHUP: the old certificate stays in use: /m);
    expect(await shown(port)).toBe(second);
    expect(await ask(port, agent)).toEqual([200, true]);
    agent.destroy();
    await gateway?.end('SIGTERM');
    expect(gateway?.exitCode).toBe(0);
  });

  it('is none without TLS, so that SIGHUP ends the gateway in order', async () => {
    await start({ DRAIN_GRACE_LOCAL_MS: '100' });
    await gateway?.end('SIGHUP');
    expect(gateway?.exitCode).toBe(0);
    expect(output).toContain('SIGHUP: finishing what is under way');
  });
});

describeWithRedis('a certificate of several api processes', () => {
  it('is renewed at SIGHUP by replacing them one by one', async () => {
    const redis = await startRedis();
    try {
      await renew();
      const several = { ROLE: 'api', API_PROCESSES: '2', REDIS_URL: redis.url, DRAIN_GRACE_LOCAL_MS: '100' };
      const port = await start({ ...files(), ...several });
      const first = await shown(port);
      await renew();
      gateway?.signalGroup('SIGHUP');
      await printed(/^replaced 2 api processes$/m);
      const seen = await Promise.all([1, 2, 3, 4].map(() => shown(port)));
      expect(new Set(seen).size).toBe(1);
      expect(seen).not.toContain(first);
    } finally {
      await gateway?.end('SIGTERM');
      await redis.stop();
    }
  });
});
