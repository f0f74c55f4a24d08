import { asList, asObject, unsound } from '../nodes/node-answer.ts';
import type { ScannedBlock, Transfer } from '../port/chain-adapter.ts';
import { outpointKey } from './outpoint.ts';
import { asCoins, asCount, asHash, asHex, asText } from './utxo-answer.ts';

/**
 * Script types with an address. Data, bare keys, bare multisig and transfers into MWEB have none.
 */
const addressed: ReadonlySet<unknown> = new Set([
  'pubkeyhash',
  'scripthash',
  'witness_v0_keyhash',
  'witness_v0_scripthash',
  'witness_v1_taproot',
]);

/**
 * Reads a block, as `getblock` tells it with all transactions.
 *
 * The coins of the coinbase transaction are no transfers: they cannot be spent for a hundred blocks
 * or more, and a reorg destroys them for good. A miner must send them on from a separate wallet.
 *
 * @throws ChainError when it is not the requested block, or is not valid.
 */
export function readBlock(answer: unknown, asked: { readonly height: number; readonly hash: string }): ScannedBlock {
  const block = asObject(answer, 'block');
  const height = asCount(block.height, 'height of a block');
  if (block.hash !== asked.hash || height !== asked.height) throw unsound('another block than was asked for');
  // Only block 0 has no parent.
  const parent = height === 0 ? '0'.repeat(64) : asHash(block.previousblockhash, 'parent of a block');
  const transfers: Transfer[] = [];
  const spends: { key: string; txid: string }[] = [];
  const txs = asList(block.tx, 'transactions of a block');
  if (txs.length === 0) throw unsound('a block without transactions');
  const txids = new Set<string>();
  for (const [index, entry] of txs.entries()) {
    const tx = asObject(entry, 'transaction');
    if (index === 0) continue;
    // A transfer out of MWEB had another txid in the mempool; this one counts.
    const txid = asHash(tx.txid, 'txid');
    if (txids.has(txid)) throw unsound('a transaction twice');
    txids.add(txid);
    for (const key of readSpends(tx)) spends.push({ key, txid });
    for (const transfer of readTransfers(tx, txid)) transfers.push(transfer);
  }
  const timeMs = asCount(block.time, 'time of a block') * 1_000;
  return { ref: { height, hash: asked.hash, parent, timeMs }, transfers, spends };
}

/** The outputs of a transaction that have an address. */
export function readTransfers(tx: Readonly<Record<string, unknown>>, txid: string): Transfer[] {
  const transfers: Transfer[] = [];
  const places = new Set<unknown>();
  for (const entry of asList(tx.vout, 'outputs of a transaction')) {
    const output = asObject(entry, 'output');
    // Inside MWEB there are neither amounts nor addresses.
    if (output.ismweb === true) continue;
    if (places.has(output.n)) throw unsound('an output twice');
    places.add(output.n);
    const { type, address, addresses } = asObject(output.scriptPubKey, 'script of an output');
    if (!addressed.has(type)) continue;
    // A list before version 22 of Bitcoin Core.
    const to = asText(address ?? (Array.isArray(addresses) ? addresses[0] : null), 'address of an output');
    const key = outpointKey({ txid, vout: asCount(output.n, 'place of an output') });
    const amount = asCoins(output.value, 'amount of an output');
    transfers.push({ key, txid, address: to, tag: null, contract: null, amount });
  }
  return transfers;
}

/**
 * What all outputs of a transaction are worth together, and what those with a script (in hex) are
 * worth.
 */
export function readWorth(
  tx: Readonly<Record<string, unknown>>,
  script: string,
): { readonly all: bigint; readonly back: bigint } {
  let all = 0n;
  let back = 0n;
  for (const entry of asList(tx.vout, 'outputs of a transaction')) {
    const output = asObject(entry, 'output');
    if (output.ismweb === true) continue;
    const amount = asCoins(output.value, 'amount of an output');
    const { hex } = asObject(output.scriptPubKey, 'script of an output');
    all += amount;
    // A script may be empty.
    if (hex !== '' && asHex(hex, 'script of an output') === script) back += amount;
  }
  return { all, back };
}

/** The keys of the outputs that a transaction spends. */
export function readSpends(tx: Readonly<Record<string, unknown>>): string[] {
  const keys: string[] = [];
  for (const entry of asList(tx.vin, 'inputs of a transaction')) {
    const input = asObject(entry, 'input');
    if (input.ismweb === true || input.coinbase !== undefined) continue;
    const vout = asCount(input.vout, 'place of an input');
    keys.push(outpointKey({ txid: asHash(input.txid, 'txid of an input'), vout }));
  }
  return keys;
}
