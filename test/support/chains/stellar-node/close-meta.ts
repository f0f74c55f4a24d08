import { xdr } from '@stellar/stellar-base';
import type { Fees } from './balances.ts';
import { type Hash, int64, noExtension, type StellarKey, sha256, signatureOf, uint64 } from './keys.ts';
import type { StellarTransaction } from './transaction.ts';

/** A transaction in a ledger. */
export interface Applied {
  readonly tx: StellarTransaction;
  readonly isSuccessful: boolean;
  readonly result: xdr.TransactionResult;
  /** The fee, as all fees of a ledger are taken before the first transaction. */
  readonly feeChanges: readonly xdr.LedgerEntryChange[];
  readonly meta: xdr.TransactionMeta;
}

/** Coins of the network: those of accounts and claimable balances, and the pool of fees. */
export const totalCoins = 1_000_000_000_000_000_000n;

/** Stands for what the next ledger has to be built from. */
export interface HeaderParts {
  readonly version: number;
  readonly parent: xdr.LedgerHeader | null;
  readonly seq: number;
  readonly closeTime: number;
  readonly txSet: xdr.GeneralizedTransactionSet;
  readonly applied: readonly Applied[];
  readonly feePool: bigint;
  readonly fees: Fees;
  readonly bucketListHash: Buffer;
  /** Signs the ledger's value, as a validator does. */
  readonly validator: StellarKey;
  readonly networkId: Buffer;
}

/** What a ledger's hash is made of. */
export function headerHash(header: xdr.LedgerHeader): Hash {
  return sha256(header.toXDR()).toString('hex');
}

/** The hash of all results, in the order in which the transactions were applied. */
export function resultsHash(results: readonly xdr.TransactionResultPair[]): Buffer {
  return sha256(new xdr.TransactionResultSet({ results: [...results] }).toXDR());
}

export function setHash(set: xdr.GeneralizedTransactionSet): Buffer {
  return sha256(set.toXDR());
}

export function resultPair({ tx, result }: Applied): xdr.TransactionResultPair {
  return new xdr.TransactionResultPair({ transactionHash: Buffer.from(tx.txid, 'hex'), result });
}

/** Compares the hashes of two envelopes: sets list their transactions in this order. */
export function byEnvelopeHash(one: xdr.TransactionEnvelope, other: xdr.TransactionEnvelope): number {
  return Buffer.compare(sha256(one.toXDR()), sha256(other.toXDR()));
}

/** The set of transactions that validators agree on: one phase of payments, one of contracts. */
export function transactionSet(
  previousLedgerHash: Buffer,
  transactions: readonly StellarTransaction[],
  { baseFee }: Fees,
): xdr.GeneralizedTransactionSet {
  const envelopes = (isSoroban: boolean): xdr.TransactionEnvelope[] =>
    transactions
      .filter(({ tx }) => (tx.ext().switch() === 1) === isSoroban)
      .map(({ envelope }) => envelope)
      .sort(byEnvelopeHash);
  const [classic, soroban] = [envelopes(false), envelopes(true)];
  const component = (txes: xdr.TransactionEnvelope[]): xdr.TxSetComponent =>
    xdr.TxSetComponent.txsetCompTxsMaybeDiscountedFee(
      new xdr.TxSetComponentTxsMaybeDiscountedFee({ baseFee: int64(baseFee), txes }),
    );
  const parallel = new xdr.ParallelTxsComponent({
    baseFee: soroban.length === 0 ? null : int64(baseFee),
    executionStages: soroban.length === 0 ? [] : [[soroban]],
  });
  const phases = [
    new xdr.TransactionPhase(0, classic.length === 0 ? [] : [component(classic)]),
    new xdr.TransactionPhase(1, parallel),
  ];
  return new xdr.GeneralizedTransactionSet(1, new xdr.TransactionSetV1({ previousLedgerHash, phases }));
}

export function headerOf(parts: HeaderParts): xdr.LedgerHeader {
  const { version, parent, seq, closeTime, txSet, applied, feePool, fees, bucketListHash } = parts;
  const txSetHash = setHash(txSet);
  const skipList = parent ? [...parent.skipList()] : Array.from({ length: 4 }, () => Buffer.alloc(32));
  if (seq % 50 === 0) skipList[0] = bucketListHash;
  return new xdr.LedgerHeader({
    ledgerVersion: version,
    previousLedgerHash: parent ? sha256(parent.toXDR()) : Buffer.alloc(32),
    scpValue: new xdr.StellarValue({
      txSetHash,
      closeTime: uint64(BigInt(closeTime)),
      upgrades: [],
      ext: valueSignature(parts, txSetHash),
    }),
    txSetResultHash: resultsHash(applied.map(resultPair)),
    bucketListHash,
    ledgerSeq: seq,
    totalCoins: int64(totalCoins),
    feePool: int64(feePool),
    inflationSeq: 0,
    idPool: uint64(1n),
    baseFee: Number(fees.baseFee),
    baseReserve: Number(fees.baseReserve),
    maxTxSetSize: 1_000,
    skipList,
    ext: new xdr.LedgerHeaderExt(0),
  });
}

function valueSignature({ closeTime, validator, networkId }: HeaderParts, txSetHash: Buffer): xdr.StellarValueExt {
  const kind = Buffer.alloc(4);
  kind.writeInt32BE(xdr.EnvelopeType.envelopeTypeScpvalue().value);
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(closeTime));
  const signature = signatureOf(validator, Buffer.concat([networkId, kind, txSetHash, time]));
  const nodeId = validator.pair.xdrPublicKey();
  return xdr.StellarValueExt.stellarValueSigned(new xdr.LedgerCloseValueSignature({ nodeId, signature }));
}

export function historyEntry(header: xdr.LedgerHeader, hash = headerHash(header)): xdr.LedgerHeaderHistoryEntry {
  return new xdr.LedgerHeaderHistoryEntry({
    hash: Buffer.from(hash, 'hex'),
    header,
    ext: new xdr.LedgerHeaderHistoryEntryExt(0),
  });
}

/** All that a server keeps of a ledger, as of protocol 23. */
export function closeMeta(
  ledgerHeader: xdr.LedgerHeaderHistoryEntry,
  txSet: xdr.GeneralizedTransactionSet,
  applied: readonly Applied[],
): xdr.LedgerCloseMeta {
  const txProcessing = applied.map(
    (one) =>
      new xdr.TransactionResultMetaV1({
        ext: noExtension(),
        result: resultPair(one),
        feeProcessing: [...one.feeChanges],
        txApplyProcessing: one.meta,
        postTxApplyFeeProcessing: [],
      }),
  );
  const v1 = new xdr.LedgerCloseMetaExtV1({ ext: noExtension(), sorobanFeeWrite1Kb: int64(11_800n) });
  const meta = new xdr.LedgerCloseMetaV2({
    ext: new xdr.LedgerCloseMetaExt(1, v1),
    ...{ ledgerHeader, txSet, txProcessing, upgradesProcessing: [], scpInfo: [] },
    totalByteSizeOfLiveSorobanState: uint64(0n),
    evictedKeys: [],
  });
  return new xdr.LedgerCloseMeta(2, meta);
}
