import { isDeepStrictEqual } from 'node:util';
import { NodeFault } from '../nodes/node-answer.ts';
import type { TxStatus } from '../port/chain-adapter.ts';
import type { TonTransaction } from './ton-answer.ts';
import { historyOf } from './ton-history.ts';
import type { TonNode } from './ton-node.ts';
import { outcomeOf } from './ton-trace.ts';
import { expiryMs, type SentTx, settleSec } from './ton-tx.ts';

interface StatusOptions {
  /** No payment is in this block or below. */
  readonly startHeight: number;
  /**
   * Puts a question to an index of another operator; null while none answers. Null instead of a
   * function when there is no such index.
   */
  readonly askSecond: (<T>(question: (node: TonNode) => Promise<T>) => Promise<T | null>) | null;
}

/** Without a second index to ask, the chain's final time must be this far beyond the expiry. */
export const loneMarginMs = 60_000;

/**
 * The status of a payment. Only blocks decide, and no answer to a broadcast.
 *
 * The contract accepts a payment until its last second. Blocks of shards may reach the masterchain
 * later, so that a margin is added. Once a block of the masterchain has that time, a payment that
 * the wallet's whole history lacks can never confirm. With an index of another operator, nothing is
 * final before that one tells the same.
 *
 * A payment is final once all that it sent has arrived, with what came back to the wallet.
 */
export async function tonStatus(node: TonNode, sent: SentTx, options: StatusOptions): Promise<TxStatus> {
  const { startHeight, askSecond } = options;
  const marginMs = askSecond === null ? loneMarginMs : 0;
  const status = await statusOn(node, sent, { startHeight, marginMs });
  if (askSecond === null || (status.state !== 'mined' && status.state !== 'dead') || !status.final) return status;
  const second = await askSecond((other) => statusOn(other, sent, { startHeight, marginMs: 0 }));
  return { ...status, final: second !== null && isDeepStrictEqual(essenceOf(status), essenceOf(second)) };
}

/** What two indexes must agree on. Their newest blocks may differ. */
function essenceOf(status: TxStatus): object {
  return status.state === 'mined' ? { ...status, confirmations: 0 } : status;
}

async function statusOn(
  node: TonNode,
  sent: SentTx,
  { startHeight, marginMs }: { readonly startHeight: number; readonly marginMs: number },
): Promise<TxStatus> {
  // The head first: what a block up to it holds must then be found.
  const { ref: head } = await node.head();
  const byName = sent.sentHash === null ? [] : await node.transactionsByMessage(sent.sentHash);
  const until = { timeMs: expiryMs(sent.tx) };
  const isOver = head.timeMs >= until.timeMs;
  // Another envelope of the same order has another hash, and the same body.
  const named = byName.find((tx) => isOf(tx, sent));
  const found = named ?? (isOver ? await foundInHistory(node, sent, { startHeight, top: head.height }) : null);
  if (found !== null && found.height <= head.height) return minedStatus(node, found, sent, head.height);
  if (found !== null || !isOver) return { state: 'waiting', until };
  return { state: 'dead', why: 'expired', final: head.timeMs >= until.timeMs + marginMs };
}

/** Whether a transaction is the one that carried out the order. */
function isOf({ account, inMessage }: TonTransaction, { wallet, orderHash }: SentTx): boolean {
  if (account !== wallet || inMessage === null || inMessage.source !== null) return false;
  return inMessage.body?.refs[0]?.hash().toString('hex') === orderHash;
}

async function minedStatus(node: TonNode, found: TonTransaction, sent: SentTx, head: number): Promise<TxStatus> {
  const { success, fee, endHeight } = await outcomeOf(node, found, sent);
  return {
    state: 'mined',
    height: found.height,
    confirmations: head - found.height + 1,
    ...{ success, fee },
    final: endHeight !== null && endHeight <= head,
  };
}

/** The wallet's transaction with this order, in all that may hold it; null when there is none. */
async function foundInHistory(
  node: TonNode,
  sent: SentTx,
  { startHeight, top }: { readonly startHeight: number; readonly top: number },
): Promise<TonTransaction | null> {
  const state = (await node.accounts([sent.wallet])).get(sent.wallet);
  if (state === undefined || state.lastLt === 0n) return null;
  const fromLt = await ltBefore(node, sent.tx.createdAt - settleSec, { startHeight, top });
  const { transactions } = await historyOf(node, state, fromLt);
  return transactions.find((tx) => isOf(tx, sent)) ?? null;
}

/**
 * The logical time with which a block of this time or earlier begins. The number of queries grows
 * with the logarithm of the distance, also when the index lies.
 */
async function ltBefore(
  node: TonNode,
  timeSec: number,
  { startHeight, top }: { readonly startHeight: number; readonly top: number },
): Promise<bigint> {
  let [below, above] = [Math.min(startHeight, top), top + 1];
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    if ((await blockAt(node, middle)).ref.timeMs <= timeSec * 1_000) below = middle;
    else above = middle;
  }
  if (below <= 0) return 1n;
  const { startLt } = await blockAt(node, below);
  return startLt < 1n ? 1n : startLt;
}

async function blockAt(node: TonNode, height: number): ReturnType<typeof node.head> {
  const block = await node.block(height);
  if (block === null) throw new NodeFault('no_index', `has no block ${height}`);
  return block;
}
