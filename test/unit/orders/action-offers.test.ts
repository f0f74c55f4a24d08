import { Big } from '../../../src/base/money.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';
import { PriceBook } from '../../../src/market/rates/price-book.ts';
import { ActionOffers, type AskedOrder, type ExchangeOffer } from '../../../src/orders/action-offers.ts';
import { exchangeTerms, grossOf } from '../../../src/orders/exchange-terms.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { Dice } from '../../support/gateway/dice.ts';
import { PriceWindowsInMemory } from '../../support/gateway/price-windows.ts';
import { catalogueOf, currencyRow } from '../../support/gateway/rates.ts';

const silent = { isLevelEnabled: () => false, debug() {}, info() {}, warn() {}, error() {} };
const windowSec = 15;
const holdSec = 60;
const refreshSec = 5;

const floatOrder: AskedOrder = {
  coinFrom: 'BTC',
  networkFrom: 'BTC',
  coinTo: 'USDT',
  networkTo: 'TRC20',
  rateType: 'float',
  amountFromExpected: '0.1',
  amountToExpected: '6378.44',
  rateQuoted: '63784.4',
  feeRate: '0.005',
  serviceFeeQuoted: '32.0637685',
  networkFeeQuoted: '2.2499315',
  maxAmount: '3',
  markupBps: null,
  minAmountTo: null,
  policy: { on_underpaid: 'ask' },
  amountFrom: '0.06',
};
const fixedOrder: AskedOrder = { ...floatOrder, rateType: 'fixed', feeRate: '0.01' };

/** Offers over a market of bitcoin that the test moves. Tether is worth a dollar. */
async function market(start = '64000') {
  const clock = new TestClock();
  const price = { of: start };
  const windows = new PriceWindowsInMemory();
  const catalogue = catalogueOf(() => currencySeed.map((seed) => currencyRow(seed)));
  await catalogue.refresh();
  const source = {
    name: 'test',
    fetch: async () =>
      new Map(
        Object.entries({ BTC: price.of, USDT: '1' }).map(([coin, text]) => [coin, { price: text, at: clock.now() }]),
      ),
  };
  const options = { clock, log: silent, source, windows, refreshSec, maxAgeSec: 60, fixedMaxDrift: '0.002' };
  const prices = new PriceBook({ ...options, fixedWindowSec: windowSec });
  const offers = new ActionOffers({ clock, catalogue, prices, windowSec, holdSec });
  const refresh = (): Promise<void> => prices.refresh(['BTC', 'USDT']);
  await refresh();
  const move = async (to: string): Promise<void> => {
    price.of = to;
    await refresh();
  };
  return { clock, prices, offers, price, refresh, move, windows, catalogue };
}

describe('an offered exchange', () => {
  it('is the market of its window at the fees of the order, for at least a hold', async () => {
    const { offers, clock } = await market();
    const offer = offers.present(floatOrder);
    expect(offer?.terms.amountTo.toFixed()).toBe('3817.8');
    expect((offer?.validUntil.getTime() ?? 0) - clock.now().getTime()).toBe((windowSec + holdSec) * 1000);
  });

  it('is honoured to the digit until its time is over, and not for any other amount', async () => {
    const { offers, clock, move } = await market();
    const shown = offers.present(floatOrder);
    if (!shown) throw new Error('no offer');
    const { amountTo } = shown.terms;
    await move('64050');
    for (let waited = 0; waited < windowSec + holdSec; waited += refreshSec) {
      expect(offers.ofAmount(floatOrder, amountTo, await offers.windows())?.terms.amountTo.eq(amountTo)).toBe(true);
      expect(offers.ofAmount(floatOrder, amountTo.plus('0.000001'), await offers.windows())).toBeNull();
      clock.advance(refreshSec * 1000);
      await move('64050');
    }
    clock.advance(1);
    expect(offers.ofAmount(floatOrder, amountTo, await offers.windows())).toBeNull();
    expect(offers.present(floatOrder)?.terms.amountTo.gt(amountTo)).toBe(true);
  });

  it('is the same at every process that knows the window', async () => {
    const { offers, windows, clock, catalogue } = await market();
    const shown = offers.present(floatOrder)?.terms.amountTo ?? new Big('0');
    const source = { name: 'other', fetch: async () => new Map() };
    const options = { clock, log: silent, source, windows, refreshSec, maxAgeSec: 60, fixedMaxDrift: '0.002' };
    const book = new PriceBook({ ...options, fixedWindowSec: windowSec });
    const live = async (coins: Record<string, string>) => {
      source.fetch = async () =>
        new Map(Object.entries(coins).map(([coin, price]) => [coin, { price, at: clock.now() }])) as never;
      await book.refresh(['BTC', 'USDT']);
    };
    await live({ BTC: '64010', USDT: '1' });
    const other = new ActionOffers({ clock, catalogue, prices: book, windowSec, holdSec });
    expect(other.present(floatOrder)?.terms.amountTo.toFixed()).toBe(shown.toFixed());
    expect(other.ofAmount(floatOrder, shown, await other.windows())).not.toBeNull();
  });

  it.each(['50000', '64000', '64400', '80000'])('of a fixed order is its own rate at most: at %s', async (level) => {
    const { offers, prices, catalogue } = await market(level);
    const to = catalogue.find('USDT', 'TRC20');
    const live = prices.pair('BTC', 'USDT', 'live');
    if (!to || !live) throw new Error('no market');
    const amount = new Big(fixedOrder.amountFrom);
    const quoted = exchangeTerms(fixedOrder, amount, to, live)?.amountTo ?? new Big('0');
    const atMarket = exchangeTerms({ ...fixedOrder, rateType: 'float' }, amount, to, live)?.amountTo ?? new Big('0');
    const offered = offers.present(fixedOrder)?.terms.amountTo;
    expect(offered?.toFixed()).toBe((quoted.lt(atMarket) ? quoted : atMarket).toFixed());
  });

  it('ends when the market has moved by more than the fee, before its time', async () => {
    const { offers, move, clock } = await market();
    const shown = offers.present(floatOrder)?.terms.amountTo ?? new Big('0');
    clock.advance(refreshSec * 1000);
    await move('63690');
    expect(offers.ofAmount(floatOrder, shown, await offers.windows())).not.toBeNull();
    await move('63670');
    expect(offers.ofAmount(floatOrder, shown, await offers.windows())).toBeNull();
  });

  it('never falls below the smallest payout, unless the order is asked about that too', async () => {
    const { offers } = await market();
    const least = { minAmountTo: '3817.9' };
    expect(offers.present({ ...floatOrder, ...least })).toBeNull();
    expect(offers.present({ ...floatOrder, minAmountTo: '3817.8' })).not.toBeNull();
    expect(offers.present({ ...floatOrder, ...least, policy: { on_price_moved: 'ask' } })).not.toBeNull();
  });

  it('is not made outside the limits of the pair', async () => {
    const { offers } = await market();
    expect(offers.present({ ...floatOrder, amountFrom: '0.0001' })).toBeNull();
    expect(offers.present({ ...floatOrder, amountFrom: '1000' })).toBeNull();
  });
});

