import { AppError, type FieldFault } from '../errors.ts';
import { Big, formatDecimal } from '../money.ts';
import type { OpenedQuote } from '../rates/binding-quotes.ts';
import type { RateType } from '../rates/quote.ts';
import { amountFault, type Quote } from '../rates/rate-service.ts';

/** What an order does in cases where more than one answer is right. Absent members: the default. */
export interface OrderPolicy {
  readonly on_late?: 'refund' | 'market' | 'ask';
  readonly on_underpaid?: 'exchange' | 'refund' | 'ask';
  readonly on_overpaid?: 'refund_excess' | 'refund_all' | 'ask';
  readonly on_price_moved?: 'refund' | 'ask';
}

/** The optional members of a create. Null for a member that the partner left out. */
export interface OrderOptions {
  readonly quoteId: string | null;
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly markupBps: number | null;
  readonly minAmountTo: Big | null;
  readonly policy: OrderPolicy | null;
  readonly country: string | null;
}

/** The columns of `order_terms` for one create, as the creating statement takes them. */
export type TermsRow = {
  readonly externalId: string | null;
  readonly quoteNonce: Buffer | null;
  readonly markupBps: number | null;
  readonly minAmountTo: string | null;
  readonly policy: string | null;
  readonly metadata: string | null;
};

/** Most bytes of all keys and values of an order's metadata, in UTF-8. */
const metadataBytes = 4096;
/** Visible ASCII, which every system can store and show. */
const externalIdForm = /^[\x21-\x7e]{1,128}$/;

/** The faults of a create's own options that no quote is needed for. */
export function optionFaults({ externalId, metadata, policy, minAmountTo }: OrderOptions): FieldFault[] {
  const faults: FieldFault[] = [];
  if (externalId !== null && !externalIdForm.test(externalId)) {
    const detail = 'external_id must be 1 to 128 visible ASCII characters';
    faults.push({ field: 'external_id', kind: 'invalid_value', detail });
  }
  if (metadata) faults.push(...metadataFaults(metadata));
  if (policy?.on_price_moved !== undefined && minAmountTo === null) {
    const detail = 'policy.on_price_moved needs a min_amount_to';
    faults.push({ field: 'policy.on_price_moved', kind: 'invalid_value', detail });
  }
  return faults;
}

function metadataFaults(metadata: Readonly<Record<string, string>>): FieldFault[] {
  const texts = Object.entries(metadata).flat();
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > metadataBytes) {
    const detail = `metadata has ${bytes} bytes of keys and values; at most ${metadataBytes} are kept`;
    return [{ field: 'metadata', kind: 'metadata_too_large', detail }];
  }
  // PostgreSQL stores neither in JSON.
  if (texts.some((text) => text.includes('\0') || !text.isWellFormed())) {
    const detail = 'metadata must be text without the character U+0000 and without half surrogates';
    return [{ field: 'metadata', kind: 'invalid_value', detail }];
  }
  return [];
}

/** The fault of a smallest payout that the quote does not reach. Null without one. */
export function minAmountToFault({ minAmountTo }: OrderOptions, quote: Quote): FieldFault | null {
  if (minAmountTo === null) return null;
  const fault = amountFault(minAmountTo, quote.to, 'min_amount_to');
  if (fault || minAmountTo.lte(quote.amountTo)) return fault;
  const detail = `the payout would be ${formatDecimal(quote.amountTo)} ${quote.to.coin}, which is below min_amount_to`;
  return { field: 'min_amount_to', kind: 'amount_to_below_min', detail };
}

/** The members of a create that a quote may say as well. */
export interface PairMembers {
  readonly coinFrom: string;
  readonly networkFrom: string;
  readonly coinTo: string;
  readonly networkTo: string;
  readonly amountFrom: Big;
  readonly rateType: RateType;
}

/** The same members of a create that names a quote. */
export type QuotedMembers = { readonly [Name in keyof PairMembers]: PairMembers[Name] | undefined };

/** Whether no member is left out. */
export function isWhole<Members extends QuotedMembers>(members: Members): members is Members & PairMembers {
  const { coinFrom, networkFrom, coinTo, networkTo, amountFrom, rateType } = members;
  return [coinFrom, networkFrom, coinTo, networkTo, amountFrom, rateType].every((one) => one !== undefined);
}

/** Fills in what a quote says and the request leaves out. */
export function completed<Members extends QuotedMembers>(members: Members, { token, from, to }: OpenedQuote): Members {
  return {
    ...members,
    coinFrom: members.coinFrom ?? from.coin,
    networkFrom: members.networkFrom ?? from.network,
    coinTo: members.coinTo ?? to.coin,
    networkTo: members.networkTo ?? to.network,
    amountFrom: members.amountFrom ?? new Big(token.amountFrom),
    rateType: members.rateType ?? token.rateType,
  };
}

/** The faults of members that repeat a quote and differ from it. */
export function mismatches(
  members: QuotedMembers,
  { markupBps }: OrderOptions,
  { token, from, to }: OpenedQuote,
): FieldFault[] {
  const repeated: readonly (readonly [field: string, sent: string | number | undefined, quoted: string | number])[] = [
    ['coin_from', members.coinFrom, from.coin],
    ['network_from', members.networkFrom, from.network],
    ['coin_to', members.coinTo, to.coin],
    ['network_to', members.networkTo, to.network],
    ['amount_from', members.amountFrom && formatDecimal(members.amountFrom), token.amountFrom],
    ['rate_type', members.rateType, token.rateType],
    ['markup_bps', markupBps ?? undefined, token.markupBps],
  ];
  return repeated
    .filter(([, sent, quoted]) => sent !== undefined && sent !== quoted)
    .map(([field, , quoted]) => {
      const detail = `${field} differs from the quote, which says ${quoted}; leave it out or ask for a new quote`;
      return { field, kind: 'quote_mismatch', detail };
    });
}

/** The row of an order's terms. */
export function termsRow(options: OrderOptions, quoted: OpenedQuote | null): TermsRow {
  const { externalId, markupBps, minAmountTo, policy, metadata } = options;
  return {
    externalId,
    quoteNonce: quoted ? Buffer.from(quoted.token.nonce, 'hex') : null,
    markupBps: quoted ? quoted.token.markupBps : markupBps,
    minAmountTo: minAmountTo && formatDecimal(minAmountTo),
    policy: policy && JSON.stringify(policy),
    metadata: metadata && JSON.stringify(metadata),
  };
}

/** Orders that already have the quote or the external id of a create. */
export interface TakenBy {
  readonly quoteOrder?: string | null;
  readonly externalOrder?: string | null;
}

/** The refusal of a create whose quote or external id another order has. Null without one. */
export function takenError({ quoteOrder, externalOrder }: TakenBy): AppError | null {
  if (quoteOrder) {
    return new AppError('quote_used', `this quote was used for the order ${quoteOrder}`, { orderId: quoteOrder });
  }
  if (externalOrder) {
    const detail = `external_id belongs to the order ${externalOrder}`;
    return new AppError('external_id_taken', detail, { orderId: externalOrder });
  }
  return null;
}
