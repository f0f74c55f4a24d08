import type { xdr } from '@stellar/stellar-base';
import { type Params, pageOf } from './calls.ts';
import type { Applied } from './close-meta.ts';
import { invalidParams } from './errors.ts';
import type { StellarLedger } from './ledgers.ts';
import { failed, succeeded, txResult } from './results.ts';
import { chargedFee } from './rules.ts';
import { decodeTransaction, Malformed, type StellarTransaction } from './transaction.ts';
import type { View } from './view.ts';

/** https://developers.stellar.org/docs/data/apis/rpc/api-reference/methods/getTransactions */
export function getTransactions(view: View, params: Params): Record<string, unknown> {
  const { cursor, limit } = pageOf(view, params);
  const start = cursor === null ? tokenOf(Number(params.startLedger), 1) : afterCursor(cursor);
  const found: Record<string, unknown>[] = [];
  let last = 0n;
  for (let seq = Number(start >> 32n); seq <= view.head.seq && found.length < limit; seq += 1) {
    const ledger = view.ledger(seq);
    if (!ledger) throw invalidParams(`database does not contain metadata for ledger: ${seq}`);
    last = tokenOf(seq, 0);
    for (const [i, applied] of view.shown(ledger).transactions.entries()) {
      const token = tokenOf(seq, i + 1);
      if (token < start || found.length >= limit) continue;
      last = token;
      found.push({
        ...transactionJson(ledger, applied, i + 1),
        createdAt: view.faults.createdAt ?? ledger.closeTime,
      });
    }
  }
  return {
    transactions: found,
    latestLedger: view.head.seq,
    latestLedgerCloseTimestamp: view.head.closeTime,
    oldestLedger: view.oldest.seq,
    oldestLedgerCloseTimestamp: view.oldest.closeTime,
    cursor: String(last),
  };
}

/** The place of a transaction in all of history, by its ledger and its order in it. */
function tokenOf(seq: number, position: number): bigint {
  return (BigInt(seq) << 32n) | (BigInt(position) << 12n) | 1n;
}

function afterCursor(cursor: string): bigint {
  if (!/^\d{1,19}$/.test(cursor)) throw invalidParams(`strconv.ParseInt: parsing "${cursor}": invalid syntax`);
  return ((BigInt(cursor) >> 12n) + 1n) << 12n;
}

/** Members that both methods about transactions have in common. */
function transactionJson(
  ledger: StellarLedger,
  { tx, result, meta, isSuccessful }: Applied,
  applicationOrder: number,
): Record<string, unknown> {
  return {
    status: isSuccessful ? 'SUCCESS' : 'FAILED',
    txHash: tx.txid,
    applicationOrder,
    feeBump: tx.innerTxid !== null,
    envelopeXdr: tx.base64,
    resultXdr: result.toXDR('base64'),
    resultMetaXdr: meta.toXDR('base64'),
    events: eventsJson(meta),
    ledger: ledger.seq,
  };
}

function eventsJson(meta: xdr.TransactionMeta): Record<string, unknown> {
  const operations = meta.v4().operations();
  const transactionEventsXdr = meta
    .v4()
    .events()
    .map((event) => event.toXDR('base64'));
  const contractEventsXdr = operations.map((operation) => operation.events().map((event) => event.toXDR('base64')));
  return operations.length === 0 ? { transactionEventsXdr } : { transactionEventsXdr, contractEventsXdr };
}

/** https://developers.stellar.org/docs/data/apis/rpc/api-reference/methods/getTransaction */
export function getTransaction(view: View, { hash, xdrFormat = 'base64' }: Params): Record<string, unknown> {
  if (xdrFormat !== 'base64') throw invalidParams('expected xdrFormat to be base64');
  const txid = typeof hash === 'string' ? hash : '';
  if (txid.length !== 64) throw invalidParams(`unexpected hash length (${txid.length})`);
  if (!/^[0-9a-f]{64}$/i.test(txid)) throw invalidParams('incorrect hash: encoding/hex: invalid byte');
  const { head, oldest, faults } = view;
  const range = {
    latestLedger: head.seq,
    latestLedgerCloseTime: String(head.closeTime),
    oldestLedger: oldest.seq,
    oldestLedgerCloseTime: String(oldest.closeTime),
  };
  const found = view.find(txid);
  const status = faults.status ?? (found ? null : 'NOT_FOUND');
  // A server that has nothing repeats the hash, and shows the rest as empty.
  if (status === 'NOT_FOUND') {
    const nothing = { txHash: txid, applicationOrder: 0, feeBump: false, ledger: 0, createdAt: '0' };
    return { ...range, status, ...nothing, events: {} };
  }
  if (!found) return { ...range, ...invented(view, txid, status === 'SUCCESS') };
  const { ledger, applied, position } = found;
  return {
    ...range,
    ...transactionJson(ledger, applied, position),
    ...(status === null ? {} : { status }),
    txHash: txid,
    createdAt: String(faults.createdAt ?? ledger.closeTime),
  };
}

/** What a liar says of a transaction that no ledger holds. */
function invented({ chain, head }: View, txid: string, isSuccessful: boolean): Record<string, unknown> {
  const tx = chain.pool.find(txid);
  const outcome = isSuccessful ? succeeded : ({ code: 'txFailed', results: [] } as const);
  return {
    status: isSuccessful ? 'SUCCESS' : 'FAILED',
    ...{ txHash: txid, applicationOrder: 1, feeBump: false },
    ...(tx ? { envelopeXdr: tx.base64 } : {}),
    resultXdr: txResult(outcome, 100n, null).toXDR('base64'),
    ...{ events: {}, ledger: head.seq, createdAt: String(head.closeTime) },
  };
}

/** https://developers.stellar.org/docs/data/apis/rpc/api-reference/methods/sendTransaction */
export function sendTransaction(view: View, { transaction, xdrFormat = 'base64' }: Params): Record<string, unknown> {
  if (xdrFormat !== 'base64') throw invalidParams('expected xdrFormat to be base64');
  const { chain, head, faults } = view;
  let tx: StellarTransaction;
  try {
    tx = decodeTransaction(transaction, chain.passphrase);
  } catch (error) {
    if (error instanceof Malformed) throw invalidParams('invalid_xdr');
    throw error;
  }
  const { reaches = true, status, code } = faults.send ?? {};
  const honest = reaches ? chain.pool.submit(tx) : { status: 'PENDING', outcome: null };
  const outcome = code !== undefined ? failed(code) : honest.outcome;
  const shown = status ?? honest.status;
  const why = shown === 'ERROR' ? (outcome ?? failed('txInternalError')) : null;
  const fee = chargedFee(tx, chain.fees);
  return {
    ...(why === null ? {} : { errorResultXdr: txResult(why, fee, tx.innerTxid).toXDR('base64') }),
    status: shown,
    hash: tx.txid,
    latestLedger: head.seq,
    latestLedgerCloseTime: String(head.closeTime),
  };
}
