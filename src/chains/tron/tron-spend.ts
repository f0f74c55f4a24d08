import type { HotSpend } from '../port/chain-adapter.ts';
import { readTransferLog } from './trc20.ts';
import { contractOfLog, readLog, type TronInfo } from './tron-answer.ts';
import type { TronNode } from './tron-node.ts';
import type { TronNetwork } from './tron-section.ts';
import { confirmed, maxLooks, unsettled } from './tron-status.ts';
import type { WatchedTokens } from './tron-transfers.ts';
import { coinOrderOf } from './tron-tx.ts';

interface SpendOptions {
  /** The hot wallet as 42 digits. */
  readonly hotWallet: string;
  /** Other tokens are left out. */
  readonly tokens: WatchedTokens;
  readonly finality: TronNetwork['finality'];
}

/**
 * What a transaction took from the hot wallet; null when no block holds it, or it took nothing. The
 * wallet is a key without code, so that its own coins leave it by its own transactions only. Tokens
 * leave it by the transactions of others too, where it gave an allowance.
 */
export async function tronSpend(node: TronNode, txid: string, options: SpendOptions): Promise<HotSpend | null> {
  for (let look = 1; look <= maxLooks; look += 1) {
    const info = await node.info(txid, 'newest');
    const tx = info === null ? null : await node.transaction(txid, 'newest');
    if (info === null || tx === null) return null;
    const block = await confirmed(node, info, options.finality);
    if (block === null) continue;
    const { owner, to, coins } = coinOrderOf(tx.raw);
    const isOwn = owner === options.hotWallet;
    const amounts = new Map<string | null, bigint>();
    const hasMoved = tx.result === 'SUCCESS' && !info.isFailed;
    if (hasMoved && isOwn && to !== options.hotWallet && coins > 0n) amounts.set(null, coins);
    if (hasMoved) addTokens(amounts, info, options);
    const fee = isOwn ? info.fee : 0n;
    if (amounts.size === 0 && fee === 0n) return null;
    return {
      amounts: [...amounts].map(([contract, amount]) => ({ contract, amount })),
      fee,
      height: info.height,
      final: block.final,
    };
  }
  throw unsettled();
}

function addTokens(amounts: Map<string | null, bigint>, { logs }: TronInfo, { hotWallet, tokens }: SpendOptions): void {
  for (const log of logs) {
    const contract = tokens.get(contractOfLog(log));
    if (contract === undefined) continue;
    const { topics, data } = readLog(log);
    const transfer = readTransferLog(topics, data);
    if (transfer?.from !== hotWallet || transfer.to === hotWallet || transfer.amount === 0n) continue;
    amounts.set(contract, (amounts.get(contract) ?? 0n) + transfer.amount);
  }
}
