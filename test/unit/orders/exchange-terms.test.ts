import fc from 'fast-check';
import { Big, floorTo, fractionDigits } from '../../../src/base/money.ts';
import { quoteTerms } from '../../../src/market/rates/quote.ts';
import { exchangedAmount, exchangeTerms, leastBought } from '../../../src/orders/exchange-terms.ts';

/** A decimal above zero, with a bounded number of digits after the point. */
const amount = (decimals: number, most: bigint): fc.Arbitrary<Big> =>
  fc.bigInt({ min: 1n, max: most }).map((units) => new Big(units.toString()).times(new Big(`1e-${decimals}`)));

/** An order as it is quoted: its amount, its prices, its fees. */
const quoted = fc
  .record({
    expected: amount(8, 10n ** 11n),
    from: amount(4, 10n ** 9n),
    to: amount(4, 10n ** 9n),
    feeRate: fc.constantFrom('0', '0.005', '0.01', '0.2'),
    networkFee: amount(6, 10n ** 7n),
    decimals: fc.constantFrom(2, 6, 8, 18),
    rateType: fc.constantFrom('float' as const, 'fixed' as const),
  })
  .map(({ expected, from, to, feeRate, networkFee, decimals, rateType }) => {
    const currency = { decimals, minAmount: '1', maxAmount: '2', networkFee: networkFee.toFixed() };
    const prices = { from, to };
    const terms = quoteTerms(expected, prices, currency, new Big(feeRate));
    const order = {
      rateType,
      amountFromExpected: expected.toFixed(),
      amountToExpected: terms.amountTo.toFixed(),
      rateQuoted: terms.rate.toFixed(),
      feeRate,
      serviceFeeQuoted: terms.serviceFee.toFixed(),
      networkFeeQuoted: terms.networkFee.toFixed(),
      maxAmount: expected.times('3').toFixed(),
    };
    return { order, currency, prices, expected, amountTo: terms.amountTo };
  })
  .filter(({ amountTo }) => amountTo.gt('0'));

describe('the terms of an exchange', () => {
  it('are the terms of the quote for the expected amount at the quoted prices', () => {
    fc.assert(
      fc.property(quoted, ({ order, currency, prices, expected, amountTo }) => {
        const terms = exchangeTerms(order, expected, currency, prices);
        expect(terms?.amountTo.toFixed()).toBe(amountTo.toFixed());
      }),
    );
  });

  it('never give a fixed order more than its share of the quoted amount, nor more decimals than the coin has', () => {
    fc.assert(
      fc.property(
        quoted,
        fc.integer({ min: 1, max: 99 }),
        ({ order, currency, prices, expected, amountTo }, percent) => {
          const part = floorTo(expected.times(String(percent)).div('100'), 8);
          fc.pre(part.gt('0'));
          const terms = exchangeTerms({ ...order, rateType: 'fixed' }, part, currency, prices);
          if (!terms) return;
          const fair = amountTo.plus(order.serviceFeeQuoted).plus(order.networkFeeQuoted).times(part).div(expected);
          const paid = terms.amountTo.plus(terms.serviceFee).plus(terms.networkFee);
          // What was rounded off the quote itself may come back, and never more.
          expect(paid.lte(fair.plus(new Big(`2e-${currency.decimals}`)).plus('1e-9'))).toBe(true);
          expect(terms.amountTo.lte(amountTo)).toBe(true);
          expect(fractionDigits(terms.amountTo)).toBeLessThanOrEqual(currency.decimals);
        },
      ),
    );
  });

  it('exchange the deposit up to a bound: the expected amount when fixed, the maximum when floating', () => {
    fc.assert(
      fc.property(quoted, amount(8, 10n ** 12n), amount(8, 10n ** 5n), ({ order }, arrived, fee) => {
        const exchanged = exchangedAmount(order, arrived, fee);
        expect(exchanged.lte(arrived)).toBe(true);
        const rest = arrived.minus(exchanged);
        if (order.rateType === 'fixed') expect(exchanged.lte(order.amountFromExpected)).toBe(true);
        else if (rest.gt('0')) expect(rest.gt(fee) && exchanged.eq(order.maxAmount)).toBe(true);
      }),
    );
  });

  it('let the venue give less than agreed by at most the slippage', () => {
    const terms = {
      amountFrom: new Big('1'),
      amountTo: new Big('95'),
      serviceFee: new Big('4'),
      networkFee: new Big('1'),
    };
    expect(leastBought(terms, '0.02').toFixed()).toBe('98');
  });
});
