import type { KeyCaller } from '../accounts/partners/authenticator.ts';
import { AppError, type FieldFault, type TwoSidedLimits } from '../base/errors.ts';
import type { Big } from '../base/money.ts';
import type { Currency } from '../market/currencies/currency.entity.ts';
import { type BindingQuotes, type HonouredQuote, invalidQuote } from '../market/rates/binding-quotes.ts';
import { amountFault, type Pair, type Quote, type RateService, sideField } from '../market/rates/rate-service.ts';
import {
  type Destination,
  destination,
  destinationWarnings,
  type SentDestination,
  type Side,
  type Warning,
} from './destination.ts';
import {
  completed,
  isWhole,
  minAmountToFault,
  mismatches,
  noOptions,
  type OrderOptions,
  optionFaults,
  type QuotedMembers,
  type TermsRow,
  termsRow,
  type WholeMembers,
} from './order-terms.ts';

interface Destinations {
  readonly recipientAddress: string;
  readonly recipientAddressTag: string | null;
  readonly refundAddress: string | null;
  readonly refundAddressTag: string | null;
}

/** A partner's request for an order. */
type PlainOrder = Destinations & WholeMembers;

/** A request with optional members. One that names a quote may leave out what the quote says. */
type OrderWithOptions = Destinations & QuotedMembers & { readonly options: OrderOptions };

export type CreateOrder = (PlainOrder & { readonly options?: null }) | OrderWithOptions;

/** What the optional members of a create add to its draft. */
interface Extension {
  readonly terms: TermsRow;
  /** As in `HonouredQuote`. Null without a binding quote. */
  readonly adverse: Big | null;
  /** The limits at the terms of a fixed quote. Null where the market's hold. */
  readonly limits: (() => TwoSidedLimits) | null;
}

/** A plan that may be incomplete. The create is refused when there are faults. */
export interface Draft {
  readonly quote: Quote | null;
  readonly recipient: Destination | null;
  readonly refund: Destination | null;
  readonly faults: readonly FieldFault[];
  /** The error of the quote, when there is no quote. */
  readonly quoteError: AppError | null;
  /** Null for a create without optional members. */
  readonly extension: Extension | null;
}

/** The quote of a create, or why there is none. */
type Pricing = { readonly quote: Quote } | { readonly error: AppError };

/** Drafts orders: everything about a create that is decided without the database. */
export class OrderDrafts {
  readonly #rates: RateService;
  readonly #quotes: BindingQuotes;

  constructor(rates: RateService, quotes: BindingQuotes) {
    this.#rates = rates;
    this.#quotes = quotes;
  }

  /**
   * Drafts a create. One without options is drafted without a separate promise, unless its key
   * has a default markup.
   */
  draft(input: CreateOrder, caller: KeyCaller): Draft | Promise<Draft> {
    if (input.options) return this.#extended({ ...input, options: input.options }, caller);
    return caller.defaultMarkupBps === null
      ? this.#plain(input, caller)
      : this.#extended({ ...input, options: noOptions }, caller);
  }

