import type { Question } from './calls.ts';
import { invalidField, RpcError } from './errors.ts';
import { isoTime } from './header.ts';
import type { Submission } from './pool.ts';
import { codeOf, explanationOf } from './results.ts';
import { decodeTransaction, Malformed, numberIn, shownJson, type XrpTransaction } from './transaction.ts';

/** https://xrpl.org/docs/references/http-websocket-apis/public-api-methods/transaction-methods/submit */
export function submit({ view, params, faults }: Question): Record<string, unknown> {
  const { tx_blob: blob, fail_hard: failHard = false } = params;
  if (typeof blob !== 'string' || !/^([0-9a-f]{2})+$/i.test(blob)) throw invalidField('tx_blob');
  if (typeof failHard !== 'boolean') throw invalidField('fail_hard');
  if (faults.amendmentBlocked) throw new RpcError('amendmentBlocked');
  try {
    const { result, reaches = true } = faults.submit ?? {};
    const honest = reaches ? view.chain.pool.submit(blob, failHard) : swallowed(blob);
    return submission(honest, result ?? honest.result, view);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw new RpcError('invalidTransaction', { error_exception: error.message });
  }
}

/** Pretends to take a transaction. */
function swallowed(blob: string): Submission {
  return { tx: decodeTransaction(blob), result: 'tesSUCCESS', isApplied: true, isQueued: false, isKept: true };
}

function submission(
  { tx, isApplied, isQueued, isKept }: Submission,
  result: Submission['result'],
  { chain, head }: Question['view'],
): Record<string, unknown> {
  const next = chain.pool.open.get(String(tx.json.Account))?.sequence ?? 0;
  return {
    accepted: isApplied || isQueued || isKept,
    account_sequence_available: next,
    account_sequence_next: next,
    applied: isApplied,
    broadcast: isApplied || isQueued,
    engine_result: result,
    engine_result_code: codeOf(result),
    engine_result_message: explanationOf(result),
    kept: isKept,
    open_ledger_cost: String(chain.openFee),
    queued: isQueued,
    tx_blob: tx.blob,
    tx_json: { ...shownJson(tx.json, 2), hash: tx.txid },
    validated_ledger_index: head.header.ledger_index,
  };
}

/** https://xrpl.org/docs/references/http-websocket-apis/public-api-methods/transaction-methods/tx */
export function tx({ view, params, faults }: Question): Record<string, unknown> {
  const { transaction: txid } = params;
  if (typeof txid !== 'string' || !/^[0-9a-f]{64}$/i.test(txid)) throw invalidField('transaction');
  if (faults.amendmentBlocked) throw new RpcError('amendmentBlocked');
  const range = rangeOf(params);
  const found = view.find(txid);
  if (!found) {
    const waiting = faults.pool === 'hidden' || view.chain.find(txid) ? null : view.chain.pool.remembered(txid);
    if (waiting) return pending(waiting, view, faults.pool === 'as-validated');
    const searched = range && { searched_all: faults.searchedAll ?? view.hasAll(...range) };
    throw new RpcError('txnNotFound', searched ?? {});
  }
  const { ledger, applied } = found;
  const { ledger_index: index, close_time: date } = ledger.header;
  const position = numberIn(applied.meta, 'TransactionIndex') ?? 0;
  const ctid = compactId(index, position, view.chain.networkId);
  return {
    close_time_iso: isoTime(date),
    ...{ ctid, hash: applied.tx.txid, ledger_hash: ledger.hash, ledger_index: index, meta: applied.meta },
    tx_json: { ...shownJson(applied.tx.json, 2), ctid, date, ledger_index: index },
    validated: true,
  };
}

/** A transaction that no ledger holds. */
function pending(tx: XrpTransaction, { head }: Question['view'], isPretended: boolean): Record<string, unknown> {
  const shown = { hash: tx.txid, tx_json: shownJson(tx.json, 2), validated: isPretended };
  const meta = { AffectedNodes: [], TransactionIndex: 0, TransactionResult: 'tesSUCCESS' };
  return isPretended ? { ...shown, meta, ledger_index: head.header.ledger_index, ledger_hash: head.hash } : shown;
}

function rangeOf({ min_ledger: from, max_ledger: to }: Question['params']): [number, number] | null {
  if (from === undefined || to === undefined) return null;
  if (typeof from !== 'number' || typeof to !== 'number' || from > to) throw new RpcError('invalidLgrRange');
  if (to - from > 1_000) throw new RpcError('excessiveLgrRange');
  return [from, to];
}

/** https://xrpl.org/docs/references/http-websocket-apis/api-conventions/ctid */
function compactId(index: number, position: number, network: number): string {
  const digits = [index.toString(16).padStart(7, '0'), position.toString(16).padStart(4, '0')];
  return `C${digits.join('')}${network.toString(16).padStart(4, '0')}`.toUpperCase();
}
