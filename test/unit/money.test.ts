import fc from 'fast-check';
import {
  Big,
  ceilTo,
  floorTo,
  formatDecimal,
  fractionDigits,
  isStorable,
  jsonNumber,
  parseDecimal,
} from '../../src/base/money.ts';

describe('parseDecimal', () => {
  it.each([
    ['0.1', '0.1'],
    ['1e-7', '0.0000001'],
    ['1E+3', '1000'],
    ['12345678901234.123456789012345678', '12345678901234.123456789012345678'],
    ['-0.5', '-0.5'],
    ['1.500', '1.5'],
  ])('reads %s exactly', (text, plain) => {
    const value = parseDecimal(text);
    expect(value && formatDecimal(value)).toBe(plain);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '+1',
    '01',
    '.5',
    '1.',
    '0x10',
    '1_000',
    '1,5',
    'NaN',
    'Infinity',
    '1e31',
    '1e-31',
    '1e1000000',
    '1e',
    '--1',
    '1'.repeat(41),
    '٣',
  ])("refuses '%s'", (text) => {
    expect(parseDecimal(text)).toBeNull();
  });
});

const decimal = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 37n }), fc.integer({ min: 0, max: 18 }))
  .map(([digits, places]) => new Big(digits.toString()).times(`1e-${places}`));

describe('exactness', () => {
  it('keeps every digit through text and JSON', () => {
    fc.assert(
      fc.property(decimal, (value) => {
        const json = JSON.stringify({ amount: jsonNumber(value) });
        const source = /^\{"amount":(.*)\}$/.exec(json)?.[1] ?? '';
        expect(source).not.toMatch(/e|\.\d*0$|\.$/i);
        expect(new Big(source).eq(value)).toBe(true);
      }),
    );
  });

  it('rounds down to at most the value and up to at least the value, by less than one unit', () => {
    fc.assert(
      fc.property(decimal, fc.integer({ min: 0, max: 18 }), (value, places) => {
        const unit = new Big(`1e-${places}`);
        const down = floorTo(value, places);
        const up = ceilTo(value, places);
        expect(down.lte(value) && value.minus(down).lt(unit)).toBe(true);
        expect(up.gte(value) && up.minus(value).lt(unit)).toBe(true);
        expect(fractionDigits(down)).toBeLessThanOrEqual(places);
      }),
    );
  });

  it('refuses binary floats', () => {
    expect(() => new Big(0.1 as unknown as string)).toThrow();
  });

  it('knows the range of numeric(38,18)', () => {
    expect(isStorable(new Big('99999999999999999999.999999999999999999'))).toBe(true);
    expect(isStorable(new Big('100000000000000000000'))).toBe(false);
    expect(isStorable(new Big('0.0000000000000000001'))).toBe(false);
  });
});
