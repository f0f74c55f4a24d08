import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { decode, encode, encodeForSigning } from 'ripple-binary-codec';
import { encodeRippleClassic, rippleAddress } from '../../../src/chains/addresses/ripple.ts';
import {
  decodePayload,
  encodePayload,
  maxDrops,
  maxUint32,
  openXrpTx,
  readSetup,
  setupName,
  sha512Half,
  signXrpTx,
  statedNetwork,
  type XrpAction,
  type XrpTx,
} from '../../../src/chains/xrp/xrp-tx.ts';

const keyOf = (byte: number) => {
  const privateKey = new Uint8Array(32).fill(byte);
  return { privateKey, publicKey: secp256k1.getPublicKey(privateKey) };
};
const key = keyOf(9);
const to = encodeRippleClassic(new Uint8Array(20).fill(2));
const action = { kind: 'payment', to, tag: 12_345, amount: 25_000_000n } as const;
const tx: XrpTx = {
  account: rippleAddress(key.publicKey),
  action,
  fee: 10n,
  ticket: 77,
  sequence: 0,
  lastLedger: 96_000_075,
  networkId: null,
};

const account = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(encodeRippleClassic);
const number = fc.integer({ min: 0, max: maxUint32 });
const drops = fc.bigInt({ min: 0n, max: maxDrops });
const payments = fc.record({ to: account, tag: fc.option(number), amount: drops });
const actions: fc.Arbitrary<XrpAction> = fc.oneof(
  { weight: 8, arbitrary: payments.map((one) => ({ kind: 'payment' as const, ...one })) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 250 }).map((count) => ({ kind: 'tickets' as const, count })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'require_tag' as const }) },
);
const txs: fc.Arbitrary<XrpTx> = fc
  .record({
    action: actions,
    fee: drops,
    ticket: fc.option(number),
    sequence: number,
    lastLedger: number,
    network: number,
  })
  .map(({ network, ...rest }) => ({ ...rest, account: tx.account, networkId: statedNetwork(network) }));

/** The action as the other library takes it. */
function actionAsJson(one: XrpAction) {
  if (one.kind === 'tickets') return { TransactionType: 'TicketCreate', TicketCount: one.count };
  if (one.kind === 'require_tag') return { TransactionType: 'AccountSet', SetFlag: 1 };
  const tagged = one.tag === null ? {} : { DestinationTag: one.tag };
  return { TransactionType: 'Payment', Destination: one.to, Amount: String(one.amount), ...tagged };
}

function asJson({ account: from, ticket, networkId, ...rest }: XrpTx) {
  return {
    ...actionAsJson(rest.action),
    Account: from,
    Fee: String(rest.fee),
    Sequence: rest.sequence,
    LastLedgerSequence: rest.lastLedger,
    ...(ticket !== null && { TicketSequence: ticket }),
    ...(networkId !== null && { NetworkID: networkId }),
  };
}

describe('the bytes of a transaction', () => {
  test('are those of another library in 1,000 random transactions', () => {
    fc.assert(
      fc.property(txs, (random) => {
        const unsigned = JSON.parse(encodePayload({ path: 'm', tx: random })) as { tx: string };
        expect(`53545800${unsigned.tx}`).toBe(encodeForSigning(asJson(random)));
      }),
      { numRuns: 1_000 },
    );
  });

  test('are those of another library when they are signed', () => {
    fc.assert(
      fc.property(txs, (random) => {
        const { raw, txid } = signXrpTx(random, key);
        const { TxnSignature } = decode(raw) as { TxnSignature: string };
        const SigningPubKey = bytesToHex(key.publicKey).toUpperCase();
        const signed = { ...asJson(random), SigningPubKey, TxnSignature };
        expect(raw).toBe(encode(signed));
        const digest = sha512Half(hexToBytes(encodeForSigning(signed)));
        const strict = { prehash: false, lowS: true, format: 'der' } as const;
        expect(secp256k1.verify(hexToBytes(TxnSignature), digest, key.publicKey, strict)).toBe(true);
        expect(openXrpTx(raw)).toEqual({ txid, tx: random });
      }),
      { numRuns: 50 },
    );
  });

  test('give the same signature each time', () => {
    expect(signXrpTx(tx, key)).toEqual(signXrpTx({ ...tx }, key));
  });

  test('tag 0 is another payment than no tag', () => {
    const none = signXrpTx({ ...tx, action: { ...action, tag: null } }, key);
    const zero = signXrpTx({ ...tx, action: { ...action, tag: 0 } }, key);
    expect(zero.txid).not.toBe(none.txid);
    expect(openXrpTx(zero.raw).tx.action).toEqual({ ...action, tag: 0 });
    expect(openXrpTx(none.raw).tx.action).toEqual({ ...action, tag: null });
  });

  test('name the network above number 1024 only', () => {
    expect([0, 1, 1_024, 1_025, 21_337].map(statedNetwork)).toEqual([null, null, null, 1_025, 21_337]);
  });

  test.each([
    ['an amount above all drops', { action: { ...action, amount: maxDrops + 1n } }],
    ['an amount below 0', { action: { ...action, amount: -1n } }],
    ['a fee below 0', { fee: -1n }],
    ['a tag above 32 bits', { action: { ...action, tag: maxUint32 + 1 } }],
    ['a tag that is no whole number', { action: { ...action, tag: 1.5 } }],
    ['a ledger below 0', { lastLedger: -1 }],
  ])('%s is refused', (_, change) => {
    expect(() => signXrpTx({ ...tx, ...change }, key)).toThrow(RangeError);
  });
});

