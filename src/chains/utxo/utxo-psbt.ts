import { sha256 } from '@noble/hashes/sha2.js';
import { base64 } from '@scure/base';
import { RawTx, Transaction } from '@scure/btc-signer';
import { RawOldTx } from '@scure/btc-signer/script.js';
import { compareOutpoints, type Outpoint, outpointKey } from './outpoint.ts';

/** An input of an unsigned transaction, with all data for signing it. */
export interface UnsignedInput {
  readonly outpoint: Outpoint;
  readonly amount: bigint;
  readonly script: Uint8Array;
  /** Path of the key that the script is locked to. The signer checks it. */
  readonly path: string;
  /**
   * The transaction that made the output, if signatures do not cover the amount; null if they do
   * (BIP143).
   */
  readonly previous: Uint8Array | null;
}

export interface UnsignedOutput {
  readonly script: Uint8Array;
  readonly amount: bigint;
}

export interface UnsignedTx {
  readonly inputs: readonly UnsignedInput[];
  readonly outputs: readonly UnsignedOutput[];
  /**
   * Signals BIP125: nodes may accept another transaction with the same inputs and a higher fee in
   * its place.
   */
  readonly isReplaceable: boolean;
}

/** A proprietary field of BIP174: seven bytes of a name, then its number. */
const fieldKey = (number: number): Uint8Array => Uint8Array.from([7, ...new TextEncoder().encode('gateway'), number]);
/**
 * An input's path. The standard field is keyed by a public key, but the process that prepares
 * transactions knows addresses only.
 */
const pathKey = fieldKey(0);
/**
 * The transaction before an input. In the standard field, the library takes seconds over a large
 * one.
 */
const previousKey = fieldKey(1);
// This module itself checks each input against the transaction before it.
const options = { proprietary: 'ignore', unknown: 'strict', allowLegacyWitnessUtxo: true } as const;

/** Encodes a transaction, with inputs and outputs in the order of BIP69. It has no lock time. */
export function encodePsbt({ inputs, outputs, isReplaceable }: UnsignedTx): string {
  const tx = new Transaction({ ...options, version: 2, lockTime: 0 });
  for (const { outpoint, amount, script, path, previous } of inputs.toSorted(byOutpoint)) {
    const fields: [Uint8Array, Uint8Array][] = [[pathKey, new TextEncoder().encode(path)]];
    if (previous) fields.push([previousKey, previous]);
    tx.addInput({
      txid: outpoint.txid,
      index: outpoint.vout,
      sequence: isReplaceable ? 0xfffffffd : 0xffffffff,
      witnessUtxo: { amount, script },
      proprietary: fields,
    });
  }
  for (const { script, amount } of outputs.toSorted(byValue)) tx.addOutput({ script, amount });
  return base64.encode(tx.toPSBT(0));
}

/**
 * Reads the output of `encodePsbt` and nothing else. A field more or less, another order or another
 * encoding is refused.
 *
 * @throws Error saying what is wrong.
 */
export function decodePsbt(payload: string): UnsignedTx {
  const tx = Transaction.fromPSBT(base64.decode(payload), options);
  const inputs = Array.from({ length: tx.inputsLength }, (_, index) => decodeInput(tx, index));
  const outputs = Array.from({ length: tx.outputsLength }, (_, index) => {
    const { script, amount } = tx.getOutput(index);
    if (!script || amount === undefined) throw new Error(`output ${index} is incomplete`);
    return { script, amount };
  });
  if (inputs.length === 0 || outputs.length === 0) throw new Error('it spends nothing or pays nothing');
  const isReplaceable = tx.getInput(0).sequence === 0xfffffffd;
  const decoded = { inputs, outputs, isReplaceable };
  if (encodePsbt(decoded) !== payload) throw new Error('it holds more than a transaction, or is written another way');
  return decoded;
}

function decodeInput(tx: Transaction, index: number): UnsignedInput {
  const { txid, index: vout, witnessUtxo: spent, proprietary } = tx.getInput(index);
  const path = proprietary?.[0]?.[1];
  const previous = proprietary?.[1]?.[1] ?? null;
  if (!txid || vout === undefined || !spent || !path) throw new Error(`input ${index} is incomplete`);
  const outpoint = { txid: Buffer.from(txid).toString('hex'), vout };
  if (previous) refuseOther(previous, outpoint, spent);
  return { outpoint, ...spent, path: new TextDecoder().decode(path), previous };
}

/**
 * Checks an output against the transaction that is said to have made it.
 *
 * @throws Error when it is not the output of that transaction.
 */
function refuseOther(previous: Uint8Array, { txid, vout }: Outpoint, { amount, script }: UnsignedOutput): void {
  const made = RawTx.decode(previous);
  // A txid is shown in reverse byte order.
  const hash = Buffer.from(sha256(sha256(RawOldTx.encode(made)))).reverse();
  const output = made.outputs[vout];
  if (hash.toString('hex') !== txid || output?.amount !== amount || Buffer.compare(output.script, script) !== 0) {
    throw new Error(`the transaction before ${outpointKey({ txid, vout })} is another`);
  }
}

/** The transaction without signatures, ready to be signed. */
export function unsignedTransaction(payload: string): Transaction {
  return Transaction.fromPSBT(base64.decode(payload), options);
}

export function totalOf(parts: readonly { readonly amount: bigint }[]): bigint {
  return parts.reduce((sum, { amount }) => sum + amount, 0n);
}

export function keysOf({ inputs }: UnsignedTx): string[] {
  return inputs.map(({ outpoint }) => outpointKey(outpoint));
}

function byOutpoint(a: UnsignedInput, b: UnsignedInput): number {
  return compareOutpoints(a.outpoint, b.outpoint);
}

function byValue(a: UnsignedOutput, b: UnsignedOutput): number {
  return a.amount === b.amount ? Buffer.compare(a.script, b.script) : a.amount < b.amount ? -1 : 1;
}
