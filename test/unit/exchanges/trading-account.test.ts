import { ExchangeUnavailable } from '../../../src/exchanges/exchange.ts';
import type { ExchangeProcess } from '../../../src/exchanges/exchange-process.ts';
import { TradingAccount } from '../../../src/exchanges/trading-account.ts';

const order = {
  clientId: '00000000-0000-8000-8000-000000000000',
  base: 'BTC',
  quote: 'USD',
  side: 'buy',
  amount: '1',
  limit: '64000',
  notAfterMs: 0,
} as const;
const record = { isOpen: false, filled: '0.5', cost: '32000', fees: [{ coin: 'USD', amount: '32' }] };

function accountThatAnswers(answer: unknown): TradingAccount {
  return new TradingAccount('kraken', { ask: async () => answer } as unknown as ExchangeProcess);
}

describe('TradingAccount', () => {
  it('takes a record whose figures can be true', async () => {
    expect(await accountThatAnswers(record).place(order)).toEqual(record);
  });

  it.each([
    ['more than was ordered', { filled: '1.1' }],
    ['a cost for nothing', { filled: '0' }],
    ['a negative cost', { cost: '-1' }],
    ['a figure finer than the book keeps', { cost: '32000.0000000000000000001' }],
    ['a fee finer than the book keeps', { fees: [{ coin: 'USD', amount: '0.0000000000000000001' }] }],
    ['a figure larger than the book keeps', { cost: '100000000000000000000' }],
    ['text for a figure', { cost: 'much' }],
  ])('refuses a record with %s', async (_what, changes) => {
    await expect(accountThatAnswers({ ...record, ...changes }).place(order)).rejects.toThrow(ExchangeUnavailable);
  });
});
