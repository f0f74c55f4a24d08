import { familyOf } from '../../../src/chains/families/families.ts';
import { isTonOfValue, type TonNetwork, tonNetName, tonPath } from '../../../src/chains/ton/ton-section.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import { liveLimits } from '../../../src/signer/live-limits.ts';
import { sectionReader } from '../../support/chains/network-section.ts';

const bounceable = 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs';
const usdt = 'UQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_p0p';
const limit = { per_payment: '20000', per_day: '200000' };

const { read, faultsOf } = sectionReader<TonNetwork>('ton', {
  kind: 'ton',
  global_id: -239,
  nodes: [{ url: 'https://index.example/' }],
  start_height: 7,
  limits: { TON: limit },
});

test('a section that says only what it must has the usual settings', () => {
  expect(read()).toMatchObject({
    kind: 'ton',
    chain: 'ton',
    globalId: -239,
    finality: 'masterchain',
    startHeight: 7,
    pollMs: 2_000,
    reorgWindow: 20,
    stalledAfterSec: 60,
    paymentFee: 20_000_000n,
    jettonValue: 50_000_000n,
    feeLimits: { perTransaction: '0.5', perDay: '25' },
    tokens: new Map(),
    twoNodesAbove: new Map(),
  });
  expect(liveLimits(read(), chainCoins('ton')).assets.get('')?.perPayment).toBe(20_000_000_000_000n);
});

test('a section may say more, and names a jetton in any spelling', () => {
  const more = { payment_fee: '0.1', jetton_value: '0.123456789', two_nodes_above: { TON: '1', USDT: '2' } };
  for (const USDT of [bounceable, usdt, '0:b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe']) {
    const network = read({ ...more, tokens: { USDT }, limits: { TON: limit, USDT: limit } });
    expect(network).toMatchObject({ paymentFee: 100_000_000n, jettonValue: 123_456_789n });
    expect(network.tokens).toEqual(new Map([['USDT', usdt]]));
    expect(network.twoNodesAbove).toEqual(
      new Map([
        ['', 1_000_000_000n],
        [usdt, 2_000_000n],
      ]),
    );
  }
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ['no number of the network', { global_id: undefined }, /global_id is missing; a good value: -239$/],
  ['a name of the network', { global_id: 'main' }, /global_id must be a whole number/],
  ['half a number', { global_id: -1.5 }, /global_id must be a whole number/],
  ['a number of confirmations', { finality: 3 }, /finality.*masterchain/],
  ['the finality of another family', { finality: 'closed' }, /finality.*masterchain/],
  ['a fee as a number', { payment_fee: 0.02 }, /payment_fee must be text/],
  ['no fee at all', { payment_fee: '0' }, /payment_fee must be above 0/],
  ['a fee with ten digits', { payment_fee: '0.0000000001' }, /payment_fee may have at most 9 digits/],
  ['a value of nothing', { jetton_value: '0.0' }, /jetton_value must be above 0/],
  ['a jetton without limits', { tokens: { USDT: usdt } }, /limits\.USDT is missing, and nothing is signed/],
  ['coins as jetton', { tokens: { TON: usdt } }, /tokens\.TON is no token of the catalogue/],
  ['a name as jetton', { tokens: { USDT: 'USDT' } }, /tokens\.USDT is no contract/],
  ['a jetton with a wrong letter', { tokens: { USDT: bounceable.replace(/s$/, 't') } }, /tokens\.USDT is no contract/],
  ['a jetton of the test network', { tokens: { USDT: bounceable.replace(/^E/, 'k') } }, /tokens\.USDT is no contract/],
  ['a member that is none', { channels: 20 }, /channels is unknown/],
  ['the kind of another family', { kind: 'xrp' }, /kind does not fit ton; a good value: ton$/],
])('%s is a fault', (_, changes, fault) => {
  expect(faultsOf(changes)).toContainEqual(expect.stringMatching(fault));
});

describe('the name of the chain', () => {
  const { identityOf, genesisOf, chainIdOf, isWorthless, finalityDepth } = familyOf({ kind: 'ton' });

  test.each([
    [-239, 'main', 'tvm:-239', false],
    [-3, 'test', 'tvm:-3', true],
    [-777, 'network -777', 'tvm:-777', true],
  ])('of network %d', (global_id, name, chainId, worthless) => {
    const network = read({ global_id });
    const identity = identityOf(network as never, genesisOf(network as never) ?? '');
    expect(tonNetName(network)).toBe(name);
    expect(identity).toBe(`ton:${global_id}:network ${global_id}`);
    expect(chainIdOf(network as never)).toBe(chainId);
    expect([isWorthless(identity), isTonOfValue(global_id)]).toEqual([worthless, !worthless]);
    expect(finalityDepth(network as never)).toBe(1);
  });

  test('of another family is of no concern', () => {
    expect(isWorthless('xrpl:1:network 1')).toBe(false);
    expect(() => tonPath('ripple')).toThrow('ripple is not TON');
  });
});
