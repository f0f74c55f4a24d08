import fc from 'fast-check';
import { Big, maxOf, minOf } from '../../../src/base/money.ts';
import { medianPrice } from '../../../src/market/rates/price-median.ts';

const rules = { minSources: 2, outlier: '0.02', disagreement: '0.01' };

function opinions(...prices: string[]) {
  return prices.map((price, i) => ({ source: 'abcdefgh'[i] ?? '', price: new Big(price) }));
}

describe('medianPrice', () => {
  it('takes the middle price, or the mean of the middle two', () => {
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

  it('has no price while the exchanges contradict each other', () => {
    expect(medianPrice(opinions('100', '101.1'), rules)).toEqual({ outcome: 'disagreement', dropped: [] });
    expect(medianPrice(opinions('100', '110'), rules)).toEqual({ outcome: 'disagreement', dropped: ['a', 'b'] });
    expect(medianPrice(opinions('100', '110', '120'), rules)).toMatchObject({ outcome: 'disagreement' });
    // Two camps: no side has a majority.
    expect(medianPrice(opinions('100', '100', '110', '110'), rules)).toMatchObject({ outcome: 'disagreement' });
  });

  it('has no price from too few exchanges', () => {
    expect(medianPrice(opinions('100'), rules)).toEqual({ outcome: 'too_few' });
    expect(medianPrice([], { ...rules, minSources: 1 })).toEqual({ outcome: 'too_few' });
    expect(medianPrice(opinions('100'), { ...rules, minSources: 1 })).toMatchObject({ price: new Big('100') });
  });

  it('stays between the lowest and the highest counted price, and no single exchange moves it away from the others', () => {
    const cents = (min: number, max: number) =>
      fc.integer({ min, max }).map((price) => new Big(String(price)).div('100'));
    const seen = new Set<string>();
    fc.assert(
      fc.property(
        fc.array(cents(9_950, 10_050), { minLength: 1, maxLength: 6 }),
        fc.oneof(cents(1, 1_000_000), cents(9_700, 10_300)),
        (honest, liar) => {
          const all = opinions(...[...honest, liar].map((price) => price.toFixed()));
          const verdict = medianPrice(all, rules);
          seen.add(verdict.outcome);
          if (verdict.outcome !== 'price') return;
          const counted = all.filter(({ source }) => verdict.counted.includes(source)).map(({ price }) => price);
          expect(verdict.price.gte(counted.reduce(minOf)) && verdict.price.lte(counted.reduce(maxOf))).toBe(true);
          const lowest = honest.reduce(minOf).times(new Big('1').minus(rules.outlier));
          const highest = honest.reduce(maxOf).times(new Big('1').plus(rules.outlier));
          expect(verdict.price.gte(lowest) && verdict.price.lte(highest)).toBe(true);
        },
      ),
    );
    expect([...seen].sort()).toEqual(['disagreement', 'price']);
  });
});
