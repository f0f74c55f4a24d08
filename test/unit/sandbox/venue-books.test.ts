import { Big } from '../../../src/base/money.ts';
import { VenueBooks } from '../../../src/settlement/sandbox/venue-books.ts';

function booksAt(prices: Record<string, string>, cash: string) {
  return new VenueBooks({ live: (coin: string) => (prices[coin] ? new Big(prices[coin]) : null) }, cash);
}

describe('the order books of the imitated exchange', () => {
  it('stand around the price in cash, with a small spread', () => {
    const books = booksAt({ BTC: '64000', USDT: '0.5', PEPE: '0.0000110512' }, 'USDT').of(['BTC', 'USDT', 'PEPE']);
    expect(Object.keys(books)).toEqual(['BTC/USDT', 'PEPE/USDT']);
    expect(books['BTC/USDT']).toEqual({ bid: '127974.4', ask: '128025.6', depth: '781.25', decimals: 2 });
    const { bid = '', ask = '', decimals } = books['PEPE/USDT'] ?? {};
    expect(decimals).toBe(11);
    expect(new Big(bid).lt('0.0000221024') && new Big(ask).gt('0.0000221024')).toBe(true);
    expect(new Big(ask).minus(bid).div(bid).lt('0.0005')).toBe(true);
  });

  it('are in dollars where the cash is dollars', () => {
    expect(booksAt({ USDT: '1.01' }, 'USD').of(['USDT'])['USDT/USD']).toMatchObject({ bid: '1.009798' });
  });

  it('are empty without a price, and keep the step of their prices', () => {
    const prices: Record<string, string> = { LTC: '80' };
    const books = booksAt(prices, 'USD');
    const [before] = Object.values(books.of(['LTC']));
    delete prices.LTC;
    const [without] = Object.values(books.of(['LTC']));
    expect(without).toEqual({ bid: '0', ask: '0', depth: '0', decimals: before?.decimals });
    prices.LTC = '8000';
    expect(Object.values(books.of(['LTC']))[0]?.decimals).toBe(before?.decimals);
  });
});
