import { Big } from '../../../src/base/money.ts';
import { conversionLines, converted } from '../../../src/settlement/commission/conversion.ts';

const btc = { coin: 'BTC', network: 'BTC' };
const usdc = { coin: 'USDC', network: 'ERC20' };
const from = (amount: string, price: string | null = '65000') => ({
  ...btc,
  amount: new Big(amount),
  price: price === null ? null : new Big(price),
});

describe('a conversion', () => {
  it.each([
    ['0.001', '1', '65'],
    // 65 / 3 has no end. The last place is cut, also of what is taken.
    ['0.001', '3', '21.666666666666666666'],
    ['-0.001', '3', '-21.666666666666666666'],
    ['0.000000000000000001', '0.7', '0.000000000000092857'],
  ])('of %s at a price of %s is %s, rounded towards zero', (amount, price, expected) => {
    expect(converted(from(amount), usdc, new Big(price))?.toFixed()).toBe(expected);
  });

  it('is none without a price, into the same asset, or when nothing remains', () => {
    expect(converted(from('1', null), usdc, new Big('1'))).toBeNull();
    expect(converted(from('1'), usdc, null)).toBeNull();
    expect(converted(from('1'), btc, new Big('65000'))).toBeNull();
    expect(converted(from('0.000000000000000001', '0.5'), usdc, new Big('1'))).toBeNull();
  });

  it('gives the coin to the house, and the worth to the partner', () => {
    const lines = conversionLines('p', from('0.001'), usdc, new Big('65'));
    expect(lines.map(({ account, coin, amount }) => `${account} ${new Big(amount).toFixed()} ${coin}`)).toEqual([
      'trading -0.001 BTC',
      'trading 65 USDC',
      'partner:p -65 USDC',
    ]);
  });
});
