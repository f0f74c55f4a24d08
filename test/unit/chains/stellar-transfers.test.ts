import { encodeStellarAccount } from '../../../src/chains/addresses/stellar.ts';
import {
  assetName,
  type BalanceChange,
  nativeAsset,
  type PaidAsset,
  type StellarOperation,
  type ToldMemo,
} from '../../../src/chains/stellar/stellar-ledger.ts';
import { tagOf, transfersOf } from '../../../src/chains/stellar/stellar-transfers.ts';
import { memoOf } from '../../../src/chains/stellar/stellar-tx.ts';

const addressOf = (byte: number): string => encodeStellarAccount(new Uint8Array(32).fill(byte));
const [wallet, channel, theirs, other, issuer] = [1, 2, 3, 4, 5].map(addressOf) as [
  ...[string, string, string, string, string],
];
const txid = 'ab'.repeat(32);
const usdc = assetName('USDC', issuer);
const rules = { accounts: { wallet, channels: [addressOf(9), channel] }, tokens: new Map([[usdc, issuer]]) };

const coins: PaidAsset = { to: wallet, muxedId: null, asset: nativeAsset, amount: 50_000_000n };
const memo: ToldMemo = { kind: 'id', id: '7' };
const payment = { key: `${txid}:0`, txid, address: wallet, tag: '7', contract: null, amount: 50_000_000n };
const doubt = 'unusual_kind';

const changed = (account: string, asset: string, change: bigint): BalanceChange => ({ account, asset, change });

/** An operation of others that pays the wallet 5 XLM, with what a test changes. */
const operation = (change: Partial<StellarOperation> = {}): StellarOperation => ({
  source: theirs,
  paid: coins,
  changes: [changed(wallet, nativeAsset, 50_000_000n)],
  ...change,
});

const arrivals = (operations: readonly StellarOperation[], told: ToldMemo = memo) =>
  transfersOf({ transactions: [{ txid, memo: told, operations }] }, rules);
/** What a payment brings, with its change of balance. */
const paid = (change: Partial<PaidAsset>) => {
  const one = { ...coins, ...change };
  return arrivals([operation({ paid: one, changes: [changed(one.to, one.asset, one.amount)] })]);
};

describe('a payment', () => {
  test('brings what its operation says, with its tag', () => {
    expect(arrivals([operation()])).toEqual([payment]);
  });

  test('rests on the operation, and needs no change of balance', () => {
    expect(arrivals([operation({ changes: [] })])).toEqual([payment]);
  });

  test('of a listed token', () => {
    expect(paid({ asset: usdc })).toEqual([{ ...payment, contract: issuer }]);
  });

  test.each([
    ['of a token that is not listed', assetName('EURC', issuer)],
    ['of a listed code by another issuer', assetName('USDC', other)],
    ['of a listed code in other letters', assetName('usdc', issuer)],
    ['of a token with the name of the coins', assetName('XLM', issuer)],
    ['of the share of a pool', 'pool'],
  ])('%s brings nothing', (_, asset) => {
    expect(paid({ asset })).toEqual([]);
  });

  test('of 0 brings nothing', () => {
    expect(arrivals([operation({ paid: { ...coins, amount: 0n }, changes: [] })])).toEqual([]);
  });

  test('to others is told, because their addresses may be in orders', () => {
    expect(paid({ to: other })).toEqual([{ ...payment, address: other }]);
  });

  test('to a channel belongs to the wallet and to no order', () => {
    const toChannel = { ...payment, tag: null, doubt };
    expect(paid({ to: channel })).toEqual([toChannel]);
    expect(paid({ to: channel, asset: usdc, muxedId: '7' })).toEqual([{ ...toChannel, contract: issuer }]);
    expect(paid({ to: channel, asset: assetName('USDC', other) })).toEqual([]);
  });

  test.each([
    ['less', 49_999_999n],
    ['more', 50_000_001n],
  ])('is refused when the balance rose by %s', (_, change) => {
    const lied = operation({ changes: [changed(wallet, nativeAsset, change)] });
    expect(() => arrivals([lied])).toThrow(expect.objectContaining({ code: 'unsound_answer' }));
  });

  test('of a token is refused when the balance of the token rose by another amount', () => {
    const lied = operation({ paid: { ...coins, asset: usdc }, changes: [changed(wallet, usdc, 1n)] });
    expect(() => arrivals([lied])).toThrow(expect.objectContaining({ code: 'unsound_answer' }));
  });

  test.each([wallet, channel])('of our own account %s is left out', (source) => {
    expect(arrivals([operation({ source })])).toEqual([]);
    const toChannel = { paid: { ...coins, to: channel }, changes: [changed(channel, nativeAsset, 50_000_000n)] };
    expect(arrivals([operation({ source, ...toChannel })])).toEqual([]);
  });

  test('amounts above 2^53 are exact', () => {
    expect(paid({ amount: 2n ** 63n - 1n })).toEqual([{ ...payment, amount: 2n ** 63n - 1n }]);
  });
});

