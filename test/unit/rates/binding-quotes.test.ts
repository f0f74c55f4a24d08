import type { AppError } from '../../../src/base/errors.ts';
import { Big, formatDecimal } from '../../../src/base/money.ts';
import { BindingQuotes } from '../../../src/market/rates/binding-quotes.ts';
import { type QuoteToken, QuoteTokens } from '../../../src/market/rates/quote-token.ts';
import {
  bindingQuotes,
  quoteKey,
  quoteRequest,
  quotingPartner,
  strangePartner,
} from '../../support/gateway/binding-quotes.ts';

/** The error that a function throws. */
async function refusal(act: () => unknown): Promise<AppError> {
  try {
    await act();
  } catch (error) {
    return error as AppError;
  }
  throw new Error('it was not refused');
}

describe('a binding quote', () => {
  it('takes the partner’s markup out of the amount, and shows it', async () => {
    const { quotes } = await bindingQuotes();
    const plain = quotes.quote(quoteRequest(), quotingPartner);
    const { parts, token } = quotes.quote(quoteRequest({ markupBps: 40 }), quotingPartner);
    expect(formatDecimal(parts.partnerMarkup)).toBe(formatDecimal(parts.gross.times('0.004')));
    expect(formatDecimal(parts.serviceFee)).toBe(formatDecimal(plain.parts.serviceFee));
    expect(new Big(token.amountTo).lt(plain.token.amountTo)).toBe(true);
  });

  it('of an amount outside the limits is refused with both limits, or clamped to the nearest', async () => {
    const { quotes } = await bindingQuotes();
    const { limits } = quotes.quote(quoteRequest(), quotingPartner);
    for (const [side, amount, code, limit] of [
      ['from', '0.00001', 'amount_below_min', limits.from.min],
      ['from', '100', 'amount_above_max', limits.from.max],
      ['to', '1', 'amount_to_below_min', limits.from.min],
      ['to', '99999999', 'amount_to_above_max', limits.from.max],
    ] as const) {
      const asked = quoteRequest({ side, amount: new Big(amount) });
      const { kind, extras } = await refusal(() => quotes.quote(asked, quotingPartner));
      expect([kind, extras.pairLimits]).toEqual([code, limits]);
      const { token } = quotes.quote({ ...asked, clamp: true }, quotingPartner);
      expect([token.amountFrom, token.clamped]).toEqual([limit, true]);
    }
  });

  it('at either limit of coin_to is not refused, and gives that amount', async () => {
    const { quotes } = await bindingQuotes();
    const { limits } = quotes.quote(quoteRequest(), quotingPartner);
    for (const limit of [limits.to.min, limits.to.max]) {
      const { token } = quotes.quote(quoteRequest({ side: 'to', amount: new Big(limit) }), quotingPartner);
      expect([token.amountTo, token.clamped]).toEqual([limit, false]);
    }
  });

  it('is refused with every fault at once', async () => {
    const { quotes } = await bindingQuotes();
    const asked = quoteRequest({ amount: new Big('0.123456789'), markupBps: 501, country: 'KP', networkTo: 'nowhere' });
    const { extras } = await refusal(() => quotes.quote(asked, quotingPartner));
    const kinds = extras.faults?.map(({ field, kind }) => [field, kind]);
    expect(kinds).toEqual([
      ['markup_bps', 'markup_too_high'],
      ['country', 'region_restricted'],
      ['network_to', 'unknown_network'],
      ['amount_from', 'too_many_decimals'],
    ]);
    const outside = quoteRequest({ amount: new Big('1000'), markupBps: 501 });
    const both = await refusal(() => quotes.quote(outside, quotingPartner));
    expect(both.extras.faults?.map(({ kind }) => kind)).toEqual(['markup_too_high', 'amount_above_max']);
    expect(both.extras.pairLimits).toBeDefined();
  });

  it('is refused while the market has left the window below, and while the next window is unknown', async () => {
    const { quotes, market, prices, catalogue, clock } = await bindingQuotes();
    for (const price of ['61000', '60000']) {
      market.prices = { ...market.prices, BTC: price };
      clock.advance(1_000);
      await prices.refresh(catalogue.coins());
    }
    // The first price began an early window. In the same interval the second cannot begin another.
    const { kind } = await refusal(() => quotes.quote(quoteRequest(), quotingPartner));
    expect(kind).toBe('pair_unavailable');
    clock.advance(5_000);
    await prices.refresh(catalogue.coins());
    expect(quotes.quote(quoteRequest(), quotingPartner).token.priceFrom).toBe('60000');
    clock.advance(45_000);
    expect((await refusal(() => quotes.quote(quoteRequest(), quotingPartner))).kind).toBe('pair_unavailable');
  });
});

