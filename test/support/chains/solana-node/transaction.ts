import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { bytesOf, programs, type Text58 } from './keys.ts';
import { Reader } from './reader.ts';

export type Version = 'legacy' | 0 | 1;

export interface Instruction {
  readonly program: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

/** Addresses that a transaction of version 0 takes from a table. */
export interface Lookup {
  readonly table: Text58;
  readonly writable: readonly number[];
  readonly readonly: readonly number[];
}

/** What a transaction of version 1 states in its head, instead of instructions to ComputeBudget. */
export interface Config {
  readonly priorityFee: bigint | null;
  readonly computeUnitLimit: number | null;
  readonly loadedAccountsDataSizeLimit: number | null;
  readonly heapSize: number | null;
}

export interface Header {
  readonly numRequiredSignatures: number;
  readonly numReadonlySignedAccounts: number;
  readonly numReadonlyUnsignedAccounts: number;
}

export interface SolanaTransaction {
  readonly wire: Uint8Array;
  /** What the signatures are over. */
  readonly message: Uint8Array;
  readonly version: Version;
  readonly signatures: readonly Text58[];
  readonly header: Header;
  /** Without the ones from tables. */
  readonly keys: readonly Text58[];
  readonly blockhash: Text58;
  readonly instructions: readonly Instruction[];
  readonly lookups: readonly Lookup[];
  readonly config: Config | null;
}

/** A transaction that is not encoded as the documentation says. */
export class Malformed extends Error {}

/** The first signature, which names it. */
export function idOf({ signatures }: Pick<SolanaTransaction, 'signatures'>): Text58 {
  return signatures[0] ?? '';
}

/**
 * Reads a transaction of any version.
 * https://solana.com/docs/core/transactions, version 1: SIMD-0385
 *
 * @throws Malformed
 */
export function decodeTransaction(wire: Uint8Array): SolanaTransaction {
  try {
    const tx = wire[0] === 0x81 ? decodeVersion1(wire) : decodeOlder(wire);
    checkShape(tx);
    return tx;
  } catch (error) {
    throw error instanceof Malformed ? error : new Malformed(String(error));
  }
}

function decodeOlder(wire: Uint8Array): SolanaTransaction {
  const reader = new Reader(wire);
  const signatures = reader.many(() => base58.encode(reader.take(64)));
  const from = reader.at;
  const isVersioned = (reader.peek() & 0x80) !== 0;
  if (isVersioned && reader.byte() !== 0x80) throw new Malformed('unknown version');
  const header = readHeader(reader);
  const keys = reader.many(() => base58.encode(reader.take(32)));
  const blockhash = base58.encode(reader.take(32));
  const instructions = reader.many(() => ({
    program: reader.byte(),
    accounts: reader.many(() => reader.byte()),
    data: reader.take(reader.length()),
  }));
  const lookups = !isVersioned
    ? []
    : reader.many(() => ({
        table: base58.encode(reader.take(32)),
        writable: reader.many(() => reader.byte()),
        readonly: reader.many(() => reader.byte()),
      }));
  reader.end();
  const version = isVersioned ? (0 as const) : ('legacy' as const);
  const message = wire.slice(from);
  return { wire, message, version, signatures, header, keys, blockhash, instructions, lookups, config: null };
}

function decodeVersion1(wire: Uint8Array): SolanaTransaction {
  const reader = new Reader(wire);
  reader.byte();
  const header = readHeader(reader);
  const mask = Number(reader.number(4));
  const blockhash = base58.encode(reader.take(32));
  const [instructionCount, keyCount] = [reader.byte(), reader.byte()];
  const keys = times(keyCount, () => base58.encode(reader.take(32)));
  const optional = (bit: number): number | null => ((mask & bit) === 0 ? null : Number(reader.number(4)));
  const config = {
    priorityFee: (mask & 3) === 3 ? reader.number(8) : null,
    computeUnitLimit: optional(4),
    loadedAccountsDataSizeLimit: optional(8),
    heapSize: optional(16),
  };
  const heads = times(instructionCount, () => ({
    program: reader.byte(),
    accounts: reader.byte(),
    data: Number(reader.number(2)),
  }));
  const instructions = heads.map((head) => ({
    program: head.program,
    accounts: times(head.accounts, () => reader.byte()),
    data: reader.take(head.data),
  }));
  const message = wire.slice(0, reader.at);
  const signatures = times(header.numRequiredSignatures, () => base58.encode(reader.take(64)));
  reader.end();
  return { wire, message, version: 1, signatures, header, keys, blockhash, instructions, lookups: [], config };
}

function readHeader(reader: Reader): Header {
  return {
    numRequiredSignatures: reader.byte(),
    numReadonlySignedAccounts: reader.byte(),
    numReadonlyUnsignedAccounts: reader.byte(),
  };
}

/** What `sanitize` of the documentation asks for. */
function checkShape({ signatures, header, keys, instructions, lookups }: SolanaTransaction): void {
  const { numRequiredSignatures: signers, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  const fromTables = lookups.reduce((sum, one) => sum + one.writable.length + one.readonly.length, 0);
  const inBounds = instructions.every(
    ({ program, accounts }) =>
      program > 0 && program < keys.length && accounts.every((index) => index < keys.length + fromTables),
  );
  const fits =
    signatures.length === signers &&
    numReadonlySignedAccounts < signers &&
    signers + numReadonlyUnsignedAccounts <= keys.length &&
    new Set(keys).size === keys.length &&
    inBounds;
  if (!fits) throw new Malformed('Transaction failed to sanitize accounts offsets correctly');
}

/** Whether all signatures are by the first keys, over the message. */
export function isSigned({ message, signatures, keys }: SolanaTransaction): boolean {
  return signatures.every((signature, index) => {
    const key = keys[index];
    // As the network verifies: without the leniency of ZIP 215.
    return key !== undefined && ed25519.verify(base58.decode(signature), message, bytesOf(key), { zip215: false });
  });
}

/** Whether the transaction itself lets the account at an index be written. */
export function isWritable({ header, keys, lookups }: SolanaTransaction, index: number): boolean {
  const { numRequiredSignatures: signers, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  if (index >= keys.length) {
    return index - keys.length < lookups.reduce((sum, { writable }) => sum + writable.length, 0);
  }
  if (index < signers) return index < signers - numReadonlySignedAccounts;
  return index < keys.length - numReadonlyUnsignedAccounts;
}

/** Compute units of an instruction that no limit is stated for. SIMD-0170 */
const usualUnits = { builtin: 3_000n, other: 200_000n };
const builtins: ReadonlySet<Text58> = new Set([programs.system, programs.computeBudget]);

/** The fee in lamports. https://solana.com/docs/core/fees */
export function feeOf({ header, config, instructions, keys }: SolanaTransaction, perSignature: bigint): bigint {
  const base = perSignature * BigInt(header.numRequiredSignatures);
  if (config) return base + (config.priorityFee ?? 0n);
  let price = 0n;
  let limit: bigint | null = null;
  let usual = 0n;
  for (const { program, data } of instructions) {
    const id = keys[program] ?? '';
    const reader = new Reader(data.slice(1));
    if (id === programs.computeBudget && data[0] === 2) limit = reader.number(4);
    else if (id === programs.computeBudget && data[0] === 3) price = reader.number(8);
    if (id !== programs.computeBudget) usual += builtins.has(id) ? usualUnits.builtin : usualUnits.other;
  }
  const units = limit ?? (usual > 1_400_000n ? 1_400_000n : usual);
  return base + (price * units + 999_999n) / 1_000_000n;
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
