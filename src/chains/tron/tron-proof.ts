import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { sha256 } from '../addresses/hashes.ts';
import { bytesField, joinBytes, messageField, numberField } from './protobuf.ts';

/** The contents of a block's header. Bytes are hexadecimal digits, empty when they are absent. */
export interface BlockHeader {
  readonly timeMs: number;
  readonly txTrieRoot: string;
  readonly parent: string;
  readonly height: number;
  readonly witnessId: bigint;
  readonly witness: string;
  readonly version: bigint;
  readonly accountStateRoot: string;
}

/** A transaction with all that the root of its block covers. */
export interface ProvedTx {
  readonly raw: Uint8Array;
  readonly signatures: readonly Uint8Array[];
  readonly results: readonly {
    readonly fee: bigint;
    readonly ret: string | null;
    readonly contractRet: string | null;
  }[];
}

/** `Transaction.Result.contractResult` by name. https://github.com/tronprotocol/protocol/blob/master/core/Tron.proto */
const contractResults = [
  'DEFAULT',
  'SUCCESS',
  'REVERT',
  'BAD_JUMP_DESTINATION',
  'OUT_OF_MEMORY',
  'PRECOMPILED_CONTRACT',
  'STACK_TOO_SMALL',
  'STACK_TOO_LARGE',
  'ILLEGAL_OPERATION',
  'STACK_OVERFLOW',
  'OUT_OF_ENERGY',
  'OUT_OF_TIME',
  'JVM_STACK_OVER_FLOW',
  'UNKNOWN',
  'TRANSFER_FAILED',
  'INVALID_CODE',
];

export function txidOf(raw: Uint8Array): string {
  return bytesToHex(sha256(raw));
}

/** The id of a block: its height in 8 bytes, then the last 24 bytes of its header's hash. */
export function blockIdOf(header: BlockHeader): string {
  const raw = joinBytes(
    numberField(1, BigInt(header.timeMs)),
    bytesField(2, hexToBytes(header.txTrieRoot)),
    bytesField(3, hexToBytes(header.parent)),
    numberField(7, BigInt(header.height)),
    numberField(8, header.witnessId),
    bytesField(9, hexToBytes(header.witness)),
    numberField(10, header.version),
    bytesField(11, hexToBytes(header.accountStateRoot)),
  );
  return `${header.height.toString(16).padStart(16, '0')}${bytesToHex(sha256(raw)).slice(16)}`;
}

/**
 * The root of a block's transactions. It covers their data, signatures and results. A node that is
 * without a pair goes up unchanged.
 */
export function rootOf(transactions: readonly ProvedTx[]): string {
  let level = transactions.map((tx) => sha256(encodeProved(tx)));
  if (level.length === 0) return '0'.repeat(64);
  while (level.length > 1) {
    const pairs = Array.from({ length: Math.ceil(level.length / 2) }, (_, index) => {
      return level.slice(2 * index, 2 * index + 2);
    });
    level = pairs.map(([left = new Uint8Array(), right]) => (right ? sha256(joinBytes(left, right)) : left));
  }
  return bytesToHex(level[0] ?? new Uint8Array());
}

function encodeProved({ raw, signatures, results }: ProvedTx): Uint8Array {
  return joinBytes(
    messageField(1, raw),
    ...signatures.map((signature) => messageField(2, signature)),
    ...results.map(({ fee, ret, contractRet }) =>
      messageField(
        5,
        numberField(1, fee),
        numberField(2, ret === 'FAILED' ? 1n : 0n),
        numberField(3, BigInt(Math.max(0, contractResults.indexOf(contractRet ?? 'DEFAULT')))),
      ),
    ),
  );
}
