/**
 * The part of Protocol Buffers that Tron's messages need.
 * https://protobuf.dev/programming-guides/encoding
 */

/**
 * The values of a message by the number of their field, in their order: numbers as 64 bits without
 * a sign, and the bytes of texts, bytes and inner messages.
 */
export type Fields = ReadonlyMap<number, readonly (bigint | Uint8Array)[]>;

/** A field with a number; nothing for 0, as version 3 writes it. */
export function numberField(field: number, value: bigint): Uint8Array {
  return value === 0n ? new Uint8Array() : joinBytes(varint(BigInt(field) << 3n), varint(BigInt.asUintN(64, value)));
}

/** A field with bytes or text; nothing when there are none, as version 3 writes it. */
export function bytesField(field: number, value: Uint8Array): Uint8Array {
  return value.length === 0 ? value : messageField(field, value);
}

/** A field with an inner message, or an item of a list, which is written when it is empty too. */
export function messageField(field: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return joinBytes(varint((BigInt(field) << 3n) | 2n), varint(BigInt(length)), ...parts);
}

export function joinBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

/**
 * Reads the fields of a message. Numbers of a fixed size are left out: Tron's messages have none.
 *
 * @throws Error when the bytes are no message, or have a group, which version 3 does not know.
 */
export function readFields(bytes: Uint8Array): Fields {
  const fields = new Map<number, (bigint | Uint8Array)[]>();
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    const kind = Number(tag.value & 7n);
    const field = Number(tag.value >> 3n);
    if (field === 0 || field >= 2 ** 29) throw new Error('a field has no valid number');
    const value = readValue(bytes, tag.end, kind);
    at = value.end;
    if (kind !== 0 && kind !== 2) continue;
    const values = fields.get(field) ?? [];
    values.push(value.value);
    fields.set(field, values);
  }
  return fields;
}

/** The number of a field, with its sign; 0 when it is absent. The last one counts. */
export function numberOf(fields: Fields, field: number): bigint {
  const last = fields.get(field)?.findLast((value) => typeof value === 'bigint') ?? 0n;
  return BigInt.asIntN(64, last as bigint);
}

/** The bytes of a field; none when it is absent. The last ones count. */
export function bytesOf(fields: Fields, field: number): Uint8Array {
  return listOf(fields, field).at(-1) ?? new Uint8Array();
}

/** The inner message of a field. Several ones are one message, whose fields they join. */
export function messageOf(fields: Fields, field: number): Fields {
  return readFields(joinBytes(...listOf(fields, field)));
}

/** The items of a list of bytes or messages. */
export function listOf(fields: Fields, field: number): readonly Uint8Array[] {
  return (fields.get(field) ?? []).filter((value): value is Uint8Array => typeof value !== 'bigint');
}

interface Read<T> {
  readonly value: T;
  /** Place of the first byte behind it. */
  readonly end: number;
}

function readValue(bytes: Uint8Array, at: number, kind: number): Read<bigint | Uint8Array> {
  if (kind === 0) return readVarint(bytes, at);
  const sized = kind === 2 ? readVarint(bytes, at) : null;
  const length = sized?.value ?? ({ 1: 8n, 5: 4n } as Record<number, bigint>)[kind];
  if (length === undefined) throw new Error('a field has an unknown kind');
  const from = sized?.end ?? at;
  if (length > BigInt(bytes.length - from)) throw new Error('a field is cut off');
  const end = from + Number(length);
  return { value: bytes.subarray(from, end), end };
}

/** The longest number, which has 64 bits. */
const maxVarintBytes = 10;
/** Nearly all numbers have these bytes at most, and fit into a number of 32 bits. */
const shortVarintBytes = 4;

function readVarint(bytes: Uint8Array, at: number): Read<bigint> {
  let short = 0;
  for (let index = 0; index < shortVarintBytes; index += 1) {
    const byte = bytes[at + index] ?? 0x80;
    short |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) return { value: BigInt(short), end: at + index + 1 };
  }
  let value = 0n;
  for (let index = 0; index < maxVarintBytes; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) throw new Error('a number is cut off');
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: at + index + 1 };
  }
  throw new Error('a number is too long');
}

function varint(value: bigint): Uint8Array {
  if (value < 0x80n) return Uint8Array.of(Number(value));
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
