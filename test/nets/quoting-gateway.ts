// The quotes of the gateway as partners and settlement get them. The only file of this net that
// imports src: when files of src move, only these lines change.

import { Partner } from '../../src/accounts/partners/partner.entity.ts';
import { AppError } from '../../src/base/errors.ts';
import { Big, floorTo, formatDecimal } from '../../src/base/money.ts';
import { currencySeed } from '../../src/market/currencies/seed.ts';
import { markupPart } from '../../src/market/rates/binding-terms.ts';
import type { PriceOverride } from '../../src/market/rates/price-override.entity.ts';
import type { Quote } from '../../src/market/rates/rate-service.ts';
import { sandboxPrices } from '../../src/market/rates/sources/sandbox-prices.ts';
import {
  exchangedAmount,
  exchangeTerms,
  isNoBetterThan,
  leastBought,
  marketTerms,
} from '../../src/orders/exchange-terms.ts';
import { bindingQuotes } from '../support/gateway/binding-quotes.ts';
import { currencyRow } from '../support/gateway/rates.ts';

/** The members of a currency that its quotes depend on. Amounts are decimal text. */
export interface CurrencyTerms {
  readonly coin: string;
  readonly network: string;
  readonly decimals: number;
  readonly minAmount: string;
  readonly maxAmount: string;
  readonly networkFee: string;
}

/** A price of a pair that staff have set. */
export interface HandPrice {
  readonly coinFrom: string;
  readonly coinTo: string;
  readonly price: string;
}

/** What all quotes of one moment depend on. */
export interface MarketInputs {
  /** Prices in US dollars at the start of the hold window, by coin. */
  readonly held: Readonly<Record<string, string>>;
  /** Prices at the moment of the quotes. */
  readonly live: Readonly<Record<string, string>>;
  readonly currencies: readonly CurrencyTerms[];
  readonly handPrices: readonly HandPrice[];
  /** Depth of the venue's order books in US dollars, by coin. Empty without order books. */
  readonly depths: Readonly<Record<string, { readonly buy: string; readonly sell: string }>>;
}

/** What one partner asks. */
export interface QuoteInputs {
  readonly from: CurrencyTerms;
  readonly to: CurrencyTerms;
  readonly rateType: 'float' | 'fixed';
  /** Whether the amount is the one that the user sends, or the one that the user receives. */
  readonly side: 'from' | 'to';
  readonly amount: string;
  readonly clamp: boolean;
  readonly markupBps: number;
  readonly country: string | null;
  /** The fees that staff agreed on with the partner. Null means the gateway's. */
  readonly feeRateFloat: string | null;
  readonly feeRateFixed: string | null;
  /** How much of the order's amount arrives, in parts of ten thousand. */
  readonly arrivedParts: number;
  /** Whether a binding quote is used for an order. */
  readonly isUsed: boolean;
}

type Limits = { readonly from: { min: string; max: string }; readonly to: { min: string; max: string } };

/** The currencies of a fresh installation. */
export const seedCurrencies: readonly CurrencyTerms[] = currencySeed;
/** Plausible prices in US dollars, by coin. */
export const seedPrices: Readonly<Record<string, string>> = sandboxPrices;

const windowMs = 60_000;
const venueRules = { cash: 'USDT', depthShare: '0.25', depthMaxAgeSec: 60 };
const refundFeeOf = ({ networkFee }: CurrencyTerms): Big => new Big(networkFee);
const maxSlippage = '0.01';

type Parts = Awaited<ReturnType<typeof bindingQuotes>>;

/** What the gateway reads as rows of its database. */
interface StoredRows {
  currencies: ReturnType<typeof currencyRow>[];
  overrides: readonly PriceOverride[];
}

/** The gateway's arithmetic without its database, at markets that the caller sets. */
export class QuotingGateway {
  readonly #parts: Parts;
  readonly #stored: StoredRows;

  private constructor(parts: Parts, stored: StoredRows) {
    this.#parts = parts;
    this.#stored = stored;
  }

