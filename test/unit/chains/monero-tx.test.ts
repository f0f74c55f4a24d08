import { readFileSync } from 'node:fs';
import { receivedBy } from '../../../src/chains/monero/monero-receipt.ts';
import {
  keyImageOf,
  keyImageReservation,
  MalformedTx,
  parsedOrNull,
  parseMoneroTx,
} from '../../../src/chains/monero/monero-tx.ts';

interface Recorded {
  readonly txid: string;
  readonly keyImage: string;
  readonly fee: string;
  readonly change: string;
  readonly address: string;
  readonly viewKey: string;
  readonly raw: string;
}

const recorded: Recorded = JSON.parse(
  readFileSync(new URL('../../fixtures/monero/payment.json', import.meta.url), 'utf8'),
);

test('the txid, key image and fee of a payment are read from its bytes', () => {
  const tx = parseMoneroTx(recorded.raw);
  expect(tx).toMatchObject({ txid: recorded.txid, keyImages: [recorded.keyImage], unlockTime: 0n });
  expect(tx.fee).toBe(BigInt(recorded.fee));
  expect(tx.paid).toHaveLength(2);
});

test('the view key shows the change of a payment, and another key shows nothing', () => {
  const tx = parseMoneroTx(recorded.raw);
  expect(receivedBy(tx, recorded.address, recorded.viewKey)).toBe(BigInt(recorded.change));
  const other = `${recorded.viewKey.slice(0, 60)}0001`;
  expect(receivedBy(tx, recorded.address, other)).toBe(0n);
  expect(receivedBy({ ...tx, publicKey: null }, recorded.address, recorded.viewKey)).toBe(0n);
  expect(receivedBy({ ...tx, publicKey: 'ff'.repeat(32) }, recorded.address, recorded.viewKey)).toBe(0n);
  expect(receivedBy(tx, 'no address', recorded.viewKey)).toBe(0n);
});

test('a change of any part of a payment is another txid, or no transaction', () => {
  const { raw, txid } = recorded;
  for (let at = 0; at < raw.length; at += 62) {
    const digit = raw[at] === '0' ? '1' : '0';
    const changed = parsedOrNull(`${raw.slice(0, at)}${digit}${raw.slice(at + 1)}`);
    expect(changed?.txid).not.toBe(txid);
  }
});

test('what is no payment is refused, and never read as one', () => {
  const { raw } = recorded;
  for (const text of ['', '02', 'zz', raw.slice(0, 300), raw.slice(1), raw.toUpperCase(), `01${raw.slice(2)}`]) {
    expect(() => parseMoneroTx(text)).toThrow(MalformedTx);
    expect(parsedOrNull(text)).toBeNull();
  }
  // A count of inputs that no transaction has.
  expect(() => parseMoneroTx(`0200ffffffffffffffff7f${raw}`)).toThrow(MalformedTx);
  // A block reward.
  expect(() => parseMoneroTx(`02990101ff5d${raw.slice(12)}`)).toThrow(MalformedTx);
});

test('a reservation names its key image', () => {
  expect(keyImageOf(keyImageReservation(recorded.keyImage))).toBe(recorded.keyImage);
  for (const text of ['', 'outpoint:x:1', `keyimage:${recorded.keyImage.slice(1)}`, `keyimage:${'G'.repeat(64)}`]) {
    expect(keyImageOf(text)).toBeNull();
  }
});
