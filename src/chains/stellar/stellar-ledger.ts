import { xdr } from '@stellar/stellar-base';
import { encodeStellarAccount } from '../addresses/stellar.ts';
import { unsound } from '../nodes/node-answer.ts';
import type { BlockRef } from '../port/chain-adapter.ts';
import { decoded, decodeXdr, maxIndex } from './stellar-decoding.ts';
import { hexOf, sha256Hex, txidsOf } from './stellar-hashes.ts';

/** A ledger that is closed, so that no later one takes it back. */
export interface StellarLedger extends StellarHeader {
  /** Each one that succeeded, in the order in which they were applied. */
  readonly transactions: readonly StellarLedgerTx[];
}

/** A header whose hash was recomputed. */
export interface StellarHeader {
  readonly ref: BlockRef & { readonly timeMs: number };
  /** In stroops: the least fee of an operation, and half of what an account must keep. */
  readonly baseFee: bigint;
  readonly baseReserve: bigint;
}

/** A transaction that succeeded. All but the changes follows from the hash of its ledger. */
export interface StellarLedgerTx {
  /** Of the outer transaction, where another account raised the fee. */
  readonly txid: string;
  readonly memo: ToldMemo;
  readonly operations: readonly StellarOperation[];
}

/** The memo of a transaction. Text is as its bytes say. */
export type ToldMemo =
  | { readonly kind: 'none' }
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'text'; readonly bytes: Buffer }
  | { readonly kind: 'hash' | 'return'; readonly hex: string };

export interface StellarOperation {
  /** The account that acts. */
  readonly source: string;
  /** What it brings to one account; null for operations that do something else. */
  readonly paid: PaidAsset | null;
  /** By how much it changed the balances of own accounts, as the node tells. */
  readonly changes: readonly BalanceChange[];
}

export interface PaidAsset {
  readonly to: string;
  /** The number in a muxed address; null in a plain one. */
  readonly muxedId: string | null;
  readonly asset: string;
  readonly amount: bigint;
}

export interface BalanceChange {
  readonly account: string;
  readonly asset: string;
  readonly change: bigint;
}

/** The name of the chain's own coin among assets. Tokens are 'USDC:GA5Z…'. */
export const nativeAsset = '';

/** Reads a header with its hash. @throws ChainError when the hash does not follow from it. */
export function readHeader(text: unknown, index: number | null): StellarHeader {
  const entry = decodeXdr('header', xdr.LedgerHeaderHistoryEntry, text);
  return headerOf(entry, index);
}

function headerOf(entry: xdr.LedgerHeaderHistoryEntry, index: number | null): StellarHeader {
  const header = entry.header();
  const hash = hexOf(entry.hash());
  if (sha256Hex(header.toXDR()) !== hash) throw unsound('a ledger whose hash does not follow from its header');
  const height = header.ledgerSeq();
  if (height > maxIndex) throw unsound('a ledger out of range');
  if (index !== null && height !== index) throw unsound(`ledger ${height} when asked for ${index}`);
  const timeSec = bigintOf(header.scpValue().closeTime());
  if (timeSec > 9_999_999_999n) throw unsound('a time out of range');
  return {
    ref: { height, hash, parent: hexOf(header.previousLedgerHash()), timeMs: Number(timeSec) * 1_000 },
    baseFee: BigInt(header.baseFee()),
    baseReserve: BigInt(header.baseReserve()),
  };
}

export interface LedgerReading {
  readonly networkId: string;
  /** Accounts whose changes of balance are read. */
  readonly own: ReadonlySet<string>;
}

/**
 * Reads a ledger with its transactions. The results follow from the hash of the ledger and name the
 * transactions by their hashes. Only the changes of balances rest on the node's word.
 *
 * @throws ChainError for a ledger that contradicts itself.
 */
export function readLedger(text: unknown, index: number, reading: LedgerReading): StellarLedger {
  const meta = decodeXdr('ledger', xdr.LedgerCloseMeta, text);
  if (meta.switch() === 0) throw unsound('a ledger of an old form');
  const ledger = meta.switch() === 1 ? meta.v1() : meta.v2();
  const header = headerOf(ledger.ledgerHeader(), index);
  const processed = ledger.txProcessing();
  const results = new xdr.TransactionResultSet({ results: processed.map((each) => each.result()) });
  if (sha256Hex(results.toXDR()) !== hexOf(ledger.ledgerHeader().header().txSetResultHash())) {
    throw unsound('results that do not follow from the header of their ledger');
  }
  const envelopes = envelopesOf(ledger.txSet(), reading.networkId);
  const transactions = processed.flatMap((each) => {
    const txid = hexOf(each.result().transactionHash());
    const results = operationResults(each.result().result());
    if (results === null) return [];
    const envelope = envelopes.get(txid);
    if (envelope === undefined) throw unsound('a result without its transaction');
    return [readTx(txid, envelope, results, changesOf(each.txApplyProcessing(), reading.own))];
  });
  return { ...header, transactions };
}

