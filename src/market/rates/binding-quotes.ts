import { randomUUID } from 'node:crypto';
import type { Partner } from '../../accounts/partners/partner.entity.ts';
import type { Clock } from '../../base/clock.ts';
import {
  AppError,
  type AppErrorExtras,
  errorFromFaults,
  type FieldFault,
  type TwoSidedLimits,
} from '../../base/errors.ts';
import { Big, formatDecimal, isStorable, maxOf, minOf } from '../../base/money.ts';
import type { Currency } from '../currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import { feeWithMarkup, partsOf, type QuoteParts } from './binding-terms.ts';
import type { PairPrices, PriceBook } from './price-book.ts';
import { amountFromFor, type PairLimits, type PricePair, type QuoteTerms, type RateType, termsAt } from './quote.ts';
import type { QuoteEnvironment, QuoteSide, QuoteToken, QuoteTokens } from './quote-token.ts';
import {
  amountFault,
  type Pair,
  type PairRequest,
  type Quote,
  type RateService,
  sideField,
  twoSidedLimits,
  unavailable,
} from './rate-service.ts';

/** A partner's request for a binding quote. */
export interface QuoteRequest extends PairRequest {
  readonly side: QuoteSide;
  /** The amount of that side. */
  readonly amount: Big;
  /** Whether an amount outside the limits becomes the nearest limit. */
  readonly clamp: boolean;
  readonly markupBps: number;
  /** The user's country. Null when the partner does not say. */
  readonly country: string | null;
}

/** A binding quote, as its partner sees it. */
export interface BindingQuote {
  readonly id: string;
  readonly token: QuoteToken;
  readonly from: Currency;
  readonly to: Currency;
  readonly terms: QuoteTerms;
  readonly parts: QuoteParts;
  readonly limits: TwoSidedLimits;
}

/** A genuine quote of a partner, with its currencies. */
export interface OpenedQuote extends Pair {
  readonly token: QuoteToken;
}

/** The terms of an order from a binding quote. */
export interface HonouredQuote {
  readonly quote: Quote;
  /**
   * How much more the quoted price gives the user than the market, as a fraction before fees. Null
   * for a float quote, which binds no price.
   */
  readonly adverse: Big | null;
  /** Worth of the order at the quoted price in US dollars. Null where `adverse` is. */
  readonly usd: Big | null;
  /** Computes the limits at the quoted price. Null for a float quote: the market's limits hold. */
  readonly limits: (() => TwoSidedLimits) | null;
}

export interface BindingQuotesOptions {
  readonly clock: Clock;
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
  readonly rates: RateService;
  readonly tokens: QuoteTokens;
  readonly environment: QuoteEnvironment;
  readonly windowSec: number;
  /** How long the quotes of a partner without its own hold are valid, in seconds. */
  readonly holdSec: number;
  /** Largest markup of a partner without its own, in basis points. */
  readonly maxMarkupBps: number;
  /** Countries whose users are refused, by their two letters. */
  readonly restricted: readonly string[];
  /** Called when a held price is too far from the market to be honoured. */
  readonly onBreaker?: (pair: Pair) => void;
}

/** A held price is not honoured once the market is this far from it: one of both is wrong. */
const breakerPart = new Big('0.05');
/** Processes whose clocks differ by less still agree on a window. */
const clockSkewMs = 1_000;

/** The hold of fixed quotes while the used ones exceed the market by more than the fee. */
const cutHoldSec = 15;

/** How long a quote of a partner holds that is given now, in seconds. */
export function holdSecOf(
  { quoteHoldSec, quoteCutSince }: Pick<Partner, 'quoteHoldSec' | 'quoteCutSince'>,
  rateType: RateType,
  gatewaySec: number,
): number {
  const holdSec = quoteHoldSec ?? gatewaySec;
  return rateType === 'fixed' && quoteCutSince ? Math.min(holdSec, cutHoldSec) : holdSec;
}

const zero = new Big('0');
const one = new Big('1');

/**
 * Quotes that bind. A quote is a signed text and costs no database access. The order that uses it
 * gets exactly its terms.
 *
 * A fixed quote names the price window that it was computed from. Its terms are computed again from
 * the stored window, so that a stolen signing key cannot invent a price. A float quote binds the
 * service fee and the markup.
 */
export class BindingQuotes {
  readonly #options: BindingQuotesOptions;

  constructor(options: BindingQuotesOptions) {
    this.#options = options;
  }

