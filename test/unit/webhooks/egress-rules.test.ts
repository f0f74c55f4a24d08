import { type EgressRules, isAllowedAddress, judgeUrl } from '../../../src/webhooks/egress-rules.ts';

const rules: EgressRules = {
  ports: [443],
  denyCidrs: ['203.0.114.0/24', '2606:4700::/32'],
  denyHosts: ['gateway.example.com'],
  allowLoopback: false,
};

describe('the URL of an endpoint', () => {
  it.each([
    ['https://hooks.example.com/gateway', 'https://hooks.example.com/gateway'],
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['https://HOOKS.Example.com:443/A?b=c', 'https://hooks.example.com/A?b=c'],
    ['https://bücher.de/x', 'https://xn--bcher-kva.de/x'],
    ['https://notgateway.example.com/', 'https://notgateway.example.com/'],
  ])('may be %s', (text, url) => {
    expect(judgeUrl(text, rules)).toEqual({ url });
  });

  it('may have another port where the operator allows it', () => {
    expect(judgeUrl('https://hooks.example.com:8443/', rules)).toHaveProperty('fault');
    expect(judgeUrl('https://hooks.example.com:8443/', { ...rules, ports: [443, 8443] })).toHaveProperty('url');
  });

  it.each([
    'http://localhost:3000/hook',
    'https://localhost/',
    'http://a.localhost/',
    'http://127.0.0.1:8081/',
    'http://127.9.9.9/',
    'http://[::1]:3000/',
    'http://[::ffff:127.0.0.1]/',
  ])('may be this machine where the operator allows it: %s', (text) => {
    expect(judgeUrl(text, { ...rules, allowLoopback: true })).toEqual({ url: new URL(text).href });
    expect(judgeUrl(text, rules)).toHaveProperty('fault');
  });

  it.each([
    'http://hooks.example.com/',
    'http://10.0.0.1:3000/',
    'https://10.0.0.1/',
    'http://[fe80::1]/',
    'http://0.0.0.0/',
    'http://localhost.example.com/',
    'https://hooks.example.com:8443/',
    'ftp://localhost/',
    'http://u:p@localhost/',
    'http://console.localhost/',
  ])('is as before for all others where this machine is allowed: %s', (text) => {
    expect(judgeUrl(text, { ...rules, denyHosts: ['console.localhost'], allowLoopback: true })).toHaveProperty('fault');
  });
});

describe('an address', () => {
  it.each(['1.1.1.1', '93.184.216.34', '2a00:1450:4001:80b::200e', '::ffff:8.8.8.8'])('%s is public', (address) => {
    expect(isAllowedAddress(address, rules)).toBe(true);
  });

  it('of this machine is allowed where the operator says so', () => {
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      expect(isAllowedAddress(address, { ...rules, allowLoopback: true })).toBe(true);
    }
    expect(isAllowedAddress('10.0.0.1', { ...rules, allowLoopback: true })).toBe(false);
  });
});