  /** A gateway whose orders are limited by the depth of order books, or are not. */
  static async open({ hasVenue }: { readonly hasVenue: boolean }): Promise<QuotingGateway> {
    const stored: StoredRows = { currencies: seedCurrencies.map(rowOf), overrides: [] };
    const quoting = {
      rows: () => stored.currencies,
      overrides: async () => stored.overrides,
      ...(hasVenue ? { venue: venueRules } : {}),
    };
    return new QuotingGateway(await bindingQuotes({}, quoting), stored);
  }

  /** Begins an hour later with a new market: a hold window, and the prices two seconds into it. */
  async enter({ held, live, currencies, handPrices, depths }: MarketInputs): Promise<void> {
    const { catalogue, clock, market, prices } = this.#parts;
    // After an hour no earlier price holds, so that any price is believed.
    clock.advance(3_600_000 - (clock.now().getTime() % windowMs));
    const endsAt = new Date(clock.now().getTime() + windowMs);
    this.#stored.currencies = currencies.map(rowOf);
    this.#stored.overrides = handPrices.map((price) => ({ ...price, endsAt }) as PriceOverride);
    market.prices = { ...held };
    market.depths = { ...depths };
    await catalogue.refresh();
    await prices.refresh(catalogue.coins());
    // In the first seconds of a window no other one begins, however far the market moves.
    clock.advance(2_000);
    market.prices = { ...live };
    await prices.refresh(catalogue.coins());
  }

  /** The limits of what is asked, to choose an amount by. Null while the pair is unavailable. */
  limits(asked: Omit<QuoteInputs, 'side' | 'amount' | 'clamp' | 'country' | 'arrivedParts' | 'isUsed'>): Limits | null {
    const { rates } = this.#parts;
    const { pair } = rates.sides(pairOf(asked), []);
    return pair && rates.limits(pair, asked.rateType, rates.pricing(partnerOf(asked), asked.markupBps));
  }

  /** Everything that the gateway answers to a request, and what it would settle. */
  async answers(asked: QuoteInputs): Promise<object> {
    const { quotes, rates } = this.#parts;
    const partner = partnerOf(asked);
    const pair = pairOf(asked);
    const { side, markupBps, clamp, country } = asked;
    const amount = new Big(asked.amount);
    const rate =
      side === 'from' &&
      said(() => {
        const { rate, minAmount, maxAmount, expiresIn } = rates.quote(
          pair,
          amount,
          rates.pricing(partner, markupBps),
          'amount',
        );
        return { rate: formatDecimal(rate), min: formatDecimal(minAmount), max: formatDecimal(maxAmount), expiresIn };
      });
    let order: { quote: Quote; by: string } | null = null;
    const create =
      side === 'from' &&
      said(() => {
        const quote = rates.quote(pair, amount, rates.pricing(partner, markupBps), 'amount_from');
        order = { quote, by: 'create' };
        return termsOf(quote);
      });
    const binding = said(() => {
      const quote = quotes.quote({ ...pair, side, amount, clamp, markupBps, country }, partner);
      const { token, terms, parts, limits } = quote;
      return {
        id: quote.id,
        clamped: token.clamped,
        amountFrom: token.amountFrom,
        amountTo: token.amountTo,
        feeRate: token.feeRate,
        prices: [token.priceFrom, token.priceTo],
        windowMs: token.windowMs,
        holdMs: token.expiresMs - token.issuedMs,
        terms: texts(terms),
        parts: texts(parts),
        limits,
      };
    });
    let honoured: object | null = null;
    if ('id' in binding && asked.isUsed) {
      const opened = quotes.open(binding.id, partner.id);
      if (!opened) throw new Error('a quote that was just given cannot be opened');
      try {
        const { quote, adverse, usd, limits } = await quotes.honour(opened, partner);
        order = { quote, by: 'quote' };
        honoured = { ...termsOf(quote), ...texts({ adverse, usd }), limits: limits?.() ?? null };
      } catch (error) {
        honoured = refusal(error);
      }
    }
    const { id: _, ...quoted } = { id: null, ...binding };
    return { rate, create, binding: quoted, honoured, settled: order && this.#settled(asked, order) };
  }

  /** What an order of these terms gives for a deposit of another amount, in time and late. */
  #settled(asked: QuoteInputs, { quote, by }: { readonly quote: Quote; readonly by: string }): object {
    const { amountFrom, amountTo, rate, serviceFee, networkFee, feeRate, maxAmount, rateType, to } = quote;
    const order = {
      rateType,
      feeRate,
      amountFromExpected: formatDecimal(amountFrom),
      amountToExpected: formatDecimal(amountTo),
      rateQuoted: formatDecimal(rate),
      serviceFeeQuoted: formatDecimal(serviceFee),
      networkFeeQuoted: formatDecimal(networkFee),
      maxAmount: formatDecimal(maxAmount),
    };
    const arrived = floorTo(amountFrom.times(new Big(`${asked.arrivedParts}e-4`)), asked.from.decimals);
    if (arrived.eq('0')) return { by, arrived: '0' };
    const exchanged = exchangedAmount(order, arrived, refundFeeOf(asked.from));
    const market = this.#parts.prices.pair(asked.from.coin, asked.to.coin, 'live');
    if (!market) throw new Error('a pair that was just quoted has no price');
    const payout = (terms: ReturnType<typeof exchangeTerms>) =>
      terms && {
        ...texts({ ...terms }),
        leastBought: formatDecimal(leastBought(terms, maxSlippage)),
        markup: formatDecimal(markupPart(terms.serviceFee, asked.markupBps, feeRate)),
      };
    return {
      by,
      arrived: formatDecimal(arrived),
      inTime: payout(exchangeTerms(order, exchanged, to, market)),
      late: payout(marketTerms(order, exchanged, to, market)),
      isNoBetter: isNoBetterThan(order, market),
    };
  }
}

