import { Big } from '../../../src/base/money.ts';
import { levelOf } from '../../../src/chains/networks/network-config.ts';

describe('levelOf', () => {
  it.each([
    ['0.999999999999999999', 'low'],
    ['1', 'ok'],
    ['2', 'ok'],
    ['2.000000000000000001', 'high'],
  ])('calls %s, of 1 to 2, %s', (balance, level) => {
    expect(levelOf({ low: '1', high: '2' }, new Big(balance))).toBe(level);
  });

  it('has no upper level without a maximum, and no level at all without levels', () => {
    expect(levelOf({ low: '1', high: null }, new Big('1000000'))).toBe('ok');
    expect(levelOf(undefined, new Big('0'))).toBe('ok');
  });
});
