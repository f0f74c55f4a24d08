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
  openXrpPayment,
  sha512Half,
  signXrpPayment,
  statedNetwork,
  type XrpPayment,
} from '../../../src/chains/xrp/xrp-tx.ts';

const keyOf = (byte: number) => {
  const privateKey = new Uint8Array(32).fill(byte);
  return { privateKey, publicKey: secp256k1.getPublicKey(privateKey) };
};
const key = keyOf(9);
const payment: XrpPayment = {
  account: rippleAddress(key.publicKey),
  to: encodeRippleClassic(new Uint8Array(20).fill(2)),
  tag: 12_345,
  amount: 25_000_000n,
  fee: 10n,
  ticket: 77,
  sequence: 0,
  lastLedger: 96_000_075,
  networkId: null,
};

const account = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(encodeRippleClassic);
const number = fc.integer({ min: 0, max: maxUint32 });
const drops = fc.bigInt({ min: 0n, max: maxDrops });
const payments: fc.Arbitrary<XrpPayment> = fc
  .record({
    to: account,
    tag: fc.option(number),
    amount: drops,
    fee: drops,
    ticket: fc.option(number),
    sequence: number,
    lastLedger: number,
    network: number,
  })
  .map(({ network, ...rest }) => ({ ...rest, account: payment.account, networkId: statedNetwork(network) }));

/** The payment as the other library takes it. */
function asJson({ account: from, to, tag, ticket, networkId, ...rest }: XrpPayment) {
  return {
    TransactionType: 'Payment',
    Account: from,
    Destination: to,
    Amount: String(rest.amount),
    Fee: String(rest.fee),
    Sequence: rest.sequence,
    LastLedgerSequence: rest.lastLedger,
    ...(tag !== null && { DestinationTag: tag }),
    ...(ticket !== null && { TicketSequence: ticket }),
    ...(networkId !== null && { NetworkID: networkId }),
  };
}

describe('the bytes of a payment', () => {
  test('are those of another library in 1,000 random payments', () => {
    fc.assert(
      fc.property(payments, (random) => {
        const { tx } = JSON.parse(encodePayload({ path: 'm', payment: random })) as { tx: string };
        expect(`53545800${tx}`).toBe(encodeForSigning(asJson(random)));
      }),
      { numRuns: 1_000 },
    );
  });

  test('are those of another library when they are signed', () => {
    fc.assert(
      fc.property(payments, (random) => {
        const { raw, txid } = signXrpPayment(random, key);
        const { TxnSignature } = decode(raw) as { TxnSignature: string };
        const SigningPubKey = bytesToHex(key.publicKey).toUpperCase();
        const signed = { ...asJson(random), SigningPubKey, TxnSignature };
        expect(raw).toBe(encode(signed));
        const digest = sha512Half(hexToBytes(encodeForSigning(signed)));
        const strict = { prehash: false, lowS: true, format: 'der' } as const;
        expect(secp256k1.verify(hexToBytes(TxnSignature), digest, key.publicKey, strict)).toBe(true);
        expect(openXrpPayment(raw)).toEqual({ txid, payment: random });
      }),
      { numRuns: 50 },
    );
  });

  test('give the same signature each time', () => {
    expect(signXrpPayment(payment, key)).toEqual(signXrpPayment({ ...payment }, key));
  });

  test('tag 0 is another payment than no tag', () => {
    const none = signXrpPayment({ ...payment, tag: null }, key);
    const zero = signXrpPayment({ ...payment, tag: 0 }, key);
    expect(zero.txid).not.toBe(none.txid);
    expect(openXrpPayment(zero.raw).payment.tag).toBe(0);
    expect(openXrpPayment(none.raw).payment.tag).toBeNull();
  });

  test('name the network above number 1024 only', () => {
    expect([0, 1, 1_024, 1_025, 21_337].map(statedNetwork)).toEqual([null, null, null, 1_025, 21_337]);
  });

  test.each([
    ['an amount above all drops', { amount: maxDrops + 1n }],
    ['an amount below 0', { amount: -1n }],
    ['a fee below 0', { fee: -1n }],
    ['a tag above 32 bits', { tag: maxUint32 + 1 }],
    ['a tag that is no whole number', { tag: 1.5 }],
    ['a ledger below 0', { lastLedger: -1 }],
  ])('%s is refused', (_, change) => {
    expect(() => signXrpPayment({ ...payment, ...change }, key)).toThrow(RangeError);
  });
});

describe('signed bytes are refused', () => {
  const { raw } = signXrpPayment(payment, key);
  const signed = decode(raw) as Record<string, unknown>;
  const changed = (change: object): string => encode({ ...signed, ...change });

  test.each([
    ['flags', { Flags: 131_072 }],
    ['a source tag', { SourceTag: 7 }],
    ['SendMax', { SendMax: '30000000' }],
    ['DeliverMin', { DeliverMin: '1' }],
    ['an invoice', { InvoiceID: 'AB'.repeat(32) }],
    ['a memo', { Memos: [{ Memo: { MemoData: 'AB' } }] }],
    ['paths', { Paths: [[{ account: payment.to }]] }],
    ['another type', { TransactionType: 'AccountSet' }],
    ['an issued currency', { Amount: { currency: 'USD', issuer: payment.to, value: '1' } }],
    ['a delegate', { Delegate: payment.to }],
  ])('%s', (_, change) => {
    expect(() => openXrpPayment(changed(change))).toThrow();
  });

  test('a signature of another key', () => {
    const other = signXrpPayment(payment, keyOf(8));
    const { TxnSignature } = decode(other.raw) as { TxnSignature: string };
    expect(() => openXrpPayment(changed({ TxnSignature }))).toThrow('its key did not sign it');
  });

  test('any change of a single byte', () => {
    for (let at = 0; at < raw.length; at += 2) {
      const byte = (Number.parseInt(raw.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0');
      expect(() => openXrpPayment(raw.slice(0, at) + byte + raw.slice(at + 2))).toThrow();
    }
  });

  test.each([
    ['bytes that are cut off', raw.slice(0, -2)],
    ['bytes beyond the end', `${raw}00`],
    ['no bytes', ''],
    ['an unsigned payment', (JSON.parse(encodePayload({ path: 'm', payment })) as { tx: string }).tx],
  ])('%s', (_, bytes) => {
    expect(() => openXrpPayment(bytes)).toThrow();
  });
});

describe('the text of an unsigned payment', () => {
  const payload = { path: "m/44'/144'/1'/0/0", payment };

  test('is read as it was written', () => {
    expect(decodePayload(encodePayload(payload))).toEqual(payload);
  });

  test.each([
    ['digits in lower case', (text: string) => text.toLowerCase()],
    ['another member', (text: string) => text.replace('{', '{"extra":1,')],
    ['a space', (text: string) => text.replace(':', ': ')],
    ['no path', (text: string) => text.replace('"path"', '"road"')],
    ['a signature', () => JSON.stringify({ path: 'm', tx: signXrpPayment(payment, key).raw })],
    ['no JSON', () => 'tx'],
  ])('%s is refused', (_, change) => {
    expect(() => decodePayload(change(encodePayload(payload)))).toThrow();
  });
});
