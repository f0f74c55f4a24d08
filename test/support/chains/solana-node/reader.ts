/** Reads bytes from the front. @throws Error where there are too few or too many. */
export class Reader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  peek(): number {
    const byte = this.#bytes[this.at];
    if (byte === undefined) throw new Error('unexpected end of bytes');
    return byte;
  }

  byte(): number {
    const byte = this.peek();
    this.at += 1;
    return byte;
  }

  take(count: number): Uint8Array {
    const bytes = this.#bytes.slice(this.at, this.at + count);
    if (bytes.length < count) throw new Error('unexpected end of bytes');
    this.at += count;
    return bytes;
  }

  /** A whole number with its lowest byte first. */
  number(bytes: number): bigint {
    return this.take(bytes).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  }

  /** A length of one to three bytes with seven bits each, in its shortest form. */
  length(): number {
    let value = 0;
    for (let place = 0; place < 3; place += 1) {
      const byte = this.byte();
      if (byte === 0 && place > 0) throw new Error('a length is not in its shortest form');
      value += (byte & 0x7f) << (7 * place);
      if (byte < 0x80) {
        if (value > 0xffff) throw new Error('a length is too large');
        return value;
      }
    }
    throw new Error('a length has too many bytes');
  }

  many<T>(read: () => T): T[] {
    return Array.from({ length: this.length() }, read);
  }

  end(): void {
    if (this.at !== this.#bytes.length) throw new Error('bytes are left over');
  }
}

/** A whole number with its lowest byte first. */
export function littleEndian(value: bigint | number, bytes: number): Uint8Array {
  let rest = BigInt(value);
  return Uint8Array.from({ length: bytes }, () => {
    const byte = Number(rest & 0xffn);
    rest >>= 8n;
    return byte;
  });
}
