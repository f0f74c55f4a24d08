import { familyOf } from '../../../src/chains/families/families.ts';
import {
  isStellarOfValue,
  networkIdOf,
  type StellarNetwork,
  stellarNetName,
  stellarPath,
  tokenOf,
} from '../../../src/chains/stellar/stellar-section.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import { liveLimits } from '../../../src/signer/live-limits.ts';
import { sectionReader } from '../../support/chains/network-section.ts';

const pubnet = 'Public Global Stellar Network ; September 2015';
const testnet = 'Test SDF Network ; September 2015';
const usdc = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN';
/** The example of SEP-23. */
const muxed = 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK';
const limit = { per_payment: '20000', per_day: '200000' };

const { read, faultsOf } = sectionReader<StellarNetwork>('stellar', {
  kind: 'stellar',
  passphrase: pubnet,
  nodes: [{ url: 'https://node.example/' }],
  start_height: 7,
  limits: { XLM: limit },
});

test('a section that says only what it must has the usual settings', () => {
  expect(read()).toMatchObject({
    kind: 'stellar',
    chain: 'stellar',
    passphrase: pubnet,
    finality: 'closed',
    startHeight: 7,
    pollMs: 2_000,
    reorgWindow: 20,
    stalledAfterSec: 60,
    channels: 20,
    expireAfterSec: 300,
    feeLimits: { perTransaction: '0.1', perDay: '5' },
    tokens: new Map(),
  });
  expect(liveLimits(read(), chainCoins('stellar')).assets.get('')?.perPayment).toBe(200_000_000_000n);
});

test('a section may say more', () => {
  const more = { finality: 'closed', channels: 100, expire_after_sec: 60 };
  const network = read({ ...more, tokens: { USDC: usdc }, limits: { XLM: limit, USDC: limit } });
  expect(network).toMatchObject({ channels: 100, expireAfterSec: 60, tokens: new Map([['USDC', usdc]]) });
  expect(tokenOf(network, usdc)).toEqual({ code: 'USDC', issuer: usdc });
  expect(tokenOf(network, 'USDC')).toBeNull();
  expect(liveLimits(network, chainCoins('stellar')).assets.get(usdc)?.perPayment).toBe(200_000_000_000n);
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ['no passphrase', { passphrase: undefined }, /passphrase is missing; a good value: .*Public Global Stellar/],
  ['a number as passphrase', { passphrase: 20_150_901 }, /passphrase must be the passphrase of the network/],
  ['a passphrase of 7 letters', { passphrase: 'private' }, /passphrase must be the passphrase of the network/],
  ['a passphrase of 101 letters', { passphrase: 'x'.repeat(101) }, /passphrase must be the passphrase/],
  ['a passphrase with a line break', { passphrase: `${pubnet}\n` }, /passphrase must be the passphrase/],
  ['a passphrase with other letters', { passphrase: 'Privates Nétz' }, /passphrase must be the passphrase/],
  ['a number as finality', { finality: 3 }, /finality.*closed/],
  ['the finality of another family', { finality: 'validated' }, /finality.*closed/],
  ['no channel', { channels: 0 }, /channels must lie between 1 and 100; a good value: 20$/],
  ['more channels than a question may name', { channels: 101 }, /channels must lie between 1 and 100/],
  ['half a channel', { channels: 1.5 }, /channels must be a whole number/],
  ['channels as text', { channels: '20' }, /channels must be a whole number/],
  ['an expiry that a slow server misses', { expire_after_sec: 59 }, /expire_after_sec must lie between 60 and 3600/],
  ['an expiry of more than an hour', { expire_after_sec: 3_601 }, /expire_after_sec must lie between 60 and 3600/],
  ['a token without limits', { tokens: { USDC: usdc } }, /limits\.USDC is missing, and nothing is signed/],
  ['a token that is not of the catalogue', { tokens: { USDX: usdc } }, /tokens\.USDX is no token.*did you mean USDC/],
  ['coins as token', { tokens: { XLM: usdc } }, /tokens\.XLM is no token of the catalogue/],
  ['a code as issuer', { tokens: { USDC: 'USDC' } }, /tokens\.USDC is no contract: .*; a good value: GA5ZSEJY/],
  ['an issuer with a wrong letter', { tokens: { USDC: usdc.replace(/N$/, 'M') } }, /tokens\.USDC is no contract/],
  ['a member that is none', { channel: 20 }, /channel is unknown/],
  ['no limits', { limits: undefined }, /limits\.XLM is missing/],
  ['the kind of another family', { kind: 'xrp' }, /kind does not fit stellar; a good value: stellar$/],
])('%s is a fault', (_, changes, fault) => {
  expect(faultsOf(changes)).toContainEqual(expect.stringMatching(fault));
});

