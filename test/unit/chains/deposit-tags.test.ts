import fc from 'fast-check';
import { DepositTags } from '../../../src/chains/addresses/deposit-tags.ts';

const key = '0123456789abcdef'.repeat(4);
const tags = new DepositTags(key);

describe('destination tags', () => {
  it('are numbers of 32 bits, one for each index', () => {
    const index = fc.integer({ min: 1, max: 0xfffffffe });
    fc.assert(
      fc.property(index, index, (one, other) => {
        const tag = BigInt(tags.tag('XRP', one));
        expect(tag >= 1n && tag <= 0xffffffffn).toBe(true);
        expect(tags.tag('XRP', one) === tags.tag('XRP', other)).toBe(one === other);
        expect(tags.tag('XRP', one)).not.toBe(tags.fundingTag());
      }),
    );
    const first = Array.from({ length: 20_000 }, (_, at) => tags.tag('XRP', at + 1));
    expect(new Set(first).size).toBe(20_000);
  });

  it('cannot be predicted from earlier ones without the key', () => {
    const gaps = (each: DepositTags): Set<bigint> => {
      const made = Array.from({ length: 1_000 }, (_, at) => BigInt(each.tag('XRP', at + 1)));
      return new Set(made.slice(1).map((tag, at) => (tag - (made[at] ?? 0n) + 2n ** 32n) % 2n ** 32n));
    };
    // A plain multiple of the index has one gap only.
    expect(gaps(tags).size).toBeGreaterThan(990);
    const other = new DepositTags('f'.repeat(64));
    const same = Array.from({ length: 1_000 }, (_, at) => at + 1).filter(
      (index) => tags.tag('XRP', index) === other.tag('XRP', index),
    );
    expect(same).toEqual([]);
  });

  it('have one for funding that no order gets and that is not 0', () => {
    expect(tags.fundingTag()).toMatch(/^[1-9]\d{0,9}$/);
    expect(BigInt(tags.fundingTag()) <= 0xffffffffn).toBe(true);
    expect(tags.fundingTag()).toBe(new DepositTags(key).fundingTag());
    expect(tags.fundingTag()).not.toBe(new DepositTags('f'.repeat(64)).fundingTag());
  });

  it('are refused for an index out of range, a network without tags and an incomplete key', () => {
    for (const index of [0, -1, 1.5, 2 ** 32 - 1, 2 ** 32])
      expect(() => tags.tag('XRP', index)).toThrow('out of range');
    expect(() => tags.tag('BTC', 1)).toThrow('has no tags');
    expect(() => new DepositTags('')).toThrow('64 hexadecimal digits');
  });
});