test('each operation of a transaction has its own key, by its place', () => {
  const operations = [operation(), operation({ source: wallet }), operation({ paid: { ...coins, to: other } })];
  expect(arrivals([...operations, operation()].map((one) => ({ ...one, changes: [] })))).toEqual([
    payment,
    { ...payment, key: `${txid}:2`, address: other },
    { ...payment, key: `${txid}:3` },
  ]);
});

test('transactions keep their order', () => {
  const second = 'cd'.repeat(32);
  const both = [txid, second].map((id) => ({ txid: id, memo, operations: [operation()] }));
  expect(transfersOf({ transactions: both }, rules).map(({ key }) => key)).toEqual([`${txid}:0`, `${second}:0`]);
});

describe('what other kinds of operations bring', () => {
  const rise = (account: string, asset: string, amount = 50_000_000n) =>
    arrivals([operation({ paid: null, changes: [changed(account, asset, amount)] })]);
  const risen = { ...payment, tag: null, doubt };

  test('to the wallet carries a doubt and no tag', () => {
    expect(rise(wallet, nativeAsset)).toEqual([{ ...risen, key: `${txid}:0:rise:${wallet}` }]);
    const key = `${txid}:0:rise:${wallet}:${usdc}`;
    expect(rise(wallet, usdc)).toEqual([{ ...risen, key, contract: issuer }]);
  });

  test('to a channel belongs to the wallet', () => {
    expect(rise(channel, nativeAsset)).toEqual([{ ...risen, key: `${txid}:0:rise:${channel}` }]);
  });

  test('in an asset that is not listed is nothing', () => {
    expect(rise(wallet, assetName('USDC', other))).toEqual([]);
    expect(rise(wallet, 'pool')).toEqual([]);
  });

  test('is nothing when the balance fell', () => {
    expect(rise(wallet, nativeAsset, -1n)).toEqual([]);
  });

  test('by our own operation is left out', () => {
    const ours = { source: wallet, paid: null, changes: [changed(wallet, usdc, 5n)] };
    expect(arrivals([ours])).toEqual([]);
  });

  test('of two assets in one operation has two keys', () => {
    const changes = [changed(wallet, nativeAsset, 1n), changed(wallet, usdc, 2n), changed(channel, nativeAsset, 3n)];
    const found = arrivals([operation({ paid: null, changes })]);
    expect(found.map(({ amount }) => amount)).toEqual([1n, 2n, 3n]);
    expect(new Set(found.map(({ key }) => key)).size).toBe(3);
  });

  test('together with a payment of the same operation is found', () => {
    const changes = [changed(wallet, nativeAsset, 50_000_000n), changed(wallet, usdc, 2n)];
    expect(arrivals([operation({ changes })])).toEqual([
      payment,
      { ...risen, key: `${txid}:0:rise:${wallet}:${usdc}`, contract: issuer, amount: 2n },
    ]);
  });

  test('together with a payment to others is found', () => {
    const changes = [changed(wallet, nativeAsset, 4n)];
    expect(arrivals([operation({ paid: { ...coins, to: other }, changes })])).toEqual([
      { ...payment, address: other },
      { ...risen, key: `${txid}:0:rise:${wallet}`, amount: 4n },
    ]);
  });
});

