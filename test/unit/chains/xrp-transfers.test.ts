import { encodeRippleClassic } from '../../../src/chains/addresses/ripple.ts';
import { transfersOf } from '../../../src/chains/xrp/xrp-transfers.ts';

const ours = encodeRippleClassic(new Uint8Array(20).fill(1));
const theirs = encodeRippleClassic(new Uint8Array(20).fill(2));
const txid = 'AB'.repeat(32);

/** The change of an account's balance, as metadata tells it. */
const changed = (account: string, before: string, after: string) => ({
  ModifiedNode: {
    LedgerEntryType: 'AccountRoot',
    FinalFields: { Account: account, Balance: after },
    PreviousFields: { Balance: before },
  },
});

interface Parts {
  readonly tx?: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
}

/** A payment of 5 XRP with tag 7 to our account, with what a test changes. */
const arrivals = ({ tx = {}, meta = {} }: Parts = {}) =>
  transfersOf({
    transactions: [
      {
        txid,
        tx: { TransactionType: 'Payment', Account: theirs, Destination: ours, DestinationTag: '7', ...tx },
        meta: {
          TransactionResult: 'tesSUCCESS',
          delivered_amount: '5000000',
          AffectedNodes: [changed(theirs, '90000010', '85000000'), changed(ours, '1000000', '6000000')],
          ...meta,
        },
      },
    ],
  });

const payment = { key: `${txid}:0`, txid, address: ours, tag: '7', contract: null, amount: 5_000_000n };

test('a payment brings what was delivered, with its tag', () => {
  expect(arrivals()).toEqual([payment]);
});

test.each([
  ['Amount and DeliverMax are never read', { tx: { Amount: '9000000', DeliverMax: '9000000', Flags: '131072' } }],
  ['the tag of the sender means nothing', { tx: { SourceTag: '9' } }],
  ['an inner transaction of a Batch counts by the same rule', { tx: { Flags: '1073741824', SigningPubKey: '' } }],
])('%s', (_, parts) => {
  expect(arrivals(parts)).toEqual([payment]);
});

test('Partial payment of 1,000,000 with 1 delivered', () => {
  const meta = { delivered_amount: '1', AffectedNodes: [changed(ours, '1000000', '1000001')] };
  expect(arrivals({ tx: { DeliverMax: '1000000', Flags: '131072' }, meta })).toEqual([{ ...payment, amount: 1n }]);
});

test.each([
  ['`delivered_amount: "unavailable"`', { delivered_amount: 'unavailable' }],
  ['no delivered amount, as servers of old told', { delivered_amount: undefined }],
  ['a delivered amount that the balance contradicts', { delivered_amount: '9000000' }],
])('%s: a doubt', (_, meta) => {
  expect(arrivals({ meta })).toEqual([{ ...payment, doubt: 'unusual_kind' }]);
});

test.each([
  ['A `tec` result in a validated ledger', { meta: { TransactionResult: 'tecUNFUNDED_PAYMENT' } }],
  [
    'Issued currency or MPT named XRP',
    { meta: { delivered_amount: { currency: 'XRP', issuer: theirs, value: '5' }, AffectedNodes: [] } },
  ],
  [
    'a token of many purposes',
    { meta: { delivered_amount: { mpt_issuance_id: '00', value: '5' }, AffectedNodes: [] } },
  ],
  ['a delivered amount without a change of the balance', { meta: { AffectedNodes: [] } }],
  ['0 delivered', { meta: { delivered_amount: '0', AffectedNodes: [] } }],
  ['the outer transaction of a Batch', { tx: { TransactionType: 'Batch' }, meta: { AffectedNodes: [] } }],
])('%s: nothing', (_, parts) => {
  expect(arrivals(parts)).toEqual([]);
});

test.each([
  ['AccountDelete'],
  ['EscrowFinish'],
  ['PaymentChannelClaim'],
  ['CheckCash'],
  ['AKindOfTheFuture'],
])('%s brings us coins without a Payment: an unusual kind, found by the balance', (TransactionType) => {
  const found = arrivals({ tx: { TransactionType }, meta: { delivered_amount: undefined } });
  expect(found).toEqual([{ ...payment, key: `${txid}:rise:${ours}`, tag: null, doubt: 'unusual_kind' }]);
});

test('a payment of an issued currency that also brings us coins: an unusual kind', () => {
  const found = arrivals({ meta: { delivered_amount: { currency: 'USD', issuer: theirs, value: '5' } } });
  expect(found).toEqual([{ ...payment, key: `${txid}:rise:${ours}`, tag: null, doubt: 'unusual_kind' }]);
});

test('a new account rises from nothing', () => {
  const created = {
    CreatedNode: { LedgerEntryType: 'AccountRoot', NewFields: { Account: ours, Balance: '5000000' } },
  };
  expect(arrivals({ meta: { AffectedNodes: [created] } })).toEqual([payment]);
});

test('what has no balance of an account is passed over', () => {
  const others = [
    { ModifiedNode: { LedgerEntryType: 'RippleState', FinalFields: {}, PreviousFields: {} } },
    { ModifiedNode: { LedgerEntryType: 'AccountRoot' } },
    { ModifiedNode: { LedgerEntryType: 'AccountRoot', FinalFields: { Account: theirs }, PreviousFields: {} } },
    { DeletedNode: { LedgerEntryType: 'AccountRoot', FinalFields: { Account: theirs, Balance: '0' } } },
    changed(ours, '1000000', '6000000'),
  ];
  expect(arrivals({ meta: { AffectedNodes: others } })).toEqual([payment]);
});

test.each([
  ['no tag', undefined, null],
  ['tag 0', '0', '0'],
  ['the largest tag', '4294967295', '4294967295'],
])('%s', (_, DestinationTag, tag) => {
  expect(arrivals({ tx: { DestinationTag } })).toEqual([{ ...payment, tag }]);
});

test('the sender that pays itself is credited without a doubt, because the fee leaves the same balance', () => {
  const meta = { AffectedNodes: [changed(ours, '1000000', '5999990')] };
  expect(arrivals({ tx: { Account: ours }, meta })).toEqual([payment]);
});

test('amounts above 2^53 are exact', () => {
  const meta = { delivered_amount: '99999999999999999', AffectedNodes: [changed(ours, '0', '99999999999999999')] };
  expect(arrivals({ meta })).toEqual([{ ...payment, amount: 99_999_999_999_999_999n }]);
});

test.each([
  ['a tag that is no number', { tx: { DestinationTag: 'seven' } }],
  ['a tag above 32 bits', { tx: { DestinationTag: '4294967296' } }],
  ['a delivered amount with a fraction', { meta: { delivered_amount: '1.5' } }],
  ['a delivered amount below 0', { meta: { delivered_amount: '-1' } }],
  ['more than all coins', { meta: { delivered_amount: '100000000000000001' } }],
  ['a delivered amount in another writing', { meta: { delivered_amount: '0x10' } }],
  ['a list as delivered amount', { meta: { delivered_amount: false } }],
  ['no result', { meta: { TransactionResult: undefined } }],
  ['no type', { tx: { TransactionType: undefined } }],
  ['no changes', { meta: { AffectedNodes: undefined } }],
  ['an X-address in place of an account', { tx: { Destination: 'XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb' } }],
  ['a balance that is no amount', { meta: { AffectedNodes: [changed(ours, '1000000', 'many')] } }],
])('%s is a fault of the node', (_, parts) => {
  expect(() => arrivals(parts)).toThrow(expect.objectContaining({ code: 'unsound_answer' }));
});
