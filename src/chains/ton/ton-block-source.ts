import { NodeFault } from '../nodes/node-answer.ts';
import type { BlockSource } from '../nodes/scan-blocks.ts';
import type { BlockRef, ScannedBlock } from '../port/chain-adapter.ts';
import type { TonBlock, TonTransaction } from './ton-answer.ts';
import { historyOf } from './ton-history.ts';
import { operationOf, operations } from './ton-jetton.ts';
import type { TonNode } from './ton-node.ts';
import type { SeenEnds } from './ton-seen.ts';
import { mayReturn, type Received, receivedBy, type TonAccounts } from './ton-transfers.ts';

/** How the transactions of our accounts are read. */
export interface TonReading {
  readonly node: TonNode;
  readonly accounts: TonAccounts;
  /** No deposit is in this block or below. */
  readonly startHeight: number;
}

interface TonBlockSourceOptions extends TonReading {
  readonly seen: SeenEnds;
  /** The newest block when the scan begins. The scan reads no block above it. */
  readonly head: TonBlock;
}

/**
 * Blocks of the masterchain from which transactions are listed below the first one that counts. A
 * block of a shard may reach the masterchain some blocks after one of a later logical time.
 */
const lagBlocks = 100;
/** A stranger who sends dust makes lists long. The next scan goes on where a list ends. */
const mostTransactions = 4_096;

/**
 * The blocks with transactions of ours, and the newest one. Others are left out. So the parent of a
 * block is the previous one of the scan.
 */
export class TonBlockSource implements BlockSource {
  readonly isFinal = true;
  readonly #options: TonBlockSourceOptions;
  #own: OwnBlocks | null = null;

  constructor(options: TonBlockSourceOptions) {
    this.#options = options;
  }

  async headHeight(): Promise<number> {
    return this.#options.head.ref.height;
  }

  async hashAt(height: number): Promise<string | null> {
    const { head, node } = this.#options;
    if (height === head.ref.height) return head.ref.hash;
    return (await node.block(height))?.ref.hash ?? null;
  }

  async blockAfter(top: BlockRef): Promise<ScannedBlock | null> {
    const { head, node } = this.#options;
    this.#own ??= await ownBlocks(this.#options, top.height);
    const next = this.#own.blocks.find(({ height }) => height > top.height);
    const height = next?.height ?? this.#own.end;
    if (height <= top.height) return null;
    const block = height === head.ref.height ? head : await node.block(height);
    if (block === null) throw new NodeFault('no_index', `has transactions of block ${height}, and not the block`);
    return scannedOf({ ...block.ref, parent: top.hash }, await receivedIn(this.#options, next?.transactions ?? []));
  }
}

interface OwnBlocks {
  readonly blocks: readonly { readonly height: number; readonly transactions: readonly TonTransaction[] }[];
  /** The block up to which they are whole. */
  readonly end: number;
}

/** The transactions of our accounts in blocks above this one, by block. */
async function ownBlocks(options: TonBlockSourceOptions, above: number): Promise<OwnBlocks> {
  const top = options.head.ref.height;
  const isEnough = (tx: TonTransaction, count: number): boolean => count >= mostTransactions && tx.height - 1 > above;
  const { transactions, wholeTo } = await listed(options, above, isEnough);
  const end = Math.min(wholeTo ?? top, top);
  options.seen.refuseLate(above, transactions);
  options.seen.note(end, transactions);
  const ours = transactions.filter(({ height }) => height > above && height <= end);
  const blocks = [...Map.groupBy(ours, ({ height }) => height)]
    .map(([height, some]) => ({ height, transactions: some }))
    .sort((one, other) => one.height - other.height);
  return { blocks, end };
}

async function listed(
  { node, accounts, startHeight }: TonReading,
  above: number,
  isEnough: (tx: TonTransaction, count: number) => boolean,
): Promise<{ readonly transactions: readonly TonTransaction[]; readonly wholeTo: number | null }> {
  // The states first: the lists must then reach what they name.
  const addresses = [accounts.wallet, ...accounts.jettons.keys()];
  const states = await node.accounts(addresses);
  const fromLt = await ltBelow(node, Math.max(above - lagBlocks, Math.min(startHeight, above)));
  const histories = await Promise.all([...states.values()].map((state) => historyOf(node, state, fromLt, isEnough)));
  const ends = histories.flatMap(({ wholeTo }) => (wholeTo === null ? [] : [wholeTo]));
  return {
    transactions: histories.flatMap(({ transactions }) => transactions),
    wholeTo: ends.length === 0 ? null : Math.min(...ends),
  };
}

/** The logical time with which a block begins; 1 for none below the first block. */
async function ltBelow(node: TonNode, height: number): Promise<bigint> {
  if (height <= 0) return 1n;
  const block = await node.block(height);
  if (block === null) throw new NodeFault('no_index', `has no block ${height}`);
  return block.startLt < 1n ? 1n : block.startLt;
}

/** A block as a scan stores it, to compare two indexes; null while the index is behind. */
export async function readScanned(options: TonReading, height: number): Promise<ScannedBlock | null> {
  const { node } = options;
  if ((await node.head()).ref.height < height) return null;
  const block = await node.block(height);
  if (block === null) return null;
  const { transactions } = await listed(options, height - 1, (tx) => tx.height > height);
  return scannedOf(
    block.ref,
    await receivedIn(
      options,
      transactions.filter((tx) => tx.height === height),
    ),
  );
}

async function receivedIn(reading: TonReading, transactions: readonly TonTransaction[]): Promise<Received[]> {
  const found: Received[] = [];
  for (const tx of transactions) found.push(receivedBy(tx, reading.accounts, await isReturn(reading, tx)));
  return found;
}

/**
 * Whether a message to the wallet brought back what a payment of ours did not use. It bounced, or
 * it comes from a transaction to which our own jetton wallet passed jettons, as it does by our
 * order only. What that one sends itself is the rest of a stranger's transfer.
 */
export async function isReturn(
  { node, accounts }: Omit<TonReading, 'startHeight'>,
  tx: TonTransaction,
): Promise<boolean> {
  const { inMessage } = tx;
  if (inMessage === null || tx.account !== accounts.wallet) return false;
  if (inMessage.bounced) return true;
  if (!mayReturn(tx)) return false;
  const sender = (await node.transactionsByMessage(inMessage.hash)).find(
    ({ account, outMessages }) =>
      account === inMessage.source && outMessages.some(({ hash }) => hash === inMessage.hash),
  );
  if (sender === undefined) throw new NodeFault('no_index', 'does not find the sender of a message');
  const { source = null, body = null } = sender.inMessage ?? {};
  return source !== null && accounts.jettons.has(source) && operationOf(body) === operations.internalTransfer;
}

function scannedOf(ref: BlockRef, received: readonly Received[]): ScannedBlock {
  const costs = received.reduce((sum, { cost }) => sum + cost, 0n);
  return { ref, transfers: received.flatMap(({ transfers }) => transfers), ...(costs > 0n && { receiveCost: costs }) };
}
