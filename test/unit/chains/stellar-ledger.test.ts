import { readFileSync } from 'node:fs';
import {
  Account,
  Asset,
  Keypair,
  Memo,
  MuxedAccount,
  Operation,
  StrKey,
  type Transaction,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-base';
import { txidsOf } from '../../../src/chains/stellar/stellar-hashes.ts';
import { assetName, nativeAsset, readHeader, readLedger } from '../../../src/chains/stellar/stellar-ledger.ts';
import { networkIdOf } from '../../../src/chains/stellar/stellar-section.ts';
import {
  accountEntry,
  altered,
  done,
  ledgerWith,
  type MadeTx,
  rehashed,
  resultOf,
  setTransactions,
  success,
} from '../../support/chains/stellar-ledgers.ts';

interface Recorded {
  readonly hash: string;
  readonly sequence: number;
  readonly ledgerCloseTime: string;
  readonly headerXdr: string;
  readonly metadataXdr: string;
}

const file = new URL('../../fixtures/stellar/ledgers.json', import.meta.url);
const [empty, full] = JSON.parse(readFileSync(file, 'utf8')) as [Recorded, Recorded];
const ledgers = [empty, full];

const passphrase = 'Test SDF Network ; September 2015';
const networkId = networkIdOf({ passphrase });
const [wallet, theirs, issuer] = [1, 2, 3].map((byte) =>
  Keypair.fromRawEd25519Seed(Buffer.alloc(32, byte)).publicKey(),
) as [...[string, string, string]];
const usdc = new Asset('USDC', issuer);
const long = new Asset('TwelveLetter', issuer);
const own = new Set([wallet]);
const reading = { networkId, own };
const read = (text: unknown, index = full.sequence) => readLedger(text, index, reading);
const unsound = expect.objectContaining({ code: 'unsound_answer' });

function txOf(operations: readonly xdr.Operation[], memo: Memo = Memo.none(), fee = '100'): Transaction {
  const builder = new TransactionBuilder(new Account(theirs, '7'), { fee, networkPassphrase: passphrase, memo });
  for (const operation of operations) builder.addOperation(operation);
  return builder.setTimeout(0).build();
}

const payment = Operation.payment({ destination: wallet, asset: Asset.native(), amount: '5' });
const made = (operation: xdr.Operation, result: xdr.OperationResultTr, memo?: Memo): MadeTx => ({
  tx: txOf([operation], memo),
  result: success([result]),
});
const paying = made(payment, done.payment(), Memo.id('7'));
const sound = ledgerWith(full.metadataXdr, [paying]);
/** What the first operation of a ledger with one transaction brings. */
const paidIn = (one: MadeTx) => read(ledgerWith(full.metadataXdr, [one])).transactions[0]?.operations[0]?.paid;

describe.each(ledgers)('the recorded ledger $sequence', ({
  hash,
  sequence,
  ledgerCloseTime,
  headerXdr,
  metadataXdr,
}) => {
  const header = {
    ref: {
      hash,
      height: sequence,
      parent: expect.stringMatching(/^[0-9a-f]{64}$/),
      timeMs: Number(ledgerCloseTime) * 1_000,
    },
    baseFee: 100n,
    baseReserve: 5_000_000n,
  };

  test('is read, and its hash follows from it', () => {
    expect(readHeader(headerXdr, sequence)).toEqual(header);
    expect(readHeader(headerXdr, null)).toEqual(header);
    // All of its transactions failed.
    expect(read(metadataXdr, sequence)).toEqual({ ...header, transactions: [] });
  });

  test('is refused with any byte of its header changed', () => {
    const bytes = Buffer.from(headerXdr, 'base64');
    for (const [at, byte] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[at] = byte ^ 1;
      expect(() => readHeader(changed.toString('base64'), sequence)).toThrow(unsound);
    }
  });

  test('is refused when it is cut off, or longer', () => {
    for (const read of [readHeader, (text: unknown, index: number) => readLedger(text, index, reading)]) {
      for (const text of [headerXdr, metadataXdr]) {
        const bytes = Buffer.from(text, 'base64');
        for (const other of [bytes.subarray(0, -4), bytes.subarray(4), Buffer.concat([bytes, Buffer.alloc(4)])]) {
          expect(() => read(other.toString('base64'), sequence)).toThrow(unsound);
        }
      }
    }
  });

  test('is refused for another index', () => {
    expect(() => readHeader(headerXdr, sequence + 1)).toThrow(unsound);
    expect(() => read(metadataXdr, sequence - 1)).toThrow(unsound);
  });
});

test('the second recorded ledger joins the first', () => {
  expect(readHeader(full.headerXdr, null).ref.parent).toBe(empty.hash);
});

test.each([undefined, null, 7, '', '!', {}, 'AAAA'])('%p is no ledger and no header', (text) => {
  expect(() => read(text)).toThrow(unsound);
  expect(() => readHeader(text, null)).toThrow(unsound);
});

describe('a recorded ledger is refused', () => {
  test('with a result changed', () => {
    const changed = altered(full.metadataXdr, (ledger) => {
      ledger.txProcessing()[0]?.result().result().feeCharged(new xdr.Int64('1'));
    });
    expect(() => read(changed)).toThrow(unsound);
  });

  test('with a failure told as a success', () => {
    const changed = altered(full.metadataXdr, (ledger) => {
      ledger
        .txProcessing()[1]
        ?.result()
        .result(success([done.payment(), done.payment()]));
    });
    expect(() => read(changed)).toThrow(unsound);
  });

  test('with a result left out, told twice, or in another order', () => {
    for (const change of [
      (all: xdr.TransactionResultMeta[]) => all.slice(1),
      (all: xdr.TransactionResultMeta[]) => [...all, ...all.slice(-1)],
      (all: xdr.TransactionResultMeta[]) => all.reverse(),
    ]) {
      const changed = altered(full.metadataXdr, (ledger) => ledger.txProcessing(change(ledger.txProcessing())));
      expect(() => read(changed)).toThrow(unsound);
    }
  });
});

describe('data that a contract of a stranger nests', () => {
  /** A ledger with a payment, and a call with an argument of this many lists in each other. */
  const ledgerOf = (lists: number): string => {
    let argument = xdr.ScVal.scvU32(1);
    for (let list = 0; list < lists; list += 1) argument = xdr.ScVal.scvVec([argument]);
    const call = Operation.invokeContractFunction({
      contract: StrKey.encodeContract(Buffer.alloc(32, 7)),
      function: 'nest',
      args: [],
    });
    const envelope = txOf([call]).toEnvelope();
    envelope.v1().tx().operations()[0]?.body().invokeHostFunctionOp().hostFunction().invokeContract().args([argument]);
    const hash = Buffer.from(txidsOf(envelope, networkId).txid, 'hex');
    const failed = resultOf(xdr.TransactionResultResult.txFailed([]));
    // The library's own class reads what it made, and has the bound.
    const tx = { hash: () => hash, toEnvelope: () => envelope } as unknown as Transaction;
    return ledgerWith(full.metadataXdr, [paying, { tx, result: failed }]);
  };

  test.each([60, 100, 490])('in %i levels stops no scan', (lists) => {
    expect(read(ledgerOf(lists)).transactions).toHaveLength(1);
  });

  test('in more levels than a server of the network reads is refused, as bytes and not by a crash', () => {
    expect(() => read(ledgerOf(2_000))).toThrow(unsound);
  });
});

describe('a ledger with a payment', () => {
  test('is read', () => {
    expect(read(sound).transactions).toEqual([
      {
        txid: paying.tx.hash().toString('hex'),
        memo: { kind: 'id', id: '7' },
        operations: [
          {
            source: theirs,
            paid: { to: wallet, muxedId: null, asset: nativeAsset, amount: 50_000_000n },
            changes: [],
          },
        ],
      },
    ]);
  });

  const others: [string, Transaction][] = [
    [
      'another amount',
      txOf([Operation.payment({ destination: wallet, asset: Asset.native(), amount: '6' })], Memo.id('7')),
    ],
    ['another memo', txOf([payment], Memo.id('8'))],
    ['another fee', txOf([payment], Memo.id('7'), '101')],
  ];
  test.each(others)('is refused with an envelope with %s', (_, other) => {
    const changed = altered(sound, (ledger) => setTransactions(ledger, [other.toEnvelope()]));
    expect(() => read(changed)).toThrow('a result without its transaction');
  });

  test('is refused without its envelope', () => {
    expect(() => read(altered(sound, (ledger) => setTransactions(ledger, [])))).toThrow(
      'a result without its transaction',
    );
  });

  test('is refused on another network', () => {
    const other = { own, networkId: networkIdOf({ passphrase: 'another' }) };
    expect(() => readLedger(sound, full.sequence, other)).toThrow('a result without its transaction');
  });

  test('has nothing but its signatures free', () => {
    const bytes = altered(sound, (ledger) => {
      const tx = paying.tx.toEnvelope();
      tx.v1().signatures([new xdr.DecoratedSignature({ hint: Buffer.alloc(4), signature: Buffer.alloc(64) })]);
      setTransactions(ledger, [tx]);
    });
    expect(read(bytes)).toEqual(read(sound));
  });
});

describe('a ledger that contradicts itself is refused, also with the right hashes', () => {
  const negative = Operation.payment({ destination: wallet, asset: Asset.native(), amount: '5' });
  negative.body().paymentOp().amount(new xdr.Int64('-1'));
  const created = Operation.createAccount({ destination: wallet, startingBalance: '5' });
  created.body().createAccountOp().startingBalance(new xdr.Int64('-1'));

  test.each<[string, Partial<MadeTx>]>([
    ['fewer results than operations', { result: success([]) }],
    [
      'the result of another operation',
      {
        tx: txOf([
          Operation.pathPaymentStrictSend({
            ...{ sendAsset: usdc, sendAmount: '1', destination: wallet, destAsset: Asset.native(), destMin: '1' },
          }),
        ]),
      },
    ],
    [
      'an operation that failed in a transaction that succeeded',
      {
        tx: txOf([
          Operation.pathPaymentStrictSend({
            ...{ sendAsset: usdc, sendAmount: '1', destination: wallet, destAsset: Asset.native(), destMin: '1' },
          }),
        ]),
        result: resultOf(xdr.TransactionResultResult.txSuccess([xdr.OperationResult.opBadAuth()])),
      },
    ],
    ['a payment of less than nothing', { tx: txOf([negative]) }],
    ['a new account with less than nothing', { tx: txOf([created]), result: success([done.createAccount()]) }],
    [
      'a change without the state before it',
      { changes: [[xdr.LedgerEntryChange.ledgerEntryUpdated(accountEntry(wallet, '5'))]] },
    ],
  ])('%s', (_, change) => {
    expect(() => read(ledgerWith(full.metadataXdr, [{ ...paying, ...change }]))).toThrow(unsound);
  });

  test('an index or a time out of range', () => {
    const late = rehashed(sound, (ledger) => {
      ledger.ledgerHeader().header().scpValue().closeTime(new xdr.Uint64('10000000000'));
    });
    expect(() => read(late)).toThrow('a time out of range');
    const high = rehashed(
      sound,
      (ledger) =>
        void ledger
          .ledgerHeader()
          .header()
          .ledgerSeq(2 ** 31),
    );
    expect(() => read(high, 2 ** 31)).toThrow('a ledger out of range');
  });
});

describe('what an operation brings', () => {
  const path = { destination: wallet, sendAsset: usdc, path: [] };
  const brought = { to: wallet, muxedId: null, asset: nativeAsset, amount: 50_000_000n };

  test.each<[string, MadeTx, object | null]>([
    ['a payment', paying, brought],
    [
      'a payment of a token, to a muxed address',
      made(
        Operation.payment({
          ...{ destination: new MuxedAccount(new Account(wallet, '0'), '9').accountId(), asset: usdc, amount: '5' },
        }),
        done.payment(),
      ),
      { ...brought, muxedId: '9', asset: assetName('USDC', issuer) },
    ],
    [
      'a payment of a token with a long code',
      made(Operation.payment({ destination: wallet, asset: long, amount: '5' }), done.payment()),
      { ...brought, asset: assetName('TwelveLetter', issuer) },
    ],
    [
      'a new account',
      made(Operation.createAccount({ destination: wallet, startingBalance: '5' }), done.createAccount()),
      brought,
    ],
    [
      'a path payment that fixes what arrives',
      made(
        Operation.pathPaymentStrictReceive({ ...path, sendMax: '9', destAsset: Asset.native(), destAmount: '5' }),
        done.strictReceive(wallet, Asset.native().toXDRObject(), '1'),
      ),
      brought,
    ],
    [
      'a path payment that fixes what is sent: what its result says',
      made(
        Operation.pathPaymentStrictSend({ ...path, sendAmount: '9', destAsset: Asset.native(), destMin: '1' }),
        done.strictSend(wallet, Asset.native().toXDRObject(), '50000000'),
      ),
      brought,
    ],
    ['a merge of accounts', made(Operation.accountMerge({ destination: wallet }), done.accountMerge('5')), null],
  ])('%s', (_, one, paid) => {
    expect(paidIn(one)).toEqual(paid);
  });

  test('an operation may have another account than its transaction', () => {
    const other = Operation.payment({ destination: wallet, asset: usdc, amount: '1', source: issuer });
    const ledger = ledgerWith(full.metadataXdr, [
      { tx: txOf([payment, other]), result: success([done.payment(), done.payment()]) },
    ]);
    expect(read(ledger).transactions[0]?.operations.map(({ source }) => source)).toEqual([theirs, issuer]);
  });

  test('a transaction with a raised fee has the id of the outer one, and acts as the inner one', () => {
    const inner = txOf([payment], Memo.text('Anna'));
    const payer = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 4));
    const tx = TransactionBuilder.buildFeeBumpTransaction(payer, '1000', inner, passphrase);
    const results = success([done.payment()]).result().results();
    const pair = new xdr.InnerTransactionResultPair({
      transactionHash: inner.hash(),
      result: new xdr.InnerTransactionResult({
        feeCharged: new xdr.Int64('0'),
        result: xdr.InnerTransactionResultResult.txSuccess(results),
        ext: new xdr.InnerTransactionResultExt(0),
      }),
    });
    const result = resultOf(xdr.TransactionResultResult.txFeeBumpInnerSuccess(pair));
    const [found] = read(ledgerWith(full.metadataXdr, [{ tx, result }])).transactions;
    expect(found).toMatchObject({
      txid: tx.hash().toString('hex'),
      memo: { kind: 'text', bytes: Buffer.from('Anna') },
      operations: [{ source: theirs, paid: brought }],
    });
  });

  test.each([
    ['none', Memo.none(), { kind: 'none' }],
    ['a number', Memo.id('18446744073709551615'), { kind: 'id', id: '18446744073709551615' }],
    ['bytes', Memo.text(Buffer.from([0xff, 0]) as never), { kind: 'text', bytes: Buffer.from([0xff, 0]) }],
    ['a hash', Memo.hash('ab'.repeat(32)), { kind: 'hash', hex: 'ab'.repeat(32) }],
    ['a refund', Memo.return('cd'.repeat(32)), { kind: 'return', hex: 'cd'.repeat(32) }],
  ])('a memo: %s', (_, memo, told) => {
    const ledger = ledgerWith(full.metadataXdr, [made(payment, done.payment(), memo)]);
    expect(read(ledger).transactions[0]?.memo).toEqual(told);
  });
});
