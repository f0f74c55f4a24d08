import { NodeFault, unsound } from '../nodes/node-answer.ts';
import { ChainError, type TxStatus } from '../port/chain-adapter.ts';
import { readTransferLog, type TokenTransfer } from './erc20.ts';
import { contractOfLog, type EvmHeader, type EvmReceipt, readLog } from './evm-answer.ts';
import type { EvmNode } from './evm-node.ts';
import type { EvmNetwork } from './evm-section.ts';

/** A number of confirmations, or the block that the chain itself calls final. */
export type Finality = number | 'safe' | 'finalized';

/** The facts that identify a transaction and the ones that could replace it. */
interface SentTx {
  readonly txid: string;
  readonly sender: string;
  readonly nonce: bigint;
  /** The token transfer in it; null for the chain's own coin. */
  readonly transfer: TokenTransfer | null;
}

/** How often the chain may change during one query. */
export const maxLooks = 3;
/** Number of blocks that are searched for one with a transaction. */
const maxSamples = 20;

/** The newest final block. Block 0 always is final. */
export async function finalBlock(node: EvmNode, finality: Finality, head: EvmHeader): Promise<EvmHeader> {
  const at = typeof finality === 'number' ? Math.max(0, head.ref.height - finality + 1) : finality;
  const header = await node.header(at);
  if (header === null) throw new NodeFault('unsound_answer', `knows no ${at} block`);
  return header;
}

/**
 * The status of a transaction, by its hash and then by its nonce. It is called dead and final only
 * when a final block shows the transaction that took its nonce. A node that does not find a
 * transaction may just lack an index of it. If the node no longer keeps the state that shows the
 * other transaction, it must prove its index instead.
 *
 * @param startHeight No transaction of ours is in this block or below.
 */
export async function evmStatus(
  node: EvmNode,
  sent: SentTx,
  { finality, startHeight }: Pick<EvmNetwork, 'finality' | 'startHeight'>,
): Promise<TxStatus> {
  for (let look = 1; look <= maxLooks; look += 1) {
    const receipt = await node.receipt(sent.txid);
    if (receipt) {
      const mined = await minedStatus(node, sent, receipt, finality);
      if (mined) return mined;
      continue;
    }
    const place = await node.place(sent.txid);
    if (place === 'pool') return { state: 'mempool' };
    if (place === 'block') continue;
    if ((await node.nonce(sent.sender, 'latest')) <= sent.nonce) return { state: 'unknown' };
    // A block may have taken it since the first query.
    if ((await node.receipt(sent.txid)) === null) return deadStatus(node, sent, finality, startHeight);
  }
  throw unsettled();
}

/** The failure of a query after `maxLooks`. */
export function unsettled(): ChainError {
  return new ChainError('unsettled_answer', 'the chain changes during the query, or the node contradicts itself');
}

/**
 * The status of a mined transaction; null when the block of its receipt is not on the chain any
 * more.
 */
async function minedStatus(
  node: EvmNode,
  sent: SentTx,
  receipt: EvmReceipt,
  finality: Finality,
): Promise<TxStatus | null> {
  const { height, fee } = receipt;
  const block = await confirmed(node, receipt, finality);
  if (block === null) return null;
  if (fee === null) throw unsound('a receipt that does not tell what the transaction cost');
  return { state: 'mined', height, ...block, ...successOf(sent, receipt), fee };
}

/**
 * The confirmations of a receipt's block, and whether it is final. Null when the block is not on
 * the chain any more.
 */
export async function confirmed(
  node: EvmNode,
  { height, blockHash }: EvmReceipt,
  finality: Finality,
): Promise<{ readonly confirmations: number; readonly final: boolean } | null> {
  const head = await node.latest();
  const final = await finalBlock(node, finality, head);
  const block = await node.header(height);
  if (block?.ref.hash !== blockHash || head.ref.height < height) return null;
  const confirmations = head.ref.height - height + 1;
  return {
    confirmations,
    final: typeof finality === 'number' ? confirmations >= finality : final.ref.height >= height,
  };
}

