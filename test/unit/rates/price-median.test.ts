import fc from 'fast-check';
import { Big } from '../../../src/money.ts';
import { median, medianPrice } from '../../../src/rates/price-median.ts';

const rules = { minSources: 2, outlier: '0.02', disagreement: '0.01' };

function opinions(...prices: string[]) {
  return prices.map((price, i) => ({ source: 'abcdefgh'[i] ?? '', price: new Big(price) }));
}

describe('medianPrice', () => {
  it('takes the one in the middle, or halfway between the two', () => {
    expect(medianPrice(opinions('100.4', '100', '100.1'), rules)).toMatchObject({ price: new Big('100.1') });
    expect(medianPrice(opinions('100.4', '100'), rules)).toMatchObject({ price: new Big('100.2') });
    expect(medianPrice(opinions('100.4', '100', '100.2', '100.1'), rules)).toMatchObject({ price: new Big('100.15') });
  });

  it('keeps every digit', () => {
    const verdict = medianPrice(opinions('0.00000000123456789', '0.00000000123456788'), rules);
    expect(verdict).toMatchObject({ price: new Big('0.000000001234567885') });
  });

  it('leaves an outlier out', () => {
    expect(medianPrice(opinions('100', '100.2', '150'), rules)).toEqual({
      outcome: 'price',
      price: new Big('100.1'),
      counted: ['a', 'b'],
      dropped: ['c'],
    });
    // A price in cents for one in dollars.
    expect(medianPrice(opinions('100', '100.2', '10000'), rules)).toMatchObject({ dropped: ['c'] });
  });

  it('knows no price while the exchanges contradict each other', () => {
    expect(medianPrice(opinions('100', '101.1'), rules)).toEqual({ outcome: 'disagreement', dropped: [] });
    expect(medianPrice(opinions('100', '110'), rules)).toEqual({ outcome: 'disagreement', dropped: ['a', 'b'] });
    expect(medianPrice(opinions('100', '110', '120'), rules)).toMatchObject({ outcome: 'disagreement' });
    // Two camps: no side has a majority.
    expect(medianPrice(opinions('100', '100', '110', '110'), rules)).toMatchObject({ outcome: 'disagreement' });
  });

  it('says nothing when too few have a say', () => {
    expect(medianPrice(opinions('100'), rules)).toEqual({ outcome: 'too_few' });
    expect(medianPrice([], { ...rules, minSources: 1 })).toEqual({ outcome: 'too_few' });
    expect(medianPrice(opinions('100'), { ...rules, minSources: 1 })).toMatchObject({ price: new Big('100') });
  });

  it('stays between the lowest and the highest that count, and no single one moves it beyond the others', () => {
    const price = fc.integer({ min: 1, max: 1_000_000 }).map((cents) => new Big(String(cents)).div('100'));
    fc.assert(
      fc.property(fc.array(price, { minLength: 3, maxLength: 7 }), price, (prices, liar) => {
        const sorted = [...prices].sort((a, b) => a.cmp(b));
        const middle = median(prices);
        expect(middle.gte(sorted[0] ?? '0') && middle.lte(sorted.at(-1) ?? '0')).toBe(true);
        if (sorted.length % 2 === 0) return;
        const lied = median([...prices.slice(1), liar]);
        const rest = prices.slice(1).sort((a, b) => a.cmp(b));
        expect(lied.gte(rest[0] ?? '0') && lied.lte(rest.at(-1) ?? '0')).toBe(true);
      }),
    );
  });
});
