import type { IncomingMessage } from 'node:http';
import { addressReader, nodeAddress, unknownAddress } from '../../../src/base/limits/client-address.ts';

/** A request as a listener sees it. */
const request = (peer: string, forwarded?: string) =>
  ({ headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress: peer } }) as unknown as IncomingMessage;

describe('a node of a forwarding header', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:52100', '203.0.113.7'],
    ['203.0.113.7:_port', '203.0.113.7'],
    [' "203.0.113.7:52100" ', '203.0.113.7'],
    ['2001:db8::7', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:db8::7]:52100', '2001:db8::7'],
    ['"[2001:db8::7]:52100"', '2001:db8::7'],
    ['[2001:db8::7]:_port', '2001:db8::7'],
    ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
    // The last group of an address, as brackets are needed for a port.
    ['2001:db8::7:443', '2001:db8::7:443'],
  ])('%s is an address', (node, address) => {
    expect(nodeAddress(node)).toBe(address);
  });

  it.each([
    'unknown',
    '_hidden',
    'unknown:443',
    '',
    '203.0.113',
    '203.0.113.256',
    '010.1.1.1',
    '3405803783',
    '0x7f.1',
    '203.0.113.7:',
    '203.0.113.7:443:1',
    '203.0.113.7:123456',
    '[203.0.113.7]:443',
    '[2001:db8::7',
    '2001:db8::7]:443',
    '[2001:db8::7]443',
    '"203.0.113.7',
    '203.0.113.7 1',
    'client.example:443',
  ])('%s is none', (node) => {
    expect(nodeAddress(node)).toBeNull();
  });
});

describe('the client of a request', () => {
  const unknown = jest.fn();
  const read = addressReader(['10.0.0.0/8', 'fd00::/8'], unknown);
  beforeEach(() => unknown.mockClear());

  it.each([
    ['without a header is the proxy itself', undefined, '10.0.0.1'],
    ['is named by a proxy with its port', '203.0.113.7:52100', '203.0.113.7'],
    ['is the first behind all trusted proxies', '198.51.100.1, 203.0.113.7:1, 10.1.1.1:2, [fd00::1]:3', '203.0.113.7'],
    ['is the farthest one when all are trusted', '10.2.2.2:1, 10.1.1.1', '10.2.2.2'],
    ['is not what stands before it', 'unknown, "a, 10.9.9.9", 203.0.113.7', '203.0.113.7'],
    ['has no empty elements', '203.0.113.7:1, ,', '203.0.113.7'],
  ])('%s', (_case, header, address) => {
    expect(read(request('10.0.0.1', header))).toEqual({ address, isBehindProxy: true });
    expect(unknown).not.toHaveBeenCalled();
  });

  it.each([
    'unknown',
    '_hidden',
    '203.0.113.7, _hidden, 10.1.1.1',
    'nonsense',
  ])('has no address behind %s', (header) => {
    expect(read(request('10.0.0.1', header))).toEqual({ address: unknownAddress, isBehindProxy: true });
    expect(unknown).toHaveBeenCalledTimes(1);
  });

  it('is the peer of the connection unless a proxy is trusted', () => {
    const peer = { address: '203.0.113.9', isBehindProxy: false };
    expect(read(request('203.0.113.9', '198.51.100.1'))).toEqual(peer);
    expect(addressReader([], unknown)(request('203.0.113.9', 'unknown'))).toEqual(peer);
    expect(unknown).not.toHaveBeenCalled();
  });
});
