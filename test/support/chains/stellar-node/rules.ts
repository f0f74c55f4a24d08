import { malformedOutcome } from './apply.ts';
import { available, type Fees, type Site } from './balances.ts';
import type { StellarAccount } from './entries.ts';
import { failed, type Outcome, opResult, succeeded } from './results.ts';
import { isBumpSigned, type StellarTransaction, signatureCount, signedBy, sourceOf } from './transaction.ts';

/** What is asked of a transaction besides its place. */
export interface Checks {
  /** The next sequence number of the source. */
  readonly seqNum: bigint;
  /** Whether the fee was taken already. */
  readonly isCharged: boolean;
}

/** The least that a transaction must offer. */
export function minFee({ operations, innerTxid, resourceFee }: StellarTransaction, { baseFee }: Fees): bigint {
  return baseFee * BigInt(operations.length + (innerTxid === null ? 0 : 1)) + resourceFee;
}

/** What a transaction pays in a ledger that is not full. */
export function chargedFee(tx: StellarTransaction, fees: Fees): bigint {
  const least = minFee(tx, fees);
  return tx.maxFee < least ? tx.maxFee : least;
}

/** Whether a ledger of this time is too early or too late for it. */
export function timeFault({ minTime, maxTime }: StellarTransaction, closeTime: number): Outcome | null {
  if (minTime > closeTime) return failed('txTooEarly');
  return maxTime !== 0 && maxTime < closeTime ? failed('txTooLate') : null;
}

/** Whether a transaction may be applied, in the order in which the network looks. */
export function checked(tx: StellarTransaction, site: Site, { seqNum, isCharged }: Checks): Outcome {
  const { state, fees } = site;
  if (tx.operations.length === 0) return failed('txMissingOperation');
  const late = timeFault(tx, site.closeTime);
  if (late) return late;
  const offered = tx.tx.fee();
  const hasLeast = tx.maxFee >= minFee(tx, fees) && (tx.innerTxid === null || isDearer(tx, BigInt(offered)));
  if (!hasLeast) return failed('txInsufficientFee');
  const [source, payer] = [state.account(tx.source), state.account(tx.feeSource)];
  if (!source || !payer) return failed('txNoAccount');
  if (tx.seqNum !== seqNum) return failed('txBadSeq');
  if (tx.innerTxid !== null && !isBumpSigned(tx)) return failed('txBadAuth');
  const signers = candidates(tx, site);
  const signed = signedBy(tx, signers);
  if (!hasWeight(source, signed, 1)) return failed('txBadAuth');
  if (!isCharged && available(payer, fees) < tx.maxFee) return failed('txInsufficientBalance');
  const unsigned = tx.operations.map((operation) => {
    const account = state.account(sourceOf(operation, tx));
    if (!account) return signed.has(sourceOf(operation, tx)) ? null : 'opBadAuth';
    return hasWeight(account, signed, levelOf(operation.body().switch().name)) ? null : 'opBadAuth';
  });
  if (unsigned.some((code) => code !== null)) {
    return { code: 'txFailed', results: unsigned.map((code) => opResult(code ?? 'opNotSupported')) };
  }
  const wrong = malformedOutcome(tx);
  if (wrong) return wrong;
  return signatureCount(tx) > signed.size ? failed('txBadAuthExtra') : succeeded;
}

/** A fee bump must offer at least as much for each operation as the transaction in it. */
function isDearer(tx: StellarTransaction, inner: bigint): boolean {
  const count = BigInt(tx.operations.length);
  return (tx.maxFee - tx.resourceFee) * count >= (inner - tx.resourceFee) * (count + 1n);
}

/** All keys that may sign for the accounts that a transaction acts for. */
function candidates(tx: StellarTransaction, { state }: Site): Set<string> {
  const accounts = [tx.source, ...tx.operations.map((operation) => sourceOf(operation, tx))];
  const others = accounts.flatMap((address) => state.account(address)?.signers ?? []);
  return new Set([...accounts, ...others.map(({ address }) => address)]);
}

/** Index of the threshold: 1 low, 2 medium, 3 high. */
function levelOf(kind: string): 1 | 2 | 3 {
  if (kind === 'bumpSequence') return 1;
  return kind === 'accountMerge' || kind === 'setOptions' ? 3 : 2;
}

function hasWeight({ address, thresholds, signers }: StellarAccount, signed: Set<string>, level: 1 | 2 | 3): boolean {
  const master = signed.has(address) ? thresholds[0] : 0;
  const weight = signers.reduce((sum, one) => sum + (signed.has(one.address) ? one.weight : 0), master);
  return weight > 0 && weight >= thresholds[level];
}
