import { LRUCache } from 'lru-cache';
import type { Partner } from '../../accounts/partners/partner.entity.ts';
import { AppError, errorFromFaults, type FieldFault, type TwoSidedLimits } from '../../base/errors.ts';
import { Big, formatDecimal, fractionDigits, isStorable } from '../../base/money.ts';
import type { Assets } from '../currencies/assets.ts';
import type { Currency } from '../currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import { feeWithMarkup } from './binding-terms.ts';
import type { PairPrices, PriceBook } from './price-book.ts';
import { type PairLimits, type PricePair, pairLimits, type QuoteTerms, type RateType, termsAt } from './quote.ts';

/** Service fees as fractions, in decimal strings. */
export interface Pricing {
  readonly float: string;
  readonly fixed: string;
}

/** A pair as named in a request: each side by its coin and network, or by its asset. */
export interface PairRequest extends NamedAssets {
  readonly coinFrom: string | undefined;
  readonly networkFrom: string | undefined;
  readonly coinTo: string | undefined;
  readonly networkTo: string | undefined;
  readonly rateType: RateType;
}

/** CAIP-19 names of the sides of a pair. */
export interface NamedAssets {
  readonly assetFrom?: string | undefined;
  readonly assetTo?: string | undefined;
}

export interface Quote extends QuoteTerms, PairLimits {
  readonly from: Currency;
  readonly to: Currency;
  readonly rateType: RateType;
  readonly amountFrom: Big;
  readonly feeRate: string;
  /**
   * Null for float. For fixed: whole seconds for which the rate holds unless the market leaves it.
   */
  readonly expiresIn: number | null;
}

/** A pair that exists and may be exchanged, before any amount is known. */
export interface Pair {
  readonly from: Currency;
  readonly to: Currency;
}

/** The part of a quote that does not depend on the amount. */
interface PairTerms {
  /** Null when no amount fits. */
  readonly limits: PairLimits | null;
  readonly terms: (amount: Big) => QuoteTerms;
  /** The limits of both coins. Null when no amount fits. */
  readonly twoSided: () => TwoSidedLimits | null;
}

interface PairQuote extends PairTerms, PairPrices {
  readonly pair: Pair;
}

/** A pair at its present price. */
interface PricedPair {
  readonly pairQuote: PairQuote;
  readonly expiresIn: number | null;
}

/** Cache size. A pair takes one entry for each fee. */
const rememberedPairs = 10_000;

const zero = new Big('0');
/** Computes quotes, for partners and for orders alike, from memory and without I/O. */
export class RateService {
  readonly #catalogue: CurrencyCatalogue;
  readonly #prices: PriceBook;
  readonly #assets: Pick<Assets, 'find'>;
  readonly #defaultPricing: Pricing;
  readonly #pairQuotes = new LRUCache<string, PairQuote>({ max: rememberedPairs });

  constructor(catalogue: CurrencyCatalogue, prices: PriceBook, defaultPricing: Pricing, assets: Pick<Assets, 'find'>) {
    this.#catalogue = catalogue;
    this.#prices = prices;
    this.#assets = assets;
    this.#defaultPricing = defaultPricing;
  }

  /**
   * The partner's own fees, or the gateway's defaults, and a markup. A null partner is the public.
   */
  pricing(partner: Partner | null, markupBps: number | null = null): Pricing {
    const { float, fixed } = this.#defaultPricing;
    const own = { float: partner?.feeRateFloat ?? float, fixed: partner?.feeRateFixed ?? fixed };
    if (!markupBps) return own;
    return { float: feeWithMarkup(own.float, markupBps), fixed: feeWithMarkup(own.fixed, markupBps) };
  }

