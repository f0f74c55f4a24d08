import { xdr } from '@stellar/stellar-base';
import {
  decorated,
  fromMuxed,
  type Hash,
  int64,
  isSignedBy,
  muxedAddress,
  muxedXdr,
  networkIdOf,
  type StellarKey,
  sha256,
  uint64,
} from './keys.ts';

/** What a sender may add; a bigint is an id. */
export type Memo =
  | bigint
  | { readonly text: string }
  | { readonly hash: Uint8Array }
  | { readonly return: Uint8Array }
  | null;

/** A transaction with its signatures. For a fee bump, `tx` is the inner one. */
export interface StellarTransaction {
  readonly envelope: xdr.TransactionEnvelope;
  readonly base64: string;
  readonly txid: Hash;
  /** Of the transaction in a fee bump; null without one. */
  readonly innerTxid: Hash | null;
  readonly tx: xdr.Transaction;
  readonly source: string;
  /** Pays the fee. */
  readonly feeSource: string;
  /** The most that it pays, in stroops. */
  readonly maxFee: bigint;
  /** The part of the fee that a contract takes. */
  readonly resourceFee: bigint;
  readonly seqNum: bigint;
  /** Seconds; 0 without a limit. */
  readonly minTime: number;
  readonly maxTime: number;
  readonly operations: readonly xdr.Operation[];
}

/** Bytes that no server takes. */
export class Malformed extends Error {}

/** What a test may say of a transaction. */
export interface Draft {
  readonly operations: readonly xdr.Operation[];
  readonly memo?: Memo;
  /** Stroops; the base fee of each operation unless told. */
  readonly fee?: bigint;
  /** The next one of the account unless told. */
  readonly seqNum?: bigint;
  /** Seconds; 0 sets no limit. */
  readonly minTime?: number;
  readonly maxTime?: number;
  /** Makes the source a muxed account. */
  readonly sourceId?: bigint;
  /** Sign as well, for the sources of operations. */
  readonly signers?: readonly StellarKey[];
  /** Makes it a transaction of a contract. */
  readonly soroban?: xdr.SorobanTransactionData;
}

export function memoXdr(memo: Memo): xdr.Memo {
  if (memo === null) return xdr.Memo.memoNone();
  if (typeof memo === 'bigint') return xdr.Memo.memoId(uint64(memo));
  if ('text' in memo) return xdr.Memo.memoText(memo.text);
  return 'hash' in memo ? xdr.Memo.memoHash(Buffer.from(memo.hash)) : xdr.Memo.memoReturn(Buffer.from(memo.return));
}

/** Signs a transaction with a known fee and sequence number. */
export function signTransaction(
  key: StellarKey,
  draft: Draft & { readonly fee: bigint; readonly seqNum: bigint },
  passphrase: string,
): StellarTransaction {
  const { operations, memo = null, fee, seqNum, minTime = 0, maxTime = 0, sourceId, signers = [], soroban } = draft;
  const times = { minTime: uint64(BigInt(minTime)), maxTime: uint64(BigInt(maxTime)) };
  const tx = new xdr.Transaction({
    sourceAccount: muxedXdr(sourceId === undefined ? key.address : muxedAddress(key.address, sourceId)),
    fee: Number(fee),
    seqNum: int64(seqNum),
    cond: xdr.Preconditions.precondTime(new xdr.TimeBounds(times)),
    memo: memoXdr(memo),
    operations: [...operations],
    ext: soroban ? new xdr.TransactionExt(1, soroban) : new xdr.TransactionExt(0),
  });
  const hash = hashOf(xdr.TransactionSignaturePayloadTaggedTransaction.envelopeTypeTx(tx), passphrase);
  const signatures = [key, ...signers].map((one) => decorated(one, hash));
  const envelope = xdr.TransactionEnvelope.envelopeTypeTx(new xdr.TransactionV1Envelope({ tx, signatures }));
  return readTransaction(envelope, passphrase);
}

/** Signs a fee bump around a transaction. */
export function signFeeBump(
  inner: xdr.TransactionEnvelope,
  key: StellarKey,
  fee: bigint,
  passphrase: string,
): StellarTransaction {
  const tx = new xdr.FeeBumpTransaction({
    feeSource: muxedXdr(key.address),
    fee: int64(fee),
    innerTx: xdr.FeeBumpTransactionInnerTx.envelopeTypeTx(inner.v1()),
    ext: new xdr.FeeBumpTransactionExt(0),
  });
  const hash = hashOf(xdr.TransactionSignaturePayloadTaggedTransaction.envelopeTypeTxFeeBump(tx), passphrase);
  const signatures = [decorated(key, hash)];
  const signed = new xdr.FeeBumpTransactionEnvelope({ tx, signatures });
  return readTransaction(xdr.TransactionEnvelope.envelopeTypeTxFeeBump(signed), passphrase);
}

