import fc from 'fast-check';
import { Big, floorTo } from '../../../src/base/money.ts';
import type { Currency } from '../../../src/market/currencies/currency.entity.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';
import type { PriceOverride } from '../../../src/market/rates/price-override.entity.ts';
import type { SourcePrice } from '../../../src/market/rates/price-source.ts';
import { pairLimits, type RateType } from '../../../src/market/rates/quote.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { currencyRow, quotingRates } from '../../support/gateway/rates.ts';

const pair = { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: 'ERC20' };
const pricing = { float: '0.005', fixed: '0.01' };

/** Quotes at prices, rows and overrides that a test changes. */
async function quoting() {
  const clock = new TestClock();
  const market: Record<string, string> = { BTC: '64012.37', ETH: '3100.5', LTC: '81.23', USDT: '1.0003' };
  const paused = new Set<string>();
  const overrides: PriceOverride[] = [];
  const source = {
    name: 'test',
    fetch: async (): Promise<ReadonlyMap<string, SourcePrice>> =>
      new Map(Object.entries(market).map(([coin, price]) => [coin, { price, at: clock.now() }])),
    paused: () => new Set(paused),
  };
  const changes = new Map<string, Partial<Currency>>();
  const rows = () => currencySeed.map((seed) => currencyRow(seed, changes.get(`${seed.coin} ${seed.network}`)));
  const gateway = await quotingRates({ clock, source, rows, overrides: async () => overrides });
  const refresh = () => gateway.prices.refresh(gateway.catalogue.coins());
  const quote = (rateType: RateType, amount: string | null, fees = pricing) =>
    gateway.rates.quote({ ...pair, rateType }, amount === null ? null : new Big(amount), fees, 'amount');
  return { ...gateway, clock, market, paused, overrides, changes, refresh, quote };
}

/** Limits and terms by their definition, from what catalogue and price book say at this moment. */
function expected(
  { catalogue, prices }: Awaited<ReturnType<typeof quoting>>,
  rateType: RateType,
  amount: string,
  fee: string,
) {
  const from = catalogue.find('BTC', 'BTC');
  const to = catalogue.find('USDT', 'ERC20');
  const price = prices.pair('BTC', 'USDT', rateType === 'fixed' ? 'fixed' : 'live');
  const reference = prices.pair('BTC', 'USDT', 'reference');
  const limits = from && to && reference && pairLimits(from, to, reference, new Big(fee));
  if (!to || !price || !limits) throw new Error('the pair is unavailable');
  const gross = new Big(amount).times(price.from).div(price.to);
  const serviceFee = gross.times(fee);
  const rate = floorTo(gross.minus(serviceFee).minus(to.networkFee).div(amount), 18);
  const amountTo = floorTo(rate.times(amount), to.decimals);
  return texts({ ...limits, rate, amountTo, serviceFee: floorTo(serviceFee, 18), networkFee: new Big(to.networkFee) });
}

const members = ['minAmount', 'maxAmount', 'rate', 'amountTo', 'serviceFee', 'networkFee'] as const;
const texts = (quote: Readonly<Record<(typeof members)[number], Big>>) => members.map((name) => quote[name].toFixed());

describe('a quote', () => {
  it('follows prices, windows, overrides, fees and currencies whenever they change, to the last digit', async () => {
    const price = fc.integer({ min: 5_500_000, max: 7_500_000 }).map((cents) => new Big(`${cents}e-2`).toFixed());
    const step = fc.oneof(
      fc.record({ kind: fc.constant('price'), price }),
      fc.record({ kind: fc.constant('window'), price }),
      fc.record({ kind: fc.constant('override'), price }),
      fc.record({ kind: fc.constant('fee'), price: fc.constantFrom('0', '0.5', '1.5') }),
      fc.record({ kind: fc.constant('same'), price }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const gateway = await quoting();
        for (const { kind, price: value } of steps) {
          if (kind === 'price' || kind === 'window') gateway.market.BTC = value;
          if (kind === 'window') gateway.clock.advance(60_000);
          if (kind === 'override') {
            const endsAt = new Date(gateway.clock.now().getTime() + 90_000);
            gateway.overrides.splice(0, 1, { coinFrom: 'BTC', coinTo: 'USDT', price: value, endsAt } as PriceOverride);
          }
          if (kind === 'fee') gateway.changes.set('USDT ERC20', { networkFee: value, minAmount: '25' });
          await gateway.catalogue.refresh();
          await gateway.refresh();
          for (const rateType of ['float', 'fixed', 'float'] as const) {
            for (const fee of ['0.005', '0.0125']) {
              const quote = gateway.quote(rateType, '0.12345678', { float: fee, fixed: fee });
              expect(texts(quote)).toEqual(expected(gateway, rateType, '0.12345678', fee));
            }
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('has the minimum amount when no amount is given', async () => {
    const gateway = await quoting();
    const { amountFrom, minAmount } = gateway.quote('float', null);
    expect(amountFrom.eq(minAmount)).toBe(true);
    expect(texts(gateway.quote('float', null))).toEqual(expected(gateway, 'float', minAmount.toFixed(), '0.005'));
  });

  it('is refused once prices are too old, the coin is paused or the currency is off', async () => {
    const gateway = await quoting();
    const unavailable = expect.objectContaining({ kind: 'pair_unavailable' });
    gateway.quote('float', '0.1');
    gateway.clock.advance(60_001);
    expect(() => gateway.quote('float', '0.1')).toThrow(unavailable);
    await gateway.refresh();
    gateway.quote('float', '0.1');
    gateway.paused.add('USDT');
    await gateway.refresh();
    expect(() => gateway.quote('float', '0.1')).toThrow(unavailable);
    gateway.paused.clear();
    gateway.changes.set('USDT ERC20', { isActive: false });
    await gateway.catalogue.refresh();
    expect(() => gateway.quote('float', '0.1')).toThrow(expect.objectContaining({ kind: 'currency_inactive' }));
  });

  it('is refused for an invalid amount, an amount outside the limits or too many decimals', async () => {
    const { quote } = await quoting();
    const kindOf = (amount: string) => {
      try {
        quote('float', amount);
      } catch (error) {
        return (error as { kind: string }).kind;
      }
      return null;
    };
    expect(['0', '-1', '0.0000001', '1000', '0.123456789', '0.12345678'].map(kindOf)).toEqual([
      'invalid_amount',
      'invalid_amount',
      'amount_below_min',
      'amount_above_max',
      'too_many_decimals',
      null,
    ]);
  });

  it('is refused for an amount whose payout rounds down to nothing', async () => {
    const gateway = await quoting();
    // The minimum pays one unit at the reference price, which stays while the market moves less
    // than ten percent.
    gateway.changes.set('LTC LTC', { minAmount: '0.00000001' });
    gateway.changes.set('BTC BTC', { minAmount: '0.00000001', networkFee: '0' });
    await gateway.catalogue.refresh();
    const request = {
      coinFrom: 'LTC',
      networkFrom: 'LTC',
      coinTo: 'BTC',
      networkTo: 'BTC',
      rateType: 'float',
    } as const;
    const { minAmount } = gateway.rates.quote(request, null, pricing, 'amount');
    gateway.market.LTC = '74.8';
    gateway.clock.advance(10_000);
    await gateway.refresh();
    const unavailable = expect.objectContaining({ kind: 'pair_unavailable' });
    expect(() => gateway.rates.quote(request, minAmount, pricing, 'amount')).toThrow(unavailable);
  });
});
