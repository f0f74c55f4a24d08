import { Address, OutScript, p2pkh, p2wpkh } from '@scure/btc-signer';
import type { UtxoParams } from '../networks/utxo-params.ts';

/**
 * How our own outputs are locked: to a key in a witness program if the coin has them, to a key's
 * hash otherwise.
 */
export type OwnForm = 'p2wpkh' | 'p2pkh';

export function ownForm({ bech32 }: UtxoParams): OwnForm {
  return bech32 === null ? 'p2pkh' : 'p2wpkh';
}

/** The script that locks an output to the address; null when it is not an address of the chain. */
export function scriptOfAddress(params: UtxoParams, address: string): Uint8Array | null {
  try {
    // Without a prefix the library takes the text for Base58Check, which refuses it by its
    // checksum.
    const network = { ...params, bech32: params.bech32 ?? '' };
    return OutScript.encode(Address(network).decode(address));
  } catch {
    return null;
  }
}

/** The address and script of a compressed public key. */
export function ownAddress(params: UtxoParams, publicKey: Uint8Array): { address: string; script: Uint8Array } {
  const network = { ...params, bech32: params.bech32 ?? '' };
  const payment = ownForm(params) === 'p2wpkh' ? p2wpkh(publicKey, network) : p2pkh(publicKey, network);
  if (payment.address === undefined) throw new Error('the key has no address');
  return { address: payment.address, script: payment.script };
}

/**
 * The value below which nodes relay no transaction with the output, as Bitcoin Core's
 * GetDustThreshold counts.
 */
export function dustLimit({ dust }: UtxoParams, script: Uint8Array): bigint {
  const isWitness = script[1] === script.length - 2 && (script[0] === 0 || isVersion(script[0] ?? 0));
  const bytes = outputBytes(script) + (isWitness ? 67 : 148);
  const byRate = (dust.rate * BigInt(bytes)) / 1_000n;
  return byRate > dust.least ? byRate : dust.least;
}

/** Whether an opcode is OP_1 to OP_16, which begin a witness program of that version. */
function isVersion(opcode: number): boolean {
  return opcode >= 0x51 && opcode <= 0x60;
}

/** Bytes of an output with a script of less than 253 bytes. */
function outputBytes(script: Uint8Array): number {
  return 9 + script.length;
}

/**
 * Virtual bytes of a signed transaction that spends our own outputs. Each input counts with the
 * longest signature: 72 bytes with its sighash byte. So the real transaction is at most this long.
 */
export function virtualSize(form: OwnForm, inputs: number, scripts: readonly Uint8Array[]): number {
  const isWitness = form === 'p2wpkh';
  const outputs = scripts.reduce((sum, script) => sum + outputBytes(script), 0);
  const base = 8 + compactBytes(inputs) + compactBytes(scripts.length) + outputs + inputs * (isWitness ? 41 : 148);
  // Marker and flag; for each input the count of two items, the signature and the key, each after
  // its length.
  const witness = isWitness ? 2 + inputs * 108 : 0;
  return Math.ceil((base * 4 + witness) / 4);
}

/** Virtual bytes of one input of our own. */
export function inputSize(form: OwnForm): number {
  return form === 'p2wpkh' ? 68 : 148;
}

function compactBytes(count: number): number {
  return count < 253 ? 1 : 3;
}

/** The fee of a size at a rate for 1,000 virtual bytes, rounded up. */
export function feeOf(rate: bigint, size: number): bigint {
  return (rate * BigInt(size) + 999n) / 1_000n;
}