describe('a partner that takes only the offers that have become favourable', () => {
  /**
   * What the house keeps of an exchange at a price of bitcoin: the deposit less the payout, its
   * costs and the partner's markup. US dollars.
   */
  function kept(order: AskedOrder, { terms }: ExchangeOffer, price: string): Big {
    const markup = grossOf(terms)
      .times(String(order.markupBps ?? 0))
      .div('10000');
    return new Big(order.amountFrom)
      .times(price)
      .minus(grossOf({ ...terms, serviceFee: '0' }))
      .minus(markup);
  }

  const orders: readonly (readonly [string, AskedOrder])[] = [
    ['float', floatOrder],
    ['fixed', fixedOrder],
    ['float with a markup', { ...floatOrder, feeRate: '0.009', markupBps: 40 }],
    ['float with a fee of nearly nothing', { ...floatOrder, feeRate: '0.0001' }],
  ];

  it.each(orders)('earns nothing from the house at the prices that it knows: %s', async (_name, order) => {
    const dice = new Dice(20_261_123);
    let [taken, refused] = [0, 0];
    const margins: Big[] = [];
    for (let question = 0; question < 12; question++) {
      const { offers, clock, price, refresh, prices } = await market();
      const shown = new Map<string, ExchangeOffer>();
      // Ten minutes of looks every second, in a market of 400 % a year with a jump now and then.
      for (let second = 0; second < 600; second++) {
        const step = (dice.next() + dice.next() + dice.next() - 1.5) * 0.0014;
        const jump = dice.chance(0.004) ? dice.pick([-0.02, -0.01, 0.01, 0.02]) : 0;
        price.of = new Big(price.of)
          .times(String(1 + step + jump))
          .round(2)
          .toFixed();
        clock.advance(1000);
        if (second % refreshSec === 0) await refresh();
        const present = offers.present(order);
        if (present) shown.set(present.terms.amountTo.toFixed(), present);
        const live = prices.live('BTC')?.toFixed() ?? '0';
        // The best for the taker of all that were shown: the highest payout for a deposit that lost
        // most.
        const [best] = [...shown.values()].toSorted((one, other) => other.terms.amountTo.cmp(one.terms.amountTo));
        if (!best || kept(order, best, live).gt(new Big(order.amountFrom).times(live).times('0.002'))) continue;
        const honoured = offers.ofAmount(order, best.terms.amountTo, await offers.windows());
        shown.delete(best.terms.amountTo.toFixed());
        if (honoured) {
          taken += 1;
          margins.push(kept(order, honoured, live));
        } else refused += 1;
      }
    }
    expect({ taken: taken > 0 || order.rateType === 'fixed', refused: refused > 0 }).toEqual({
      taken: true,
      refused: true,
    });
    expect(margins.filter((margin) => margin.lt('0')).map(String)).toEqual([]);
  });
});
