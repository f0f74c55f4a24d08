import type { Clock } from '../base/clock.ts';
import { Big } from '../base/money.ts';
import type { Currency } from '../market/currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import { feeWithMarkup } from '../market/rates/binding-terms.ts';
import type { BoundPrices, PriceBook, RecentWindow } from '../market/rates/price-book.ts';
import { type PricePair, pairLimits } from '../market/rates/quote.ts';
import { type AgreedRate, type ExchangeTerms, exchangeTerms, grossOf, marketTerms } from './exchange-terms.ts';
import type { OrderPolicy } from './order-terms.ts';

/** An order with an open question, as far as its exchange depends on it. Amounts are decimals. */
export interface AskedOrder extends AgreedRate {
  readonly coinFrom: string;
  readonly networkFrom: string;
  readonly coinTo: string;
  readonly networkTo: string;
  /** What was agreed on beyond the pair, the amount and the addresses. */
  readonly markupBps: number | null;
  readonly minAmountTo: string | null;
  readonly policy: OrderPolicy | null;
  /** The part of the deposit that would be exchanged. */
  readonly amountFrom: string;
}

/** An exchange that is offered now. */
export interface ExchangeOffer {
  readonly terms: ExchangeTerms;
  /** Until when exactly these terms are honoured. */
  readonly validUntil: Date;
}

interface ActionOffersOptions {
  readonly clock: Clock;
  readonly catalogue: Pick<CurrencyCatalogue, 'find'>;
  readonly prices: Pick<PriceBook, 'binding' | 'pair' | 'recentWindows'>;
  readonly windowSec: number;
  readonly holdSec: number;
}

/**
 * Offers the exchange of a deposit about which the partner is asked. The terms follow from the
 * prices of a hold window, which all processes share, so that showing them writes nothing.
 *
 * The partner chooses whether and when, so each offer is an option against the house. Three rules
 * leave it without a value (ADR 58):
 *
 * - It is the market of a hold window, for that window and a hold.
 * - For a fixed order it is at most the order's own rate.
 * - Its payout and costs together never exceed the worth of the deposit at the live market.
 */
export class ActionOffers {
  readonly #options: ActionOffersOptions;

  constructor(options: ActionOffersOptions) {
    this.#options = options;
  }

  /** The present offer. Null while there is none. */
  present(order: AskedOrder): ExchangeOffer | null {
    const bound = this.#options.prices.binding(order.coinFrom, order.coinTo);
    return bound && this.#offerAt(order, bound);
  }

  /** Reads the windows whose offers are still honoured, newest first. */
  windows(): Promise<readonly RecentWindow[]> {
    const { clock, prices } = this.#options;
    return prices.recentWindows(new Date(clock.now().getTime() - this.#honouredMs));
  }

  /** The offer of one of these windows that pays exactly this amount. Null without one. */
  ofAmount(order: AskedOrder, amountTo: Big, windows: readonly RecentWindow[]): ExchangeOffer | null {
    const now = this.#options.clock.now();
    for (const boundOf of windows) {
      const bound = boundOf(order.coinFrom, order.coinTo);
      const offer = bound && this.#offerAt(order, bound);
      if (offer?.terms.amountTo.eq(amountTo) && now <= offer.validUntil) return offer;
    }
    return null;
  }

  /** What a refund of an amount would pay. Null when it would not cover its network's fee. */
  refundOf({ coinFrom, networkFrom }: AskedOrder, amount: string): Big | null {
    const from = this.#options.catalogue.find(coinFrom, networkFrom);
    const refund = from && new Big(amount).minus(from.networkFee);
    return refund?.gt('0') ? refund : null;
  }

  get #honouredMs(): number {
    return (this.#options.windowSec + this.#options.holdSec) * 1000;
  }

  #offerAt(order: AskedOrder, bound: BoundPrices): ExchangeOffer | null {
    const { catalogue, prices } = this.#options;
    const from = catalogue.find(order.coinFrom, order.networkFrom);
    const to = catalogue.find(order.coinTo, order.networkTo);
    const live = prices.pair(order.coinFrom, order.coinTo, 'live');
    if (!from || !to || !live || !isWithinLimits(order, from, to, bound)) return null;
    const terms = offeredTerms(order, to, bound.prices);
    if (!terms || costsHouse(order, terms, live) || isBelowAccepted(order, terms)) return null;
    return { terms, validUntil: new Date(bound.windowMs + this.#honouredMs) };
  }
}

/** The lower of the market and, for a fixed order, its own rate. */
function offeredTerms(order: AskedOrder, to: Currency, prices: PricePair): ExchangeTerms | null {
  const amountFrom = new Big(order.amountFrom);
  const market = marketTerms(order, amountFrom, to, prices);
  if (order.rateType !== 'fixed') return market;
  const fixed = exchangeTerms(order, amountFrom, to, prices);
  return market && fixed?.amountTo.lt(market.amountTo) ? fixed : fixed && market;
}

/**
 * Whether the payout, its network fee and the partner's markup exceed the worth of the deposit at
 * the live market: then the house would pay for the exchange.
 */
function costsHouse({ amountFrom, feeRate, markupBps }: AskedOrder, terms: ExchangeTerms, live: PricePair): boolean {
  const markup = markupBps ? terms.serviceFee.times(feeWithMarkup('0', markupBps)).div(feeRate) : '0';
  const cost = grossOf({ ...terms, serviceFee: new Big(markup) });
  return cost.times(live.to).gt(new Big(amountFrom).times(live.from));
}

/** Whether a payout is below the smallest one that the order accepts without being asked. */
function isBelowAccepted({ minAmountTo, policy }: AskedOrder, { amountTo }: ExchangeTerms): boolean {
  return minAmountTo !== null && policy?.on_price_moved !== 'ask' && amountTo.lt(minAmountTo);
}

/**
 * Whether an amount can be exchanged by a new order at this moment: the coins are offered, and the
 * amount is within the limits of the pair.
 */
export function isWithinLimits(
  { amountFrom, feeRate }: { readonly amountFrom: Big | string; readonly feeRate: string },
  from: Currency,
  to: Currency,
  { reference, mostUsd }: Pick<BoundPrices, 'reference' | 'mostUsd'>,
): boolean {
  if (!from.isActive || !to.isActive || !to.isWithdrawEnabled) return false;
  const limits = pairLimits(from, to, reference, new Big(feeRate), mostUsd);
  const amount = new Big(amountFrom);
  return limits !== null && amount.gte(limits.minAmount) && amount.lte(limits.maxAmount);
}
