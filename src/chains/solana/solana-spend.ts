import { attempt } from '../addresses/codec.ts';
import type { HotSpend } from '../port/chain-adapter.ts';
import type { SolanaBlockTx, TokenBalance } from './solana-answer.ts';
import type { SolanaNode } from './solana-node.ts';
import { costOf } from './solana-status.ts';
import { openSolanaTx } from './solana-tx.ts';

interface SpendOptions {
  readonly hotWallet: string;
  /** The tokens that are exchanged. Others are left out. */
  readonly mints: ReadonlySet<string>;
}

/**
 * What a transaction took from the hot wallet; null when no final block holds it, or it took
 * nothing. Of a transaction of ours, rents of accounts that it made belong to the fee. Of another
 * one they are coins that went to others.
 */
export async function solanaSpend(node: SolanaNode, txid: string, options: SpendOptions): Promise<HotSpend | null> {
  const [seen = null] = (await node.statuses([txid])).value;
  if (seen === null || !seen.isFinal) return null;
  const block = await node.block(seen.slot);
  const tx = block.transactions.find((each) => each.txid === txid);
  if (tx === undefined) return null;
  const { amounts, fee } = ofOurs(tx, await node.transaction(txid), options) ?? byBalances(tx, options);
  if (amounts.length === 0 && fee === 0n) return null;
  return { amounts, fee, height: seen.slot, final: true };
}

type Spend = Pick<HotSpend, 'amounts' | 'fee'>;

/** By the bytes of a transaction of ours; null for any other one. */
function ofOurs(tx: SolanaBlockTx, raw: string | null, { hotWallet }: SpendOptions): Spend | null {
  const opened = raw === null ? null : attempt(() => openSolanaTx(raw));
  if (opened?.txid !== tx.txid || opened.tx.wallet !== hotWallet) return null;
  const { action } = opened.tx;
  const cost = costOf(tx, opened.tx);
  const isPaid = action.kind === 'payment' && !tx.hasFailed;
  return {
    amounts: isPaid ? [{ contract: action.token?.mint ?? null, amount: action.amount }] : [],
    fee: cost > 0n ? cost : 0n,
  };
}

function byBalances(tx: SolanaBlockTx, options: SpendOptions): Spend {
  const { hotWallet } = options;
  const fee = tx.accounts[0] === hotWallet ? tx.fee : 0n;
  const place = tx.accounts.indexOf(hotWallet);
  const lost = place === -1 ? 0n : (tx.before[place] ?? 0n) - (tx.after[place] ?? 0n) - fee;
  const coins = lost > 0n ? [{ contract: null, amount: lost }] : [];
  return { amounts: [...coins, ...(tx.hasFailed ? [] : tokensLost(tx, options))], fee };
}

function tokensLost(
  { tokensBefore, tokensAfter }: SolanaBlockTx,
  { hotWallet, mints }: SpendOptions,
): { readonly contract: string; readonly amount: bigint }[] {
  const held = (balances: readonly TokenBalance[], mint: string): bigint =>
    balances
      .filter((each) => each.owner === hotWallet && each.mint === mint)
      .reduce((sum, { amount }) => sum + amount, 0n);
  return [...mints]
    .map((mint) => ({ contract: mint, amount: held(tokensBefore, mint) - held(tokensAfter, mint) }))
    .filter(({ amount }) => amount > 0n);
}
