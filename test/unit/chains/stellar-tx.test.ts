import { ed25519 } from '@noble/curves/ed25519.js';
import {
  Account,
  Asset,
  Keypair,
  Memo,
  MuxedAccount,
  Operation,
  TransactionBuilder,
  type xdr,
} from '@stellar/stellar-base';
import fc from 'fast-check';
import { fromUnits } from '../../../src/base/money.ts';
import { encodeStellarAccount } from '../../../src/chains/addresses/stellar.ts';
import { networkIdOf } from '../../../src/chains/stellar/stellar-section.ts';
import {
  decodePayload,
  encodePayload,
  maxAmount,
  memoEntry,
  memoOf,
  openStellarTx,
  type StellarAction,
  type StellarMemo,
  type StellarTx,
  signersOf,
  signStellarTx,
} from '../../../src/chains/stellar/stellar-tx.ts';

const passphrase = 'Test SDF Network ; September 2015';
const networkId = networkIdOf({ passphrase });
const keyOf = (byte: number) => {
  const privateKey = new Uint8Array(32).fill(byte);
  return { privateKey, publicKey: ed25519.getPublicKey(privateKey) };
};
const walletKey = keyOf(9);
const channelKey = keyOf(8);
const wallet = encodeStellarAccount(walletKey.publicKey);
const channel = encodeStellarAccount(channelKey.publicKey);
const to = encodeStellarAccount(keyOf(2).publicKey);
const usdc = { code: 'USDC', issuer: encodeStellarAccount(keyOf(3).publicKey) };
const long = { code: 'TwelveLetter', issuer: usdc.issuer };

const tx: StellarTx = {
  ...{ source: channel, wallet, fee: 100, sequence: 7n, maxTimeSec: 1_790_000_000 },
  memo: { id: 12_345n },
  action: { kind: 'payment', to, token: null, amount: 25_000_000n },
};
const fromWallet: StellarTx = { ...tx, source: wallet };
const kinds: Readonly<Record<string, StellarTx>> = {
  'a payment of coins': tx,
  'a payment of a token with a short code': { ...tx, action: { kind: 'payment', to, token: usdc, amount: 1n } },
  'a payment of a token with a long code': {
    ...{ ...fromWallet, memo: { text: 'für Anna' } },
    action: { kind: 'payment', to, token: long, amount: maxAmount },
  },
  'a new account': { ...tx, memo: null, action: { kind: 'create_account', to, amount: 15_000_000n } },
  'a trust line': { ...fromWallet, memo: null, action: { kind: 'change_trust', token: usdc } },
  'an entry that asks for memos': { ...fromWallet, memo: null, action: { kind: 'require_memo' } },
};

/** The keys of a transaction's accounts, in the order in which they sign. */
const keysOf = (one: StellarTx) => signersOf(one).map((address) => (address === wallet ? walletKey : channelKey));
const signed = (one: StellarTx) => signStellarTx(one, networkId, keysOf(one));

const account = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(encodeStellarAccount);
const amount = fc.bigInt({ min: 1n, max: maxAmount });
const letter = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789');
const codes = fc.oneof(
  fc.string({ unit: letter, minLength: 1, maxLength: 4 }),
  fc.string({ unit: letter, minLength: 5, maxLength: 12 }),
);
const token = fc.record({ code: codes, issuer: account });
const actions: fc.Arbitrary<StellarAction> = fc.oneof(
  fc.record({ kind: fc.constant('payment' as const), to: account, token: fc.option(token), amount }),
  fc.record({ kind: fc.constant('create_account' as const), to: account, amount }),
  fc.record({ kind: fc.constant('change_trust' as const), token }),
  fc.constant({ kind: 'require_memo' as const }),
);
const text = fc.string({ unit: 'binary', maxLength: 28 }).filter((one) => Buffer.byteLength(one) <= 28);
const memos: fc.Arbitrary<StellarMemo | null> = fc.oneof(
  fc.constant(null),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((id) => ({ id })),
  text.map((one) => ({ text: one })),
);
const txs: fc.Arbitrary<StellarTx> = fc.record({
  source: fc.constantFrom(wallet, channel),
  wallet: fc.constant(wallet),
  fee: fc.integer({ min: 1, max: 0xffffffff }),
  sequence: fc.bigInt({ min: 1n, max: maxAmount }),
  maxTimeSec: fc.integer({ min: 1, max: 9_999_999_999 }),
  memo: memos,
  action: actions,
});

