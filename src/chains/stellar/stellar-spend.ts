import { encodeStellarAccount } from '../addresses/stellar.ts';
import type { HotSpend } from '../port/chain-adapter.ts';
import { bigintOf, changesOf, innerTx, nativeAsset, sourceOf } from './stellar-ledger.ts';
import type { KnownTx, StellarNode } from './stellar-node.ts';
import type { CreditRules } from './stellar-transfers.ts';

/**
 * What a transaction took from the wallet and its channels together; null when no ledger holds it,
 * or it took nothing. What goes from the wallet to a channel is no loss.
 */
export async function stellarSpend(
  node: StellarNode,
  txid: string,
  { accounts, tokens }: CreditRules,
): Promise<HotSpend | null> {
  const { found } = await node.tx(txid);
  if (found === null) return null;
  const own = new Set([accounts.wallet, ...accounts.channels]);
  const lost = new Map<string | null, bigint>();
  for (const { asset, change } of changesOf(found.meta, own).flat()) {
    const contract = asset === nativeAsset ? null : tokens.get(asset);
    if (contract !== undefined) lost.set(contract, (lost.get(contract) ?? 0n) - change);
  }
  const fee = own.has(payerOf(found)) ? bigintOf(found.result.feeCharged()) : 0n;
  const amounts = [...lost].filter(([, amount]) => amount > 0n).map(([contract, amount]) => ({ contract, amount }));
  if (amounts.length === 0 && fee === 0n) return null;
  return { amounts, fee, height: found.height, final: true };
}

/** The account that paid the fee. */
function payerOf({ envelope, isFeeRaised }: KnownTx): string {
  if (!isFeeRaised) return sourceOf(innerTx(envelope));
  const payer = envelope.feeBump().tx().feeSource();
  const isPlain = payer.switch().name === 'keyTypeEd25519';
  return encodeStellarAccount(isPlain ? payer.ed25519() : payer.med25519().ed25519());
}