/** All transactions of a ledger by their hash. */
function envelopesOf(set: xdr.GeneralizedTransactionSet, networkId: string): Map<string, xdr.TransactionEnvelope> {
  const found = new Map<string, xdr.TransactionEnvelope>();
  const add = (envelope: xdr.TransactionEnvelope): void => void found.set(txidsOf(envelope, networkId).txid, envelope);
  for (const phase of set.v1TxSet().phases()) {
    if (phase.switch() === 0) {
      for (const part of phase.v0Components()) part.txsMaybeDiscountedFee().txes().forEach(add);
    } else {
      for (const stage of phase.parallelTxsComponent().executionStages()) for (const row of stage) row.forEach(add);
    }
  }
  return found;
}

/** The results of the operations of a transaction that succeeded; null for one that failed. */
export function operationResults(result: xdr.TransactionResult): readonly xdr.OperationResult[] | null {
  const told = result.result();
  switch (told.switch().name) {
    case 'txSuccess':
      return told.results();
    case 'txFeeBumpInnerSuccess': {
      const inner = told.innerResultPair().result().result();
      return inner.switch().name === 'txSuccess' ? inner.results() : null;
    }
    default:
      return null;
  }
}

type AnyTx = xdr.Transaction | xdr.TransactionV0;

/** The transaction that acts: the inner one, where another account raised the fee. */
export function innerTx(envelope: xdr.TransactionEnvelope): AnyTx {
  switch (envelope.switch().name) {
    case 'envelopeTypeTx':
      return envelope.v1().tx();
    case 'envelopeTypeTxV0':
      return envelope.v0().tx();
    case 'envelopeTypeTxFeeBump':
      return envelope.feeBump().tx().innerTx().v1().tx();
    default:
      throw unsound('an envelope of another type');
  }
}

/** The account whose sequence number a transaction uses. */
export function sourceOf(tx: AnyTx): string {
  return 'sourceAccountEd25519' in tx
    ? encodeStellarAccount(tx.sourceAccountEd25519())
    : accountOf(tx.sourceAccount()).id;
}

function readTx(
  txid: string,
  envelope: xdr.TransactionEnvelope,
  results: readonly xdr.OperationResult[],
  changes: readonly (readonly BalanceChange[])[],
): StellarLedgerTx {
  const tx = innerTx(envelope);
  const source = sourceOf(tx);
  const operations = tx.operations().map((operation, place): StellarOperation => {
    const own = operation.sourceAccount();
    const result = results[place];
    if (!result) throw unsound('fewer results than operations');
    // The library throws for the result of another operation.
    const paid = decoded('result of its operation', () => paidBy(operation.body(), result));
    if (paid !== null && paid.amount < 0n) throw unsound('a payment of less than nothing');
    return {
      source: own ? accountOf(own).id : source,
      paid,
      changes: changes[place] ?? [],
    };
  });
  return { txid, memo: readMemo(tx.memo()), operations };
}

function readMemo(memo: xdr.Memo): ToldMemo {
  switch (memo.switch().name) {
    case 'memoId':
      return { kind: 'id', id: memo.id().toString() };
    case 'memoText':
      return { kind: 'text', bytes: Buffer.from(memo.text()) };
    case 'memoHash':
      return { kind: 'hash', hex: hexOf(memo.hash()) };
    case 'memoReturn':
      return { kind: 'return', hex: hexOf(memo.retHash()) };
    default:
      return { kind: 'none' };
  }
}

/**
 * What an operation that succeeded brought to one account. A path payment tells the amount that
 * arrived in the operation or, where it fixes what is sent, in its result.
 */
function paidBy(body: xdr.OperationBody, result: xdr.OperationResult): PaidAsset | null {
  switch (body.switch().name) {
    case 'createAccount': {
      const operation = body.createAccountOp();
      const to = encodeStellarAccount(operation.destination().ed25519());
      return { to, muxedId: null, asset: nativeAsset, amount: bigintOf(operation.startingBalance()) };
    }
    case 'payment': {
      const operation = body.paymentOp();
      return paid(operation.destination(), operation.asset(), operation.amount());
    }
    case 'pathPaymentStrictReceive': {
      const operation = body.pathPaymentStrictReceiveOp();
      return paid(operation.destination(), operation.destAsset(), operation.destAmount());
    }
    case 'pathPaymentStrictSend': {
      const operation = body.pathPaymentStrictSendOp();
      const arrived = result.tr().pathPaymentStrictSendResult().success().last().amount();
      return paid(operation.destination(), operation.destAsset(), arrived);
    }
    default:
      return null;
  }
}

