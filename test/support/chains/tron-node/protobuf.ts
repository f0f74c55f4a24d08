/** What a member of a message can be: a number, or bytes of any kind. */
type Value = bigint | Uint8Array;

/** Reads the members of a protobuf message; of a member that comes twice, the last one counts. */
export class Message {
  readonly #fields = new Map<number, Value[]>();

  /** @throws Error when the bytes are no message. */
  constructor(bytes: Uint8Array) {
    let at = 0;
    const varint = (): bigint => {
      let value = 0n;
      for (let shift = 0n; shift < 70n; shift += 7n) {
        const byte = bytes[at++];
        if (byte === undefined) throw new Error('the message ends inside a number');
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return BigInt.asUintN(64, value);
      }
      throw new Error('a number of the message has more than 10 bytes');
    };
    const slice = (length: number): Uint8Array => {
      if (at + length > bytes.length) throw new Error('the message ends inside a member');
      at += length;
      return bytes.subarray(at - length, at);
    };
    const read = (wire: number): Value => {
      if (wire === 0) return varint();
      if (wire === 1) return slice(8);
      if (wire === 2) return slice(Number(varint()));
      if (wire === 5) return slice(4);
      throw new Error(`the message has a member of the unknown wire type ${wire}`);
    };
    while (at < bytes.length) {
      const key = Number(varint());
      const [number, value] = [key >> 3, read(key & 7)];
      this.#fields.set(number, [...(this.#fields.get(number) ?? []), value]);
    }
  }

  /** A signed number of 64 bits; 0 when it is absent. */
  int(number: number): bigint {
    const value = this.#fields.get(number)?.at(-1) ?? 0n;
    if (typeof value !== 'bigint') throw new Error(`member ${number} is no number`);
    return BigInt.asIntN(64, value);
  }

  /** Empty when it is absent. */
  bytes(number: number): Uint8Array {
    return this.all(number).at(-1) ?? new Uint8Array();
  }

  /** A repeated member. */
  all(number: number): Uint8Array[] {
    return (this.#fields.get(number) ?? []).map((value) => {
      if (typeof value === 'bigint') throw new Error(`member ${number} is a number`);
      return value;
    });
  }
}

/**
 * The bytes of a message of the third version: numbers that are 0 and empty bytes are left out. A
 * list writes each of its entries, empty ones too.
 */
export function encodeMessage(members: readonly (readonly [number, Value | readonly Uint8Array[]])[]): Uint8Array {
  const parts = members.flatMap(([number, value]): Uint8Array[] => {
    if (typeof value === 'bigint') return value === 0n ? [] : [varint(BigInt(number << 3)), varint(value)];
    if (value instanceof Uint8Array) return value.length === 0 ? [] : delimited(number, value);
    return value.flatMap((one) => delimited(number, one));
  });
  return Uint8Array.from(Buffer.concat(parts));
}

function delimited(number: number, value: Uint8Array): Uint8Array[] {
  return [varint(BigInt((number << 3) | 2)), varint(BigInt(value.length)), value];
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  bytes.push(Number(left));
  return Uint8Array.from(bytes);
}
