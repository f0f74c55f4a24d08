import type { ScannedBlock, Transfer } from '../chain-adapter.ts';
import type { NodeAnswers } from './node-answers.ts';
import { outpointKey } from './outpoint.ts';

/** Outputs that belong to whoever an address names. Not: data, bare keys and multisig, and what moves into MWEB. */
const addressed: ReadonlySet<unknown> = new Set([
  'pubkeyhash',
  'scripthash',
  'witness_v0_keyhash',
  'witness_v0_scripthash',
  'witness_v1_taproot',
]);

/**
 * A block as `getblock` tells it with all transactions.
 *
 * Coins that a block makes (its first transaction) are no transfers: they cannot be spent for a hundred blocks or more,
 * and a reorganisation destroys them for good. Whoever mines must send them on from a wallet of his own.
 *
 * @throws ChainError when it is not the block that was asked for, or makes no sense.
 */
export function readBlock(
  answers: NodeAnswers,
  answer: unknown,
  asked: { readonly height: number; readonly hash: string },
): ScannedBlock {
  const block = answers.object(answer, 'block');
  const height = answers.count(block.height, 'height of a block');
  if (block.hash !== asked.hash || height !== asked.height) throw answers.unsound('another block than was asked for');
  // Only block 0 has none below it.
  const parent = height === 0 ? '0'.repeat(64) : answers.hash(block.previousblockhash, 'parent of a block');
  const transfers: Transfer[] = [];
  const spends: { key: string; txid: string }[] = [];
  const txs = answers.list(block.tx, 'transactions of a block');
  if (txs.length === 0) throw answers.unsound('a block without transactions');
  for (const [index, entry] of txs.entries()) {
    const tx = answers.object(entry, 'transaction');
    if (index === 0) continue;
    // A transfer out of MWEB has another txid here than it had while it waited: this one counts.
    const txid = answers.hash(tx.txid, 'txid');
    for (const key of readSpends(answers, tx)) spends.push({ key, txid });
    for (const transfer of readTransfers(answers, tx, txid)) transfers.push(transfer);
  }
  return { ref: { height, hash: asked.hash, parent }, transfers, spends };
}

/** The outputs of a transaction that have an address. */
export function readTransfers(answers: NodeAnswers, tx: Readonly<Record<string, unknown>>, txid: string): Transfer[] {
  const transfers: Transfer[] = [];
  for (const entry of answers.list(tx.vout, 'outputs of a transaction')) {
    const output = answers.object(entry, 'output');
    // Inside MWEB there are neither amounts nor addresses.
    if (output.ismweb === true) continue;
    const { type, address, addresses } = answers.object(output.scriptPubKey, 'script of an output');
    if (!addressed.has(type)) continue;
    // Before version 22 of Bitcoin Core it is a list.
    const to = answers.text(address ?? (Array.isArray(addresses) ? addresses[0] : null), 'address of an output');
    const key = outpointKey({ txid, vout: answers.count(output.n, 'place of an output') });
    const amount = answers.coins(output.value, 'amount of an output');
    transfers.push({ key, txid, address: to, tag: null, contract: null, amount });
  }
  return transfers;
}

/** The keys of the outputs that a transaction spends. */
export function readSpends(answers: NodeAnswers, tx: Readonly<Record<string, unknown>>): string[] {
  const keys: string[] = [];
  for (const entry of answers.list(tx.vin, 'inputs of a transaction')) {
    const input = answers.object(entry, 'input');
    if (input.ismweb === true || input.coinbase !== undefined) continue;
    const vout = answers.count(input.vout, 'place of an input');
    keys.push(outpointKey({ txid: answers.hash(input.txid, 'txid of an input'), vout }));
  }
  return keys;
}
