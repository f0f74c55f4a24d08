import { concatBytes } from '@noble/hashes/utils.js';
import { encodeSolana } from '../addresses/solana.ts';
import { solanaKey } from './solana-keys.ts';

/** An account that an instruction names. */
export interface AccountRole {
  readonly address: string;
  readonly isSigner: boolean;
  readonly isWritable: boolean;
}

export interface Instruction {
  readonly program: string;
  readonly accounts: readonly AccountRole[];
  readonly data: Uint8Array;
}

/**
 * What is signed: a message of the first form, without lookup tables.
 * https://solana.com/docs/core/transactions
 */
export interface SolanaMessage {
  /** Pays the fee, and signs first. */
  readonly payer: string;
  readonly blockhash: string;
  readonly instructions: readonly Instruction[];
}

/** The longest transaction of this form, in bytes, with its signatures. */
export const longestTx = 1_232;

/**
 * A number of up to 16 bits, in groups of 7 bits.
 *
 * @throws RangeError for a larger one.
 */
export function compactU16(value: number): Uint8Array {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff) throw new RangeError('a length has 16 bits');
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}

/**
 * The accounts of a message in their order: the payer, other signers, then the others. Of each
 * kind, written ones come first. Within one role, by their text without regard to capitals.
 */
function accountsOf({ payer, instructions }: SolanaMessage): AccountRole[] {
  const found = new Map<string, AccountRole>([[payer, { address: payer, isSigner: true, isWritable: true }]]);
  const add = ({ address, isSigner, isWritable }: AccountRole): void => {
    const known = found.get(address);
    const role = {
      address,
      isSigner: isSigner || known?.isSigner === true,
      isWritable: isWritable || known?.isWritable === true,
    };
    found.set(address, role);
  };
  for (const { program, accounts } of instructions) {
    add({ address: program, isSigner: false, isWritable: false });
    for (const account of accounts) add(account);
  }
  const rank = ({ address, isSigner, isWritable }: AccountRole): number =>
    address === payer ? -1 : (isSigner ? 0 : 2) + (isWritable ? 0 : 1);
  return [...found.values()].sort((a, b) => rank(a) - rank(b) || compareText(a.address, b.address));
}

/** The order of dictionaries. Small letters come first where nothing else differs. */
function compareText(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  if (a !== b) return a < b ? -1 : 1;
  if (one === other) return 0;
  return one > other ? -1 : 1;
}

/** @throws RangeError for members that a message does not have. */
export function encodeMessage(message: SolanaMessage): Uint8Array {
  const accounts = accountsOf(message);
  const count = (holds: (role: AccountRole) => boolean): number => accounts.filter(holds).length;
  const placeOf = (address: string): number => accounts.findIndex((each) => each.address === address);
  return concatBytes(
    Uint8Array.of(
      count(({ isSigner }) => isSigner),
      count(({ isSigner, isWritable }) => isSigner && !isWritable),
      count(({ isSigner, isWritable }) => !isSigner && !isWritable),
    ),
    compactU16(accounts.length),
    ...accounts.map(({ address }) => solanaKey(address)),
    solanaKey(message.blockhash),
    compactU16(message.instructions.length),
    ...message.instructions.flatMap(({ program, accounts: named, data }) => [
      Uint8Array.of(placeOf(program)),
      compactU16(named.length),
      Uint8Array.from(named.map(({ address }) => placeOf(address))),
      compactU16(data.length),
      data,
    ]),
  );
}

/** Reads bytes from their beginning. @throws Error when they are cut off. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  bytes(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new Error('it is cut off');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  byte(): number {
    return this.bytes(1)[0] ?? 0;
  }

  compactU16(): number {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Error('a length is too long');
  }

  key(): string {
    return encodeSolana(this.bytes(32));
  }

  uint32(): number {
    return Buffer.from(this.bytes(4)).readUInt32LE();
  }

  uint64(): bigint {
    return Buffer.from(this.bytes(8)).readBigUInt64LE();
  }

  /** @throws Error when bytes are left. */
  end(): void {
    if (this.#at !== this.#bytes.length) throw new Error('it is too long');
  }
}

/**
 * Reads a message. The caller encodes it again and compares the bytes: that refuses accounts in
 * another order, and members in another form.
 */
export function decodeMessage(encoded: Uint8Array): SolanaMessage {
  const from = new ByteReader(encoded);
  const [signers, silentSigners, silentOthers] = [from.byte(), from.byte(), from.byte()];
  // The first bit marks a message with a version.
  if (signers > 0x7f) throw new Error('it is of another version');
  const addresses = Array.from({ length: from.compactU16() }, () => from.key());
  const roles = addresses.map((address, place): AccountRole => {
    const isSigner = place < signers;
    const isWritable = isSigner ? place < signers - silentSigners : place < addresses.length - silentOthers;
    return { address, isSigner, isWritable };
  });
  const roleAt = (place: number): AccountRole => {
    const role = roles[place];
    if (role === undefined) throw new Error('it names an account that it does not have');
    return role;
  };
  const blockhash = from.key();
  const instructions = Array.from({ length: from.compactU16() }, (): Instruction => {
    const { address: program } = roleAt(from.byte());
    const accounts = [...from.bytes(from.compactU16())].map(roleAt);
    return { program, accounts, data: from.bytes(from.compactU16()) };
  });
  from.end();
  return { payer: roleAt(0).address, blockhash, instructions };
}

export function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return Uint8Array.from(bytes);
}

/** @throws RangeError for a number that 64 bits cannot hold. */
export function uint64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Uint8Array.from(bytes);
}
