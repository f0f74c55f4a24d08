import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { encodeMessage } from './protobuf.ts';

/** What a producer signs of a block. Hashes and the address are hexadecimal digits. */
export interface Header {
  readonly number: number;
  /** Milliseconds. */
  readonly timestamp: number;
  readonly txTrieRoot: string;
  readonly parentHash: string;
  readonly witness: string;
  readonly version: number;
}

/** A block without transactions has this root. */
const emptyRoot = '0'.repeat(64);

export function encodeHeader(header: Header): Uint8Array {
  return encodeMessage([
    [1, BigInt(header.timestamp)],
    [2, hexToBytes(header.txTrieRoot)],
    [3, hexToBytes(header.parentHash)],
    [7, BigInt(header.number)],
    [9, hexToBytes(header.witness)],
    [10, BigInt(header.version)],
  ]);
}

/** The hash of the header, with the number in place of its first eight bytes. */
export function blockId(header: Header): string {
  return header.number.toString(16).padStart(16, '0') + bytesToHex(sha256(encodeHeader(header))).slice(16);
}

/**
 * The root over transactions, each with its signatures and its result. The last of an odd row moves
 * up unchanged.
 */
export function merkleRoot(transactions: readonly Uint8Array[]): string {
  let row = transactions.map((bytes) => sha256(bytes));
  if (row.length === 0) return emptyRoot;
  while (row.length > 1) {
    row = Array.from({ length: Math.ceil(row.length / 2) }, (_, index) => {
      const left = row[2 * index] ?? new Uint8Array();
      const right = row[2 * index + 1];
      return right ? sha256(Uint8Array.from([...left, ...right])) : left;
    });
  }
  return bytesToHex(row[0] ?? new Uint8Array());
}
