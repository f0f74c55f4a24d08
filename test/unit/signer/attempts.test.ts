import { addedSpending, exclusiveGroups, type SignedAttempt } from '../../../src/signer/attempts.ts';

const signed = (attempt: number, reserves: string[] | null, fee = 10n): SignedAttempt => ({
  attempt,
  reserves,
  fee,
  expiresAt: null,
});
const numbers = (groups: SignedAttempt[][]) => groups.map((group) => group.map(({ attempt }) => attempt));

describe('the attempts of a payment', () => {
  it('are one group while all spend a common input', () => {
    expect(numbers(exclusiveGroups([signed(2, ['nonce:a:1']), signed(1, ['nonce:a:1'])]))).toEqual([[1, 2]]);
    expect(numbers(exclusiveGroups([]))).toEqual([]);
  });

  it('are several groups when some have no common input', () => {
    const attempts = [signed(1, ['a', 'b']), signed(2, ['b', 'c']), signed(3, ['c', 'd'])];
    // The third excludes the second and not the first: the first and the third could both confirm.
    expect(numbers(exclusiveGroups(attempts))).toEqual([[1, 2], [3]]);
    expect(numbers(exclusiveGroups([signed(1, ['n:1']), signed(2, ['n:2']), signed(3, ['n:1'])]))).toEqual([
      [1, 3],
      [2],
    ]);
  });

  it('exclude no other attempt when their inputs are unknown', () => {
    expect(numbers(exclusiveGroups([signed(1, null), signed(2, ['n:1']), signed(3, [])]))).toEqual([[1], [2], [3]]);
  });

  it('add their amount again only when they can confirm together with the others, and the excess of a higher fee', () => {
    const groups = exclusiveGroups([signed(1, ['n:1'], 10n), signed(2, ['n:1'], 14n)]);
    expect(addedSpending(groups, signed(3, ['n:1'], 20n))).toEqual({ isFurther: false, fee: 6n });
    expect(addedSpending(groups, signed(3, ['n:1'], 12n))).toEqual({ isFurther: false, fee: 0n });
    expect(addedSpending(groups, signed(3, ['n:2'], 20n))).toEqual({ isFurther: true, fee: 20n });
    expect(addedSpending([], signed(1, ['n:1'], 20n))).toEqual({ isFurther: true, fee: 20n });
  });
});
