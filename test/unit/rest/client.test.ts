import type { IncomingMessage } from 'node:http';
import { addressReader } from '../../../src/base/limits/client-address.ts';
import { clientReader } from '../../../src/surfaces/rest/api/client.ts';

describe('the client of a request', () => {
  const headers = { 'x-forwarded-for': '203.0.113.8', 'x-forwarded-proto': 'https' };
  const from = (remoteAddress: string) => ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;
  const reader = (proxies: string[]) => clientReader(addressReader(proxies, () => {}));
  const client = reader(['10.0.0.0/8']);

  it('is told by a proxy that is trusted', () => {
    expect(client(from('10.0.0.7'))).toEqual({
      address: '203.0.113.8',
      isSecure: true,
      isLocal: false,
      isBehindProxy: true,
    });
  });

  it.each([
    ['HTTPS', true],
    ['Https', true],
    [' https , http', true],
    ['http,https', false],
    ['wss', false],
  ])('is secure by the first scheme of the proxy, in any case: %j', (scheme, isSecure) => {
    const socket = { remoteAddress: '10.0.0.7' };
    const req = { socket, headers: { 'x-forwarded-proto': scheme } } as unknown as IncomingMessage;
    expect(client(req).isSecure).toBe(isSecure);
  });

  it('is the peer itself where that is no trusted proxy, with any headers', () => {
    const peer = { address: '198.51.100.4', isSecure: false, isLocal: false, isBehindProxy: false };
    expect(client(from('198.51.100.4'))).toEqual(peer);
    expect(reader([])(from('198.51.100.4'))).toEqual(peer);
  });
});
