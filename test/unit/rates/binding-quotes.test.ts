import { createSecretKey } from 'node:crypto';
import { currencySeed } from '../../../src/currencies/seed.ts';
import type { AppError } from '../../../src/errors.ts';
import { Big, floorTo, formatDecimal, isStorable } from '../../../src/money.ts';
import { Partner } from '../../../src/partners/partner.entity.ts';
import { BindingQuotes, type BindingQuotesOptions, type QuoteRequest } from '../../../src/rates/binding-quotes.ts';
import { amountFromFor } from '../../../src/rates/binding-terms.ts';
import { termsAt } from '../../../src/rates/quote.ts';
import { type QuoteToken, QuoteTokens } from '../../../src/rates/quote-token.ts';
import { sandboxPrices } from '../../../src/rates/sources/sandbox-prices.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { Dice } from '../../support/gateway/dice.ts';
import { currencyRow, quotingRates } from '../../support/gateway/rates.ts';

const key = (version: number, text = `secret ${version}`) => ({ version, key: createSecretKey(text, 'utf8') });
const partner = Object.assign(new Partner(), { id: '0199c0de-0000-7000-8000-000000000001' });
const other = Object.assign(new Partner(), { id: '0199c0de-0000-7000-8000-000000000002' });
const rows = currencySeed.map((seed) => currencyRow(seed));

/** A market whose prices the test sets. */
class Market {
  readonly name = 'market';
  readonly clock: TestClock;
  prices: Record<string, string> = { ...sandboxPrices };

  constructor(clock: TestClock) {
    this.clock = clock;
  }

  async fetch(coins: readonly string[]) {
    return new Map(coins.map((coin) => [coin, { price: this.prices[coin] ?? '1', at: this.clock.now() }]));
  }
}

