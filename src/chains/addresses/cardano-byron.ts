import { base58 } from '@scure/base';
import { accepted, attempt, type Decoded, notOurs, ofTestNetwork } from './codec.ts';

/**
 * Decodes a Byron address: [tag 24 (bytes of [root hash, attributes, type]), CRC-32], as CBOR in
 * base58. https://cips.cardano.org/cip/CIP-19 and the CDDL of the Byron ledger.
 */
export function decodeByron(text: string): Decoded {
  const bytes = text.length > 130 ? null : attempt(() => base58.decode(text));
  if (!bytes) return notOurs;
  return attempt(() => readByron(text, bytes)) ?? notOurs;
}

function readByron(text: string, bytes: Uint8Array): Decoded {
  const outer = new CborReader(bytes);
  outer.expect(4, 2n);
  outer.expect(6, 24n);
  const payload = outer.bytes();
  if (outer.head(0) !== BigInt(crc32(payload)) || !outer.atEnd) return notOurs;
  const inner = new CborReader(payload);
  inner.expect(4, 3n);
  if (inner.bytes().length !== 28) return notOurs;
  let isTest = false;
  for (let left = inner.head(5); left > 0n; left--) {
    const attribute = inner.head(0);
    inner.bytes();
    // 1 is the encrypted derivation path, 2 the magic number that only test networks have.
    if (attribute !== 1n && attribute !== 2n) return notOurs;
    isTest ||= attribute === 2n;
  }
  const type = inner.head(0);
  if ((type !== 0n && type !== 2n) || !inner.atEnd) return notOurs;
  return isTest ? ofTestNetwork : accepted(text, 'byron');
}

/**
 * Reads the part of CBOR that Byron addresses use, in its shortest form only.
 * https://www.rfc-editor.org/rfc/rfc8949
 */
class CborReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** The number in the head of an item of the major type. */
  head(major: number): bigint {
    const [first] = this.#take(1);
    if (first === undefined || first >> 5 !== major) throw new Error('another type of item');
    const info = first & 0x1f;
    if (info < 24) return BigInt(info);
    if (info > 27) throw new Error('an item of no fixed length');
    const size = 1 << (info - 24);
    const value = this.#take(size).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    const shorter = size === 1 ? 24n : 1n << BigInt(size * 4);
    if (value < shorter) throw new Error('not the shortest form');
    return value;
  }

  expect(major: number, value: bigint): void {
    if (this.head(major) !== value) throw new Error('another value');
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#take(Number(this.head(2))));
  }

  #take(count: number): number[] {
    const taken = [...this.#bytes.subarray(this.#at, this.#at + count)];
    if (taken.length !== count) throw new Error('ends too early');
    this.#at += count;
    return taken;
  }
}

/** CRC-32 of ISO 3309, as in zip files. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
