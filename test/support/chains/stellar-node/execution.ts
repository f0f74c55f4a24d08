import { xdr } from '@stellar/stellar-base';
import { perform } from './apply.ts';
import type { Site } from './balances.ts';
import type { Applied } from './close-meta.ts';
import { feeEvent } from './events.ts';
import { noExtension } from './keys.ts';
import type { Waiting } from './pool.ts';
import { txResult } from './results.ts';
import { chargedFee, checked } from './rules.ts';
import type { StellarTransaction } from './transaction.ts';

/** Takes the fee of a transaction, or as much of it as there is. */
export function takeFee(
  tx: StellarTransaction,
  { state, seq, fees }: Site,
): { readonly fee: bigint; readonly changes: xdr.LedgerEntryChange[] } {
  state.changes();
  const payer = state.existing(tx.feeSource);
  const wanted = chargedFee(tx, fees);
  const fee = payer.balance < wanted ? payer.balance : wanted;
  state.update(tx.feeSource, { balance: payer.balance - fee }, seq);
  return { fee, changes: state.changes() };
}

/** Applies a transaction whose fee was taken. One that fails keeps its sequence number. */
export function execute({ tx, act }: Waiting, fee: bigint, site: Site): Omit<Applied, 'feeChanges'> {
  const { state, seq, closeTime, passphrase } = site;
  const account = state.account(tx.source);
  const seqNum = (account?.seqNum ?? 0n) + 1n;
  const validity = act && account ? null : checked(tx, site, { seqNum, isCharged: true });
  const isBroken = account === null || tx.seqNum !== seqNum;
  if (tx.innerTxid !== null && state.account(tx.feeSource)) state.update(tx.feeSource, {}, seq);
  if (!isBroken) state.update(tx.source, { seqNum: tx.seqNum, seqLedger: seq, seqTime: closeTime }, seq);
  const txChangesBefore = state.changes();
  const isValid = !isBroken && (validity === null || validity.code === 'txSuccess');
  const { outcome, operations } = isValid || !validity ? perform(tx, site, act) : { outcome: validity, operations: [] };
  const v4 = new xdr.TransactionMetaV4({
    ext: noExtension(),
    txChangesBefore,
    operations: [...operations],
    txChangesAfter: [],
    sorobanMeta: sorobanMeta(tx.resourceFee, operations.length > 0),
    events: [feeEvent(tx.feeSource, fee, passphrase)],
    diagnosticEvents: [],
  });
  return {
    tx,
    isSuccessful: outcome.code === 'txSuccess',
    result: txResult(outcome, fee, tx.innerTxid),
    meta: new xdr.TransactionMeta(4, v4),
  };
}

/** Of a transaction that used a contract. */
function sorobanMeta(resourceFee: bigint, isSuccessful: boolean): xdr.SorobanTransactionMetaV2 | null {
  if (resourceFee === 0n) return null;
  const returnValue = isSuccessful ? xdr.ScVal.scvVoid() : null;
  return new xdr.SorobanTransactionMetaV2({ ext: new xdr.SorobanTransactionMetaExt(0), returnValue });
}
