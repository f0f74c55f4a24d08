import { choose } from '../../../src/chains/monero/monero-preparation.ts';
import { paymentFaults, signedFaults } from '../../../src/chains/monero/monero-transactions.ts';
import type { DescribedTx } from '../../../src/chains/monero/monero-wallet.ts';
import type { PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';

const keys = (byte: number): SignerKeys => new SignerKeys(new Uint8Array(32).fill(byte));
/** Every address of another seed is as good as any. */
const hotWallet = keys(1).poolAddress('XMR', 9);
const recipient = keys(2).poolAddress('XMR', 1);
const stranger = keys(3).poolAddress('XMR', 1);
const image = 'ab'.repeat(32);

const intent = (changes: Partial<PaymentIntent> = {}): PaymentIntent => ({
  id: 'payment',
  attempt: 1,
  from: null,
  contract: null,
  to: recipient,
  tag: null,
  amount: 50n,
  ...changes,
});
const tx = (changes: Partial<PreparedTx> = {}): PreparedTx => ({
  payload: 'ab',
  reserves: [`keyimage:${image}`],
  fee: 3n,
  expiresAt: null,
  ...changes,
});
const described = (changes: Partial<DescribedTx> = {}): DescribedTx => ({
  amountIn: 100n,
  amountOut: 97n,
  change: 47n,
  changeAddress: hotWallet,
  fee: 3n,
  unlockTime: 0n,
  paymentId: '',
  recipients: [{ address: recipient, amount: 50n }],
  ...changes,
});

function faults(parts: { intent?: PaymentIntent; tx?: PreparedTx; described?: readonly DescribedTx[] } = {}): string[] {
  return paymentFaults({ intent: intent(), tx: tx(), described: [described()], hotWallet, ...parts });
}

test('a payment that does what was decided has no fault', () => {
  expect(faults()).toEqual([]);
  const split = described({
    change: 27n,
    recipients: [...described().recipients, { address: hotWallet, amount: 20n }],
  });
  expect(faults({ described: [split] })).toEqual([]);
  expect(faults({ described: [described({ change: 0n, changeAddress: '', amountIn: 53n, amountOut: 50n })] })).toEqual(
    [],
  );
});

describe('a payment is refused that', () => {
  const other = (change: Partial<DescribedTx>): { described: readonly DescribedTx[] } => ({
    described: [described(change)],
  });
  test.each([
    ['is none', { described: [] }],
    ['is two', { described: [described(), described()] }],
    ['pays another recipient', other({ recipients: [{ address: stranger, amount: 50n }] })],
    [
      'pays a second recipient',
      other({ recipients: [...described().recipients, { address: stranger, amount: 1n }], change: 46n }),
    ],
    ['pays more', other({ recipients: [{ address: recipient, amount: 51n }], change: 46n })],
    ['pays less', other({ recipients: [{ address: recipient, amount: 49n }], change: 48n })],
    [
      'pays its recipient twice',
      other({ recipients: [...described().recipients, ...described().recipients], change: -3n }),
    ],
    ['sends the change to another wallet', other({ changeAddress: stranger })],
    ['locks the coins', other({ unlockTime: 1n })],
    ['has a payment id', other({ paymentId: '0123456789abcdef' })],
    ['costs another fee than stated', other({ fee: 4n, amountIn: 101n })],
    ['costs no fee', { ...other({ fee: 0n, amountIn: 97n }), tx: tx({ fee: 0n }) }],
    ['has inputs of another worth', other({ amountIn: 101n })],
    ['has outputs of another worth', other({ change: 46n })],
    ['names no inputs', { tx: tx({ reserves: [] }) }],
    ['names an input of another kind', { tx: tx({ reserves: ['outpoint:x:0'] }) }],
    ['names an input twice', { tx: tx({ reserves: [`keyimage:${image}`, `keyimage:${image}`] }) }],
    ['expires', { tx: tx({ expiresAt: { height: 5 } }) }],
    ['is of a token', { intent: intent({ contract: 'token' }) }],
    ['has a tag', { intent: intent({ tag: '1' }) }],
    ['sweeps', { intent: intent({ from: ['a:0'] }) }],
    [
      'goes to the hot wallet',
      { intent: intent({ to: hotWallet }), ...other({ recipients: [{ address: hotWallet, amount: 50n }] }) },
    ],
    [
      'goes to no address',
      { intent: intent({ to: 'address' }), ...other({ recipients: [{ address: 'address', amount: 50n }] }) },
    ],
  ])('%s', (_name, parts) => {
    expect(faults(parts)).not.toEqual([]);
  });
});

test('signed bytes leave only with the inputs, the fee and the lock that were asked for', () => {
  const paid = [
    { key: image, sealedAmount: '00'.repeat(8) },
    { key: image, sealedAmount: '00'.repeat(8) },
  ];
  const signed = { txid: image, unlockTime: 0n, keyImages: [image], paid, publicKey: image, fee: 3n };
  expect(signedFaults(signed, tx(), [described()])).toEqual([]);
  const changes = [
    { keyImages: [] },
    { keyImages: ['cd'.repeat(32)] },
    { keyImages: [image, 'cd'.repeat(32)] },
    { fee: 4n },
    { unlockTime: 1n },
    { paid: [] },
  ];
  for (const change of changes) {
    expect(signedFaults({ ...signed, ...change }, tx(), [described()])).toHaveLength(1);
  }
});

test('a payment takes the smallest output that suffices, or else the fewest', () => {
  const of = (...amounts: readonly bigint[]) => amounts.map((amount) => ({ amount }));
  expect(choose(of(9n, 3n, 5n), 4n)).toEqual(of(5n));
  expect(choose(of(9n, 3n, 5n), 10n)).toEqual(of(9n, 5n));
  expect(choose(of(9n, 3n, 5n), 17n)).toEqual(of(9n, 5n, 3n));
  expect(choose(of(9n, 3n, 5n), 18n)).toBeNull();
  expect(choose([], 1n)).toBeNull();
});
