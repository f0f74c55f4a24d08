import { isDeepStrictEqual } from 'node:util';
import { NodeFault, unsound } from '../nodes/node-answer.ts';
import { ChainError, type TxStatus } from '../port/chain-adapter.ts';
import { readTransferLog } from './trc20.ts';
import { contractOfLog, readLog, type TronHeader, type TronInfo } from './tron-answer.ts';
import type { TronNode } from './tron-node.ts';
import type { TronNetwork } from './tron-section.ts';
import type { TronTx } from './tron-tx.ts';

/** A transaction of ours that was sent. */
export interface SentTx {
  readonly txid: string;
  readonly tx: TronTx;
}

/** How often the chain may change during one query. */
export const maxLooks = 3;
/** Without a second node to ask, the chain's final time must be this far beyond the expiry. */
export const loneMarginMs = 60_000;
/** Blocks that are searched for one with a transaction. */
const maxSamples = 20;

/** How the status of a transaction is found. */
export interface StatusOptions {
  readonly finality: TronNetwork['finality'];
  /**
   * Puts a question to a node of another operator; null while none answers. Null instead of a
   * function when there is no such node.
   */
  readonly askSecond: (<T>(question: (node: TronNode) => Promise<T>) => Promise<T | null>) | null;
}

/**
 * The status of a transaction. Only a block decides: no answer to a broadcast, and no transaction
 * that a node keeps for a block.
 *
 * The chain takes a transaction when its expiration is later than the time of the block before. So
 * one that is in no final block can never confirm once the newest final block has the time of the
 * expiration. A node that does not find a transaction may lack an index of it, or be wrong. No hash
 * covers what it tells of one that it finds. So it must find other transactions of that time, and
 * nothing is final before a second node tells the same.
 */
export async function tronStatus(
  node: TronNode,
  sent: SentTx,
  { finality, askSecond }: StatusOptions,
): Promise<TxStatus> {
  const status = await statusOn(node, sent, finality, askSecond === null ? loneMarginMs : 0);
  const isFinal = (status.state === 'mined' || status.state === 'dead') && status.final;
  if (!isFinal || askSecond === null) return status;
  const second = await askSecond((other) => statusOn(other, sent, finality, 0));
  return { ...status, final: second !== null && isDeepStrictEqual(essenceOf(status), essenceOf(second)) };
}

/** What two nodes must agree on. Their heads may differ. */
function essenceOf(status: TxStatus): object {
  return status.state === 'mined' ? { ...status, confirmations: 0 } : status;
}

/** The status as one node tells it. */
async function statusOn(
  node: TronNode,
  sent: SentTx,
  finality: TronNetwork['finality'],
  marginMs: number,
): Promise<TxStatus> {
  for (let look = 1; look <= maxLooks; look += 1) {
    const info = await node.info(sent.txid, 'newest');
    if (info) {
      const mined = await minedStatus(node, sent, info, finality);
      if (mined) return mined;
      continue;
    }
    const until = { timeMs: sent.tx.expiresAtMs } as const;
    if ((await node.head('newest')).ref.timeMs < until.timeMs) return { state: 'waiting', until };
    const final = await isDeadOn(node, sent, marginMs);
    // A block may have taken it since the first query.
    if ((await node.info(sent.txid, 'newest')) !== null) continue;
    return { state: 'dead', why: 'expired', final };
  }
  throw unsettled();
}

/**
 * Whether the final blocks of a node show that a transaction can never confirm.
 *
 * @param marginMs How far beyond the expiration the time of the newest final block must be.
 * @throws ChainError when the node does not find transactions that are in its own blocks.
 */
async function isDeadOn(node: TronNode, { txid, tx }: SentTx, marginMs: number): Promise<boolean> {
  // The head first: what a block up to it holds must then be found.
  const solid = await node.head('solid');
  if (solid.ref.timeMs < tx.expiresAtMs + marginMs) return false;
  if ((await node.info(txid, 'solid')) !== null || (await node.transaction(txid, 'solid')) !== null) return false;
  const first = await heightAt(node, tx.builtAtMs, solid);
  // The last block that may hold it is on top of the last one before the expiration.
  const last = (await heightAt(node, tx.expiresAtMs - 1, solid)) + 1;
  const top = solid.ref.height;
  if ((await isIndexed(node, first, 1, top)) && (await isIndexed(node, last, -1, top))) return true;
  throw new NodeFault('no_index', 'does not find transactions that are in its own blocks');
}