async function world(changes: Partial<BindingQuotesOptions> = {}) {
  const clock = new TestClock(new Date('2026-01-01T00:00:10Z'));
  const market = new Market(clock);
  const parts = await quotingRates({ clock, source: market, rows: () => rows });
  const tokens = new QuoteTokens([key(1)]);
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

function request(changes: Partial<QuoteRequest> = {}): QuoteRequest {
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

/** A random whole number from 0 to below `count`. */
function below(dice: Dice, count: number): number {
  return Math.floor(dice.next() * count);
}

/** The error that a function throws. */
async function refusal(act: () => unknown): Promise<AppError> {
  try {
    await act();
  } catch (error) {
    return error as AppError;
  }
  throw new Error('it was not refused');
}

describe('30,000 random quotes over all pairs', () => {
  /** A random decimal of up to nine significant digits between two decimals. */
  const between = (dice: Dice, least: Big, most: Big, decimals: number): Big => {
    const part = new Big(String(below(dice, 1_000_000_001))).div('1000000000');
    const skewed = below(dice, 2) === 0 ? part : part.times(part).times(part);
    const amount = floorTo(least.plus(most.minus(least).times(skewed)), decimals);
    return amount.lt(least) ? least : amount;
  };

  it('have parts that add up, and in reverse give what was asked with a bounded surplus', async () => {
    const { quotes } = await world();
    const dice = new Dice(17);
    const pairs = rows.flatMap((from) => rows.filter((to) => to !== from).map((to) => [from, to] as const));
    const limits = new Map<string, ReturnType<typeof quotes.quote>['limits']>();
    const wrong: object[] = [];
    let reversed = 0;
    for (let i = 0; i < 30_000; i++) {
      const [from, to] = pairs[i % pairs.length] ?? [];
      if (!from || !to) throw new Error('there are no pairs');
      const side = i % 2 === 0 ? 'to' : 'from';
      const base = request({
        coinFrom: from.coin,
        networkFrom: from.network,
        coinTo: to.coin,
        networkTo: to.network,
        rateType: below(dice, 2) === 0 ? 'fixed' : 'float',
        markupBps: dice.pick([0, 40, 500]),
        side,
      });
      const name = `${from.id} ${to.id}`;
      const known =
        limits.get(name) ??
        quotes.quote({ ...base, side: 'from', amount: new Big(`1e-${from.decimals}`), clamp: true }, partner).limits;
      limits.set(name, known);
      const { min, max } = known[side];
      const amount = between(dice, new Big(min), new Big(max), side === 'to' ? to.decimals : from.decimals);
      // The limits depend on the fees, so that amounts near a limit are moved to it.
      const quote = quotes.quote({ ...base, amount, clamp: true }, partner);
      const { parts, token, terms } = quote;
      const sum = parts.gross
        .minus(parts.serviceFee)
        .minus(parts.partnerMarkup)
        .minus(parts.networkFee)
        .minus(parts.rounding);
      const amountFrom = new Big(token.amountFrom);
      const isExact =
        sum.eq(token.amountTo) &&
        Object.values(parts).every((part) => part.gte('0') && isStorable(part)) &&
        floorTo(amountFrom.times(terms.rate), to.decimals).eq(token.amountTo);
      if (!isExact) wrong.push({ base, amount, parts, token });
      if (i % 100 === 0) expect(quotes.read(quote.id, partner.id)).toEqual(quote);
      if (side === 'from' || token.clamped) continue;
      reversed++;
      const surplus = new Big(token.amountTo).minus(amount);
      const unitFrom = new Big(`1e-${from.decimals}`).times(token.priceFrom).div(token.priceTo);
      const bound = new Big(`1e-${to.decimals}`).plus(unitFrom).plus(amountFrom.times('1e-18'));
      const isBounded = surplus.gte('0') && surplus.lte(bound);
      if (!isBounded) wrong.push({ base, amount, surplus });
    }
    expect(wrong).toEqual([]);
    expect(reversed).toBeGreaterThan(14_000);
  });

  it('at random prices and decimals never give less in reverse than was asked', () => {
    const dice = new Dice(18);
    const wrong: object[] = [];
    const random = (digits: number): string => String(1 + below(dice, 10 ** digits - 1));
    for (let i = 0; i < 30_000; i++) {
      const prices = {
        from: new Big(`${random(9)}e-${below(dice, 12)}`),
        to: new Big(`${random(9)}e-${below(dice, 12)}`),
      };
      const decimals = { from: below(dice, 19), to: below(dice, 19) };
      const to = {
        decimals: decimals.to,
        minAmount: '0',
        maxAmount: '1',
        networkFee: formatDecimal(floorTo(new Big(`${random(6)}e-${below(dice, 8)}`), 18)),
      };
      const fee = new Big(`${below(dice, 60_000)}e-6`);
      const amountTo = floorTo(new Big(`${random(9)}e-${below(dice, 10)}`), to.decimals);
      if (amountTo.eq('0')) continue;
      const amountFrom = amountFromFor(amountTo, prices, { decimals: decimals.from }, to, fee);
      if (!amountFrom) continue;
      const surplus = termsAt(prices, to, fee)(amountFrom).amountTo.minus(amountTo);
      const unitFrom = new Big(`1e-${decimals.from}`).times(prices.from).div(prices.to);
      const bound = new Big(`1e-${to.decimals}`).plus(unitFrom).plus(amountFrom.times('1e-18'));
      const isBounded = surplus.gte('0') && surplus.lte(bound);
      if (!isBounded) wrong.push({ prices, decimals, to, fee, amountTo, surplus });
    }
    expect(wrong).toEqual([]);
  });
});

describe('a binding quote', () => {
  it('takes the partner’s markup out of the amount, and shows it', async () => {
    const { quotes } = await world();
    const plain = quotes.quote(request(), partner);
    const { parts, token } = quotes.quote(request({ markupBps: 40 }), partner);
    expect(formatDecimal(parts.partnerMarkup)).toBe(formatDecimal(parts.gross.times('0.004')));
    expect(formatDecimal(parts.serviceFee)).toBe(formatDecimal(plain.parts.serviceFee));
    expect(new Big(token.amountTo).lt(plain.token.amountTo)).toBe(true);
  });

  it('of an amount outside the limits is refused with both limits, or clamped to the nearest', async () => {
    const { quotes } = await world();
    const { limits } = quotes.quote(request(), partner);
    for (const [side, amount, code, limit] of [
      ['from', '0.00001', 'amount_below_min', limits.from.min],
      ['from', '100', 'amount_above_max', limits.from.max],
      ['to', '1', 'amount_to_below_min', limits.from.min],
      ['to', '99999999', 'amount_to_above_max', limits.from.max],
    ] as const) {
      const asked = request({ side, amount: new Big(amount) });
      const { kind, extras } = await refusal(() => quotes.quote(asked, partner));
      expect([kind, extras.pairLimits]).toEqual([code, limits]);
      const { token } = quotes.quote({ ...asked, clamp: true }, partner);
      expect([token.amountFrom, token.clamped]).toEqual([limit, true]);
    }
  });

  it('at either limit of coin_to is not refused, and gives that amount', async () => {
    const { quotes } = await world();
    const { limits } = quotes.quote(request(), partner);
    for (const limit of [limits.to.min, limits.to.max]) {
      const { token } = quotes.quote(request({ side: 'to', amount: new Big(limit) }), partner);
      expect([token.amountTo, token.clamped]).toEqual([limit, false]);
    }
  });

  it('is refused with every fault at once', async () => {
    const { quotes } = await world();
    const asked = request({ amount: new Big('0.123456789'), markupBps: 501, country: 'KP', networkTo: 'nowhere' });
    const { extras } = await refusal(() => quotes.quote(asked, partner));
    const kinds = extras.faults?.map(({ field, kind }) => [field, kind]);
    expect(kinds).toEqual([
      ['markup_bps', 'markup_too_high'],
      ['country', 'region_restricted'],
      ['network_to', 'unknown_network'],
      ['amount_from', 'too_many_decimals'],
    ]);
    const outside = request({ amount: new Big('1000'), markupBps: 501 });
    const both = await refusal(() => quotes.quote(outside, partner));
    expect(both.extras.faults?.map(({ kind }) => kind)).toEqual(['markup_too_high', 'amount_above_max']);
    expect(both.extras.pairLimits).toBeDefined();
  });

  it('is refused while the market has left the window below, and while the next window is unknown', async () => {
    const { quotes, market, prices, catalogue, clock } = await world();
    for (const price of ['61000', '60000']) {
      market.prices = { ...market.prices, BTC: price };
      clock.advance(1_000);
      await prices.refresh(catalogue.coins());
    }
    // The first price began an early window. In the same interval the second cannot begin another.
    const { kind } = await refusal(() => quotes.quote(request(), partner));
    expect(kind).toBe('pair_unavailable');
    clock.advance(5_000);
    await prices.refresh(catalogue.coins());
    expect(quotes.quote(request(), partner).token.priceFrom).toBe('60000');
    clock.advance(45_000);
    expect((await refusal(() => quotes.quote(request(), partner))).kind).toBe('pair_unavailable');
  });
});

describe('a binding quote, honoured', () => {
  it('gives its terms to the last digit in the windows after its own', async () => {
    const { quotes, prices, catalogue, clock, market } = await world();
    const quote = quotes.quote(request({ markupBps: 25 }), partner);
    market.prices = { ...market.prices, BTC: new Big(market.prices.BTC ?? '0').times('0.99').toFixed() };
    clock.advance(59_000);
    await prices.refresh(catalogue.coins());
    const opened = quotes.open(quote.id, partner.id);
    if (!opened) throw new Error('the quote is not genuine');
    const { quote: honoured, adverseBps } = await quotes.honour(opened);
    expect(formatDecimal(honoured.amountTo)).toBe(quote.token.amountTo);
    expect(formatDecimal(honoured.rate)).toBe(formatDecimal(quote.terms.rate));
    expect(honoured.serviceFee.eq(quote.parts.serviceFee.plus(quote.parts.partnerMarkup))).toBe(true);
    expect(adverseBps).toBe(101);
  });

  it('is refused five percent from the market, and tells so', async () => {
    const broken: string[] = [];
    const { quotes, prices, catalogue, clock, market } = await world({
      onBreaker: ({ from, to }) => broken.push(`${from.coin}-${to.coin}`),
    });
    const quote = quotes.quote(request(), partner);
    const opened = quotes.open(quote.id, partner.id);
    if (!opened) throw new Error('the quote is not genuine');
    market.prices = { ...market.prices, BTC: new Big(market.prices.BTC ?? '0').times('0.94').toFixed() };
    clock.advance(10_000);
    await prices.refresh(catalogue.coins());
    expect((await refusal(() => quotes.honour(opened))).kind).toBe('pair_unavailable');
    expect(broken).toEqual(['BTC-USDT']);
  });

  it('is refused when its price is too old', async () => {
    const { quotes, clock, options } = await world();
    const slow = new BindingQuotes({ ...options, holdSec: 300 });
    const opened = slow.open(slow.quote(request(), partner).id, partner.id);
    if (!opened) throw new Error('the quote is not genuine');
    clock.advance(61_000);
    expect((await refusal(() => slow.honour(opened))).kind).toBe('pair_unavailable');
    expect(quotes.isExpired(opened.token)).toBe(false);
  });

  it('is refused after its time', async () => {
    const { quotes, clock } = await world();
    const opened = quotes.open(quotes.quote(request(), partner).id, partner.id);
    if (!opened) throw new Error('the quote is not genuine');
    clock.advance(60_001);
    expect((await refusal(() => quotes.honour(opened))).kind).toBe('quote_expired');
  });
});

describe('a text that is no genuine quote', () => {
  it('is refused: any changed character, another partner, another environment', async () => {
    const { quotes, options } = await world();
    const { id } = quotes.quote(request(), partner);
    expect(quotes.open(id, partner.id)).not.toBeNull();
    expect(quotes.open(id, other.id)).toBeNull();
    expect(new BindingQuotes({ ...options, environment: 'live' }).open(id, partner.id)).toBeNull();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let at = 0; at < id.length; at++) {
      const changed = alphabet[((alphabet.indexOf(id[at] ?? '') ^ 1) + 64) % 64];
      const forged = id.slice(0, at) + changed + id.slice(at + 1);
      if (forged !== id) expect([at, quotes.open(forged, partner.id)]).toEqual([at, null]);
    }
    for (const text of ['', 'qt_', 'qt_AAAA', `${id}A`, `${id}=`, id.slice(0, -1), ` ${id}`, id.toLowerCase()]) {
      expect([text, quotes.open(text, partner.id)]).toEqual([text, null]);
    }
  });

  it('is refused under a key that is older than the last two', async () => {
    const { quotes, options } = await world();
    const { id } = quotes.quote(request(), partner);
    const under = (...keys: ReturnType<typeof key>[]) =>
      new BindingQuotes({ ...options, tokens: new QuoteTokens(keys) }).open(id, partner.id);
    expect(under(key(2), key(1))).not.toBeNull();
    expect(under(key(3), key(2), key(1))).toBeNull();
    expect(under(key(1, 'another secret'))).toBeNull();
  });
});

describe('a quote forged under the right key', () => {
  /** What becomes of a genuine quote with changes, signed again. */
  async function forged(changes: (token: QuoteToken) => Partial<QuoteToken>): Promise<string> {
    const { quotes, tokens, clock } = await world();
    const { token } = quotes.quote(request(), partner);
    clock.advance(1_000);
    const opened = quotes.open(tokens.seal({ ...token, ...changes(token) }), partner.id);
    if (!opened) return 'unread';
    try {
      return formatDecimal((await quotes.honour(opened)).quote.amountTo);
    } catch (error) {
      return (error as AppError).kind;
    }
  }

  it('gets no price that no window had', async () => {
    const twice = (amount: string): string => new Big(amount).times('2').toFixed();
    expect(await forged(({ amountTo }) => ({ amountTo: twice(amountTo) }))).toBe('quote_invalid');
    expect(await forged(({ priceFrom }) => ({ priceFrom: twice(priceFrom) }))).toBe('quote_invalid');
    const all = ({ amountTo, priceFrom }: QuoteToken) => ({ amountTo: twice(amountTo), priceFrom: twice(priceFrom) });
    expect(await forged(all)).toBe('quote_invalid');
  });

  it('gets no window that is too old, has not begun, or does not exist', async () => {
    for (const byMs of [-120_000, 60_000, 1]) {
      expect(await forged(({ windowMs }) => ({ windowMs: (windowMs ?? 0) + byMs }))).toBe('quote_invalid');
    }
  });

  it('gets no gift in place of a fee, and no amount outside the limits', async () => {
    expect(await forged(() => ({ feeRate: '-0.5' }))).toBe('unread');
    expect(await forged(() => ({ networkFee: '-1000' }))).toBe('unread');
    expect(await forged(() => ({ markupBps: -100 }))).toBe('unread');
    const { quotes } = await world();
    const most = quotes.quote(request({ amount: new Big('3') }), partner).token;
    const large = { amountFrom: '6', amountTo: formatDecimal(new Big(most.amountTo).times('2').plus('1')) };
    expect(await forged(() => large)).toMatch(/quote_invalid|amount_above_max/);
  });
});
