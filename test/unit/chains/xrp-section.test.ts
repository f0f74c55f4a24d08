import { familyOf } from '../../../src/chains/families/families.ts';
import { loadNetworks } from '../../../src/chains/families/network-file.ts';
import { type XrpNetwork, xrpNetName } from '../../../src/chains/xrp/xrp-section.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import { liveLimits } from '../../../src/signer/live-limits.ts';
import { sectionReader } from '../../support/chains/network-section.ts';

const { read, faultsOf } = sectionReader<XrpNetwork>('ripple', {
  kind: 'xrp',
  network_id: 0,
  nodes: [{ url: 'https://node.example/' }],
  start_height: 7,
  limits: { XRP: { per_payment: '20000', per_day: '200000' } },
});

test('the section of the example file can be loaded', () => {
  const { networks } = loadNetworks('networks.example.yaml', chainCoins);
  const ripple = networks.find(({ chain }) => chain === 'ripple') as XrpNetwork;
  expect(ripple).toMatchObject({
    kind: 'xrp',
    networkId: 0,
    finality: 'validated',
    startHeight: 100_000_000,
    expireAfterLedgers: 75,
    feeLimits: { perTransaction: '0.001', perDay: '0.05' },
  });
  expect(liveLimits(ripple, chainCoins('ripple')).assets.get('')?.perPayment).toBe(20_000_000_000n);
});

test('a section that says only what it must has the usual settings', () => {
  expect(read()).toMatchObject({
    pollMs: 2_000,
    reorgWindow: 20,
    stalledAfterSec: 60,
    expireAfterLedgers: 75,
    feeLimits: { perTransaction: '0.001', perDay: '0.05' },
    tokens: new Map(),
  });
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ['no network_id', { network_id: undefined }, /network_id/],
  ['a network_id below 0', { network_id: -1 }, /network_id/],
  ['a network_id that is no step of a path', { network_id: 2_147_483_648 }, /network_id/],
  ['a number as finality', { finality: 3 }, /finality.*validated/],
  ['an expiry that a slow server misses', { expire_after_ledgers: 19 }, /expire_after_ledgers/],
  ['an expiry beyond one search', { expire_after_ledgers: 401 }, /expire_after_ledgers/],
  ['tokens', { tokens: { USDT: 'x' } }, /tokens/],
  ['a member that is none', { networkid: 0 }, /networkid/],
  ['no limits', { limits: undefined }, /limits\.XRP/],
  ['the kind of another family', { kind: 'evm' }, /kind/],
])('%s is a fault', (_, changes, fault) => {
  expect(faultsOf(changes)).toContainEqual(expect.stringMatching(fault));
});

describe('the name of the chain', () => {
  const { identityOf, genesisOf, chainIdOf, isWorthless, finalityDepth } = familyOf({ kind: 'xrp' });

  test.each([
    [0, 'main', 'xrpl:0', false],
    [1, 'testnet', 'xrpl:1', true],
    [2, 'devnet', 'xrpl:2', true],
    [21_337, 'network 21337', 'xrpl:21337', true],
  ])('of network %d', (networkId, name, chainId, worthless) => {
    const network = read({ network_id: networkId });
    const identity = identityOf(network, genesisOf(network) ?? '');
    expect(xrpNetName(network)).toBe(name);
    expect(chainIdOf(network)).toBe(chainId);
    expect(isWorthless(identity)).toBe(worthless);
    expect(isWorthless(identityOf(network, ''))).toBe(worthless);
  });

  test('is none of another family', () => {
    expect(isWorthless('tron:1:xrpl:1:')).toBe(false);
    expect(finalityDepth(read())).toBe(1);
  });
});
