import fc from 'fast-check';
import { Big } from '../../../src/base/money.ts';
import { dollars, usdOf, usdText } from '../../../src/orders/usd.ts';

describe('US dollars of the caps', () => {
  it('count an order never less than its worth, and at most one unit more', () => {
    const decimal = fc.tuple(fc.bigInt(0n, 10n ** 40n), fc.integer({ min: 0, max: 38 }));
    fc.assert(
      fc.property(decimal, ([units, places]) => {
        const worth = new Big(`${units}e-${places}`);
        const more = new Big(usdText(usdOf(worth))).minus(worth);
        expect(more.gte('0') && more.lt('1e-18')).toBe(true);
      }),
    );
  });

  it('have all digits of what the database stores', () => {
    expect(usdText(usdOf(new Big('1234.000000000000000001')))).toBe('1234.000000000000000001');
    expect(usdText(usdOf(new Big('0.0000000000000000001')))).toBe('0.000000000000000001');
    expect(usdText(dollars(9_000_000_000))).toBe('9000000000');
    expect(usdText(0n)).toBe('0');
  });
});
