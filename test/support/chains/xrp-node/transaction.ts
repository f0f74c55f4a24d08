import { hexToBytes } from '@noble/hashes/utils.js';
import { decode, encode, encodeForSigning } from 'ripple-binary-codec';
import { type Hash, isSigned, sha512Half, sign, type XrpKey } from './crypto.ts';

/** A transaction in the ledger's own format. */
export interface XrpTransaction {
  /** Upper case. */
  readonly blob: string;
  readonly txid: Hash;
  readonly json: Readonly<Record<string, unknown>>;
}

/** A blob that no server takes, with what it says. */
export class Malformed extends Error {}

/** The id: of the prefix `TXN` and a zero byte, and the signed bytes. */
export function txidOf(blob: string): Hash {
  return sha512Half(Buffer.from('TXN\0'), hexToBytes(blob));
}

/** Reads a signed transaction. @throws Malformed when its bytes are not the canonical ones. */
export function decodeTransaction(text: string): XrpTransaction {
  const blob = text.toUpperCase();
  if (!/^([0-9A-F]{2})+$/.test(blob)) throw new Malformed('Invalid field type');
  let json: Record<string, unknown>;
  let again: string;
  try {
    json = decode(blob) as Record<string, unknown>;
    again = encode(json as Parameters<typeof encode>[0]);
  } catch (error) {
    throw new Malformed(error instanceof Error ? error.message : String(error));
  }
  if (again !== blob) throw new Malformed('Transaction not in canonical order');
  return { blob, txid: txidOf(blob), json };
}

/** The transaction of members that carry their signature, or need none. */
export function encodeTransaction(json: Readonly<Record<string, unknown>>): XrpTransaction {
  const blob = encode(json as Parameters<typeof encode>[0]);
  return { blob, txid: txidOf(blob), json: decode(blob) as Record<string, unknown> };
}

/** Signs members, to which it adds the key. */
export function signTransaction(json: Readonly<Record<string, unknown>>, key: XrpKey): XrpTransaction {
  const unsigned = { ...json, SigningPubKey: key.publicKey };
  return encodeTransaction({ ...unsigned, TxnSignature: sign(signedBytes(unsigned), key) });
}

/** Whether a transaction is signed by the key that it names. */
export function hasValidSignature({ json }: XrpTransaction): boolean {
  const { SigningPubKey = '', TxnSignature = '' } = json;
  return isSigned(signedBytes(json), String(TxnSignature), String(SigningPubKey));
}

/** The prefix `STX` and a zero byte, and all members but the signature. */
function signedBytes(json: Readonly<Record<string, unknown>>): Uint8Array {
  return hexToBytes(encodeForSigning(json as Parameters<typeof encodeForSigning>[0]));
}

/** A member that is a number; null without it. */
export function numberIn(json: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = json[name];
  return typeof value === 'number' ? value : null;
}

/** An amount in drops; null without it, and for tokens. */
export function dropsIn(json: Readonly<Record<string, unknown>>, name: string): bigint | null {
  const value = json[name];
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : null;
}

/**
 * As version 2 of the interface shows it: `Amount` of a payment is named `DeliverMax`.
 * https://xrpl.org/docs/references/protocol/transactions/types/payment
 */
export function shownJson(json: Readonly<Record<string, unknown>>, version: number): Record<string, unknown> {
  if (json.TransactionType !== 'Payment' || !('Amount' in json)) return { ...json };
  const { Amount, ...rest } = json;
  return version > 1 ? { ...rest, DeliverMax: Amount } : { ...json, DeliverMax: Amount };
}