  /**
   * Decides a create with optional members. A quote fills in what the request leaves out, and
   * replaces the market's terms.
   */
  async #extended(input: OrderWithOptions, caller: KeyCaller): Promise<Draft> {
    const quotes = this.#quotes;
    const { options } = input;
    const { quoteId } = options;
    // A quote says its markup itself.
    const given = options.markupBps ?? (quoteId === null ? caller.defaultMarkupBps : null);
    const markupBps = given ?? 0;
    const own = quotes.optionFaults({ markupBps, country: options.country }, caller.partner);
    const faults = [...own, ...optionFaults(options)];
    const quoted = quoteId === null ? null : quotes.open(quoteId, caller.partner.id);
    const unreadable = quoteId !== null && !quoted ? invalidQuote() : null;
    if (quoted) faults.push(...mismatches(input, options, quoted, (name) => this.#rates.asset(name)));
    const whole = quoted ? completed(input, quoted) : input;
    if (!isWhole(whole)) {
      return { ...nothing, faults: [...faults, ...(unreadable?.extras.faults ?? [])], quoteError: unreadable };
    }
    let pricing: Pricing | null = unreadable && { error: unreadable };
    let measured: Pick<HonouredQuote, 'adverse' | 'usd'> = { adverse: null, usd: null };
    let limits: Extension['limits'] = null;
    if (quoted) {
      try {
        const honoured = await quotes.honour(quoted, caller.partner);
        measured = honoured;
        limits = honoured.limits;
        pricing = { quote: honoured.quote };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        pricing = { error };
      }
    }
    const draft = this.#plain(whole, caller, markupBps, pricing);
    const tooSmall = draft.quote && minAmountToFault(options, draft.quote);
    const terms = termsRow({ ...options, markupBps: given }, quoted, measured);
    const all = [...faults, ...draft.faults, ...(tooSmall ? [tooSmall] : [])];
    return { ...draft, faults: all, extension: { terms, adverse: measured.adverse, limits } };
  }

  /**
   * Decides everything that needs no database: the quote and both addresses. Collects all faults. A
   * check that an earlier fault makes impossible is skipped; all others run.
   */
  #plain(input: PlainOrder, caller: KeyCaller, markupBps = 0, pricing: Pricing | null = null): Draft {
    const rates = this.#rates;
    const faults: FieldFault[] = [];
    const { pair, from, to } = rates.sides(input, faults);
    let quote: Quote | null = null;
    let quoteError: AppError | null = null;
    if (pair) {
      try {
        quote = pricing ? pricedBy(pricing) : this.#marketQuote(pair, input, caller, markupBps);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        quoteError = error;
        const { kind, detail } = error;
        faults.push(...(error.extras.faults ?? [{ field: sideField(input, 'to'), kind, detail }]));
      }
    }
    const amount = quote ? null : amountFault(input.amountFrom, from, 'amount_from');
    if (amount && !faults.some(({ field }) => field === amount.field)) faults.push(amount);
    // The destination of an exchange into the same currency cannot be judged, because either side
    // may be the mistake.
    const isSame = to !== null && from === to;
    const recipientOn = isSame ? nowhere : sideOf('to', to, input.networkTo, faults);
    const recipient = destination(sentRecipient(input), recipientOn, faults, rates);
    const sent = sentRefund(input);
    let refund: Destination | null = null;
    if (sent) {
      const refundOn = sideOf('from', from, input.networkFrom, faults);
      refund = destination(sent, refundOn, faults, rates);
    } else if (input.refundAddressTag !== null) {
      const detail = 'refund_address_tag needs a refund_address';
      faults.push({ field: 'refund_address_tag', kind: 'invalid_tag', detail });
    }
    return { quote, recipient, refund, faults, quoteError, extension: null };
  }

  /** The quote of a create without a binding quote, with the partner's markup in the fee. */
  #marketQuote(pair: Pair, { rateType, amountFrom }: PlainOrder, { partner }: KeyCaller, markupBps: number): Quote {
    const rates = this.#rates;
    const pricing = rates.pricing(partner, markupBps);
    return rates.quotePair(pair, rateType, amountFrom, pricing, 'amount_from');
  }

  /** The limits of a draft, at the same prices and fee as its amount. Null without a quote. */
  limits({ quote, extension }: Draft): TwoSidedLimits | null {
    if (!quote) return null;
    const { rateType, feeRate } = quote;
    return extension?.limits?.() ?? this.#rates.limits(quote, rateType, { float: feeRate, fixed: feeRate });
  }
}

/** A draft of which nothing is known but its faults. */
const nothing: Draft = {
  quote: null,
  recipient: null,
  refund: null,
  faults: [],
  quoteError: null,
  extension: null,
};

function pricedBy(pricing: Pricing): Quote {
  if ('error' in pricing) throw pricing.error;
  return pricing.quote;
}

function sentRecipient({ recipientAddress, recipientAddressTag }: Destinations): SentDestination {
  const fields = { address: 'recipient_address', tag: 'recipient_address_tag' };
  return { fields, address: recipientAddress, tag: recipientAddressTag };
}

function sentRefund({ refundAddress, refundAddressTag }: Destinations): SentDestination | null {
  const fields = { address: 'refund_address', tag: 'refund_address_tag' };
  return refundAddress === null ? null : { fields, address: refundAddress, tag: refundAddressTag };
}

/** What may be a mistake in a create that is accepted. */
export function orderWarnings(
  input: Destinations,
  { from, to }: Pair,
  { recipient, refund }: { readonly recipient: Destination; readonly refund: Destination | null },
): Warning[] {
  const warnings = destinationWarnings(sentRecipient(input), to.network, recipient);
  const sent = sentRefund(input);
  if (sent && refund) return [...warnings, ...destinationWarnings(sent, from.network, refund)];
  const detail = 'there is no refund_address; if the exchange fails, the deposit waits until support has one';
  return [...warnings, { field: 'refund_address', code: 'no_refund_address', detail }];
}

const nowhere: Side = { currency: null, network: null };

function sideOf(
  side: 'from' | 'to',
  currency: Currency | null,
  network: string | undefined,
  faults: readonly FieldFault[],
): Side {
  return faults.some(({ field }) => field === `network_${side}`) ? nowhere : { currency, network: network ?? null };
}