  /**
   * Quotes an amount of either side.
   *
   * @throws AppError 422 that names every fault. Amounts outside the limits come with both limits.
   */
  quote(request: QuoteRequest, partner: Partner): BindingQuote {
    const { side, amount } = request;
    const faults = this.optionFaults(request, partner);
    const { pair, from, to } = this.#options.rates.sides(request, faults);
    const unfit = amountFault(amount, side === 'from' ? from : to, `amount_${side}`);
    if (unfit) faults.push(unfit);
    let extras: AppErrorExtras = {};
    try {
      const quote = pair && !unfit && this.#offer(request, pair, partner);
      if (quote && faults.length === 0) return quote;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      extras = error.extras;
      faults.push(...(extras.faults ?? [{ field: sideField(request, 'to'), kind: error.kind, detail: error.detail }]));
    }
    throw errorFromFaults(faults, extras);
  }

  #offer(request: QuoteRequest, pair: Pair, partner: Partner): BindingQuote {
    const { rates, tokens, environment, clock } = this.#options;
    const { rateType, side, markupBps } = request;
    const feeRate = formatDecimal(rates.pricing(partner)[rateType]);
    const { windowMs, ...market } = this.#market(pair, rateType);
    const { limits, terms, twoSided } = rates.pairTerms(pair, rateType, feeWithMarkup(feeRate, markupBps), market);
    const bounds = twoSided();
    if (!limits || !bounds) throw unavailable(pair);
    const { amountFrom, clamped } = this.#amountFrom(request, pair, market.prices, limits, feeRate, terms);
    const found = terms(amountFrom);
    const { amountTo, rate } = found;
    if (amountTo.lte(zero) || !isStorable(rate) || !isStorable(amountTo)) throw unavailable(pair);
    const issuedMs = clock.now().getTime();
    const token: QuoteToken = {
      environment,
      partnerId: partner.id,
      fromId: pair.from.id,
      toId: pair.to.id,
      rateType,
      side,
      clamped,
      amountFrom: formatDecimal(amountFrom),
      amountTo: formatDecimal(amountTo),
      feeRate,
      markupBps,
      networkFee: formatDecimal(pair.to.networkFee),
      priceFrom: formatDecimal(market.prices.from),
      priceTo: formatDecimal(market.prices.to),
      minAmount: bounds.from.min,
      maxAmount: bounds.from.max,
      windowMs,
      issuedMs,
      expiresMs: issuedMs + holdSecOf(partner, rateType, this.#options.holdSec) * 1000,
      nonce: randomNonce(),
    };
    return {
      id: tokens.seal(token),
      token,
      ...pair,
      terms: found,
      parts: partsOf(amountFrom, market.prices, feeRate, found),
      limits: bounds,
    };
  }

  /** The faults of a markup and a country, which quotes and creates share. */
  optionFaults({ markupBps, country }: Pick<QuoteRequest, 'markupBps' | 'country'>, partner: Partner): FieldFault[] {
    const { restricted } = this.#options;
    const most = partner.maxMarkupBps ?? this.#options.maxMarkupBps;
    const faults: FieldFault[] = [];
    if (markupBps > most) {
      const detail = `a markup of ${markupBps} basis points is above the largest one of ${most}`;
      faults.push({ field: 'markup_bps', kind: 'markup_too_high', detail });
    }
    if (country !== null && restricted.includes(country)) {
      const detail = `users in ${country} cannot be served`;
      faults.push({ field: 'country', kind: 'region_restricted', detail });
    }
    return faults;
  }

  /** Reads a quote as it was given. Null when it is no quote of this partner. */
  read(id: string, partnerId: string): BindingQuote | null {
    const opened = this.open(id, partnerId);
    return opened && described(id, opened);
  }

  /** Opens a quote. Null when it is not genuine, or belongs to another partner or environment. */
  open(id: string, partnerId: string): OpenedQuote | null {
    const { tokens, environment, catalogue } = this.#options;
    const token = tokens.open(id);
    if (token?.partnerId !== partnerId || token.environment !== environment) return null;
    const from = catalogue.rows.find((row) => row.id === token.fromId);
    const to = catalogue.rows.find((row) => row.id === token.toId);
    return from && to ? { token, from, to } : null;
  }

  /** Whether the time of a quote is over. */
  isExpired({ expiresMs }: QuoteToken): boolean {
    return this.#options.clock.now().getTime() > expiresMs;
  }

