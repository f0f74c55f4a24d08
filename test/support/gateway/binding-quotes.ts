import { createSecretKey } from 'node:crypto';
import { Partner } from '../../../src/accounts/partners/partner.entity.ts';
import { Big } from '../../../src/base/money.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';
import {
  BindingQuotes,
  type BindingQuotesOptions,
  type QuoteRequest,
} from '../../../src/market/rates/binding-quotes.ts';
import { QuoteTokens } from '../../../src/market/rates/quote-token.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';
import { TestClock } from './clock.ts';
import { currencyRow, type QuotingOptions, quotingRates } from './rates.ts';

/** A signing key of a version. */
export const quoteKey = (version: number, text = `secret ${version}`) => ({
  version,
  key: createSecretKey(text, 'utf8'),
});
export const quotingPartner = Object.assign(new Partner(), { id: '0199c0de-0000-7000-8000-000000000001' });
export const strangePartner = Object.assign(new Partner(), { id: '0199c0de-0000-7000-8000-000000000002' });
export const quotedRows = currencySeed.map((seed) => currencyRow(seed));

/** A market whose prices and order books the test sets. */
class Market {
  readonly name = 'market';
  readonly clock: TestClock;
  prices: Record<string, string> = { ...sandboxPrices };
  depths: Record<string, { readonly buy: string; readonly sell: string }> = {};

  constructor(clock: TestClock) {
    this.clock = clock;
  }

  async fetch(coins: readonly string[]) {
    return new Map(coins.map((coin) => [coin, { price: this.prices[coin] ?? '1', at: this.clock.now() }]));
  }

  depth() {
    return new Map(Object.entries(this.depths).map(([coin, depth]) => [coin, { ...depth, at: this.clock.now() }]));
  }
}

/** Binding quotes without a database, at prices that the test sets. */
export async function bindingQuotes(
  changes: Partial<BindingQuotesOptions> = {},
  quoting: Omit<Partial<QuotingOptions>, 'clock' | 'source'> = {},
) {
  const clock = new TestClock(new Date('2026-01-01T00:00:10Z'));
  const market = new Market(clock);
  const parts = await quotingRates({ clock, source: market, rows: () => quotedRows, ...quoting });
  const tokens = new QuoteTokens([quoteKey(1)]);
  const options: BindingQuotesOptions = {
    clock,
    ...parts,
    tokens,
    environment: 'test',
    windowSec: 60,
    holdSec: 60,
    maxMarkupBps: 500,
    restricted: ['KP'],
    ...changes,
  };
  return { ...parts, clock, market, tokens, quotes: new BindingQuotes(options), options };
}

/** A request for a fixed quote of 0.1 bitcoin, with changes. */
export function quoteRequest(changes: Partial<QuoteRequest> = {}): QuoteRequest {
  return {
    coinFrom: 'BTC',
    networkFrom: 'BTC',
    coinTo: 'USDT',
    networkTo: 'TRC20',
    rateType: 'fixed',
    side: 'from',
    amount: new Big('0.1'),
    clamp: false,
    markupBps: 0,
    country: null,
    ...changes,
  };
}
