import fc from 'fast-check';
import { Big, floorTo } from '../../../src/base/money.ts';
import { quoteTerms } from '../../../src/market/rates/quote.ts';
import { exchangeTerms } from '../../../src/orders/exchange-terms.ts';
import { shownTerms } from '../../../src/orders/read/shown-terms.ts';

/** A decimal above zero, with a bounded number of digits after the point. */
const amount = (decimals: number, most: bigint): fc.Arbitrary<Big> =>
  fc.bigInt({ min: 1n, max: most }).map((units) => new Big(units.toString()).times(new Big(`1e-${decimals}`)));

const agreed = fc.record({
  expected: fc.oneof(amount(8, 10n ** 11n), amount(6, 10n ** 17n), amount(18, 10n ** 24n)),
  from: amount(4, 10n ** 9n),
  to: amount(4, 10n ** 9n),
  feeRate: fc.constantFrom('0', '0.005', '0.0104', '0.2'),
  markupBps: fc.constantFrom(null, 4, 40),
  networkFee: amount(6, 10n ** 7n),
  decimals: fc.constantFrom(0, 2, 6, 8, 18),
  rateType: fc.constantFrom('float' as const, 'fixed' as const),
  percent: fc.constantFrom(100, 100, 1, 33, 60),
});

describe('the terms that details show', () => {
  it('give the amount to the last unit by the rate and by the price before fees, and show a rate that holds', () => {
    let compared = 0;
    fc.assert(
      fc.property(agreed, ({ expected, from, to, networkFee, decimals, rateType, percent, ...its }) => {
        const currency = { decimals, minAmount: '1', maxAmount: '2', networkFee: networkFee.toFixed() };
        const feeRate = its.feeRate === '0' && its.markupBps ? '0.004' : its.feeRate;
        const quote = quoteTerms(expected, { from, to }, currency, new Big(feeRate));
        fc.pre(quote.amountTo.gt('0'));
        const order = {
          rateType,
          amountFromExpected: expected.toFixed(),
          amountToExpected: quote.amountTo.toFixed(),
          rateQuoted: quote.rate.toFixed(),
          feeRate,
          serviceFeeQuoted: quote.serviceFee.toFixed(),
          networkFeeQuoted: networkFee.toFixed(),
          maxAmount: expected.times('3').toFixed(),
        };
        const part = floorTo(expected.times(String(percent)).div('100'), 18);
        fc.pre(part.gt('0'));
        const terms = exchangeTerms(order, part, currency, { from, to });
        fc.pre(terms !== null);
        const shown = shownTerms({
          isFinal: true,
          amountFrom: part.toFixed(),
          amountTo: terms?.amountTo.toFixed() ?? '',
          fees: terms?.serviceFee.toFixed() ?? '',
          networkFee: networkFee.toFixed(),
          rateQuoted: order.rateQuoted,
          markupBps: its.markupBps,
          feeRate,
          decimals,
        });
        const exchanged = new Big(shown.amountFrom);
        const fees = new Big(shown.serviceFee).plus(shown.partnerMarkup).plus(shown.networkFee);
        expect(floorTo(exchanged.times(shown.rate), decimals).toFixed()).toBe(shown.amountTo);
        expect(floorTo(exchanged.times(shown.mid).minus(fees), decimals).toFixed()).toBe(shown.amountTo);
        expect(new Big(shown.serviceFee).plus(shown.partnerMarkup).toFixed()).toBe(terms?.serviceFee.toFixed());
        if (percent === 100) expect(shown.rate).toBe(order.rateQuoted);
        compared += 1;
      }),
      { numRuns: 2_000 },
    );
    expect(compared).toBeGreaterThan(500);
  });
});