function rowOf(currency: CurrencyTerms): ReturnType<typeof currencyRow> {
  const place = currencySeed.findIndex(({ coin, network }) => coin === currency.coin && network === currency.network);
  const seed = currencySeed[place];
  if (!seed) throw new Error(`there is no ${currency.coin} on ${currency.network}`);
  const id = `0199c0de-0000-7000-8000-${String(place).padStart(12, '0')}`;
  return currencyRow({ ...seed, ...currency }, { id });
}

function pairOf({ from, to, rateType }: Pick<QuoteInputs, 'from' | 'to' | 'rateType'>) {
  return {
    coinFrom: from.coin,
    networkFrom: from.network,
    coinTo: to.coin,
    networkTo: to.network,
    rateType,
  };
}

function partnerOf({ feeRateFloat, feeRateFixed }: Pick<QuoteInputs, 'feeRateFloat' | 'feeRateFixed'>): Partner {
  return Object.assign(new Partner(), { id: '0199c0de-0000-7000-8000-000000000001', feeRateFloat, feeRateFixed });
}

function termsOf(quote: Quote) {
  const { amountFrom, amountTo, rate, serviceFee, networkFee, minAmount, maxAmount, feeRate, expiresIn } = quote;
  const amounts = texts({ amountFrom, amountTo, rate, serviceFee, networkFee, minAmount, maxAmount });
  return { ...amounts, feeRate, expiresIn };
}

function texts(decimals: Readonly<Record<string, Big | null>> | object): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(decimals).map(([name, value]: [string, Big | null]) => [name, value && formatDecimal(value)]),
  );
}

/** What a function returns, or the refusal that it throws. */
function said<T extends object>(ask: () => T): T | ReturnType<typeof refusal> {
  try {
    return ask();
  } catch (error) {
    return refusal(error);
  }
}

function refusal(error: unknown) {
  if (!(error instanceof AppError)) throw error;
  const { kind, detail, extras } = error;
  const faults = (extras.faults ?? []).map((fault) => [fault.field, fault.kind]);
  return { refused: kind, detail, faults, limits: extras.limits ?? extras.pairLimits ?? null };
}
