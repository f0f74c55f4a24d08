import type { HotSpend } from '../port/chain-adapter.ts';
import type { TonTransaction } from './ton-answer.ts';
import type { TonNode } from './ton-node.ts';
import { outcomeOf } from './ton-trace.ts';
import type { TonAccounts } from './ton-transfers.ts';
import { orderOf } from './ton-tx.ts';

/**
 * What a transaction of the wallet took from it; null when no block holds it, or it is none that
 * the wallet's key ordered. The txid is the hash of its message, or its own.
 */
export async function tonSpend(
  node: TonNode,
  txid: string,
  accounts: Pick<TonAccounts, 'wallet' | 'jettons'>,
): Promise<HotSpend | null> {
  const { wallet, jettons } = accounts;
  const { height: head } = (await node.head()).ref;
  const isOwn = (tx: TonTransaction): boolean => tx.account === wallet && tx.inMessage?.source === null;
  const tx = (await node.transactionsByMessage(txid)).find(isOwn) ?? (await node.transaction(txid));
  if (tx === null || !isOwn(tx) || tx.height > head) return null;
  const body = tx.inMessage?.body ?? null;
  const order = body === null ? null : orderOf(body, wallet);
  if (order === null) return spentByHand(tx);
  const { success, fee, endHeight } = await outcomeOf(node, tx, { tx: order, wallet });
  const contract = order.jetton === null ? null : jettons.get(order.jetton.wallet);
  const amounts = success && contract !== undefined ? [{ contract, amount: order.amount }] : [];
  return { amounts, fee, height: tx.height, final: endHeight !== null && endHeight <= head };
}

/** What left the wallet by an order in another form, which a person signed. */
function spentByHand({ outMessages, totalFees, height }: TonTransaction): HotSpend {
  const amount = outMessages.reduce((sum, { value }) => sum + value, 0n);
  const fee = outMessages.reduce((sum, { sentFee }) => sum + sentFee, totalFees);
  return { amounts: amount === 0n ? [] : [{ contract: null, amount }], fee, height, final: true };
}
