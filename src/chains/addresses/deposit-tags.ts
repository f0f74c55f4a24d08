import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { networkById } from '../networks/networks.ts';

/** Odd, so that multiplying by it modulo 2^32 maps no two numbers to one. Knuth's golden ratio. */
const spread = 2_654_435_761n;
const rounds = 8;
/** The last index, which no order gets: its tag marks funding. */
const fundingIndex = 0xffffffff;

/**
 * Destination tags of memo networks: a number from 1 to 4294967295, different for each index. The
 * last index is that of funding.
 *
 * A tag must not be predictable. An attacker who knows the tag of the next order can pay a small
 * deposit to it before its user pays. The small deposit would become the order's main one. The
 * index is therefore encrypted with a secret key of the database. The cipher is a Feistel network
 * over 32 bits, of `rounds` rounds of HMAC-SHA256, which maps no two indexes to one tag.
 */
export class DepositTags {
  readonly #key: KeyObject;

  /** @param key Hexadecimal text of 64 digits. */
  constructor(key: string) {
    if (!/^[0-9a-f]{64}$/.test(key)) throw new Error('the key of deposit tags is 64 hexadecimal digits');
    this.#key = createSecretKey(Buffer.from(key, 'hex'));
  }

  /**
   * The tag of the order at an index.
   *
   * @throws Error for a network without tags, and for an index that is not a whole number from 1 to
   *   4294967294.
   */
  tag(networkId: string, index: number): string {
    if (networkById(networkId)?.deposit !== 'shared') throw new Error(`${networkId} has no tags`);
    if (!Number.isInteger(index) || index < 1 || index >= fundingIndex)
      throw new Error(`${index} is out of range for a tag`);
    return this.#tagAt(index);
  }

  /**
   * The tag of funding, for a wallet that is also the address of deposits. No order ever has it. It
   * stays the same as long as the key does. It is not 0, because some wallets send 0 for no tag.
   */
  fundingTag(): string {
    return this.#tagAt(fundingIndex);
  }

  #tagAt(index: number): string {
    let place = index;
    // Walks the cycle past 0, which is no tag. The result is still a bijection of the others.
    do place = this.#encrypt(place);
    while (place === 0);
    return ((BigInt(place) * spread) & 0xffffffffn).toString();
  }

  #encrypt(index: number): number {
    let left = index >>> 16;
    let right = index & 0xffff;
    const block = Buffer.alloc(3);
    for (let round = 0; round < rounds; round++) {
      block.writeUInt8(round, 0);
      block.writeUInt16BE(right, 1);
      const mask = createHmac('sha256', this.#key).update(block).digest().readUInt16BE(0);
      [left, right] = [right, left ^ mask];
    }
    return left * 0x10000 + right;
  }
}
