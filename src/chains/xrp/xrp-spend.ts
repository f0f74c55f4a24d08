import { unsound } from '../nodes/node-answer.ts';
import type { HotSpend } from '../port/chain-adapter.ts';
import { asDrops } from './xrp-answer.ts';
import type { XrpNode } from './xrp-node.ts';
import { changesOf } from './xrp-transfers.ts';

/**
 * What a transaction of the wallet took from it; null when no ledger holds it, or it is none of the
 * wallet's. The balance shows it: what it lost in addition to the fee went to others, in a payment
 * or not.
 */
export async function xrpSpend(node: XrpNode, txid: string, hotWallet: string): Promise<HotSpend | null> {
  const found = await node.tx(txid);
  if (found === null || found.height === null) return null;
  const lost = -(changesOf(found.meta).get(hotWallet) ?? 0n);
  const isOwn = found.tx.Account === hotWallet;
  const fee = isOwn ? asDrops(found.tx.Fee, 'fee of a transaction') : 0n;
  const amount = lost - fee;
  if (lost <= 0n) return null;
  if (amount < 0n) throw unsound('a balance that fell by less than the fee');
  return {
    amounts: amount === 0n ? [] : [{ contract: null, amount }],
    fee,
    height: found.height,
    final: true,
  };
}