describe('the tag of a payment', () => {
  const text = (value: string | Buffer): ToldMemo => ({ kind: 'text', bytes: Buffer.from(value as string) });
  const id = (value: string): ToldMemo => ({ kind: 'id', id: value });
  const none: ToldMemo = { kind: 'none' };
  const hex = 'cd'.repeat(32);
  const shown = (value: string): string => `text:${Buffer.from(value).toString('hex')}`;

  test.each<[string, ToldMemo, string | null, string | null]>([
    ['no memo', none, null, null],
    ['a number', id('7'), null, '7'],
    ['the largest number', id('18446744073709551615'), null, '18446744073709551615'],
    ['number 0', id('0'), null, '0'],
    ['the number of a muxed address', none, '7', '7'],
    ['number 0 of a muxed address', none, '0', '0'],
    ['the same number twice', id('7'), '7', '7'],
    ['two numbers', id('7'), '8', '7 and 8'],
    ['a number, and 0 in the address', id('7'), '0', '7 and 0'],
    ['text', text('order 7'), null, 'order 7'],
    ['text in other letters', text('für Ånna 日本'), null, 'für Ånna 日本'],
    ['a number as text', text('7'), null, '7'],
    ['the same number as text and in the address', text('7'), '7', '7'],
    ['text and a number in the address', text('order 7'), '7', 'order 7 and 7'],
    ['leading zeros, which are another tag', text('007'), null, '007'],
    ['leading zeros, and the number in the address', text('007'), '7', '007 and 7'],
    ['empty text', text(''), null, null],
    ['empty text, and a number in the address', text(''), '7', '7'],
    ['a hash', { kind: 'hash', hex }, null, `hash:${hex}`],
    ['a hash, and a number in the address', { kind: 'hash', hex }, '7', `hash:${hex} and 7`],
    ['the hash of a refund', { kind: 'return', hex }, null, `return:${hex}`],
    ['text with a line break', text('a\nb'), null, shown('a\nb')],
    ['text with a zero byte', text('7\0'), null, shown('7\0')],
    ['text that turns its direction', text('a\u202eb'), null, shown('a\u202eb')],
    ['text with a line separator', text('a\u2028b'), null, shown('a\u2028b')],
    ['text with a paragraph separator', text('a\u2029b'), null, shown('a\u2029b')],
    ['text with a space before it', text(' 7'), null, shown(' 7')],
    ['text with a space behind it', text('7 '), null, shown('7 ')],
    ['a space', text(' '), null, shown(' ')],
    ['text that is no UTF-8', text(Buffer.from([0x37, 0xff])), null, 'text:37ff'],
    ['text with a mark of byte order', text('\ufeff7'), null, shown('\ufeff7')],
    ['text that is cut within a letter', text(Buffer.from([0x61, 0xc3])), null, 'text:61c3'],
    ['a character that stands for bytes that are no text', text('\ufffd'), null, '\ufffd'],
  ])('%s', (_, told, muxedId, tag) => {
    expect(tagOf(told, muxedId)).toBe(tag);
    expect(arrivals([operation({ paid: { ...coins, muxedId } })], told)).toEqual([{ ...payment, tag }]);
  });

  test.each([
    '0',
    '7',
    '18446744073709551615',
    'order 7',
    'für Anna',
  ])('is %p again when it was sent with that tag', (tag) => {
    const sent = memoOf(tag);
    if (sent === null) throw new Error('a tag has a memo');
    expect(tagOf('id' in sent ? id(String(sent.id)) : text(sent.text), null)).toBe(tag);
  });
});
