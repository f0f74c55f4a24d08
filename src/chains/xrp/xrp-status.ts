import { isDeepStrictEqual } from 'node:util';
import { NodeFault } from '../nodes/node-answer.ts';
import type { TxStatus } from '../port/chain-adapter.ts';
import { asDrops } from './xrp-answer.ts';
import type { XrpNode } from './xrp-node.ts';
import { hasLedgers, type KnownTx, type XrpState } from './xrp-state.ts';
import type { XrpTx } from './xrp-tx.ts';

/** A transaction of ours that was sent. */
interface SentTx {
  readonly txid: string;
  readonly tx: XrpTx;
}

interface StatusOptions {
  /** Ledgers before the last one that may hold it, which may hold it too. */
  readonly lifeLedgers: number;
  /**
   * Puts a question to a server of another operator; null while none answers. Null instead of a
   * function when there is no such server.
   */
  readonly askSecond: (<T>(question: (node: XrpNode) => Promise<T>) => Promise<T | null>) | null;
}

/**
 * The status of a payment. Only validated ledgers decide: no answer to a broadcast, and no
 * transaction that a server keeps for a later ledger.
 *
 * A payment that is in no ledger is dead once its last ledger is validated without it, or when
 * another transaction used its ticket or its sequence number. The server must then have searched
 * all ledgers that may hold it. With a server of another operator, nothing is final before that
 * one tells the same.
 *
 * @throws ChainError when the server lacks ledgers that may hold the payment.
 */
export async function xrpStatus(
  node: XrpNode,
  sent: SentTx,
  { lifeLedgers, askSecond }: StatusOptions,
): Promise<TxStatus> {
  const status = await statusOn(node, sent, lifeLedgers);
  if (askSecond === null || (status.state !== 'mined' && status.state !== 'dead')) return status;
  const second = await askSecond((other) => statusOn(other, sent, lifeLedgers));
  return { ...status, final: second !== null && isDeepStrictEqual(essenceOf(status), essenceOf(second)) };
}

/** What two servers must agree on. Their newest ledgers may differ. */
function essenceOf(status: TxStatus): object {
  return status.state === 'mined' ? { ...status, confirmations: 0 } : status;
}

async function statusOn(node: XrpNode, { txid, tx }: SentTx, lifeLedgers: number): Promise<TxStatus> {
  // First what it uses up, then the head, then the payment: what a ledger up to the head used is
  // then found.
  const isUsed = await isUsedUp(node, tx);
  const state = await node.state();
  const { lastLedger } = tx;
  const head = state.head.height;
  const seen = await node.tx(txid);
  if (seen !== null && seen.height !== null) return minedStatus(seen, seen.height, tx, state);
  if (!isUsed && head < lastLedger) return { state: 'waiting', until: { height: lastLedger } };
  const range = { first: Math.max(1, lastLedger - lifeLedgers), last: Math.min(head, lastLedger) };
  if (!hasLedgers(state, range.first, range.last)) {
    throw new NodeFault('no_index', `lacks ledgers from ${range.first} to ${range.last}`);
  }
  const found = await node.tx(txid, range);
  if (found !== null && found.height !== null) return minedStatus(found, found.height, tx, state);
  // A server keeps what it was asked for a while, also when it can no longer come.
  return { state: 'dead', why: isUsed ? 'conflict' : 'expired', final: true };
}

/** Whether the ticket or the sequence number of a payment is used, by it or by another. */
async function isUsedUp(node: XrpNode, { account, ticket, sequence }: XrpTx): Promise<boolean> {
  if (ticket !== null) return !(await node.tickets(account)).includes(ticket);
  const found = await node.account(account);
  return found !== null && found.sequence > sequence;
}

function minedStatus({ meta, tx: told }: KnownTx, height: number, { action }: XrpTx, { head }: XrpState): TxStatus {
  const hasSucceeded = meta.TransactionResult === 'tesSUCCESS';
  const problem = action.kind === 'payment' && hasSucceeded ? problemOf(meta, action.amount) : null;
  return {
    state: 'mined',
    height,
    confirmations: Math.max(1, head.height - height + 1),
    success: hasSucceeded && problem === null,
    ...(problem !== null && { problem }),
    fee: asDrops(told.Fee, 'fee of a transaction'),
    final: true,
  };
}

/** What is wrong with a payment that succeeded; null when it brought its amount. */
function problemOf({ delivered_amount }: KnownTx['meta'], amount: bigint): 'not_transferred' | 'short_transfer' | null {
  if (typeof delivered_amount !== 'string') return 'not_transferred';
  return asDrops(delivered_amount, 'delivered amount') === amount ? null : 'short_transfer';
}
