import { NodeFault } from '../nodes/node-answer.ts';
import type { TonAccount, TonTransaction } from './ton-answer.ts';
import { pageSize, type TonNode } from './ton-node.ts';

export interface History {
  /** Oldest first. Each names the previous one, so that none is missing in between. */
  readonly transactions: readonly TonTransaction[];
  /**
   * The block up to which the list is whole. Null when it reaches the account's newest transaction.
   */
  readonly wholeTo: number | null;
}

/**
 * An account's transactions from a logical time on.
 *
 * @param account The account's state, which was asked for before. The list must reach its last
 *   transaction.
 * @param isEnough Whether the list may end after a transaction, given how many it has then.
 * @throws NodeFault `history_gap` when a transaction is missing.
 */
export async function historyOf(
  node: TonNode,
  { address, lastLt, lastHash }: Pick<TonAccount, 'address' | 'lastLt' | 'lastHash'>,
  fromLt: bigint,
  isEnough: (tx: TonTransaction, count: number) => boolean = () => false,
): Promise<History> {
  const transactions: TonTransaction[] = [];
  if (lastLt < fromLt) return { transactions, wholeTo: null };
  for (;;) {
    const page = await node.transactions(address, (transactions.at(-1)?.lt ?? fromLt - 1n) + 1n);
    for (const tx of page) {
      refuseGap(tx, transactions.at(-1), fromLt);
      transactions.push(tx);
    }
    const last = transactions.at(-1);
    if (last === undefined) throw gap(address);
    if (isEnough(last, transactions.length)) return { transactions, wholeTo: last.height - 1 };
    if (page.length < pageSize) break;
  }
  if (!transactions.some(({ lt, hash }) => lt === lastLt && hash === lastHash)) throw gap(address);
  return { transactions, wholeTo: null };
}

function refuseGap(tx: TonTransaction, before: TonTransaction | undefined, fromLt: bigint): void {
  const { account, lt, previousLt, previousHash, height } = tx;
  if (before === undefined) {
    if (lt < fromLt || previousLt >= fromLt) throw gap(account);
    return;
  }
  const joins = previousLt === before.lt && previousHash === before.hash && lt > before.lt && height >= before.height;
  if (!joins) throw gap(account);
}

function gap(account: string): NodeFault {
  return new NodeFault('history_gap', `leaves out transactions of ${account}`);
}
