import { readFileSync } from 'node:fs';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { encode } from 'ripple-binary-codec';
import { readLedger } from '../../../src/chains/xrp/xrp-answer.ts';
import { transfersOf } from '../../../src/chains/xrp/xrp-transfers.ts';
import { sha512Half } from '../../../src/chains/xrp/xrp-tx.ts';

interface RecordedTx {
  readonly source: string;
  readonly hash: string;
  readonly tx_json: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
}

const folder = new URL('../../fixtures/xrp/', import.meta.url);

/** As a node's client reads it: numbers stay text. */
function read<T>(file: string, isText: boolean): T {
  const text = readFileSync(new URL(file, folder), 'utf8');
  return JSON.parse(text, (_, value) => (isText && typeof value === 'number' ? String(value) : value)) as T;
}

const transactions = read<RecordedTx[]>('transactions.json', false);
const asText = read<RecordedTx[]>('transactions.json', true);
const ledgers = read<Record<string, unknown>[]>('ledgers.json', true);

test.each(
  ledgers.map((ledger) => [ledger.ledger_index, ledger] as const),
)('the hash of ledger %s follows from its header', (index, ledger) => {
  const { ref } = readLedger({ ledger, validated: true }, Number(index));
  expect(ref).toMatchObject({ hash: ledger.ledger_hash, parent: ledger.parent_hash, height: Number(index) });
});

test('each member of a header is covered by its hash', () => {
  const [ledger = {}] = ledgers;
  const covered = Object.keys(ledger).filter((member) => member !== 'source');
  expect(covered).toHaveLength(10);
  for (const member of covered) {
    const old = String(ledger[member]);
    const changed = old.length === 64 ? old.replace(/^./, (first) => (first === '0' ? '1' : '0')) : `${old}1`;
    expect(() => readLedger({ ledger: { ...ledger, [member]: changed }, validated: true }, null)).toThrow();
  }
});

test('the ids of all transactions follow from their bytes', () => {
  expect(transactions).toHaveLength(11);
  for (const { hash, tx_json: tx } of transactions) {
    // Servers write the amount of a payment as DeliverMax, and hash it as Amount.
    const { DeliverMax, ...rest } = tx;
    const raw = hexToBytes(encode(DeliverMax === undefined ? tx : { ...rest, Amount: DeliverMax }).toLowerCase());
    expect(bytesToHex(sha512Half(Buffer.from('TXN\0'), raw)).toUpperCase()).toBe(hash);
  }
});

test('what recorded transactions bring', () => {
  const found = asText.map(({ hash, tx_json: tx, meta }) => {
    const transfers = transfersOf({ transactions: [{ txid: hash, tx, meta }] });
    return [String(tx.TransactionType), transfers.map(({ amount, tag, doubt }) => ({ amount, tag, doubt }))];
  });
  const unusual = { amount: expect.any(BigInt), tag: null, doubt: 'unusual_kind' };
  expect(found).toEqual([
    ['Batch', []],
    ['Batch', []],
    ['Payment', []],
    ['Payment', [{ amount: 20_000_000n, tag: null, doubt: undefined }]],
    ['PaymentChannelClaim', [{ ...unusual, amount: 98_994_394n }]],
    // A partial payment of an issued currency.
    ['Payment', []],
    // A server of that time told no delivered amount.
    ['Payment', [{ ...unusual, amount: 10_000_000_000n }]],
    // The owner of an offer gave an issued currency for coins.
    ['Payment', [{ ...unusual, amount: 42_553_192n }]],
    ['Payment', [{ ...unusual, amount: 42_553_192n }]],
    ['OfferCreate', []],
    ['Payment', []],
  ]);
});