test('a muxed address as issuer is read as its account', () => {
  const { tokens } = read({ tokens: { USDC: muxed }, limits: { XLM: limit, USDC: limit } });
  expect([...tokens]).toEqual([['USDC', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ']]);
});

describe('the name of the chain', () => {
  const { identityOf, genesisOf, chainIdOf, isWorthless, finalityDepth } = familyOf({ kind: 'stellar' });
  const own = 'A private network of ours';

  test.each([
    // https://namespaces.chainagnostic.org/stellar/caip2
    [pubnet, 'pubnet', 'stellar:pubnet', false],
    [testnet, 'testnet', 'stellar:testnet', true],
    ['Test SDF Future Network ; October 2022', 'futurenet', 'stellar:futurenet', true],
    [own, own, `stellar:${networkIdOf({ passphrase: own }).slice(0, 32)}`, true],
    // Other letters are another network.
    [pubnet.toLowerCase(), pubnet.toLowerCase(), expect.stringMatching(/^stellar:[0-9a-f]{32}$/), true],
  ])('of %s', (passphrase, name, chainId, worthless) => {
    const network = read({ passphrase });
    const identity = identityOf(network, genesisOf(network) ?? '');
    expect(stellarNetName(network)).toBe(name);
    expect(chainIdOf(network)).toEqual(chainId);
    expect(isWorthless(identity)).toBe(worthless);
    expect(isWorthless(identityOf(network, ''))).toBe(worthless);
    expect(isStellarOfValue(networkIdOf(network))).toBe(!worthless);
  });

  test('does not depend on what a server tells', () => {
    expect(isWorthless(identityOf(read(), testnet))).toBe(false);
    expect(isWorthless(identityOf(read({ passphrase: testnet }), pubnet))).toBe(true);
  });

  test.each([
    '',
    'stellar:',
    'stellar:testnet:',
    'xrpl:1',
    `tron:1:stellar:${'0'.repeat(64)}:`,
  ])('%p is none of this family, and has a value', (identity) => {
    expect(isWorthless(identity)).toBe(false);
  });

  test('a closed ledger is final', () => {
    expect(finalityDepth(read())).toBe(1);
  });
});

test('the ids of the public networks', () => {
  // https://developers.stellar.org/docs/networks, and what the other library hashes.
  expect(networkIdOf({ passphrase: pubnet })).toBe('7ac33997544e3175d266bd022439b22cdb16508c01163f26e5cb2a3e1045a979');
  expect(networkIdOf({ passphrase: testnet })).toBe('cee0302d59844d32bdca915c8203dd44b33fbb7edc19051ea37abedf28ecd472');
});

test('each account has its path of SEP-5', () => {
  expect([stellarPath('stellar'), stellarPath('stellar', 1), stellarPath('stellar', 100)]).toEqual([
    "m/44'/148'/0'",
    "m/44'/148'/1'",
    "m/44'/148'/100'",
  ]);
  expect(() => stellarPath('ripple')).toThrow('ripple is not Stellar');
});