  /**
   * Quotes an amount of coin_from, or the pair's minimum when `amount` is null.
   *
   * @throws AppError 422 for an unknown, inactive or unavailable pair, an amount outside the limits
   * (with both limits), or more decimals than the coin has.
   */
  quote(request: PairRequest, amount: Big | null, pricing: Pricing, amountField: string): Quote {
    const faults: FieldFault[] = [];
    const { pair, from } = this.sides(request, faults);
    try {
      if (pair) return this.quotePair(pair, request.rateType, amount, pricing, amountField);
    } catch (error) {
      const fault = amount && amountFault(amount, from, amountField);
      if (!(error instanceof AppError) || error.extras.faults || !fault) throw error;
      faults.push({ field: 'coin_to', kind: error.kind, detail: error.detail });
    }
    const fault = amount && amountFault(amount, from, amountField);
    throw errorFromFaults(fault ? [...faults, fault] : faults);
  }

  /**
   * Resolves the currencies of a pair. `pair` is null after their faults were added to `faults`.
   * Each side is returned separately, so that it can be judged without the other.
   */
  sides(request: PairRequest, faults: FieldFault[]): { pair: Pair | null; from: Currency | null; to: Currency | null } {
    const { assetFrom, coinFrom = '', networkFrom, assetTo, coinTo = '', networkTo } = request;
    const from =
      assetFrom === undefined
        ? this.#currency(coinFrom, networkFrom, 'from', faults)
        : this.#assetOf(assetFrom, 'from', faults);
    const to =
      assetTo === undefined ? this.#currency(coinTo, networkTo, 'to', faults) : this.#assetOf(assetTo, 'to', faults);
    return { pair: this.#pair(from, to, sideField(request, 'to'), faults), from, to };
  }

  /**
   * Finds the currency that a user would pay in.
   *
   * @throws AppError 422 when there is none, or it takes no deposits.
   */
  source(coin: string, network: string | undefined): Currency {
    const faults: FieldFault[] = [];
    const currency = this.#currency(coin, network, 'from', faults);
    if (!currency) throw errorFromFaults(faults);
    return currency;
  }

  /**
   * The limits of a pair on both sides; null when it is unavailable. The limits of coin_to are what
   * those of coin_from give at the present rate.
   */
  limits({ from, to }: Pair, rateType: RateType, pricing: Pricing): TwoSidedLimits | null {
    try {
      const least = this.quotePair({ from, to }, rateType, null, pricing, 'amount');
      const most = this.quotePair({ from, to }, rateType, least.maxAmount, pricing, 'amount');
      return {
        from: { min: formatDecimal(least.minAmount), max: formatDecimal(least.maxAmount) },
        to: { min: formatDecimal(least.amountTo), max: formatDecimal(most.amountTo) },
      };
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  #pair(from: Currency | null, to: Currency | null, field: string, faults: FieldFault[]): Pair | null {
    if (!from || !to) return null;
    if (from === to) {
      faults.push({
        field,
        kind: 'same_currency',
        detail: `coin_from and coin_to are both ${from.coin} on ${from.network}; an exchange needs two`,
      });
      return null;
    }
    return { from, to };
  }

  /** Quotes a pair that is known to exist. Throws as `quote` does. */
  quotePair(pair: Pair, rateType: RateType, amount: Big | null, pricing: Pricing, amountField: string): Quote {
    const { from, to } = pair;
    const feeRate = pricing[rateType];
    const priced = this.#priced(pair, rateType, pricing);
    const limits = priced?.pairQuote.limits;
    if (!priced || !limits) throw unavailable(pair);
    const { pairQuote, expiresIn } = priced;
    const { minAmount, maxAmount } = limits;
    const amountFrom = amount ?? minAmount;
    refuseUnfitAmount(amountFrom, from, limits, amountField);
    const { rate, amountTo, serviceFee, networkFee } = pairQuote.terms(amountFrom);
    if (amountTo.lte(zero) || !isStorable(rate) || !isStorable(amountTo)) throw unavailable(pair);
    return {
      from,
      to,
      rateType,
      amountFrom,
      feeRate,
      expiresIn,
      minAmount,
      maxAmount,
      rate,
      amountTo,
      serviceFee,
      networkFee,
    };
  }

  /** The pair at its present price. Null while it has none. */
  #priced(pair: Pair, rateType: RateType, pricing: Pricing): PricedPair | null {
    const present = this.#prices.present(pair.from.coin, pair.to.coin, rateType);
    if (!present) return null;
    return { pairQuote: this.#pairQuote(pair, rateType, pricing[rateType], present), expiresIn: present.expiresIn };
  }

  /** The currency of a CAIP-19 name, active or not. Null without one. */
  asset(name: string): Currency | null {
    return this.#assets.find(name, this.#catalogue.rows);
  }

  /** The currency whose contract has an address on the network's chain. */
  contractAt(network: string, address: string): Currency | undefined {
    return this.#catalogue.contractAt(network, address);
  }

  /** The terms of a pair at any prices, from the cache where they are those of its last quote. */
  pairTerms(pair: Pair, rateType: RateType, feeRate: string, prices: PairPrices): PairTerms {
    return this.#pairQuote(pair, rateType, feeRate, prices);
  }

  /**
   * Returns the cached part of a quote. Recomputes what depends on a changed catalogue or price.
   */
  #pairQuote(pair: Pair, rateType: RateType, feeRate: string, { prices, reference, mostUsd }: PairPrices): PairQuote {
    const { from, to } = pair;
    const key = `${rateType} ${feeRate} ${from.id} ${to.id}`;
    const known = this.#pairQuotes.get(key);
    const isSamePair = known?.pair.from === from && known.pair.to === to;
    const keepsLimits = isSamePair && isSameMost(known.mostUsd, mostUsd) && isSamePrice(known.reference, reference);
    const keepsTerms = isSamePair && isSamePrice(known.prices, prices);
    if (keepsLimits && keepsTerms) return known;
    const fee = new Big(feeRate);
    const limits = keepsLimits ? known.limits : pairLimits(from, to, reference, fee, mostUsd);
    const terms = keepsTerms ? known.terms : termsAt(prices, to, fee);
    // Most pairs are quoted without both limits, so that they are computed at the first use.
    let both: TwoSidedLimits | null = null;
    const twoSided = (): TwoSidedLimits | null => {
      both ??= limits && twoSidedLimits(limits, terms);
      return both;
    };
    const pairQuote = { pair, prices, reference, mostUsd, limits, terms, twoSided };
    this.#pairQuotes.set(key, pairQuote);
    return pairQuote;
  }

  #currency(coin: string, network: string | undefined, side: 'from' | 'to', faults: FieldFault[]): Currency | null {
    const resolved = this.#catalogue.resolve(coin, network);
    if (!resolved.ok) {
      const field = `${resolved.part}_${side}`;
      const detail = `${field} '${(resolved.part === 'coin' ? coin : (network ?? '')).slice(0, 20)}': ${resolved.detail}`;
      faults.push({ field, kind: resolved.kind, detail });
      if (resolved.kind === 'unknown_coin' && network !== undefined && !this.#catalogue.hasNetwork(network)) {
        const name = `network_${side}`;
        const unknown = `${name} '${network.slice(0, 20)}': there is no such network; GET /currencies lists all networks`;
        faults.push({ field: name, kind: 'unknown_network', detail: unknown });
      }
      return null;
    }
    return this.#usable(resolved.currency, side, `coin_${side}`, faults);
  }

