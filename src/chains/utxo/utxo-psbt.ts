import { base64 } from '@scure/base';
import { RawTx, Transaction } from '@scure/btc-signer';
import { compareOutpoints, type Outpoint, outpointKey } from './outpoint.ts';

/** An input of an unsigned transaction, and all that signing it takes. */
export interface UnsignedInput {
  readonly outpoint: Outpoint;
  readonly amount: bigint;
  readonly script: Uint8Array;
  /** Of the key that the script is locked to. Whoever signs judges it. */
  readonly path: string;
  /** The transaction that made the output, where signatures do not cover the amount; null where they do (BIP143). */
  readonly previous: Uint8Array | null;
}

export interface UnsignedOutput {
  readonly script: Uint8Array;
  readonly amount: bigint;
}

export interface UnsignedTx {
  readonly inputs: readonly UnsignedInput[];
  readonly outputs: readonly UnsignedOutput[];
  /** Signals BIP125: nodes may take another transaction with the same inputs and a higher fee in its place. */
  readonly isReplaceable: boolean;
}

/**
 * The proprietary field of BIP174 that holds an input's path. The field meant for paths is keyed by a public key, and
 * whoever prepares transactions knows addresses alone. Seven bytes of a name, then the number of the field.
 */
const pathKey = Uint8Array.from([7, ...new TextEncoder().encode('gateway'), 0]);
const options = { proprietary: 'ignore', unknown: 'strict' } as const;

/** Inputs and outputs in the order of BIP69. Nothing in the transaction expires or waits for a time. */
export function encodePsbt({ inputs, outputs, isReplaceable }: UnsignedTx): string {
  const tx = new Transaction({ ...options, version: 2, lockTime: 0 });
  for (const { outpoint, amount, script, path, previous } of inputs.toSorted(byOutpoint)) {
    tx.addInput({
      txid: outpoint.txid,
      index: outpoint.vout,
      sequence: isReplaceable ? 0xfffffffd : 0xffffffff,
      ...(previous ? { nonWitnessUtxo: previous } : { witnessUtxo: { amount, script } }),
      proprietary: [[pathKey, new TextEncoder().encode(path)]],
    });
  }
  for (const { script, amount } of outputs.toSorted(byValue)) tx.addOutput({ script, amount });
  return base64.encode(tx.toPSBT(0));
}

/**
 * Reads what `encodePsbt` wrote, and nothing else: a field more or less, another order or another way to write the same
 * is refused.
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
  const { txid, index: vout, witnessUtxo, nonWitnessUtxo, proprietary } = tx.getInput(index);
  const path = proprietary?.[0]?.[1];
  // The library has compared the txid with the hash of the transaction that came along.
  const spent = nonWitnessUtxo ? nonWitnessUtxo.outputs[vout ?? -1] : witnessUtxo;
  if (!txid || vout === undefined || !spent || !path) throw new Error(`input ${index} is incomplete`);
  return {
    outpoint: { txid: Buffer.from(txid).toString('hex'), vout },
    amount: spent.amount,
    script: spent.script,
    path: new TextDecoder().decode(path),
    previous: nonWitnessUtxo ? RawTx.encode(nonWitnessUtxo) : null,
  };
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
