import { connect } from 'node:net';
import { listen } from '../../../src/app/listener.ts';

describe('a listener', () => {
  it('closes without waiting for a connection that never sent a request', async () => {
    const handler = (_req: unknown, res: { end(text: string): void }) => res.end('ok');
    const listener = await listen(handler, { host: '127.0.0.1', port: 0, tls: null });
    const silent = connect(Number.parseInt(new URL(listener.url).port, 10), '127.0.0.1');
    silent.on('error', () => {});
    expect(await (await fetch(listener.url)).text()).toBe('ok');
    // Far longer than this test may take: waiting for it would fail.
    await listener.close(600_000);
  });
});
