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

const market = {
  lot: '0.0001',
  tick: '0.01',
  minAmount: '0.001',
  minCost: '5',
  takerFee: '0.0026',
  bids: [
    ['100', '1'],
    ['99.5', '20'],
  ],
  asks: [
    ['101', '3'],
    ['110', '1'],
  ],
};

describe('TradingAccount', () => {
  it('accepts an order book with plausible levels, and leaves out empty levels', async () => {
    const bids = [['100', '1'], ['99.9', '0'], ...market.bids.slice(1)];
    const found = await accountThatAnswers({ ...market, bids }).market('BTC', 'USD');
    expect(found).toEqual({ ...market, base: 'BTC', quote: 'USD' });
    expect(await accountThatAnswers(null).market('BTC', 'USD')).toBeNull();
  });

  it.each([
    [
      'bids that are not in order',
      {
        bids: [
          ['99', '1'],
          ['100', '1'],
        ],
      },
    ],
    [
      'asks that are not in order',
      {
        asks: [
          ['102', '1'],
          ['101', '1'],
        ],
      },
    ],
    [
      'prices in the order of text',
      {
        bids: [
          ['99', '1'],
          ['100', '1'],
          ['98', '1'],
        ],
      },
    ],
    [
      'two levels of one price',
      {
        bids: [
          ['100', '1'],
          ['100.0', '1'],
        ],
      },
    ],
    ['a negative amount', { asks: [['101', '-1']] }],
    ['a price of nothing', { asks: [['0', '1']] }],
    ['numbers that are no text', { asks: [[101, 1]] }],
    ['levels that are not lists', { asks: ['101'] }],
    ['no asks', { asks: undefined }],
    ['a crossed book', { bids: [['101.01', '1']] }],
    ['more levels than were asked for', { asks: Array.from({ length: 5001 }, (_, at) => [String(101 + at), '1']) }],
    ['a fee of a tenth', { takerFee: '0.1' }],
  ])('refuses a market with %s', async (_what, changes) => {
    await expect(accountThatAnswers({ ...market, ...changes }).market('BTC', 'USD')).rejects.toThrow();
  });

  it('accepts a record with plausible figures', async () => {
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
