import { connect } from 'node:net';
import { Writable } from 'node:stream';
import express from 'express';
import { type Listener, listen } from '../../../src/app/listener.ts';
import { createLog } from '../../../src/base/log.ts';
import type { StaffApi } from '../../../src/surfaces/graphql/server/staff-api.ts';
import { staffApiOnDemand } from '../../../src/surfaces/graphql/server/staff-api-on-demand.ts';

const log: string[] = [];
const logStream = new Writable({
  write(chunk, _encoding, done) {
    log.push(String(chunk));
    done();
  },
});
let builds: number;
let fails: boolean;
let stops: number;
let api: StaffApi;
let listener: Listener;

/** Stands for GraphQL, which takes long to load. */
async function build(): Promise<StaffApi> {
  builds += 1;
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (fails) throw new Error('no connection');
  return {
    handler: (_req, res) => void res.json({ data: {} }),
    upgrade: (_req, socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    stop: async () => {
      stops += 1;
    },
  };
}

beforeEach(async () => {
  [builds, fails, stops] = [0, false, 0];
  log.length = 0;
  api = staffApiOnDemand(build, createLog('info', logStream));
  listener = await listen(express().use('/graphql', api.handler), {
    host: '127.0.0.1',
    port: 0,
    tls: null,
    upgrade: api.upgrade,
  });
});

afterEach(() => listener.close(0));

const ask = () => fetch(`${listener.url}/graphql`, { method: 'POST' });

/** The first line of the answer to an upgrade. */
function askToUpgrade(): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(listener.url).port), '127.0.0.1', () =>
      socket.write('GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    );
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''));
    socket.on('error', reject);
  });
}

describe('the staff API on demand', () => {
  it('is built once, by the first request', async () => {
    expect(builds).toBe(0);
    const answers = await Promise.all([ask(), ask(), askToUpgrade()]);
    expect(answers.slice(0, 2)).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(answers[2]).toBe('HTTP/1.1 101 Switching Protocols');
    expect(builds).toBe(1);
  });

  it('answers 503 when the build fails, logs it, and tries again', async () => {
    fails = true;
    const refused = await ask();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'UNAVAILABLE', kind: 'unavailable' } }],
    });
    expect(await askToUpgrade()).toContain('HTTP/1.1 503');
    expect(log.filter((line) => line.includes('staff_api_failed'))).toHaveLength(2);
    fails = false;
    expect((await ask()).status).toBe(200);
    expect(builds).toBe(3);
  });

  it('survives a connection that is cut during the build', async () => {
    const socket = connect(Number(new URL(listener.url).port), '127.0.0.1', () => {
      socket.write('GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      setTimeout(() => socket.resetAndDestroy(), 5);
    });
    await new Promise((resolve) => socket.once('close', resolve));
    expect((await ask()).status).toBe(200);
  });

  it('closes a finished or unfinished build, and builds nothing afterwards', async () => {
    const asked = ask();
    while (builds === 0) await new Promise(setImmediate);
    await api.stop();
    expect((await asked).status).toBe(200);
    expect(stops).toBe(1);
    expect((await ask()).status).toBe(503);
    expect(builds).toBe(1);
  });

  it('is closed without a build when no request came', async () => {
    await api.stop();
    expect(builds).toBe(0);
  });
});