  /** The currency of a CAIP-19 name. Null after its fault was added to `faults`. */
  #assetOf(asset: string, side: 'from' | 'to', faults: FieldFault[]): Currency | null {
    const field = `asset_${side}`;
    const currency = this.#assets.find(asset, this.#catalogue.rows);
    const shown = `${field} '${asset.slice(0, 80)}'`;
    if (!currency) {
      const detail = `${shown}: there is no such asset; GET /partner/assets lists all assets`;
      faults.push({ field, kind: 'unknown_coin', detail });
      return null;
    }
    if (!currency.isActive) {
      const detail = `${shown}: ${currency.coin} on ${currency.network} is not active`;
      faults.push({ field, kind: 'currency_inactive', detail });
      return null;
    }
    return this.#usable(currency, side, field, faults);
  }

  /** The currency, if it is switched on for its side. Null after adding its fault. */
  #usable(currency: Currency, side: 'from' | 'to', field: string, faults: FieldFault[]): Currency | null {
    const name = `${currency.coin} on ${currency.network}`;
    if (side === 'from' && !currency.isDepositEnabled) {
      faults.push({
        field,
        kind: 'deposit_disabled',
        detail: `deposits of ${name} are switched off at present`,
      });
      return null;
    }
    if (side === 'to' && !currency.isWithdrawEnabled) {
      faults.push({
        field,
        kind: 'withdraw_disabled',
        detail: `payouts of ${name} are switched off at present`,
      });
      return null;
    }
    return currency;
  }
}