/**
 * Whether a transaction moved the payment's amount. For a token, only its Transfer log counts:
 * contracts return false, or keep a part, in transactions that the chain calls successful.
 */
function successOf(
  { sender, transfer }: SentTx,
  { success, logs }: EvmReceipt,
): Pick<Extract<TxStatus, { state: 'mined' }>, 'success' | 'problem'> {
  if (!success || transfer === null) return { success };
  const moved = logs.flatMap((log) => {
    const found = contractOfLog(log) === transfer.contract ? readTransferLog(readLog(log)) : null;
    return found?.from === sender.toLowerCase() ? [found] : [];
  });
  if (moved.some(({ to, amount }) => to === transfer.to && amount === transfer.amount)) return { success };
  return { success: false, problem: moved.length === 0 ? 'not_transferred' : 'short_transfer' };
}

async function deadStatus(node: EvmNode, sent: SentTx, finality: Finality, startHeight: number): Promise<TxStatus> {
  const final = await finalBlock(node, finality, await node.latest());
  const { height, hash } = final.ref;
  const rival = await unlessRefused(() => rivalUpTo(node, sent, height));
  if (rival === sent.txid) {
    throw new NodeFault('no_index', 'does not find a transaction that is in its chain');
  }
  const isTaken =
    rival === refused
      ? (await unlessRefused(() => isNowhere(node, sent, startHeight, height))) === true
      : rival !== null;
  const isFinal = isTaken && (await node.header(height))?.ref.hash === hash;
  return { state: 'dead', why: 'conflict', final: isFinal };
}

/** Stands for an answer that a node refuses: most nodes keep only the newest 128 states. */
const refused = Symbol('refused');

async function unlessRefused<T>(question: () => Promise<T>): Promise<T | typeof refused> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof ChainError && error.code === 'node_refused') return refused;
    throw error;
  }
}

/**
 * The transaction that used the nonce, in a block up to a height. Null when none did, or when the
 * node contradicts itself.
 */
async function rivalUpTo(node: EvmNode, { sender, nonce }: SentTx, height: number): Promise<string | null> {
  const isUsedAt = async (at: number): Promise<boolean> => (await node.nonce(sender, at)) > nonce;
  if (!(await isUsedAt(height))) return null;
  // A binary search: the nonce is used at `used` and free at `free`, until both meet at the block
  // that used it.
  let used = height;
  let free = height;
  for (let step = 1; ; step *= 2) {
    free = Math.max(-1, height - step);
    if (free < 0 || !(await isUsedAt(free))) break;
    used = free;
  }
  while (used - free > 1) {
    const middle = Math.floor((used + free) / 2);
    if (await isUsedAt(middle)) used = middle;
    else free = middle;
  }
  const block = await node.block(used);
  const rival = block?.transactions.find((tx) => tx.from === sender.toLowerCase() && tx.nonce === nonce);
  return rival?.txid ?? null;
}

/**
 * Whether another transaction used the nonce up to a height, as proved by the node's index. The
 * node must find transactions at both ends of the range of blocks that could hold ours. An index
 * has an oldest and a newest block, and no holes between. The nonce is read first, so that a
 * transaction of ours that had used it by then would be found.
 */
async function isNowhere(
  node: EvmNode,
  { txid, sender, nonce }: SentTx,
  startHeight: number,
  height: number,
): Promise<boolean> {
  if ((await node.nonce(sender, height)) <= nonce) return false;
  if (!(await isIndexed(node, startHeight, 1)) || !(await isIndexed(node, height, -1))) return false;
  return (await node.receipt(txid)) === null && (await node.place(txid)) === null;
}

/**
 * Whether the node finds a transaction by its hash: one of the block at a height, or of the next
 * block that is not empty.
 */
async function isIndexed(node: EvmNode, height: number, direction: 1 | -1): Promise<boolean> {
  for (let at = height; Math.abs(at - height) < maxSamples && at >= 0; at += direction) {
    const block = await node.block(at);
    if (block === null) return false;
    const [tx] = block.transactions;
    if (tx) return (await node.receipt(tx.txid))?.blockHash === block.ref.hash;
  }
  return false;
}
