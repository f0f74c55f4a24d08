import { randomBytes } from 'node:crypto';
import { bytesToHex } from '@noble/hashes/utils.js';
import { ChainError } from '../port/chain-adapter.ts';
import { readTransferLog, transferCall } from './trc20.ts';
import { contractOfLog, readLog } from './tron-answer.ts';
import type { TronNode } from './tron-node.ts';
import type { TronTx } from './tron-tx.ts';

/**
 * Tries a transfer of a token in the newest state, without sending it. Returns the energy that it
 * would use. A token that pauses, or that refuses the sender or the recipient, fails here.
 *
 * @throws ChainError `would_fail` when the chain would undo it; `token_refused` when the token's
 *   logs show that another amount would move.
 */
export async function tryTransfer(
  node: TronNode,
  { owner, contract, to, amount }: Pick<TronTx, 'owner' | 'contract' | 'to' | 'amount'>,
): Promise<bigint> {
  if (contract === null) throw new Error('only a token has a trial');
  const { succeeds, energy, logs } = await node.trial({ owner, contract, data: transferCall({ to, amount }) });
  if (!succeeds) throw new ChainError('would_fail', 'the token says no to the transfer', { isOfChain: true });
  const moved = logs.flatMap((log) => {
    if (contractOfLog(log) !== contract) return [];
    const { topics, data } = readLog(log);
    return readTransferLog(topics, data) ?? [];
  });
  // Some nodes leave the logs of a trial out.
  const isAsOrdered = moved.some((one) => one.from === owner && one.to === to && one.amount === amount);
  if (logs.length > 0 && !isAsOrdered) {
    throw new ChainError('token_refused', `a transfer of ${amount} moves another amount`, { isOfChain: true });
  }
  return energy;
}

/** An address that holds no token, as 42 digits. */
export function newHolder(): string {
  return `41${bytesToHex(randomBytes(20))}`;
}
