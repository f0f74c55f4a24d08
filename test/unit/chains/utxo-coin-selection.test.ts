import fc from 'fast-check';
import { type ChangeRules, type Coin, selectCoins, settleChange } from '../../../src/chains/utxo/coin-selection.ts';
import { feeOf, virtualSize } from '../../../src/chains/utxo/utxo-script.ts';

const recipient = new Uint8Array(22).fill(1);
const own = new Uint8Array(22).fill(2);

const rules = (changes: Partial<ChangeRules> = {}): ChangeRules => ({
  form: 'p2wpkh',
  script: own,
  dust: 294n,
  leastPiece: 20_000n,
  wanted: 1,
  has: 0,
  rate: 1_000n,
  ...changes,
});

const coins = (...amounts: readonly bigint[]): Coin[] =>
  amounts.map((amount, index) => ({ key: `${String(index).padStart(64, '0')}:0`, amount }));

const worth = (chosen: readonly Coin[]): bigint => chosen.reduce((sum, { amount }) => sum + amount, 0n);
const sum = (parts: readonly bigint[]): bigint => parts.reduce((a, b) => a + b, 0n);

const anyRules = fc.record({
  form: fc.constantFrom('p2wpkh', 'p2pkh'),
  dust: fc.bigInt(1n, 10_000n),
  leastPiece: fc.bigInt(10_000n, 1_000_000n),
  wanted: fc.integer({ min: 1, max: 15 }),
  has: fc.integer({ min: 0, max: 20 }),
  rate: fc.bigInt(1n, 200_000n),
});
const anyCoins = fc
  .array(fc.bigInt(1n, 10_000_000n), { minLength: 0, maxLength: 40 })
  .map((amounts) => coins(...amounts));

describe('choosing coins', () => {
  it('takes the smallest coin that suffices alone', () => {
    const selection = selectCoins(coins(1_000n, 90_000n, 60_000n, 200_000n), 50_000n, recipient, rules());
    expect(selection?.inputs.map(({ amount }) => amount)).toEqual([60_000n]);
  });

  it('takes few coins when no coin suffices alone, with the smallest possible last coin', () => {
    const selection = selectCoins(coins(10_000n, 40_000n, 30_000n, 20_000n), 55_000n, recipient, rules());
    expect(selection?.inputs.map(({ amount }) => amount)).toEqual([40_000n, 20_000n]);
  });

  it('adds change below the dust limit to the fee', () => {
    const size = virtualSize('p2wpkh', 1, [recipient]);
    const exact = 50_000n + feeOf(1_000n, size);
    for (const over of [0n, 1n, 293n]) {
      const selection = selectCoins(coins(exact + over), 50_000n, recipient, rules());
      expect(selection).toMatchObject({ change: [], fee: exact - 50_000n + over });
    }
    expect(selectCoins(coins(exact - 1n), 50_000n, recipient, rules())).toBeNull();
    const perChange = feeOf(1_000n, virtualSize('p2wpkh', 1, [recipient, own])) - feeOf(1_000n, size);
    const least = selectCoins(coins(exact + perChange + 294n), 50_000n, recipient, rules());
    expect(least).toMatchObject({ change: [294n] });
  });

  it('splits the change while the wallet has too few outputs', () => {
    const split = selectCoins(coins(1_000_000n), 50_000n, recipient, rules({ wanted: 12, has: 1 }));
    expect(split?.change).toHaveLength(12);
    const [first = 0n, ...others] = split?.change ?? [];
    expect(new Set(others).size).toBe(1);
    expect(first - (others[0] ?? 0n)).toBeLessThan(12n);
    const nearly = selectCoins(coins(1_000_000n), 50_000n, recipient, rules({ wanted: 12, has: 10 }));
    expect(nearly?.change).toHaveLength(3);
    const enough = selectCoins(coins(1_000_000n), 50_000n, recipient, rules({ wanted: 12, has: 30 }));
    expect(enough?.change).toHaveLength(1);
    // 145,000 are left: seven parts of 20,000 and no eighth.
    const small = selectCoins(coins(195_500n), 50_000n, recipient, rules({ wanted: 12, has: 1 }));
    expect(small?.change).toHaveLength(7);
  });

  it('keeps the sum, makes no dust and pays the fee rate, from any outputs', () => {
    fc.assert(
      fc.property(anyCoins, fc.bigInt(1n, 20_000_000n), anyRules, (all, amount, changes) => {
        const given = rules(changes);
        const selection = selectCoins(all, amount, recipient, given);
        if (!selection) return;
        const { inputs, change, fee } = selection;
        expect(new Set(inputs.map(({ key }) => key)).size).toBe(inputs.length);
        expect(inputs.every((input) => all.includes(input))).toBe(true);
        expect(worth(inputs)).toBe(amount + sum(change) + fee);
        expect(change.every((part) => part >= given.dust)).toBe(true);
        if (change.length > 1) expect(change.every((part) => part >= given.leastPiece)).toBe(true);
        const size = virtualSize(given.form, inputs.length, [recipient, ...change.map(() => own)]);
        expect(fee).toBeGreaterThanOrEqual(feeOf(given.rate, size));
        // Only what would have been dust is paid on top.
        const withChange = virtualSize(given.form, inputs.length, [recipient, own]);
        const most = change.length > 0 ? feeOf(given.rate, size) : feeOf(given.rate, withChange) + given.dust;
        expect(fee).toBeLessThanOrEqual(most);
      }),
      { numRuns: 500 },
    );
  });

  it('finds a selection whenever all coins that are worth their fee suffice', () => {
    fc.assert(
      fc.property(anyCoins, fc.bigInt(1n, 20_000_000n), anyRules, (all, amount, changes) => {
        const given = rules(changes);
        const useful = all.filter((coin) => coin.amount > feeOf(given.rate, given.form === 'p2wpkh' ? 69 : 148));
        const needed = amount + feeOf(given.rate, virtualSize(given.form, useful.length, [recipient]));
        const suffices = useful.length > 0 && worth(useful) >= needed;
        if (suffices) expect(selectCoins(all, amount, recipient, given)).not.toBeNull();
        if (worth(all) <= amount) expect(selectCoins(all, amount, recipient, given)).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('does not depend on the order in which coins are given', () => {
    fc.assert(
      fc.property(anyCoins, fc.bigInt(1n, 20_000_000n), anyRules, (all, amount, changes) => {
        const given = rules(changes);
        expect(selectCoins(all.toReversed(), amount, recipient, given)).toEqual(
          selectCoins(all, amount, recipient, given),
        );
      }),
    );
  });

  it('sweeps everything or nothing', () => {
    fc.assert(
      fc.property(anyCoins, anyRules, (all, changes) => {
        const given = rules(changes);
        const settled = settleChange(all, 0n, [], given);
        if (settled) {
          expect(settled.change.length).toBeGreaterThan(0);
          expect(worth(all)).toBe(sum(settled.change) + settled.fee);
        } else {
          const fee = feeOf(given.rate, virtualSize(given.form, all.length, [own]));
          expect(worth(all) - fee).toBeLessThan(given.dust);
        }
      }),
    );
  });
});
