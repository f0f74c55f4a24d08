/**
 * Writes the members of Stellar's binary format. All have a multiple of four bytes.
 * https://datatracker.ietf.org/doc/html/rfc4506
 */
export class Writer {
  readonly #parts: Uint8Array[] = [];

  uint32(value: number): this {
    if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) throw new RangeError('a member has 32 bits');
    const part = Buffer.alloc(4);
    part.writeUInt32BE(value);
    return this.bytes(part);
  }

  /** A number that is not below 0, as the ledger's amounts and sequence numbers are. */
  int64(value: bigint): this {
    if (value < 0n || value > 2n ** 63n - 1n) throw new RangeError('a member has 63 bits');
    return this.uint64(value);
  }

  uint64(value: bigint): this {
    if (value < 0n || value >= 2n ** 64n) throw new RangeError('a member has 64 bits');
    const part = Buffer.alloc(8);
    part.writeBigUInt64BE(value);
    return this.bytes(part);
  }

  /** Bytes whose number the format fixes: a multiple of four. */
  bytes(value: Uint8Array): this {
    this.#parts.push(value);
    return this;
  }

  /** Bytes with their length before them and zeros behind. */
  opaque(value: Uint8Array, most: number): this {
    if (value.length > most) throw new RangeError(`a member has at most ${most} bytes`);
    return this.uint32(value.length)
      .bytes(value)
      .bytes(new Uint8Array(paddingOf(value.length)));
  }

  done(): Uint8Array {
    return Buffer.concat(this.#parts);
  }
}

/** Reads what `Writer` writes. Every method throws an Error where the bytes are cut off. */
export class Reader {
  readonly #from: Buffer;
  #at = 0;

  constructor(from: Uint8Array) {
    this.#from = Buffer.from(from);
  }

  uint32(): number {
    return Buffer.from(this.bytes(4)).readUInt32BE();
  }

  int64(): bigint {
    return Buffer.from(this.bytes(8)).readBigInt64BE();
  }

  uint64(): bigint {
    return Buffer.from(this.bytes(8)).readBigUInt64BE();
  }

  bytes(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#from.length) throw new Error('it is cut off');
    const value = this.#from.subarray(this.#at, end);
    this.#at = end;
    return value;
  }

  opaque(most: number): Uint8Array {
    const length = this.uint32();
    if (length > most) throw new Error('it has a member that is too long');
    const value = this.bytes(length);
    this.bytes(paddingOf(length));
    return value;
  }

  /** @throws Error for another number. */
  expect(value: number): void {
    if (this.uint32() !== value) throw new Error('it has another form');
  }

  /** @throws Error for bytes that were not read. */
  end(): void {
    if (this.#at !== this.#from.length) throw new Error('it has more bytes');
  }
}

/** Reads bytes to their end. */
export function readXdr<T>(from: Uint8Array, read: (from: Reader) => T): T {
  const reader = new Reader(from);
  const value = read(reader);
  reader.end();
  return value;
}

function paddingOf(length: number): number {
  return (4 - (length % 4)) % 4;
}