const assetOf = ({ code, issuer }: { code: string; issuer: string }): Asset => new Asset(code, issuer);

/** The operation as the other library builds it. */
function operationOf(action: StellarAction, source?: string): xdr.Operation {
  const own = source === undefined ? {} : { source };
  switch (action.kind) {
    case 'payment': {
      const asset = action.token === null ? Asset.native() : assetOf(action.token);
      return Operation.payment({ ...own, destination: action.to, asset, amount: fromUnits(action.amount, 7) });
    }
    case 'create_account':
      return Operation.createAccount({
        ...own,
        destination: action.to,
        startingBalance: fromUnits(action.amount, 7),
      });
    case 'change_trust':
      return Operation.changeTrust({ ...own, asset: assetOf(action.token) });
    default:
      return Operation.manageData({ ...own, ...memoEntry });
  }
}

interface Parts {
  readonly source?: Account | MuxedAccount;
  readonly operations?: readonly xdr.Operation[];
  readonly memo?: Memo;
  readonly minTime?: number;
}

function otherMemo(memo: StellarMemo | null): Memo {
  if (memo === null) return Memo.none();
  return 'id' in memo ? Memo.id(String(memo.id)) : Memo.text(memo.text);
}

/** The builder of the other library, with the transaction in it but for what a test changes. */
function builderOf(one: StellarTx, parts: Parts = {}): TransactionBuilder {
  const builder = new TransactionBuilder(parts.source ?? new Account(one.source, String(one.sequence - 1n)), {
    fee: String(one.fee),
    networkPassphrase: passphrase,
    memo: parts.memo ?? otherMemo(one.memo),
    timebounds: { minTime: parts.minTime ?? 0, maxTime: one.maxTimeSec },
  });
  for (const operation of parts.operations ?? [operationOf(one.action, one.wallet)]) builder.addOperation(operation);
  return builder;
}

/** Signs with the other library, with the same keys. */
function signedElsewhere(one: StellarTx, built = builderOf(one).build()): { txid: string; raw: string } {
  for (const { privateKey } of keysOf(one)) built.sign(Keypair.fromRawEd25519Seed(Buffer.from(privateKey)));
  return { txid: built.hash().toString('hex'), raw: built.toEnvelope().toXDR('base64') };
}

describe('the bytes of a transaction', () => {
  test('are those of another library in 1,000 random transactions', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(txs, (random) => {
        const { txid, raw } = signStellarTx(random, networkId, []);
        const built = builderOf(random).build();
        expect(txid).toBe(built.hash().toString('hex'));
        expect(raw).toBe(built.toEnvelope().toXDR('base64'));
        seen.add(`${random.action.kind} ${random.memo === null ? 'none' : Object.keys(random.memo)[0]}`);
      }),
      { numRuns: 1_000, seed: 2_015 },
    );
    // Each action with each memo.
    expect(seen.size).toBe(12);
  });

  test('are those of another library when they are signed, and are read as what was signed', () => {
    fc.assert(
      fc.property(txs, (random) => {
        const ours = signed(random);
        expect(ours).toEqual(signedElsewhere(random));
        expect(openStellarTx(ours.raw, networkId)).toEqual({ txid: ours.txid, tx: random });
      }),
      { numRuns: 50, seed: 9 },
    );
  });

  test.each([
    ['an amount of 64 bits', { action: { kind: 'payment', to, token: null, amount: maxAmount + 1n } }],
    ['an amount below 0', { action: { kind: 'create_account', to, amount: -1n } }],
    ['a fee above 32 bits', { fee: 2 ** 32 }],
    ['a fee that is no whole number', { fee: 1.5 }],
    ['a sequence number below 0', { sequence: -1n }],
    ['a memo of 64 bits and more', { memo: { id: 2n ** 64n } }],
    ['a memo of 29 bytes', { memo: { text: 'x'.repeat(29) } }],
    ['a code of 13 letters', { action: { kind: 'change_trust', token: { ...usdc, code: 'Thirteenlette' } } }],
    ['no code', { action: { kind: 'change_trust', token: { ...usdc, code: '' } } }],
    ['a recipient that is no account', { action: { kind: 'create_account', to: to.slice(0, -1), amount: 1n } }],
  ] as const)('%s is refused', (_, change) => {
    expect(() => signed({ ...tx, ...change } as StellarTx)).toThrow(RangeError);
  });
});

