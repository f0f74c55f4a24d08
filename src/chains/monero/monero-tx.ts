import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';

/** The facts of a signed transaction that its bytes show to everyone. */
export interface MoneroTx {
  readonly txid: string;
  readonly unlockTime: bigint;
  /** Of the outputs that it spends, in its order. */
  readonly keyImages: readonly string[];
  readonly paid: readonly PaidOutput[];
  /** The public key with which recipients find their outputs, in hex; null without one. */
  readonly publicKey: string | null;
  /** In the smallest unit. */
  readonly fee: bigint;
}

/** An output, as everyone sees it. */
export interface PaidOutput {
  readonly key: string;
  /** 8 bytes that only its recipient reads. */
  readonly sealedAmount: string;
}

/** The text is no transaction of a form that this version knows. */
export class MalformedTx extends Error {
  override readonly name = 'MalformedTx';
}

/** More than any transaction that nodes relay has. */
const mostMembers = 10_000n;
/** Kinds of signatures whose public part has this form: CLSAG, and CLSAG with Bulletproofs+. */
const knownSignatures: ReadonlySet<number> = new Set([5, 6]);
const toKey = 2;
const toTaggedKey = 3;

/**
 * Reads a transaction with ring signatures (version 2). Its txid is the hash of three hashes: of
 * the prefix, of the public part of the signatures, and of the rest.
 * https://docs.getmonero.org/cryptography/asymmetric/introduction/ and the source's
 * `cryptonote_basic.h` and `rctTypes.h`.
 *
 * @throws MalformedTx for coinbase and any other form.
 */
export function parseMoneroTx(raw: string): MoneroTx {
  if (!/^([0-9a-f]{2})+$/.test(raw)) throw new MalformedTx('a transaction is not in hex');
  const reader = new Reader(hexToBytes(raw));
  if (reader.number() !== 2n) throw new MalformedTx('a transaction has another version than 2');
  const unlockTime = reader.number();
  const keyImages = reader.list(() => {
    if (reader.byte() !== toKey) throw new MalformedTx('an input is of an unknown kind');
    if (reader.number() !== 0n) throw new MalformedTx('an input shows its amount');
    reader.list(() => reader.number());
    return bytesToHex(reader.bytes(32));
  });
  const keys = reader.list(() => {
    if (reader.number() !== 0n) throw new MalformedTx('an output shows its amount');
    const kind = reader.byte();
    if (kind !== toKey && kind !== toTaggedKey) throw new MalformedTx('an output is of an unknown kind');
    return bytesToHex(reader.bytes(kind === toTaggedKey ? 33 : 32).subarray(0, 32));
  });
  const publicKey = publicKeyOf(reader.bytes(reader.count()));
  const prefix = reader.taken();
  if (!knownSignatures.has(reader.byte())) throw new MalformedTx('the signatures are of an unknown kind');
  const fee = reader.number();
  const paid = keys.map((key) => ({ key, sealedAmount: bytesToHex(reader.bytes(8)) }));
  reader.bytes(32 * keys.length);
  const base = reader.taken();
  const hashes = [prefix, base, reader.rest()].map((part) => keccak_256(part));
  return { txid: bytesToHex(keccak_256(concatBytes(...hashes))), unlockTime, keyImages, paid, publicKey, fee };
}

/** Null for a form that this version does not know, which no payment of ours has. */
export function parsedOrNull(raw: string): MoneroTx | null {
  try {
    return parseMoneroTx(raw);
  } catch (error) {
    if (error instanceof MalformedTx) return null;
    throw error;
  }
}

/**
 * The public key of a transaction, from the bytes that its sender may fill. It comes first, as
 * wallets write it, or is not looked for.
 */
function publicKeyOf(extra: Uint8Array): string | null {
  return extra[0] === 1 && extra.length >= 33 ? bytesToHex(extra.subarray(1, 33)) : null;
}

/** The name of an output that a payment spends. */
export function keyImageReservation(keyImage: string): string {
  return `keyimage:${keyImage}`;
}

/** The key image of a reservation; null for any other text. */
export function keyImageOf(reservation: string): string | null {
  return /^keyimage:([0-9a-f]{64})$/.exec(reservation)?.[1] ?? null;
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #taken = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new MalformedTx('a transaction ends early');
    this.#at += 1;
    return byte;
  }

  bytes(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new MalformedTx('a transaction ends early');
    const found = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return found;
  }

  /** A whole number of up to 64 bits, seven of them in each byte, the lowest first. */
  number(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new MalformedTx('a number is too long');
  }

  count(): number {
    const count = this.number();
    if (count > mostMembers) throw new MalformedTx('a list is too long');
    return Number(count);
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.count() }, read);
  }

  /** The bytes since the previous call. */
  taken(): Uint8Array {
    const found = this.#bytes.subarray(this.#taken, this.#at);
    this.#taken = this.#at;
    return found;
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }
}
