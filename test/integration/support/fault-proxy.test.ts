import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { FaultProxy } from '../../support/faults/fault-proxy.ts';
import { listen } from '../../support/http/local-server.ts';

describe('FaultProxy', () => {
  let echo: Server;
  let proxy: FaultProxy;
  const clients: Socket[] = [];

  beforeEach(async () => {
    echo = createServer((socket) => {
      socket.on('error', () => {});
      socket.pipe(socket);
    });
    proxy = await FaultProxy.open({ port: await listen(echo), host: '127.0.0.1' });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await proxy.close();
    echo.close();
  });

  async function open(): Promise<Socket> {
    const client = connect(proxy.port, '127.0.0.1');
    clients.push(client);
    client.on('error', () => {});
    await once(client, 'connect');
    return client;
  }

  /** What comes back, or how the connection ended, or null when nothing happened for a moment. */
  async function say(client: Socket, text: string, waitMs = 10_000): Promise<string | null> {
    client.write(text);
    return Promise.race([
      once(client, 'data').then(([data]) => String(data)),
      once(client, 'close').then(() => 'closed'),
      new Promise<null>((resolve) => setTimeout(resolve, waitMs, null).unref()),
    ]);
  }

  it('passes everything on', async () => {
    const client = await open();
    expect(await say(client, 'one')).toBe('one');
    expect(proxy.connections).toBe(1);
    client.end();
    await once(client, 'close');
  });

  it('keeps everything back while it hangs, and delivers it afterwards', async () => {
    const client = await open();
    expect(await say(client, 'one')).toBe('one');
    proxy.hang();
    const other = await open();
    expect(await say(client, 'two', 200)).toBeNull();
    expect(await say(other, 'three', 200)).toBeNull();
    const answers = Promise.all([once(client, 'data'), once(other, 'data')]);
    await proxy.heal();
    expect((await answers).map(([data]) => String(data))).toEqual(['two', 'three']);
  });

  it('loses connections for good, and serves new ones', async () => {
    const client = await open();
    expect(await say(client, 'one')).toBe('one');
    proxy.lose();
    expect(await say(client, 'two', 200)).toBeNull();
    expect(await say(await open(), 'three')).toBe('three');
    await proxy.heal();
    expect(await say(client, 'four', 200)).toBeNull();
    await proxy.refuse();
    await proxy.heal();
    expect(await say(await open(), 'five')).toBe('five');
  });

  it('delays every piece and keeps their order', async () => {
    const client = await open();
    proxy.delay(20, 60);
    const pieces: string[] = [];
    client.on('data', (data) => pieces.push(String(data)));
    for (const digit of '0123456789') client.write(digit);
    while (pieces.join('').length < 10) await once(client, 'data');
    expect(pieces.join('')).toBe('0123456789');
  });

  it('cuts, resets and refuses until it is healed', async () => {
    const client = await open();
    proxy.cutAfter(3);
    expect(await say(client, 'abcdef')).toBe('abc');
    if (!client.destroyed) await once(client, 'close');
    proxy.reset();
    const reset = connect(proxy.port, '127.0.0.1');
    expect(await once(reset, 'data').catch((error) => error)).toMatchObject({ code: 'ECONNRESET' });
    await proxy.refuse();
    const refused = connect(proxy.port, '127.0.0.1');
    expect(await once(refused, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
    await proxy.heal();
    expect(await say(await open(), 'two')).toBe('two');
  });
});