/** The chain makes a block each three seconds, or leaves some out. */
const leastIntervalMs = 3_000;

/**
 * The height of the newest block of this time or earlier, up to a head. The number of queries grows
 * with the logarithm of the distance, also when the node lies.
 */
async function heightAt(node: TronNode, timeMs: number, { ref: head }: TronHeader): Promise<number> {
  if (head.timeMs <= timeMs) return head.height;
  let later = head.height;
  let found = Math.max(0, later - Math.ceil((head.timeMs - timeMs) / leastIntervalMs));
  while (later - found > 1) {
    const middle = Math.floor((found + later) / 2);
    const header = await node.header(middle);
    if (header === null) throw unsound('no block below its newest one');
    if (header.ref.timeMs <= timeMs) found = middle;
    else later = middle;
  }
  return found;
}

/**
 * Whether a node finds a transaction of the block at a height, or of the next one with some. Blocks
 * above the newest final one (`top`) are not asked for.
 */
async function isIndexed(node: TronNode, height: number, direction: 1 | -1, top: number): Promise<boolean> {
  for (let at = height; Math.abs(at - height) < maxSamples && at >= 0 && at <= top; at += direction) {
    const block = await node.block(at);
    if (block === null) return false;
    const [tx] = block.transactions;
    if (tx) return (await node.info(tx.txid, 'solid'))?.height === at;
    if (!block.hasRoot) throw unsound('a block without the transactions that its header names');
  }
  // So many blocks without a transaction are no busy chain, and prove nothing against the node.
  return true;
}

/** The status by a result; null when its block is not on the chain any more. */
async function minedStatus(
  node: TronNode,
  sent: SentTx,
  info: TronInfo,
  finality: TronNetwork['finality'],
): Promise<TxStatus | null> {
  const block = await confirmed(node, info, finality);
  if (block === null) return null;
  return { state: 'mined', height: info.height, ...block, ...successOf(sent, info), fee: info.fee };
}

/**
 * The confirmations of a result's block, and whether it is final. Null when the block is not on the
 * chain any more, or does not hold the transaction.
 */
export async function confirmed(
  node: TronNode,
  info: TronInfo,
  finality: TronNetwork['finality'],
): Promise<{ readonly confirmations: number; readonly final: boolean } | null> {
  const { txid, height, timeMs } = info;
  const [solid, head] = [await node.head('solid'), await node.head('newest')];
  if (head.ref.height < height) return null;
  const confirmations = head.ref.height - height + 1;
  const final = finality === 'solid' ? solid.ref.height >= height : confirmations >= finality;
  // A result only states its block. The block's own bytes show it. They are many, and read once a
  // payment.
  if (!final) return (await node.header(height))?.ref.timeMs === timeMs ? { confirmations, final } : null;
  const block = await node.block(height);
  const tx = block?.transactions.find((one) => one.txid === txid);
  if (block?.ref.timeMs !== timeMs || !tx || (tx.result === 'SUCCESS') !== isSuccess(info)) return null;
  // A reorg before the first query may have moved the transaction to a block of the same height.
  return isDeepStrictEqual(await node.info(txid, 'newest'), info) ? { confirmations, final } : null;
}

/** Whether the chain executed a transaction with its effect. */
function isSuccess({ isFailed, result }: TronInfo): boolean {
  return !isFailed && (result === null || result === 'SUCCESS');
}

/**
 * Whether a transaction moved the payment's amount. For a token only its log counts, never the
 * return value: contracts return false for a transfer that was made, and true for one that was not.
 */
function successOf({ tx }: SentTx, info: TronInfo): Pick<Extract<TxStatus, { state: 'mined' }>, 'success' | 'problem'> {
  if (!isSuccess(info)) return { success: false };
  if (tx.contract === null) return { success: true };
  const moved = info.logs.flatMap((log) => {
    if (contractOfLog(log) !== tx.contract) return [];
    const { topics, data } = readLog(log);
    const transfer = readTransferLog(topics, data);
    return transfer?.from === tx.owner ? [transfer] : [];
  });
  if (moved.some(({ to, amount }) => to === tx.to && amount === tx.amount)) return { success: true };
  return { success: false, problem: moved.length === 0 ? 'not_transferred' : 'short_transfer' };
}

/** The failure of a query after `maxLooks`. */
export function unsettled(): ChainError {
  return new ChainError('unsettled_answer', 'the chain changes during the query, or the node contradicts itself');
}
