import { asList, unsound } from '../nodes/node-answer.ts';
import type { OwnOutput, OwnOutputs } from '../own-outputs.ts';
import type { HotSpend } from '../port/chain-adapter.ts';
import { readSpends, readWorth } from './utxo-block.ts';
import type { UtxoNode } from './utxo-node.ts';
import { totalOf } from './utxo-psbt.ts';

interface SpendOptions {
  readonly chain: string;
  readonly outputs: OwnOutputs;
  /** The script of the hot wallet's outputs, in hex. */
  readonly hotScript: string;
  readonly finalityDepth: number;
}

/**
 * What a transaction took from the hot wallet: the wallet's outputs that it spends, less the ones
 * that it makes. A node without an index finds a transaction of a block only in that block. So the
 * scan, which stores what spends our outputs, tells the block. Null also until a scan has read it.
 * While the transaction waits, outputs count that a scan has found.
 */
export async function utxoSpend(node: UtxoNode, txid: string, options: SpendOptions): Promise<HotSpend | null> {
  const { chain, outputs, finalityDepth } = options;
  const waiting = await node.waitingTransaction(txid);
  if (waiting !== null) {
    return takenBy(waiting, await outputs.find(chain, readSpends(waiting)), options, { height: null, final: false });
  }
  const spent = await outputs.spentBy(chain, txid);
  const blockHash = spent[0]?.spentBy?.blockHash;
  const header = blockHash === undefined ? null : await node.header(blockHash);
  if (header === null || header.confirmations < 1) return null;
  const tx = await node.transactionIn(txid, header.hash);
  if (tx === null) throw unsound('no transaction where a scan has found it');
  const { height, confirmations } = header;
  return takenBy(tx, spent, options, { height, final: confirmations >= finalityDepth });
}

function takenBy(
  tx: Readonly<Record<string, unknown>>,
  own: readonly OwnOutput[],
  { hotScript }: SpendOptions,
  place: Pick<HotSpend, 'height' | 'final'>,
): HotSpend | null {
  const keys = new Set(readSpends(tx));
  const taken = own.filter(({ key, index }) => index === null && keys.has(key));
  if (taken.length === 0) return null;
  const { all, back } = readWorth(tx, hotScript);
  // With inputs of others, nothing tells who paid which part of the fee. Then the amount is all
  // that left the wallet, and the fee is 0.
  const isAlone = taken.length === asList(tx.vin, 'inputs of a transaction').length;
  const fee = isAlone ? totalOf(taken) - all : 0n;
  if (fee < 0n) throw unsound('a transaction that is worth more than what it spends');
  const amount = totalOf(taken) - back - fee;
  if (amount <= 0n && fee === 0n) return null;
  return { amounts: amount > 0n ? [{ contract: null, amount }] : [], fee, ...place };
}
