import { unsound } from '../nodes/node-answer.ts';
import type { HotSpend } from '../port/chain-adapter.ts';
import { readTransferCall, readTransferLog } from './erc20.ts';
import { contractOfLog, type EvmBlockTx, type EvmReceipt, type EvmWaitingTx, readLog } from './evm-answer.ts';
import type { EvmNode } from './evm-node.ts';
import { confirmed, type Finality, maxLooks, unsettled } from './evm-status.ts';
import type { WatchedTokens } from './evm-transfers.ts';

interface SpendOptions {
  /** In lower case. */
  readonly hotWallet: string;
  /** Other tokens are left out. */
  readonly tokens: WatchedTokens;
  readonly finality: Finality;
}

/**
 * What a transaction took from the hot wallet; null when the node does not know it, or it took
 * nothing. The wallet is a key without code. So its own coins leave it by its own transactions
 * only. Tokens leave it by the transactions of others too, where it gave an allowance.
 *
 * What the same transaction brings back to the wallet is not subtracted: a scan finds it as a
 * transfer. While the transaction waits, the fee is the most that it pays for gas.
 */
export async function evmSpend(node: EvmNode, txid: string, options: SpendOptions): Promise<HotSpend | null> {
  for (let look = 1; look <= maxLooks; look += 1) {
    const receipt = await node.receipt(txid);
    const found = await node.transaction(txid);
    if (receipt === null) {
      if (found === null) return null;
      if (found.place === 'pool') return waitingSpend(found.tx, options);
      continue;
    }
    const block = await confirmed(node, receipt, options.finality);
    if (found === null || block === null) continue;
    const { from, to } = found.tx;
    if (receipt.from !== from || receipt.to !== to) throw unsound('a receipt that is not of its transaction');
    return minedSpend(found.tx, receipt, block.final, options);
  }
  throw unsettled();
}

function minedSpend(
  tx: EvmBlockTx,
  receipt: EvmReceipt,
  final: boolean,
  { hotWallet, tokens }: SpendOptions,
): HotSpend | null {
  const { success, logs, height } = receipt;
  const isOwn = tx.from === hotWallet;
  if (isOwn && receipt.fee === null) throw unsound('a receipt that does not tell what the transaction cost');
  const moved = new Sums();
  if (success && isOwn && tx.to !== hotWallet) moved.add(null, tx.value);
  for (const log of success ? logs : []) {
    const contract = tokens.get(contractOfLog(log));
    const transfer = contract === undefined ? null : readTransferLog(readLog(log));
    if (contract === undefined || transfer?.from !== hotWallet || transfer.to === hotWallet) continue;
    moved.add(contract, transfer.amount);
  }
  return spendOf(moved, isOwn ? (receipt.fee ?? 0n) : 0n, height, final);
}

/**
 * What a transaction is to take. Null where only a block tells: another account's transaction, or a
 * call that is no plain transfer.
 */
function waitingSpend(tx: EvmWaitingTx, { hotWallet, tokens }: SpendOptions): HotSpend | null {
  if (tx.from !== hotWallet) return null;
  const { to, value, data, mostFee } = tx;
  const transfer = to === null ? null : readTransferCall({ to, data });
  if (transfer === null && data !== '0x') return null;
  const moved = new Sums();
  if (to !== hotWallet) moved.add(null, value);
  const contract = tokens.get(transfer?.contract ?? '');
  if (transfer && contract !== undefined && transfer.to !== hotWallet) moved.add(contract, transfer.amount);
  return spendOf(moved, mostFee, null, false);
}

function spendOf({ amounts }: Sums, fee: bigint, height: number | null, final: boolean): HotSpend | null {
  return amounts.length === 0 && fee === 0n ? null : { amounts, fee, height, final };
}

/** Amounts above 0 by asset. */
class Sums {
  readonly #sums = new Map<string | null, bigint>();

  add(contract: string | null, amount: bigint): void {
    if (amount > 0n) this.#sums.set(contract, (this.#sums.get(contract) ?? 0n) + amount);
  }

  get amounts(): HotSpend['amounts'] {
    return [...this.#sums].map(([contract, amount]) => ({ contract, amount }));
  }
}