describe.each(Object.entries(kinds))('the envelope of %s', (_name, one) => {
  const { raw, txid } = signed(one);
  const bytes = Buffer.from(raw, 'base64');
  const opened = (changed: Uint8Array) => openStellarTx(Buffer.from(changed).toString('base64'), networkId);

  test('is read', () => {
    expect(openStellarTx(raw, networkId)).toEqual({ txid, tx: one });
  });

  test('is refused with any byte changed', () => {
    for (const [at, byte] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[at] = byte ^ (1 << (at % 8));
      expect(() => opened(changed)).toThrow();
    }
  });

  test('is refused when it is cut off after any member', () => {
    for (let length = 0; length < bytes.length; length += 4) expect(() => opened(bytes.subarray(0, length))).toThrow();
  });

  test('is refused with more bytes', () => {
    for (const more of [[0], [0, 0, 0, 0]]) {
      expect(() => opened(Buffer.concat([bytes, Buffer.from(more)]))).toThrow('it has more bytes');
    }
  });

  test('is refused on another network', () => {
    const other = networkIdOf({ passphrase: 'Public Global Stellar Network ; September 2015' });
    expect(() => openStellarTx(raw, other)).toThrow('its key did not sign it');
  });

  test('is refused with another key', () => {
    const others = keysOf(one).map((_, index) => keyOf(20 + index));
    expect(() => openStellarTx(signStellarTx(one, networkId, others).raw, networkId)).toThrow('it has another key');
    // The hint of the right key, with a signature of another.
    const hinted = keysOf(one).map(({ publicKey }) => ({ privateKey: keyOf(20).privateKey, publicKey }));
    expect(() => openStellarTx(signStellarTx(one, networkId, hinted).raw, networkId)).toThrow(
      'its key did not sign it',
    );
  });

  test('is refused with a signature less or more', () => {
    const keys = keysOf(one);
    for (const other of [keys.slice(1), keys.slice(0, -1), [...keys, walletKey], []]) {
      expect(() => openStellarTx(signStellarTx(one, networkId, other).raw, networkId)).toThrow('it has another form');
    }
  });

  test.each([
    ['more padding', `${raw}=`],
    ['a line break', `${raw}\n`],
    ['a space', ` ${raw}`],
  ])('is refused in another writing: %s', (_, text) => {
    expect(() => openStellarTx(text, networkId)).toThrow('it is not base64');
  });
});

test('two signatures in the other order are refused', () => {
  const swapped = signStellarTx(tx, networkId, [walletKey, channelKey]);
  expect(swapped.txid).toBe(signed(tx).txid);
  expect(() => openStellarTx(swapped.raw, networkId)).toThrow('it has another key');
});

describe('an envelope of another library that is signed by our keys is refused', () => {
  const numbered = (address: string): string => new MuxedAccount(new Account(address, '0'), '7').accountId();
  const payment = { destination: to, asset: Asset.native(), amount: '2.5', source: wallet };
  const paymentOf = (change: object): xdr.Operation => Operation.payment({ ...payment, ...change });

  test('unless it has the form of ours', () => {
    expect(openStellarTx(signedElsewhere(tx).raw, networkId)).toEqual({ txid: signed(tx).txid, tx });
  });

  test.each<[string, Parts]>([
    ['a hash as memo', { memo: Memo.hash('ab'.repeat(32)) }],
    ['the hash of a refund as memo', { memo: Memo.return('ab'.repeat(32)) }],
    ['text that is no UTF-8', { memo: Memo.text(Buffer.from([0xff, 0xfe]) as unknown as string) }],
    ['a muxed recipient', { operations: [paymentOf({ destination: numbered(to) })] }],
    ['a muxed account that acts', { operations: [paymentOf({ source: numbered(wallet) })] }],
    ['an operation without its account', { operations: [paymentOf({ source: undefined })] }],
    ['no operation', { operations: [] }],
    ['two operations', { operations: [paymentOf({}), paymentOf({})] }],
    ['a time before which it is not valid', { minTime: 1 }],
    ['a muxed source', { source: new MuxedAccount(new Account(channel, '6'), '7') }],
    ['another operation', { operations: [Operation.accountMerge({ destination: to, source: wallet })] }],
    ['a limit on a trust line', { operations: [Operation.changeTrust({ asset: assetOf(usdc), limit: '1' })] }],
    [
      'a trust line that is removed',
      { operations: [Operation.changeTrust({ asset: assetOf(usdc), limit: '0', source: wallet })] },
    ],
    ['another entry', { operations: [Operation.manageData({ name: 'other', value: '1', source: wallet })] }],
    [
      'another value of the entry',
      { operations: [Operation.manageData({ name: memoEntry.name, value: '0', source: wallet })] },
    ],
    [
      'an entry that is removed',
      { operations: [Operation.manageData({ name: memoEntry.name, value: null, source: wallet })] },
    ],
    ['another signer of the wallet', { operations: [Operation.setOptions({ masterWeight: 0, source: wallet })] }],
  ])('%s', (_, parts) => {
    expect(() => openStellarTx(signedElsewhere(tx, builderOf(tx, parts).build()).raw, networkId)).toThrow();
  });

  test('conditions other than a last second', () => {
    const least = builderOf(tx).setMinAccountSequence('1').build();
    expect(() => openStellarTx(signedElsewhere(tx, least).raw, networkId)).toThrow('it has another form');
  });

  test('a raised fee', () => {
    const inner = builderOf(tx).build();
    signedElsewhere(tx, inner);
    const payer = Keypair.fromRawEd25519Seed(Buffer.from(walletKey.privateKey));
    const outer = TransactionBuilder.buildFeeBumpTransaction(payer, '1000', inner, passphrase);
    outer.sign(payer);
    expect(() => openStellarTx(outer.toEnvelope().toXDR('base64'), networkId)).toThrow('it has another form');
  });
});