function paid(to: xdr.MuxedAccount, asset: xdr.Asset, amount: xdr.Int64): PaidAsset {
  const { id, muxedId } = accountOf(to);
  return { to: id, muxedId, asset: assetOf(asset), amount: bigintOf(amount) };
}

function accountOf(account: xdr.MuxedAccount): { readonly id: string; readonly muxedId: string | null } {
  if (account.switch().name === 'keyTypeEd25519') return { id: encodeStellarAccount(account.ed25519()), muxedId: null };
  const muxed = account.med25519();
  return { id: encodeStellarAccount(muxed.ed25519()), muxedId: muxed.id().toString() };
}

/** The name of an asset; of a share of a pool, which no one is paid with, another name. */
function assetOf(asset: xdr.Asset | xdr.TrustLineAsset): string {
  switch (asset.switch().name) {
    case 'assetTypeNative':
      return nativeAsset;
    case 'assetTypeCreditAlphanum4':
      return issuedName(asset.alphaNum4());
    case 'assetTypeCreditAlphanum12':
      return issuedName(asset.alphaNum12());
    default:
      return 'pool';
  }
}

function issuedName(asset: xdr.AlphaNum4 | xdr.AlphaNum12): string {
  return assetName(
    asset.assetCode().toString('latin1').replace(/\0+$/, ''),
    encodeStellarAccount(asset.issuer().ed25519()),
  );
}

export function assetName(code: string, issuer: string): string {
  return `${code}:${issuer}`;
}

/** The changes of own balances, by operation. */
export function changesOf(meta: xdr.TransactionMeta, own: ReadonlySet<string>): BalanceChange[][] {
  return operationMetas(meta).map((changes) => {
    const before = new Map<string, bigint>();
    const found: BalanceChange[] = [];
    for (const change of changes) {
      const told = balanceIn(change);
      if (told === null || !own.has(told.account)) continue;
      const { account, asset, balance } = told;
      const name = `${account} ${asset}`;
      const kind = change.switch().name;
      const old = kind === 'ledgerEntryCreated' ? 0n : before.get(name);
      before.set(name, balance);
      if (kind === 'ledgerEntryState' || kind === 'ledgerEntryRestored') continue;
      if (old === undefined) throw unsound('a change without the state before it');
      if (balance !== old) found.push({ account, asset, change: balance - old });
    }
    return found;
  });
}

function operationMetas(meta: xdr.TransactionMeta): (readonly xdr.LedgerEntryChange[])[] {
  switch (meta.switch() as number) {
    case 2:
      return meta
        .v2()
        .operations()
        .map((each) => each.changes());
    case 3:
      return meta
        .v3()
        .operations()
        .map((each) => each.changes());
    case 4:
      return meta
        .v4()
        .operations()
        .map((each) => each.changes());
    default:
      throw unsound('changes of an unknown form');
  }
}

interface Balance {
  readonly account: string;
  readonly asset: string;
  readonly balance: bigint;
}

/** The balance that a change tells; 0 for an entry that was removed. Null for other entries. */
function balanceIn(change: xdr.LedgerEntryChange): Balance | null {
  if (change.switch().name === 'ledgerEntryRemoved') return removedBalance(change.removed());
  const data = (change.value() as xdr.LedgerEntry).data();
  switch (data.switch().name) {
    case 'account': {
      const entry = data.account();
      return balance(entry.accountId(), nativeAsset, bigintOf(entry.balance()));
    }
    case 'trustline': {
      const entry = data.trustLine();
      return balance(entry.accountId(), assetOf(entry.asset()), bigintOf(entry.balance()));
    }
    default:
      return null;
  }
}

function removedBalance(key: xdr.LedgerKey): Balance | null {
  switch (key.switch().name) {
    case 'account':
      return balance(key.account().accountId(), nativeAsset, 0n);
    case 'trustline':
      return balance(key.trustLine().accountId(), assetOf(key.trustLine().asset()), 0n);
    default:
      return null;
  }
}

function balance(account: xdr.PublicKey, asset: string, amount: bigint): Balance {
  return { account: encodeStellarAccount(account.ed25519()), asset, balance: amount };
}

export function bigintOf(value: xdr.Int64 | xdr.Uint64): bigint {
  return BigInt(value.toString());
}
