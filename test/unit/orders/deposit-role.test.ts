import { depositRole, isOrderCurrency } from '../../../src/orders/deposit-role.ts';

describe('a deposit to an order for USDT on ERC20', () => {
  const usdt = { coinFrom: 'USDT', networkFrom: 'ERC20' };

  it.each([
    ['USDT', 'ERC20', true],
    ['USDC', 'ERC20', false],
    ['USDT', 'BEP20', false],
    ['ETH', 'ETH', false],
  ])('of %s on %s is in its currency: %s', (coin, network, is) => {
    expect(isOrderCurrency(usdt, { coin, network })).toBe(is);
  });
});

describe('the role of a deposit', () => {
  const ends = new Date('2026-11-26T12:30:00Z');
  const order = { coinFrom: 'BTC', networkFrom: 'BTC', minAmount: '0.001', expiresAt: ends, wasCancelled: false };
  const seconds = (after: number): Date => new Date(ends.getTime() + after * 1_000);
  const usual = {
    coin: 'BTC',
    network: 'BTC',
    amount: '0.001',
    isMain: false,
    state: 'mined',
    arrivedAfter: seconds(-60),
    minedAfter: seconds(-60),
  };
  const rules = { graceSec: 600, readAt: seconds(0) };

  it.each([
    ['main', {}, { isMain: true }],
    ['main', {}, { isMain: true, amount: '0.0009' }],
    ['second', {}, {}],
    ['small', {}, { amount: '0.000999999999999999' }],
    ['wrong_asset', { wasCancelled: true }, { network: 'LTC', isMain: true }],
    ['late', {}, { arrivedAfter: seconds(1), isMain: true }],
    ['late', {}, { minedAfter: seconds(601) }],
    ['second', {}, { minedAfter: seconds(600) }],
    ['second', {}, { arrivedAfter: null, minedAfter: null }],
    ['late', { wasCancelled: true }, { amount: '0.0001' }],
  ])('is %s with %j and %j', (role, ofOrder, ofDeposit) => {
    expect(depositRole({ ...order, ...ofOrder }, { ...usual, ...ofDeposit }, rules)).toBe(role);
  });

  it('is late in the mempool once its chain was read after the grace', () => {
    const waiting = { ...usual, state: 'mempool', minedAfter: null };
    expect(depositRole(order, waiting, { graceSec: 600, readAt: seconds(600) })).toBe('second');
    expect(depositRole(order, waiting, { graceSec: 600, readAt: seconds(601) })).toBe('late');
  });
});