describe('the text of an unsigned transaction', () => {
  test.each(Object.entries(kinds))('survives encoding and decoding: %s', (_, one) => {
    const payload = { channel: one.source === wallet ? 0 : 1, tx: one };
    expect(decodePayload(encodePayload(payload))).toEqual(payload);
  });

  const unsigned = encodePayload({ channel: 1, tx });
  test.each([
    ['digits in upper case', unsigned.toUpperCase()],
    [
      'one digit in upper case',
      unsigned.replace(/"tx":"(.*?)([a-f])/, (_, before, digit) => `"tx":"${before}${digit.toUpperCase()}`),
    ],
    ['another member', unsigned.replace('{', '{"extra":1,')],
    ['members in the other order', JSON.stringify({ tx: JSON.parse(unsigned).tx, channel: 1 })],
    ['a space', unsigned.replace(':', ': ')],
    ['no channel', unsigned.replace('"channel"', '"road"')],
    ['a channel as text', unsigned.replace('1,', '"1",')],
    ['a channel in another writing', unsigned.replace('1,', '1.0,')],
    ['no transaction', JSON.stringify({ channel: 1 })],
    ['more bytes', unsigned.replace('"}', '00000000"}')],
    ['bytes that are cut off', unsigned.replace(/.{8}"}/, '"}')],
    ['half a byte', unsigned.replace('"}', '0"}')],
    ['a signed one', JSON.stringify({ channel: 1, tx: Buffer.from(signed(tx).raw, 'base64').toString('hex') })],
    ['null', 'null'],
    ['no JSON', 'tx'],
    ['nothing', ''],
  ])('%s is refused', (_, other) => {
    expect(other).not.toBe(unsigned);
    expect(() => decodePayload(other)).toThrow();
  });
});

describe('the memo of a tag', () => {
  test.each<[string | null, StellarMemo | null]>([
    [null, null],
    ['0', { id: 0n }],
    ['7', { id: 7n }],
    ['18446744073709551615', { id: 2n ** 64n - 1n }],
    ['order-7', { text: 'order-7' }],
    ['-1', { text: '-1' }],
    ['1.5', { text: '1.5' }],
    ['x'.repeat(28), { text: 'x'.repeat(28) }],
    ['ü'.repeat(14), { text: 'ü'.repeat(14) }],
  ])('%p', (tag, memo) => {
    expect(memoOf(tag)).toEqual(memo);
  });

  test.each([
    ['nothing', ''],
    ['a zero before', '007'],
    ['zeros only', '00'],
    ['2^64', String(2n ** 64n)],
    ['29 letters', 'x'.repeat(29)],
    ['29 bytes', `${'ü'.repeat(14)}x`],
    ['half a character', 'a\ud800'],
  ])('none holds %s', (_, tag) => {
    expect(() => memoOf(tag)).toThrow(RangeError);
  });
});
