import type { Deposit } from '../../../src/settlement/rows/deposit.entity.ts';
import { isConfirmed } from '../../../src/settlement/rules/credit.ts';
import type { ScannedTo } from '../../../src/settlement/rules/settling.ts';

/** A deposit in block 100 that needs three confirmations. */
const deposit = (changes: Partial<Deposit> = {}) =>
  ({ state: 'mined', height: 100, confirmationsRequired: 3, ...changes }) as Deposit;
/** How far a chain was read, and its last final block. */
const read = (height: number, final: number | null = null): ScannedTo => ({
  height,
  final,
  isAtHead: true,
  readAt: null,
});

describe('a deposit in block 100 that needs three confirmations', () => {
  it.each([
    [101, null, false],
    [102, null, true],
    [103, null, true],
    // A block that is not final may go, however many blocks follow it.
    [102, 99, false],
    [200, 99, false],
    [102, 100, true],
    // Finality does not replace confirmations.
    [101, 101, false],
  ])('counts when the chain was read to %d and is final to %s: %s', (height, final, counts) => {
    expect(isConfirmed(deposit(), read(height, final))).toBe(counts);
  });

  it.each(['mempool', 'credited', 'orphaned'] as const)('does not count when it is %s', (state) => {
    expect(isConfirmed(deposit({ state }), read(200))).toBe(false);
  });
});
