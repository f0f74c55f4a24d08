import { isDeepStrictEqual } from 'node:util';
import { NodeFault } from '../nodes/node-answer.ts';
import type { TxStatus } from '../port/chain-adapter.ts';
import { bigintOf } from './stellar-ledger.ts';
import { hasSucceeded, type KnownTx, type LedgerRange, type StellarNode } from './stellar-node.ts';
import type { StellarTx } from './stellar-tx.ts';

/** A transaction of ours that was sent. */
interface SentTx {
  readonly txid: string;
  readonly tx: StellarTx;
}

interface StatusOptions {
  /** Seconds before its last one in which a ledger may hold it. */
  readonly lifeSec: number;
  /**
   * Puts a question to a server of another operator; null while none answers. Null instead of a
   * function when there is no such server.
   */
  readonly askSecond: (<T>(question: (node: StellarNode) => Promise<T>) => Promise<T | null>) | null;
}

/**
 * The status of a payment. Only closed ledgers decide, and no answer to a broadcast.
 *
 * A payment that is in no ledger is dead once a ledger closed after its last second without it, or
 * when another transaction used its sequence number. The server must then have all ledgers that may
 * hold it. With a server of another operator, nothing is final before that one tells the same.
 *
 * @throws ChainError when the server lacks ledgers that may hold the payment.
 */
export async function stellarStatus(node: StellarNode, sent: SentTx, options: StatusOptions): Promise<TxStatus> {
  const { lifeSec, askSecond } = options;
  const status = await statusOn(node, sent, lifeSec);
  if (askSecond === null || (status.state !== 'mined' && status.state !== 'dead')) return status;
  const second = await askSecond((other) => statusOn(other, sent, lifeSec));
  return { ...status, final: second !== null && isDeepStrictEqual(essenceOf(status), essenceOf(second)) };
}

/** What two servers must agree on. Their newest ledgers may differ. */
function essenceOf(status: TxStatus): object {
  return status.state === 'mined' ? { ...status, confirmations: 0 } : status;
}

async function statusOn(node: StellarNode, { txid, tx }: SentTx, lifeSec: number): Promise<TxStatus> {
  // First the sequence number, then the payment: what a ledger used is then found.
  const entries = await node.entries([{ account: tx.source }]);
  const account = entries.account(tx.source);
  const isUsed = account !== null && account.sequence >= tx.sequence;
  const { found, range } = await node.tx(txid);
  // One address may lead to several servers. The one that searched must know what the first knew.
  if (range.latest < entries.latest) {
    throw new NodeFault(
      'node_behind',
      `searched up to ledger ${range.latest}, and its account is of ledger ${entries.latest}`,
    );
  }
  if (found !== null) return minedStatus(found, range);
  const lastMs = tx.maxTimeSec * 1_000;
  if (!isUsed && range.latestMs <= lastMs) return { state: 'waiting', until: { timeMs: lastMs } };
  // The first ledger may hold it that closed after it was built.
  if (range.oldestMs > lastMs - lifeSec * 1_000) {
    throw new NodeFault('no_index', `lacks ledgers that may hold ${txid}: its ledgers begin with ${range.oldest}`);
  }
  return { state: 'dead', why: isUsed ? 'conflict' : 'expired', final: true };
}

function minedStatus(found: KnownTx, range: LedgerRange): TxStatus {
  return {
    state: 'mined',
    height: found.height,
    confirmations: range.latest - found.height + 1,
    success: hasSucceeded(found),
    fee: found.isFeeRaised ? 0n : bigintOf(found.result.feeCharged()),
    final: true,
  };
}
