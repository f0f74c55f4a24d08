import fc from 'fast-check';
import { smaller } from '../../../src/settlement/turns/bounded-concurrency.ts';

describe('smaller', () => {
  const members = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

  it('divides a group that left all its members into a few parts, and those into single members', () => {
    const parts = smaller(members(50), members(50));
    expect(parts.map((part) => part.length)).toEqual([8, 8, 8, 8, 8, 8, 2]);
    expect(smaller(members(8), members(8))).toEqual(members(8).map((one) => [one]));
  });

  it('takes the members one by one when the group left only some', () => {
    expect(smaller(members(49), members(50))).toHaveLength(49);
  });

  it('keeps every member once and in order, and always ends', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(300), (left, group) => {
        const parts = smaller(members(left), members(group));
        expect(parts.flat()).toEqual(members(left));
        for (const part of parts) expect(part.length === 1 || part.length < group).toBe(true);
      }),
    );
  });
});
