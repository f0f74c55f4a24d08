import fc from 'fast-check';
import { exactPrices, paymentPrices, raisedPrices, usualTip } from '../../../src/chains/evm/evm-fees.ts';

const ceiling = 1_000n;

describe('prices of gas', () => {
  it('use the median tip, and at least the tip of the node', () => {
    expect(usualTip([], null)).toBe(0n);
    expect(usualTip([0n, 0n, 9n], 5n)).toBe(9n);
    expect(usualTip([1n, 9n, 2n], null)).toBe(2n);
    expect(usualTip([1n, 9n, 2n], 30n)).toBe(30n);
  });

  it('leave a payment room for the base fee to double, up to the ceiling', () => {
    expect(paymentPrices({ baseFee: 100n, tip: 7n }, ceiling)).toEqual({
      maxFeePerGas: 207n,
      maxPriorityFeePerGas: 7n,
    });
    expect(paymentPrices({ baseFee: 990n, tip: 10n }, ceiling).maxFeePerGas).toBe(1_000n);
    expect(() => paymentPrices({ baseFee: 991n, tip: 10n }, ceiling)).toThrow(/1001/);
  });

  it('of a sweep are exact: the whole price may go to the tip', () => {
    expect(exactPrices({ baseFee: 100n, tip: 7n }, ceiling)).toEqual({
      maxFeePerGas: 132n,
      maxPriorityFeePerGas: 132n,
    });
    expect(() => exactPrices({ baseFee: 991n, tip: 10n }, ceiling)).toThrow(/1001/);
  });

  it('of a replacement rise by an eighth and at least to the market, also from zero', () => {
    const market = { baseFee: 100n, tip: 1n };
    expect(raisedPrices({ maxFeePerGas: 1n, maxPriorityFeePerGas: 0n }, market, ceiling)).toEqual({
      maxFeePerGas: 201n,
      maxPriorityFeePerGas: 1n,
    });
    expect(raisedPrices({ maxFeePerGas: 101n, maxPriorityFeePerGas: 1n }, market, ceiling)).toBeNull();
    expect(raisedPrices({ maxFeePerGas: 100n, maxPriorityFeePerGas: 100n }, market, ceiling)).toEqual({
      maxFeePerGas: 126n,
      maxPriorityFeePerGas: 126n,
    });
  });

  it('of a replacement are accepted by nodes and within the ceiling at any market fee', () => {
    const wei = fc.bigInt({ min: 0n, max: 2_000n });
    fc.assert(
      fc.property(wei, wei, wei, wei, (max, tip, baseFee, marketTip) => {
        const old = { maxFeePerGas: max, maxPriorityFeePerGas: tip < max ? tip : max };
        const next = raisedPrices(old, { baseFee, tip: marketTip }, ceiling);
        if (next === null) {
          const isGood = old.maxFeePerGas >= baseFee + marketTip && old.maxPriorityFeePerGas >= marketTip;
          expect(isGood || old.maxFeePerGas * 9n > ceiling * 8n - 8n || baseFee + marketTip > ceiling).toBe(true);
          return;
        }
        expect(next.maxFeePerGas * 8n).toBeGreaterThanOrEqual(old.maxFeePerGas * 9n);
        expect(next.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(old.maxPriorityFeePerGas * 9n);
        expect(next.maxFeePerGas).toBeGreaterThan(old.maxFeePerGas);
        expect(next.maxPriorityFeePerGas).toBeGreaterThan(old.maxPriorityFeePerGas);
        expect(next.maxFeePerGas).toBeGreaterThanOrEqual(baseFee + marketTip);
        expect(next.maxFeePerGas).toBeLessThanOrEqual(ceiling);
        expect(next.maxPriorityFeePerGas).toBeLessThanOrEqual(next.maxFeePerGas);
      }),
    );
  });
});
