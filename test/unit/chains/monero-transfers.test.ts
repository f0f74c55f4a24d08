import { minedTransfers, waitingTransfers } from '../../../src/chains/monero/monero-transfers.ts';
import type { WalletOutput, WalletTransfer } from '../../../src/chains/monero/monero-wallet.ts';

const hash = (digit: string): string => digit.repeat(64);

const arrived = (changes: Partial<WalletTransfer> = {}): WalletTransfer => ({
  txid: hash('a'),
  address: '8address',
  place: { major: 0, minor: 7 },
  amount: 5n,
  height: 90,
  unlockTime: 0n,
  isCoinbase: false,
  isDoubleSpendSeen: false,
  ...changes,
});

const output = (changes: Partial<WalletOutput> = {}): WalletOutput => ({
  txid: hash('a'),
  publicKey: hash('1'),
  place: { major: 0, minor: 7 },
  amount: 5n,
  keyImage: null,
  isSpent: false,
  isUnlocked: true,
  isFrozen: false,
  ...changes,
});

const usual = {
  key: `${hash('a')}:7`,
  txid: hash('a'),
  address: '8address',
  tag: null,
  contract: null,
  amount: 5n,
  height: 90,
};
const unusual = { ...usual, doubt: 'unusual_kind' };

describe('what arrived in a block', () => {
  const cases: readonly (readonly [string, readonly WalletTransfer[], readonly WalletOutput[], readonly object[]])[] = [
    ['counts', [arrived()], [output()], [usual]],
    ['counts once where the wallet lists it twice', [arrived(), arrived()], [output()], [usual]],
    [
      'counts with all outputs of its transaction',
      [arrived({ amount: 9n })],
      [output(), output({ publicKey: hash('2'), amount: 4n })],
      [{ ...usual, amount: 9n }],
    ],
    ['counts also when it was spent since', [arrived()], [output({ isSpent: true })], [usual]],
    ['does not count while it is locked', [arrived({ unlockTime: 1n })], [output()], [unusual]],
    ['does not count as a block reward', [arrived({ isCoinbase: true })], [output()], [unusual]],
    ['does not count without outputs', [arrived()], [], [unusual]],
    [
      'does not count with the outputs of another address',
      [arrived()],
      [output({ place: { major: 0, minor: 8 } })],
      [unusual],
    ],
    ['does not count with the outputs of another transaction', [arrived()], [output({ txid: hash('b') })], [unusual]],
    ['does not count in full with a part of the outputs', [arrived()], [output({ amount: 4n })], [unusual]],
    ['is no deposit in another account', [arrived({ place: { major: 1, minor: 7 } })], [output()], []],
    ['is no deposit of nothing', [arrived({ amount: 0n })], [output()], []],
  ];
  test.each(cases)('%s', (_name, transfers, outputs, expected) => {
    expect(minedTransfers(transfers, outputs)).toEqual(expected);
  });

  // The wallet keeps the larger output of one key, and lists what the second one added.
  test('counts once when two transactions pay with one output key', () => {
    const second = arrived({ txid: hash('b'), amount: 3n, height: 91 });
    const kept = output({ txid: hash('b'), amount: 8n });
    const found = minedTransfers([arrived(), second], [kept]);
    expect(found.map(({ txid, amount, doubt }) => [txid, amount, doubt])).toEqual([
      [hash('a'), 5n, 'unusual_kind'],
      [hash('b'), 3n, 'unusual_kind'],
    ]);
    const repeated = minedTransfers([arrived({ amount: 10n })], [output(), output()]);
    expect(repeated.map(({ doubt }) => doubt)).toEqual(['unusual_kind']);
  });

  test('keeps amounts beyond 2^53 to the last unit', () => {
    const amount = 2n ** 64n - 1n;
    expect(minedTransfers([arrived({ amount })], [output({ amount })])).toEqual([{ ...usual, amount }]);
  });
});

test('what waits is shown unless it is locked, or another transaction spends the same', () => {
  const { height: _height, ...shown } = usual;
  expect(waitingTransfers([arrived({ height: 0 })])).toEqual([shown]);
  const hidden = [{ unlockTime: 9n }, { isDoubleSpendSeen: true }, { amount: 0n }, { place: { major: 2, minor: 0 } }];
  expect(hidden.flatMap((change) => waitingTransfers([arrived({ height: 0, ...change })]))).toEqual([]);
});