describe('signed bytes are refused', () => {
  const { raw } = signXrpTx(tx, key);
  const signed = decode(raw) as Record<string, unknown>;
  const changed = (change: object): string => encode({ ...signed, ...change });

  test.each([
    ['flags', { Flags: 131_072 }],
    ['a source tag', { SourceTag: 7 }],
    ['SendMax', { SendMax: '30000000' }],
    ['DeliverMin', { DeliverMin: '1' }],
    ['an invoice', { InvoiceID: 'AB'.repeat(32) }],
    ['a memo', { Memos: [{ Memo: { MemoData: 'AB' } }] }],
    ['paths', { Paths: [[{ account: to }]] }],
    ['another type', { TransactionType: 'AccountSet' }],
    ['a type of the future', { TransactionType: 'AccountDelete' }],
    ['an issued currency', { Amount: { currency: 'USD', issuer: to, value: '1' } }],
    ['a delegate', { Delegate: to }],
  ])('%s', (_, change) => {
    expect(() => openXrpTx(changed(change))).toThrow();
  });

  test('a signature of another key', () => {
    const other = signXrpTx(tx, keyOf(8));
    const { TxnSignature } = decode(other.raw) as { TxnSignature: string };
    expect(() => openXrpTx(changed({ TxnSignature }))).toThrow('its key did not sign it');
  });

  test('any change of a single byte', () => {
    for (let at = 0; at < raw.length; at += 2) {
      const byte = (Number.parseInt(raw.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0');
      expect(() => openXrpTx(raw.slice(0, at) + byte + raw.slice(at + 2))).toThrow();
    }
  });

  test.each([
    ['bytes that are cut off', raw.slice(0, -2)],
    ['bytes beyond the end', `${raw}00`],
    ['no bytes', ''],
    ['an unsigned transaction', (JSON.parse(encodePayload({ path: 'm', tx })) as { tx: string }).tx],
  ])('%s', (_, bytes) => {
    expect(() => openXrpTx(bytes)).toThrow();
  });
});

describe('the text of an unsigned transaction', () => {
  const payload = { path: "m/44'/144'/1'/0/0", tx };

  test('survives encoding and decoding', () => {
    expect(decodePayload(encodePayload(payload))).toEqual(payload);
  });

  test.each([
    ['digits in lower case', (text: string) => text.toLowerCase()],
    ['another member', (text: string) => text.replace('{', '{"extra":1,')],
    ['a space', (text: string) => text.replace(':', ': ')],
    ['no path', (text: string) => text.replace('"path"', '"road"')],
    ['a signature', () => JSON.stringify({ path: 'm', tx: signXrpTx(tx, key).raw })],
    ['no JSON', () => 'tx'],
  ])('%s is refused', (_, change) => {
    expect(() => decodePayload(change(encodePayload(payload)))).toThrow();
  });
});

describe('the name of a set-up', () => {
  test.each(['require_tag', 'tickets:1', 'tickets:40', 'tickets:250'])('%s survives reading and naming', (name) => {
    expect(setupName(readSetup(name))).toBe(name);
  });

  test.each([
    '',
    'tickets',
    'tickets:0',
    'tickets:251',
    'tickets:040',
    'tickets:-1',
    'tickets:1.5',
    'delete',
  ])('%p is none', (name) => {
    expect(() => readSetup(name)).toThrow(RangeError);
  });

  test('a payment has none', () => {
    expect(setupName(action)).toBeNull();
  });
});