  /**
   * Computes the terms that an order gets from a quote of the partner. A quote that holds longer
   * than the partner's quotes may by now is over: staff have shortened the hold.
   *
   * @throws AppError quote_expired or quote_invalid.
   * @throws AppError pair_unavailable when the pair is halted, its price is too old, or the market
   * is five percent away.
   * @throws AppError amount_below_min or amount_above_max when staff narrowed the limits meanwhile.
   */
  async honour(opened: OpenedQuote, { quoteHoldSec }: Partner): Promise<HonouredQuote> {
    const { token, from, to } = opened;
    const { rates } = this.#options;
    const longestSec = Math.max(this.#options.holdSec, quoteHoldSec ?? 0);
    if (this.isExpired(token) || token.expiresMs - token.issuedMs > longestSec * 1000) {
      const detail = `this quote ended at ${new Date(token.expiresMs).toISOString()}; ask for a new one`;
      throw quoteFault('quote_expired', detail);
    }
    const feeRate = feeWithMarkup(token.feeRate, token.markupBps);
    if (token.windowMs === null) {
      const pricing = { float: feeRate, fixed: feeRate };
      const quote = rates.quotePair({ from, to }, 'float', new Big(token.amountFrom), pricing, 'amount_from');
      return { quote, adverse: null, usd: null, limits: null };
    }
    const nowMs = this.#options.clock.now().getTime();
    const longestMs = (this.#options.windowSec + longestSec) * 1000;
    if (nowMs - token.windowMs > longestMs || token.windowMs > nowMs + clockSkewMs) throw invalidQuote();
    const bound = await this.#options.prices.bindingOf(token.windowMs, from.coin, to.coin);
    if (!bound) throw invalidQuote();
    const market = this.#options.prices.pair(from.coin, to.coin, 'live');
    if (!market || this.#isBroken(opened, bound.prices, market)) throw unavailable(opened);
    const usd = new Big(token.amountFrom).times(bound.prices.from);
    return { ...this.#fixedQuote(opened, bound, feeRate), adverse: adverseOf(bound.prices, market), usd };
  }

  /** The quote that a token's window gives. It must agree with the token to the last digit. */
  #fixedQuote(
    { token, from, to }: OpenedQuote,
    bound: PairPrices,
    feeRate: string,
  ): Omit<HonouredQuote, 'adverse' | 'usd'> {
    const asQuoted = isSameAmount(to.networkFee, token.networkFee) ? to : { ...to, networkFee: token.networkFee };
    const { limits, terms } = this.#options.rates.pairTerms({ from, to: asQuoted }, 'fixed', feeRate, bound);
    if (!limits) throw unavailable({ from, to });
    const amountFrom = new Big(token.amountFrom);
    const found = terms(amountFrom);
    const agrees =
      isSameAmount(token.amountTo, found.amountTo) &&
      isSameAmount(token.priceFrom, bound.prices.from) &&
      isSameAmount(token.priceTo, bound.prices.to);
    if (!agrees || found.amountTo.lte(zero)) throw invalidQuote();
    const outside = amountFrom.lt(limits.minAmount) || amountFrom.gt(limits.maxAmount);
    if (outside) throw outsideFrom(amountFrom, from, twoSidedLimits(limits, terms));
    const expiresIn = Math.floor((token.expiresMs - this.#options.clock.now().getTime()) / 1000);
    return {
      quote: {
        from,
        to,
        rateType: 'fixed',
        amountFrom,
        feeRate,
        expiresIn: Math.max(0, expiresIn),
        ...limits,
        ...found,
      },
      limits: () => twoSidedLimits(limits, terms),
    };
  }

  /** The prices for a new quote, and the window that a fixed quote names. */
  #market(pair: Pair, rateType: QuoteToken['rateType']): PairPrices & { readonly windowMs: number | null } {
    const { prices } = this.#options;
    const [from, to] = [pair.from.coin, pair.to.coin];
    if (rateType === 'fixed') {
      const [bound, live] = [prices.binding(from, to), prices.pair(from, to, 'live')];
      if (!bound || !live || this.#isBroken(pair, bound.prices, live)) throw unavailable(pair);
      return bound;
    }
    const present = prices.present(from, to, 'float');
    if (!present) throw unavailable(pair);
    return { ...present, windowMs: null };
  }

  #isBroken(pair: Pair, held: PricePair, market: PricePair): boolean {
    const atMarket = market.from.times(held.to);
    const isFar = held.from.times(market.to).minus(atMarket).abs().gt(atMarket.times(breakerPart));
    if (isFar) this.#options.onBreaker?.(pair);
    return isFar;
  }

  #amountFrom(
    { side, amount, clamp, markupBps }: QuoteRequest,
    { from, to }: Pair,
    prices: PricePair,
    limits: PairLimits,
    feeRate: string,
    terms: (amount: Big) => QuoteTerms,
  ): { readonly amountFrom: Big; readonly clamped: boolean } {
    const { minAmount, maxAmount } = limits;
    const least = side === 'from' ? minAmount : terms(minAmount).amountTo;
    const most = side === 'from' ? maxAmount : terms(maxAmount).amountTo;
    const isOutside = amount.lt(least) || amount.gt(most);
    if (isOutside && !clamp) {
      throw side === 'from'
        ? outsideFrom(amount, from, twoSidedLimits(limits, terms))
        : outsideTo(amount, to, twoSidedLimits(limits, terms));
    }
    if (isOutside) return { amountFrom: amount.lt(least) ? minAmount : maxAmount, clamped: true };
    if (side === 'from') return { amountFrom: amount, clamped: false };
    const needed = amountFromFor(amount, prices, from, to, new Big(feeWithMarkup(feeRate, markupBps)));
    if (!needed) throw unavailable({ from, to });
    // Rounding may take the amount over a limit whose terms give what was asked.
    return { amountFrom: minOf(maxOf(needed, minAmount), maxAmount), clamped: false };
  }
}

/** Computes what a quote shows from its own text. */
function described(id: string, { token, from, to }: OpenedQuote): BindingQuote {
  const prices = { from: new Big(token.priceFrom), to: new Big(token.priceTo) };
  const asQuoted = { ...to, networkFee: token.networkFee };
  const terms = termsAt(prices, asQuoted, new Big(feeWithMarkup(token.feeRate, token.markupBps)));
  const amountFrom = new Big(token.amountFrom);
  const found = terms(amountFrom);
  return {
    id,
    token,
    from,
    to,
    terms: found,
    parts: partsOf(amountFrom, prices, token.feeRate, found),
    limits: twoSidedLimits({ minAmount: new Big(token.minAmount), maxAmount: new Big(token.maxAmount) }, terms),
  };
}

function outsideFrom(amount: Big, { coin }: Currency, pairLimits: TwoSidedLimits): AppError {
  return outside('amount_from', amount, coin, pairLimits.from, pairLimits, ['amount_below_min', 'amount_above_max']);
}

function outsideTo(amount: Big, { coin }: Currency, pairLimits: TwoSidedLimits): AppError {
  const kinds = ['amount_to_below_min', 'amount_to_above_max'] as const;
  return outside('amount_to', amount, coin, pairLimits.to, pairLimits, kinds);
}

function outside(
  field: string,
  amount: Big,
  coin: string,
  { min, max }: TwoSidedLimits['from'],
  pairLimits: TwoSidedLimits,
  [below, above]: readonly [FieldFault['kind'], FieldFault['kind']],
): AppError {
  const isBelow = amount.lt(min);
  const limit = isBelow ? `below the minimum of ${min}` : `above the maximum of ${max}`;
  const detail = `${field} ${formatDecimal(amount)} is ${limit} ${coin}`;
  const kind = isBelow ? below : above;
  return new AppError(kind, detail, { faults: [{ field, kind, detail }], pairLimits });
}

/** The refusal of a text that is no quote of the caller. It does not tell the reason. */
export function invalidQuote(): AppError {
  return quoteFault('quote_invalid', 'quote_id is no quote that this partner account can use; ask for a new one');
}

export function quoteFault(kind: 'quote_expired' | 'quote_invalid', detail: string): AppError {
  return new AppError(kind, detail, { faults: [{ field: 'quote_id', kind, detail }] });
}

/** Draws 64 random bits, in hexadecimal digits. The first and last 32 bits of a UUID are random. */
function randomNonce(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 8) + uuid.slice(-8);
}

/** How much more a held price gives than the market, as a fraction. */
function adverseOf(held: PricePair, market: PricePair): Big {
  return held.from.times(market.to).div(held.to.times(market.from)).minus(one);
}

function isSameAmount(a: Big | string, b: Big | string): boolean {
  return new Big(a).eq(b);
}
