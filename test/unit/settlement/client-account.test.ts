import { Big } from '../../../src/base/money.ts';
import type { Payment, PaymentState } from '../../../src/settlement/rows/payment.entity.ts';
import type { Trade } from '../../../src/settlement/rows/trade.entity.ts';
import { availableToReturn, isInDebit, owedToClient } from '../../../src/settlement/rules/client-account.ts';

const btc = { coin: 'BTC', network: 'BTC' };
const ltc = { coin: 'LTC', network: 'LTC' };

/** The account of an order's user: an entry of its balance, and what is under way. */
function account(balance: string, { payments = [] as Payment[], trade = null as Trade | null } = {}) {
  const client = [{ account: 'client' as const, ...btc, amount: new Big('0').minus(balance) }];
  return { client, bookings: [], payments, trade };
}

const payment = (state: PaymentState, asset = btc) =>
  ({ state, ...asset, amount: '0.3', feeCharged: '0.1' }) as Payment;

describe('what an account can return', () => {
  it.each<[PaymentState, string]>([
    ['ready', '0.6'],
    ['prepared', '0.6'],
    ['signed', '0.6'],
    ['sent', '0.6'],
    ['confirmed', '1'],
    ['dead', '1'],
  ])('is what it owes, less a payment that is %s, with its fee: %s', (state, left) => {
    expect(availableToReturn(account('1', { payments: [payment(state)] }), btc).toFixed()).toBe(left);
  });

  it('is not less for payments and trades of another coin', () => {
    expect(availableToReturn(account('1', { payments: [payment('ready', ltc)] }), btc).toFixed()).toBe('1');
    expect(availableToReturn(account('1'), ltc).toFixed()).toBe('0');
  });

  it('is less by what a trade sells that the venue may fill', () => {
    const trade = (state: Trade['state']) =>
      ({ state, coinFrom: 'BTC', networkFrom: 'BTC', amountFrom: '0.7' }) as Trade;
    expect(availableToReturn(account('1', { trade: trade('intended') }), btc).toFixed()).toBe('0.3');
    expect(availableToReturn(account('1', { trade: trade('abandoned') }), btc).toFixed()).toBe('1');
  });

  it('is never below zero', () => {
    expect(availableToReturn(account('0.2', { payments: [payment('sent')] }), btc).toFixed()).toBe('0');
    expect(availableToReturn(account('-0.2'), btc).toFixed()).toBe('0');
  });
});

describe('an account', () => {
  it('is in debit when it has paid more than its deposits brought, in any coin', () => {
    expect(owedToClient(account('-0.2'), btc).toFixed()).toBe('-0.2');
    expect(isInDebit(account('-0.2'))).toBe(true);
    expect(isInDebit(account('0'))).toBe(false);
    const { client, ...rest } = account('1');
    expect(isInDebit({ ...rest, client: [...client, { account: 'client', ...ltc, amount: '0.1' }] })).toBe(true);
  });
});
