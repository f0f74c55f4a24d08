import { unsound } from '../nodes/node-answer.ts';
import type { Transfer } from '../port/chain-adapter.ts';
import type { SolanaBlock, SolanaBlockTx, TokenBalance } from './solana-answer.ts';

/**
 * All that a block brought to addresses, in the order of its transactions.
 *
 * Only balances count, and no instruction: what an address has more after a transaction than before
 * it. So coins that a program moves count too, and nothing that a transaction merely says. Of a
 * listed token, the sum over all token accounts of an owner counts. The rent of a token account is
 * on the token account, and is no deposit of coins. A transaction that failed brought nothing.
 *
 * Keys: 'txid:<address>' for coins, 'txid:<address>:<mint>' for tokens.
 *
 * @param mints The tokens that are exchanged. All others are left out.
 * @throws ChainError when the node does not tell the owner of a listed token.
 */
export function transfersOf(
  { transactions }: Pick<SolanaBlock, 'transactions'>,
  mints: ReadonlySet<string>,
): Transfer[] {
  return transactions.flatMap((tx) => (tx.hasFailed ? [] : [...coinTransfers(tx), ...tokenTransfers(tx, mints)]));
}

function coinTransfers({ txid, accounts, before, after }: SolanaBlockTx): Transfer[] {
  return accounts.flatMap((address, place) => {
    const amount = (after[place] ?? 0n) - (before[place] ?? 0n);
    return amount > 0n ? [{ key: `${txid}:${address}`, txid, address, tag: null, contract: null, amount }] : [];
  });
}

function tokenTransfers({ txid, tokensBefore, tokensAfter }: SolanaBlockTx, mints: ReadonlySet<string>): Transfer[] {
  const changes = new Map<string, { readonly address: string; readonly mint: string; amount: bigint }>();
  const count = ({ mint, owner, amount }: TokenBalance, sign: bigint): void => {
    if (!mints.has(mint)) return;
    if (owner === null) throw unsound('a balance of a token without its owner');
    const key = `${txid}:${owner}:${mint}`;
    const change = changes.get(key) ?? { address: owner, mint, amount: 0n };
    change.amount += sign * amount;
    changes.set(key, change);
  };
  for (const balance of tokensBefore) count(balance, -1n);
  for (const balance of tokensAfter) count(balance, 1n);
  return [...changes].flatMap(([key, { address, mint, amount }]) =>
    amount > 0n ? [{ key, txid, address, tag: null, contract: mint, amount }] : [],
  );
}
