import type { Deposit } from '../../../src/settlement/rows/deposit.entity.ts';
import { isOrderCurrency } from '../../../src/settlement/rules/match.ts';
import type { Settling } from '../../../src/settlement/rules/settling.ts';

describe('a deposit to an order for USDT on ERC20', () => {
  const settling = { order: { coinFrom: 'USDT', networkFrom: 'ERC20' } } as Settling;

  it.each([
    ['USDT', 'ERC20', true],
    ['USDC', 'ERC20', false],
    ['USDT', 'BEP20', false],
    ['ETH', 'ETH', false],
  ])('of %s on %s is in its currency: %s', (coin, network, is) => {
    expect(isOrderCurrency(settling, { coin, network } as Deposit)).toBe(is);
  });
});