/** The member of a request that names a side of its pair. */
export function sideField({ assetFrom, assetTo }: NamedAssets, side: 'from' | 'to'): string {
  const asset = side === 'from' ? assetFrom : assetTo;
  return `${asset === undefined ? 'coin' : 'asset'}_${side}`;
}

/** The limits of coin_from, and what they give of coin_to. */
export function twoSidedLimits(
  { minAmount, maxAmount }: PairLimits,
  terms: (amount: Big) => QuoteTerms,
): TwoSidedLimits {
  return {
    from: { min: formatDecimal(minAmount), max: formatDecimal(maxAmount) },
    to: { min: formatDecimal(terms(minAmount).amountTo), max: formatDecimal(terms(maxAmount).amountTo) },
  };
}

/** The refusal of a pair that cannot be exchanged at present. */
export function unavailable({ from, to }: Pair): AppError {
  const pair = `${from.coin} on ${from.network} to ${to.coin} on ${to.network}`;
  return new AppError('pair_unavailable', `${pair} is unavailable at present; try again later or choose another pair`);
}

function isSamePrice(a: PricePair, b: PricePair): boolean {
  return (a.from === b.from || a.from.eq(b.from)) && (a.to === b.to || a.to.eq(b.to));
}

/**
 * The fault of an amount that is known without a price, or null. `from` is null for an unknown
 * currency.
 */
export function amountFault(amount: Big, from: Currency | null, field: string): FieldFault | null {
  if (amount.lte(zero)) return { field, kind: 'invalid_amount', detail: `${field} must be greater than 0` };
  if (!from || fractionDigits(amount) <= from.decimals) return null;
  const detail = `${field} ${formatDecimal(amount)} has more than the ${from.decimals} decimals of ${from.coin} on ${from.network}`;
  return { field, kind: 'too_many_decimals', detail };
}

function isSameMost(a: Big | 'unlimited', b: Big | 'unlimited'): boolean {
  return a === b || (a !== 'unlimited' && b !== 'unlimited' && a.eq(b));
}

function refuseUnfitAmount(amount: Big, from: Currency, { minAmount, maxAmount }: PairLimits, field: string): void {
  const fault = amountFault(amount, from, field);
  if (fault?.kind === 'invalid_amount') throw faultyAmount(fault);
  const limits = () => ({ minAmount: formatDecimal(minAmount), maxAmount: formatDecimal(maxAmount) });
  const text = () => `${field} ${formatDecimal(amount)}`;
  if (amount.lt(minAmount)) {
    const shown = limits();
    const detail = `${text()} is below the minimum of ${shown.minAmount} ${from.coin}`;
    throw faultyAmount({ field, kind: 'amount_below_min', detail }, shown);
  }
  if (amount.gt(maxAmount)) {
    const shown = limits();
    const detail = `${text()} is above the maximum of ${shown.maxAmount} ${from.coin}`;
    throw faultyAmount({ field, kind: 'amount_above_max', detail }, shown);
  }
  if (fault) throw faultyAmount(fault);
}

function faultyAmount(fault: FieldFault, limits?: { minAmount: string; maxAmount: string }): AppError {
  return new AppError(fault.kind, fault.detail, { faults: [fault], ...(limits ? { limits } : {}) });
}
