import { sha256 } from '@noble/hashes/sha2.js';
import { type FeeBumpTransaction, type Transaction, xdr } from '@stellar/stellar-base';
import { stellarKey } from '../../../src/chains/addresses/stellar.ts';

/** A transaction of a ledger that a test makes. */
export interface MadeTx {
  readonly tx: Transaction | FeeBumpTransaction;
  readonly result: xdr.TransactionResult;
  /** The changes that a node tells, by operation. */
  readonly changes?: readonly xdr.LedgerEntryChange[][];
}

type Closed = xdr.LedgerCloseMetaV1;

/** A ledger from a recorded one, changed; its hash and that of its results are computed again. */
export function rehashed(recorded: string, change: (ledger: Closed) => void): string {
  const meta = xdr.LedgerCloseMeta.fromXDR(recorded, 'base64');
  const ledger = meta.v1();
  change(ledger);
  const entry = ledger.ledgerHeader();
  const results = new xdr.TransactionResultSet({ results: ledger.txProcessing().map((each) => each.result()) });
  entry.header().txSetResultHash(hashOf(results.toXDR()));
  entry.hash(hashOf(entry.header().toXDR()));
  return meta.toXDR('base64');
}

/** A recorded ledger, changed, whose hashes stay. */
export function altered(recorded: string, change: (ledger: Closed) => void): string {
  const meta = xdr.LedgerCloseMeta.fromXDR(recorded, 'base64');
  change(meta.v1());
  return meta.toXDR('base64');
}

/** A ledger with other transactions than the recorded one it is made from. */
export function ledgerWith(recorded: string, made: readonly MadeTx[]): string {
  return rehashed(recorded, (ledger) => {
    ledger.txProcessing(made.map(processed));
    setTransactions(
      ledger,
      made.map(({ tx }) => tx.toEnvelope()),
    );
  });
}

/** Replaces the set of transactions. */
export function setTransactions(ledger: Closed, txes: xdr.TransactionEnvelope[]): void {
  const part = new xdr.TxSetComponentTxsMaybeDiscountedFee({ baseFee: null, txes });
  const phase = new xdr.TransactionPhase(0, [xdr.TxSetComponent.txsetCompTxsMaybeDiscountedFee(part)]);
  ledger.txSet().v1TxSet().phases([phase]);
}

function processed({ tx, result, changes = [] }: MadeTx): xdr.TransactionResultMeta {
  return new xdr.TransactionResultMeta({
    result: new xdr.TransactionResultPair({ transactionHash: tx.hash(), result }),
    feeProcessing: [],
    txApplyProcessing: metaOf(changes),
  });
}

export function metaOf(changes: readonly xdr.LedgerEntryChange[][]): xdr.TransactionMeta {
  const meta = new xdr.TransactionMetaV3({
    ext: new xdr.ExtensionPoint(0),
    txChangesBefore: [],
    operations: changes.map((each) => new xdr.OperationMeta({ changes: each })),
    txChangesAfter: [],
    sorobanMeta: null,
  });
  return new xdr.TransactionMeta(3, meta);
}

/** The result of a transaction that succeeded. */
export function success(results: xdr.OperationResultTr[]): xdr.TransactionResult {
  const inner = results.map((each) => xdr.OperationResult.opInner(each));
  return resultOf(xdr.TransactionResultResult.txSuccess(inner));
}

export function resultOf(result: xdr.TransactionResultResult): xdr.TransactionResult {
  return new xdr.TransactionResult({
    feeCharged: new xdr.Int64('100'),
    result,
    ext: new xdr.TransactionResultExt(0),
  });
}

export const done = {
  payment: (): xdr.OperationResultTr => xdr.OperationResultTr.payment(xdr.PaymentResult.paymentSuccess()),
  createAccount: (): xdr.OperationResultTr =>
    xdr.OperationResultTr.createAccount(xdr.CreateAccountResult.createAccountSuccess()),
  accountMerge: (amount: string): xdr.OperationResultTr =>
    xdr.OperationResultTr.accountMerge(xdr.AccountMergeResult.accountMergeSuccess(new xdr.Int64(amount))),
  strictReceive: (to: string, asset: xdr.Asset, amount: string): xdr.OperationResultTr =>
    xdr.OperationResultTr.pathPaymentStrictReceive(
      xdr.PathPaymentStrictReceiveResult.pathPaymentStrictReceiveSuccess(
        new xdr.PathPaymentStrictReceiveResultSuccess({ offers: [], last: lastOf(to, asset, amount) }),
      ),
    ),
  strictSend: (to: string, asset: xdr.Asset, amount: string): xdr.OperationResultTr =>
    xdr.OperationResultTr.pathPaymentStrictSend(
      xdr.PathPaymentStrictSendResult.pathPaymentStrictSendSuccess(
        new xdr.PathPaymentStrictSendResultSuccess({ offers: [], last: lastOf(to, asset, amount) }),
      ),
    ),
};

function lastOf(to: string, asset: xdr.Asset, amount: string): xdr.SimplePaymentResult {
  return new xdr.SimplePaymentResult({ destination: publicKeyOf(to), asset, amount: new xdr.Int64(amount) });
}

export function publicKeyOf(address: string): xdr.PublicKey {
  return xdr.PublicKey.publicKeyTypeEd25519(Buffer.from(stellarKey(address)));
}

/** An account with a balance, as an entry of a ledger. */
export function accountEntry(address: string, balance: string): xdr.LedgerEntry {
  const account = new xdr.AccountEntry({
    accountId: publicKeyOf(address),
    balance: new xdr.Int64(balance),
    seqNum: new xdr.Int64('1'),
    numSubEntries: 0,
    inflationDest: null,
    flags: 0,
    homeDomain: '',
    thresholds: Buffer.from([1, 0, 0, 0]),
    signers: [],
    ext: new xdr.AccountEntryExt(0),
  });
  return entryOf(xdr.LedgerEntryData.account(account));
}

/** A trust line with a balance. */
export function lineEntry(address: string, asset: xdr.TrustLineAsset, balance: string): xdr.LedgerEntry {
  const line = new xdr.TrustLineEntry({
    accountId: publicKeyOf(address),
    asset,
    balance: new xdr.Int64(balance),
    limit: new xdr.Int64('9223372036854775807'),
    flags: 1,
    ext: new xdr.TrustLineEntryExt(0),
  });
  return entryOf(xdr.LedgerEntryData.trustline(line));
}

function entryOf(data: xdr.LedgerEntryData): xdr.LedgerEntry {
  return new xdr.LedgerEntry({ lastModifiedLedgerSeq: 1, data, ext: new xdr.LedgerEntryExt(0) });
}

function hashOf(bytes: Uint8Array): Buffer {
  return Buffer.from(sha256(bytes));
}