describe('a binding quote, honoured', () => {
  it('gives its terms to the last digit in the windows after its own', async () => {
    const { quotes, prices, catalogue, clock, market } = await bindingQuotes();
    const quote = quotes.quote(quoteRequest({ markupBps: 25 }), quotingPartner);
    market.prices = { ...market.prices, BTC: new Big(market.prices.BTC ?? '0').times('0.99').toFixed() };
    clock.advance(59_000);
    await prices.refresh(catalogue.coins());
    const opened = quotes.open(quote.id, quotingPartner.id);
    if (!opened) throw new Error('the quote is not genuine');
    const { quote: honoured, adverse } = await quotes.honour(opened, quotingPartner);
    expect(formatDecimal(honoured.amountTo)).toBe(quote.token.amountTo);
    expect(formatDecimal(honoured.rate)).toBe(formatDecimal(quote.terms.rate));
    expect(honoured.serviceFee.eq(quote.parts.serviceFee.plus(quote.parts.partnerMarkup))).toBe(true);
    expect(adverse?.toFixed(4)).toBe('0.0101');
  });

  it.each(['0.94', '1.06'])('is refused five percent from the market, and tells so: %s', async (level) => {
    const broken: string[] = [];
    const { quotes, prices, catalogue, clock, market } = await bindingQuotes({
      onBreaker: ({ from, to }) => broken.push(`${from.coin}-${to.coin}`),
    });
    const quote = quotes.quote(quoteRequest(), quotingPartner);
    const opened = quotes.open(quote.id, quotingPartner.id);
    if (!opened) throw new Error('the quote is not genuine');
    market.prices = { ...market.prices, BTC: new Big(market.prices.BTC ?? '0').times(level).toFixed() };
    clock.advance(10_000);
    await prices.refresh(catalogue.coins());
    expect((await refusal(() => quotes.honour(opened, quotingPartner))).kind).toBe('pair_unavailable');
    expect(broken).toEqual(['BTC-USDT']);
  });

  it('is refused when its price is too old', async () => {
    const { quotes, clock, options } = await bindingQuotes();
    const slow = new BindingQuotes({ ...options, holdSec: 300 });
    const opened = slow.open(slow.quote(quoteRequest(), quotingPartner).id, quotingPartner.id);
    if (!opened) throw new Error('the quote is not genuine');
    clock.advance(61_000);
    expect((await refusal(() => slow.honour(opened, quotingPartner))).kind).toBe('pair_unavailable');
    expect(quotes.isExpired(opened.token)).toBe(false);
  });

  it('is refused after its time', async () => {
    const { quotes, clock } = await bindingQuotes();
    const opened = quotes.open(quotes.quote(quoteRequest(), quotingPartner).id, quotingPartner.id);
    if (!opened) throw new Error('the quote is not genuine');
    clock.advance(60_001);
    expect((await refusal(() => quotes.honour(opened, quotingPartner))).kind).toBe('quote_expired');
  });
});

describe('a text that is no genuine quote', () => {
  it('is refused: any changed character, another partner, another environment', async () => {
    const { quotes, options } = await bindingQuotes();
    const { id } = quotes.quote(quoteRequest(), quotingPartner);
    expect(quotes.open(id, quotingPartner.id)).not.toBeNull();
    expect(quotes.open(id, strangePartner.id)).toBeNull();
    expect(new BindingQuotes({ ...options, environment: 'live' }).open(id, quotingPartner.id)).toBeNull();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let at = 0; at < id.length; at++) {
      const changed = alphabet[((alphabet.indexOf(id[at] ?? '') ^ 1) + 64) % 64];
      const forged = id.slice(0, at) + changed + id.slice(at + 1);
      if (forged !== id) expect([at, quotes.open(forged, quotingPartner.id)]).toEqual([at, null]);
    }
    for (const text of ['', 'qt_', 'qt_AAAA', `${id}A`, `${id}=`, id.slice(0, -1), ` ${id}`, id.toLowerCase()]) {
      expect([text, quotes.open(text, quotingPartner.id)]).toEqual([text, null]);
    }
  });

  it('is refused under a key that is older than the last two', async () => {
    const { quotes, options } = await bindingQuotes();
    const { id } = quotes.quote(quoteRequest(), quotingPartner);
    const under = (...keys: ReturnType<typeof quoteKey>[]) =>
      new BindingQuotes({ ...options, tokens: new QuoteTokens(keys) }).open(id, quotingPartner.id);
    expect(under(quoteKey(2), quoteKey(1))).not.toBeNull();
    expect(under(quoteKey(3), quoteKey(2), quoteKey(1))).toBeNull();
    expect(under(quoteKey(1, 'another secret'))).toBeNull();
  });
});

describe('a quote forged under the right key', () => {
  /** What becomes of a genuine quote with changes, signed again. */
  async function forged(changes: (token: QuoteToken) => Partial<QuoteToken>): Promise<string> {
    const { quotes, tokens, clock } = await bindingQuotes();
    const { token } = quotes.quote(quoteRequest(), quotingPartner);
    clock.advance(1_000);
    const opened = quotes.open(tokens.seal({ ...token, ...changes(token) }), quotingPartner.id);
    if (!opened) return 'unread';
    try {
      return formatDecimal((await quotes.honour(opened, quotingPartner)).quote.amountTo);
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
    const { quotes } = await bindingQuotes();
    const most = quotes.quote(quoteRequest({ amount: new Big('3') }), quotingPartner).token;
    const large = { amountFrom: '6', amountTo: formatDecimal(new Big(most.amountTo).times('2').plus('1')) };
    expect(await forged(() => large)).toMatch(/quote_invalid|amount_above_max/);
  });
});
