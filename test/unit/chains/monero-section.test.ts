import { moneroGenesis } from '../../../src/chains/monero/monero-facts.ts';
import { moneroFamily } from '../../../src/chains/monero/monero-family.ts';
import type { MoneroNetwork } from '../../../src/chains/monero/monero-section.ts';
import { mainChainId } from '../../../src/chains/networks/caip.ts';
import { sectionReader } from '../../support/chains/network-section.ts';

const limit = { per_payment: '50', per_day: '500' };
const { read, faultsOf } = sectionReader<MoneroNetwork>('monero', {
  kind: 'monero',
  net: 'main',
  start_height: 7,
  nodes: [{ url: 'http://127.0.0.1:18081/' }],
  wallet: { url: 'http://127.0.0.1:18083/' },
  limits: { XMR: limit },
});

test('a section that says only what it must has the usual settings', () => {
  expect(read()).toMatchObject({
    ...{ kind: 'monero', chain: 'monero', net: 'main', finality: 20, startHeight: 7, pollMs: 10_000 },
    ...{ reorgWindow: 100, stalledAfterSec: 5_400, offlineWallet: null },
    wallet: { url: 'http://127.0.0.1:18083/', user: null },
    feeLimits: { perTransaction: '0.05', perDay: '2.5' },
  });
  expect(read({ net: 'regtest' }).stalledAfterSec).toBe(0);
});

test("the signer's file names the offline wallet too", () => {
  const offline = { url: 'http://127.0.0.1:18084/', user: 'signer', password: 'secret' };
  expect(read({ offline_wallet: offline }).offlineWallet).toMatchObject(offline);
});

test('faults are named by their place', () => {
  expect(faultsOf({ wallet: undefined })[0]).toContain('wallet.url is missing');
  expect(faultsOf({ wallet: { url: 'ftp://x/' } })[0]).toContain('wallet.url');
  expect(faultsOf({ finality: 9 })[0]).toContain('finality must be at least 10');
  expect(faultsOf({ net: 'regtest', finality: 9 })).toEqual([]);
  expect(faultsOf({ net: 'stagenet' })[0]).toContain('net must be one of main, regtest');
  expect(faultsOf({ tokens: { USDT: 'x' } })[0]).toContain('tokens is unknown');
});

test('a private chain has another identity than the public network, although both begin alike', () => {
  const [main, regtest] = [read(), read({ net: 'regtest' })];
  const identityOf = (network: MoneroNetwork) => moneroFamily.identityOf(network, moneroGenesis);
  expect(identityOf(main)).toBe(`monero:main:${moneroGenesis}`);
  expect([main, regtest].map((network) => moneroFamily.isWorthless(identityOf(network)))).toEqual([false, true]);
  expect(moneroFamily.chainIdOf(main)).toBe(mainChainId('monero'));
  expect(moneroFamily.chainIdOf(regtest)).toBe('monero:regtest');
});
