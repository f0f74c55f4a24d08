import type { Transfer } from '../port/chain-adapter.ts';
import type { WalletOutput, WalletTransfer } from './monero-wallet.ts';

/** A transfer in a block. */
export interface MinedTransfer extends Transfer {
  readonly height: number;
}

/** Names what a transaction brought to a subaddress. */
function keyOf({ txid, place }: Pick<WalletTransfer, 'txid' | 'place'>): string {
  return `${txid}:${place.minor}`;
}

/**
 * The credit rule. What a transaction brought to a subaddress counts when nothing locks it, no
 * block reward is in it, and the wallet has outputs for exactly this amount.
 *
 * A sender may pay twice with one output key, of which one payment can be spent. The wallet has
 * each public key once, with the larger amount. So its outputs then differ from what it lists as
 * arrived. All that does not count is told as of an unusual kind, and staff decide.
 */
export function minedTransfers(
  arrived: readonly WalletTransfer[],
  outputs: readonly WalletOutput[],
): readonly MinedTransfer[] {
  const owned = new Map<string, bigint>();
  const keys = new Set<string>();
  for (const output of outputs) {
    if (keys.has(output.publicKey)) continue;
    keys.add(output.publicKey);
    owned.set(keyOf(output), (owned.get(keyOf(output)) ?? 0n) + output.amount);
  }
  const listed = new Set<string>();
  return arrived.flatMap((transfer): MinedTransfer[] => {
    const key = keyOf(transfer);
    if (transfer.place.major !== 0 || transfer.amount === 0n || listed.has(key)) return [];
    listed.add(key);
    const { txid, address, amount, height } = transfer;
    const isUsual = transfer.unlockTime === 0n && !transfer.isCoinbase && owned.get(key) === amount;
    const found = { key, txid, address, tag: null, contract: null, amount, height };
    return [isUsual ? found : { ...found, doubt: 'unusual_kind' }];
  });
}

/** What waits for a block and is worth showing: not where another transaction spends the same. */
export function waitingTransfers(waiting: readonly WalletTransfer[]): readonly Transfer[] {
  return waiting.flatMap((transfer): Transfer[] => {
    const { txid, address, amount, place, unlockTime, isDoubleSpendSeen } = transfer;
    if (place.major !== 0 || amount === 0n || unlockTime !== 0n || isDoubleSpendSeen) return [];
    return [{ key: keyOf(transfer), txid, address, tag: null, contract: null, amount }];
  });
}
