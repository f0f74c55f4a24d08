import fc from 'fast-check';
import { Big, floorTo, formatDecimal, fractionDigits } from '../../../src/base/money.ts';
import { type PricePair, pairLimits, type QuoteTerms, quoteTerms } from '../../../src/market/rates/quote.ts';

const btc = { decimals: 8, minAmount: '0.0003', maxAmount: '3', networkFee: '0.00005' };
const usdt = { decimals: 6, minAmount: '20', maxAmount: '200000', networkFee: '1.5' };
const prices = { from: new Big('64000'), to: new Big('1') };

/** The terms by their definition, in decimal arithmetic of 40 places. */
function termsByDefinition(amount: Big, { from, to }: PricePair, currency: typeof usdt, feeRate: Big): QuoteTerms {
  const gross = amount.times(from).div(to);
  const serviceFee = gross.times(feeRate);
  const networkFee = new Big(currency.networkFee);
  const rate = floorTo(gross.minus(serviceFee).minus(networkFee).div(amount), 18);
  return {
    rate,
    amountTo: floorTo(amount.times(rate), currency.decimals),
    serviceFee: floorTo(serviceFee, 18),
    networkFee,
  };
}

const numbers = ({ rate, amountTo, serviceFee, networkFee }: QuoteTerms) =>
  [rate, amountTo, serviceFee, networkFee].map((value) => (value.eq('0') ? '0' : value.toFixed()));

describe('quoteTerms', () => {
  it('takes the service fee from gross, then the network fee, and divides by the amount', () => {
    const terms = quoteTerms(new Big('0.1'), prices, usdt, new Big('0.005'));
    expect(formatDecimal(terms.serviceFee)).toBe('32');
    expect(formatDecimal(terms.networkFee)).toBe('1.5');
    expect(formatDecimal(terms.rate)).toBe('63665');
    expect(formatDecimal(terms.amountTo)).toBe('6366.5');
  });

  it('is exact to the last digit, for any numbers', () => {
    // From far below the smallest unit to far above every limit, with few digits and with many.
    const decimal = (low: number, high: number) =>
      fc
        .tuple(
          fc.oneof(fc.bigInt({ min: 1n, max: 999n }), fc.bigInt({ min: 1n, max: 10n ** 30n })),
          fc.integer({ min: low, max: high }),
        )
        .map(([units, exponent]) => new Big(`${units}e${exponent}`));
    fc.assert(
      fc.property(
        decimal(-30, 12),
        decimal(-18, 9),
        decimal(-18, 9),
        fc.oneof(
          fc.constant(new Big('0')),
          fc.integer({ min: 0, max: 9999 }).map((parts) => new Big(`${parts}e-4`)),
          decimal(-38, -31),
        ),
        fc.oneof(
          fc.constant('0'),
          fc.constant('2.000000000000000000'),
          decimal(-18, 3).map((fee) => fee.toFixed()),
        ),
        fc.integer({ min: 0, max: 18 }),
        (amount, from, to, feeRate, networkFee, decimals) => {
          const currency = { ...usdt, decimals, networkFee };
          const expected = termsByDefinition(amount, { from, to }, currency, feeRate);
          expect(numbers(quoteTerms(amount, { from, to }, currency, feeRate))).toEqual(numbers(expected));
        },
      ),
      { numRuns: 2000 },
    );
  });

  const positive = (digits: number) =>
    fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.integer({ min: 0, max: digits }))
      .map(([whole, places]) => new Big(whole.toString()).times(`1e-${places}`));

  it('never pays more than gross less fees, and loses less than one unit of the coin and of the rate', () => {
    fc.assert(
      fc.property(
        positive(8),
        positive(6),
        positive(6),
        fc.integer({ min: 0, max: 49 }),
        fc.integer({ min: 0, max: 18 }),
        (amount, from, to, percent, decimals) => {
          const currency = { ...usdt, decimals, networkFee: '0.001' };
          const feeRate = new Big(String(percent)).div('100');
          const terms = quoteTerms(amount, { from, to }, currency, feeRate);
          fc.pre(terms.amountTo.gt('0'));
          const gross = amount.times(from).div(to);
          const paid = terms.amountTo.plus(terms.serviceFee).plus(terms.networkFee);
          const lost = gross.minus(paid);
          expect(lost.gte('-1e-18')).toBe(true);
          expect(lost.lt(new Big(`1e-${decimals}`).plus(amount.times('1e-17')).plus('1e-15'))).toBe(true);
          expect(fractionDigits(terms.amountTo)).toBeLessThanOrEqual(decimals);
          expect(terms.amountTo.eq(amount.times(terms.rate).round(decimals, 0))).toBe(true);
        },
      ),
    );
  });
});

describe('pairLimits', () => {
  it('takes the stricter limits of both currencies', () => {
    const limits = pairLimits(btc, usdt, prices, new Big('0.005'));
    expect(limits && formatDecimal(limits.minAmount)).toBe('0.00033763');
    expect(limits && formatDecimal(limits.maxAmount)).toBe('3');
  });

  it('is null when the minimum is above the maximum', () => {
    expect(pairLimits({ ...btc, maxAmount: '0.0001' }, usdt, prices, new Big('0'))).toBeNull();
  });

  it('gives a minimum worth the minimum of the destination, and a maximum within its maximum', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.integer({ min: 0, max: 18 }), (cents, decimals) => {
        const pair = { from: new Big(String(cents)).div('100'), to: new Big('1') };
        const from = { ...btc, decimals, minAmount: '0.000000000000000001', maxAmount: '1000000000' };
        const feeRate = new Big('0.01');
        const limits = pairLimits(from, usdt, pair, feeRate);
        fc.pre(limits !== null);
        if (!limits) return;
        const net = (amount: Big) => amount.times(pair.from).times(new Big('1').minus(feeRate)).minus(usdt.networkFee);
        expect(net(limits.minAmount).gte(usdt.minAmount)).toBe(true);
        expect(net(limits.maxAmount).lte(usdt.maxAmount)).toBe(true);
        expect(fractionDigits(limits.minAmount)).toBeLessThanOrEqual(decimals);
      }),
    );
  });
});