/** Reads signed bytes. @throws Malformed when they are no transaction of today. */
export function decodeTransaction(base64: unknown, passphrase: string): StellarTransaction {
  try {
    const bytes = Buffer.from(String(base64), 'base64');
    if (typeof base64 !== 'string' || bytes.toString('base64') !== base64) throw new Malformed('no base64');
    return readTransaction(xdr.TransactionEnvelope.fromXDR(bytes), passphrase);
  } catch (error) {
    throw new Malformed(String(error));
  }
}

/** @throws Malformed for the envelopes of before protocol 13. */
export function readTransaction(envelope: xdr.TransactionEnvelope, passphrase: string): StellarTransaction {
  const kind = envelope.switch().name;
  if (kind === 'envelopeTypeTxV0') throw new Malformed('an envelope of version 0 is not simulated');
  const isBump = kind === 'envelopeTypeTxFeeBump';
  const tx = isBump ? envelope.feeBump().tx().innerTx().v1().tx() : envelope.v1().tx();
  const innerTxid = hashOf(xdr.TransactionSignaturePayloadTaggedTransaction.envelopeTypeTx(tx), passphrase);
  const { address: source } = fromMuxed(tx.sourceAccount());
  const times = timesOf(tx.cond());
  return {
    envelope,
    base64: envelope.toXDR('base64'),
    txid: (isBump ? outerHash(envelope, passphrase) : innerTxid).toString('hex'),
    innerTxid: isBump ? innerTxid.toString('hex') : null,
    tx,
    source,
    feeSource: isBump ? fromMuxed(envelope.feeBump().tx().feeSource()).address : source,
    maxFee: isBump ? envelope.feeBump().tx().fee().toBigInt() : BigInt(tx.fee()),
    resourceFee: tx.ext().switch() === 1 ? tx.ext().sorobanData().resourceFee().toBigInt() : 0n,
    seqNum: tx.seqNum().toBigInt(),
    minTime: Number(times?.minTime().toString() ?? 0),
    maxTime: Number(times?.maxTime().toString() ?? 0),
    operations: tx.operations(),
  };
}

/** The account that an operation acts for. */
export function sourceOf(operation: xdr.Operation, { source }: StellarTransaction): string {
  const own = operation.sourceAccount();
  return own ? fromMuxed(own).address : source;
}

/** The accounts that must sign, other than the one that pays a fee bump. */
export function signersNeeded(transaction: StellarTransaction): Set<string> {
  return new Set([transaction.source, ...transaction.operations.map((one) => sourceOf(one, transaction))]);
}

/** The keys of these that signed the transaction itself; the inner one of a fee bump. */
export function signedBy(transaction: StellarTransaction, keys: Iterable<string>): Set<string> {
  const { envelope, innerTxid, txid } = transaction;
  const signatures = innerTxid === null ? envelope.v1().signatures() : innerOf(envelope).signatures();
  return validSigners(Buffer.from(innerTxid ?? txid, 'hex'), signatures, keys);
}

/** Whether the account that pays a fee bump signed it, and no other did. */
export function isBumpSigned({ envelope, txid, feeSource }: StellarTransaction): boolean {
  const signatures = envelope.feeBump().signatures();
  return signatures.length === 1 && validSigners(Buffer.from(txid, 'hex'), signatures, [feeSource]).size === 1;
}

export function signatureCount({ envelope, innerTxid }: StellarTransaction): number {
  return (innerTxid === null ? envelope.v1() : innerOf(envelope)).signatures().length;
}

function innerOf(envelope: xdr.TransactionEnvelope): xdr.TransactionV1Envelope {
  return envelope.feeBump().tx().innerTx().v1();
}

function validSigners(hash: Buffer, signatures: xdr.DecoratedSignature[], keys: Iterable<string>): Set<string> {
  const found = [...keys].filter((address) => signatures.some((one) => isSignedBy(address, hash, one)));
  return new Set(found);
}

function timesOf(cond: xdr.Preconditions): xdr.TimeBounds | null {
  switch (cond.switch().name) {
    case 'precondTime':
      return cond.timeBounds();
    case 'precondV2':
      return cond.v2().timeBounds();
    default:
      return null;
  }
}

function outerHash(envelope: xdr.TransactionEnvelope, passphrase: string): Buffer {
  const tagged = xdr.TransactionSignaturePayloadTaggedTransaction.envelopeTypeTxFeeBump(envelope.feeBump().tx());
  return hashOf(tagged, passphrase);
}

function hashOf(taggedTransaction: xdr.TransactionSignaturePayloadTaggedTransaction, passphrase: string): Buffer {
  const networkId = networkIdOf(passphrase);
  return sha256(new xdr.TransactionSignaturePayload({ networkId, taggedTransaction }).toXDR());
}
