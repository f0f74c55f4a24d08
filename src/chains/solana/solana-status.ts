import { isDeepStrictEqual } from 'node:util';
import { NodeFault, unsound } from '../nodes/node-answer.ts';
import type { SignedTx, TxStatus } from '../port/chain-adapter.ts';
import type { SolanaBlockTx, SolanaHeader } from './solana-answer.ts';
import { markerAddress } from './solana-keys.ts';
import type { SolanaNode } from './solana-node.ts';
import { transfersOf } from './solana-transfers.ts';
import { amountOf, type SolanaTx } from './solana-tx.ts';

/** A transaction of ours that was sent. */
export interface SentTx {
  readonly txid: string;
  readonly tx: SolanaTx;
  /** The height of the last block in which its blockhash counts, as its node told. */
  readonly lastHeight: number;
}

/**
 * Blocks in which a blockhash counts, from its own one on.
 * https://github.com/anza-xyz/agave, `MAX_PROCESSING_AGE`
 */
export const blockhashLife = 150;
/** Blocks above the stated last height that may hold a transaction. */
const late = 1;

interface StatusOptions {
  /**
   * Puts a question to a node of another operator; null while none answers. Null instead of a
   * function when there is no such node.
   */
  readonly askSecond: (<T>(question: (node: SolanaNode) => Promise<T>) => Promise<T | null>) | null;
}

/** @throws Error for bytes that expire at no height. */
export function sentTx({ txid, expiresAt }: SignedTx, tx: SolanaTx): SentTx {
  if (expiresAt === null || !('height' in expiresAt)) throw new Error(`${txid} expires at no height`);
  return { txid, tx, lastHeight: expiresAt.height };
}

/**
 * The status of a payment. Only final blocks decide, and no answer to a broadcast.
 *
 * A payment that is in no block is dead once a final block is more than one above the last that may
 * hold it, and its marker does not exist. The marker's absence follows from the state of the chain,
 * and not from an index. Where the marker exists, an attempt of the payment made it, or a stranger
 * did. Then this one cannot be called dead, because it may be the one that paid.
 *
 * With a node of another operator, nothing is final before that one tells the same.
 *
 * @throws ChainError when the node lacks blocks that may hold a sweep.
 */
export async function solanaStatus(node: SolanaNode, sent: SentTx, { askSecond }: StatusOptions): Promise<TxStatus> {
  const status = await statusOn(node, sent);
  if (status.state !== 'mined' && status.state !== 'dead') return status;
  // What one node alone says is no reason to pay in another way.
  if (askSecond === null) return withoutLoss(status);
  const second = await askSecond((other) => statusOn(other, sent));
  return { ...status, final: second !== null && isDeepStrictEqual(essenceOf(status), essenceOf(second)) };
}

function withoutLoss(status: TxStatus): TxStatus {
  if (status.state !== 'mined') return status;
  const { lost: _ofOneNode, ...others } = status;
  return others;
}

/** What two nodes must agree on. Their newest blocks may differ. */
function essenceOf(status: TxStatus): object {
  return status.state === 'mined' ? { ...status, confirmations: 0 } : status;
}

async function statusOn(node: SolanaNode, { txid, tx, lastHeight }: SentTx): Promise<TxStatus> {
  // First the head, then the payment: what a block up to the head holds is then found.
  const head = await node.head();
  const { slot, value } = await node.statuses([txid]);
  if (slot < head.ref.height) {
    throw new NodeFault('node_behind', `searched up to slot ${slot}, and its newest block is in ${head.ref.height}`);
  }
  const [seen = null] = value;
  const until = { height: lastHeight } as const;
  if (seen?.isFinal) return minedStatus(node, { txid, tx }, seen.slot, head);
  if (seen !== null || head.blockHeight <= lastHeight + late) return { state: 'waiting', until };
  const { action } = tx;
  if (action.kind === 'payment') {
    const { value: found } = await node.accounts([markerAddress(tx.wallet, action.marker.seed)], head.ref.height);
    if (found[0] !== null) return { state: 'unknown' };
  } else {
    await refuseShortHistory(node, lastHeight);
  }
  return { state: 'dead', why: 'expired', final: true };
}

/** A sweep has no marker, so that the node must have each block that may hold it. */
async function refuseShortHistory(node: SolanaNode, lastHeight: number): Promise<void> {
  const { blockHeight } = await node.header(await node.firstSlot());
  if (blockHeight <= lastHeight - blockhashLife) return;
  throw new NodeFault(
    'no_index',
    `lacks blocks from height ${lastHeight - blockhashLife}: it begins at ${blockHeight}`,
  );
}

async function minedStatus(
  node: SolanaNode,
  { txid, tx }: Pick<SentTx, 'txid' | 'tx'>,
  slot: number,
  head: SolanaHeader,
): Promise<TxStatus> {
  const block = await node.block(slot);
  const found = block.transactions.find((each) => each.txid === txid);
  if (found === undefined) throw unsound(`a block ${slot} that does not hold ${txid}, and said that it does`);
  if (found.accounts[0] !== tx.wallet) throw unsound('a transaction of ours that another account pays for');
  const problem = found.hasFailed ? null : problemOf(found, tx);
  return {
    state: 'mined',
    height: slot,
    confirmations: Math.max(1, head.ref.height - slot + 1),
    success: !found.hasFailed && problem === null,
    ...(tx.action.kind === 'payment' && found.wasMade && { lost: true }),
    ...(problem !== null && { problem }),
    fee: costOf(found, tx),
    final: true,
  };
}

/**
 * What a transaction took from the wallet besides the amount of its payment: the chain's fee, and
 * rents of accounts that it made. Below 0 when rents that came back are more.
 */
export function costOf({ before, after, hasFailed }: SolanaBlockTx, { action }: SolanaTx): bigint {
  const lost = (before[0] ?? 0n) - (after[0] ?? 0n);
  if (hasFailed) return lost;
  if (action.kind === 'coin_sweep') return lost + action.amount;
  return action.kind === 'payment' && action.token === null ? lost - action.amount : lost;
}

/** What is wrong with a payment that succeeded; null when its amount arrived. */
function problemOf(found: SolanaBlockTx, { wallet, action }: SolanaTx): 'not_transferred' | 'short_transfer' | null {
  // The wallet also pays the fee, so that its coins do not rise by the amount.
  if (action.kind === 'coin_sweep') return null;
  const { token } = action;
  const to = action.kind === 'payment' ? action.to : wallet;
  const contract = token?.mint ?? null;
  const arrived = transfersOf({ transactions: [found] }, new Set(token === null ? [] : [token.mint])).find(
    (each) => each.address === to && each.contract === contract,
  );
  if (arrived === undefined) return 'not_transferred';
  return arrived.amount === amountOf(action) ? null : 'short_transfer';
}
