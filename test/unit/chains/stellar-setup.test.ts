import { encodeStellarAccount } from '../../../src/chains/addresses/stellar.ts';
import { readSetup, setupName } from '../../../src/chains/stellar/stellar-setup.ts';
import type { StellarAction } from '../../../src/chains/stellar/stellar-tx.ts';

const addressOf = (byte: number): string => encodeStellarAccount(new Uint8Array(32).fill(byte));
const [first, second, third] = [addressOf(11), addressOf(12), addressOf(13)];
const accounts = { wallet: addressOf(10), channels: [first, second, third] };
const issuer = addressOf(4);
const other = addressOf(2);
const tokens = new Map([['USDC', issuer]]);

describe('the name of a set-up', () => {
  test.each<[string, StellarAction]>([
    ['require_memo', { kind: 'require_memo' }],
    ['trust:USDC', { kind: 'change_trust', token: { code: 'USDC', issuer } }],
    ['channel:3:2', { kind: 'create_account', to: third, amount: 20_000_000n }],
    ['channel:1:0.0000001', { kind: 'create_account', to: first, amount: 1n }],
    ['top_up:1:0.5', { kind: 'payment', to: first, token: null, amount: 5_000_000n }],
  ])('%s survives reading and naming', (name, action) => {
    expect(readSetup(name, accounts, { tokens })).toEqual(action);
    expect(setupName(action, accounts)).toBe(name);
  });

  test('10 XLM is the most', () => {
    expect(readSetup('channel:1:10', accounts, { tokens })).toMatchObject({ amount: 100_000_000n });
  });

  test.each([
    '',
    'require_memo:',
    'require_memo:1',
    'trust',
    'trust:',
    'trust:EURC',
    'trust:usdc',
    'trust:USDC:1',
    'channel:0:1',
    'channel:4:1',
    'channel:01:1',
    'channel:1.0:1',
    'channel:-1:1',
    'channel:1',
    'channel:1:',
    'channel:1:-1',
    'channel:1:1.0',
    'channel:1:01',
    'channel:1:1e1',
    'channel:1:1.00000001',
    'channel:1:10.0000001',
    'channel:1:11',
    'channel:1:1:1',
    'top_up:1:100',
    'sideways:1:1',
    'toString',
  ])('%p is none', (name) => {
    expect(() => readSetup(name, accounts, { tokens })).toThrow(RangeError);
  });

  test('a payment to others has none', () => {
    expect(setupName({ kind: 'payment', to: other, token: null, amount: 1n }, accounts)).toBeNull();
    expect(setupName({ kind: 'create_account', to: other, amount: 1n }, accounts)).toBeNull();
  });
});
