import { isStorableText } from '../base/db/stored-text.ts';
import { AppError, type FieldFault } from '../base/errors.ts';
import { Big, floorTo, formatDecimal, storedDecimals } from '../base/money.ts';
import type { Currency } from '../market/currencies/currency.entity.ts';
import type { HonouredQuote, OpenedQuote } from '../market/rates/binding-quotes.ts';
import type { RateType } from '../market/rates/quote.ts';
import { amountFault, type NamedAssets, type Quote } from '../market/rates/rate-service.ts';

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

/** The options of a create that has none. */
export const noOptions: OrderOptions = {
  quoteId: null,
  externalId: null,
  metadata: null,
  markupBps: null,
  minAmountTo: null,
  policy: null,
  country: null,
};

/** The columns of `order_terms` for one create, as the creating statement takes them. */
export type TermsRow = {
  readonly externalId: string | null;
  readonly quoteNonce: Buffer | null;
  readonly markupBps: number | null;
  readonly minAmountTo: string | null;
  readonly policy: string | null;
  readonly metadata: string | null;
  /** How much more a fixed quote gave than the market, in basis points. */
  readonly quoteAdverseBps: string | null;
  /** Worth of the order at its quote, in US dollars. Null where `quoteAdverseBps` is. */
  readonly quoteUsd: string | null;
};

const metadataKeys = 20;
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

/** A merge patch of an order's metadata (RFC 7396): null removes a key, or all of them. */
export type MetadataChange = Readonly<Record<string, string | null>> | null;

/** The metadata after a change. Null without any key. */
export function mergedMetadata(
  present: Readonly<Record<string, string>> | null,
  change: MetadataChange,
): Readonly<Record<string, string>> | null {
  if (change === null) return null;
  const merged = new Map(Object.entries(present ?? {}));
  for (const [key, text] of Object.entries(change)) {
    if (text === null) merged.delete(key);
    else merged.set(key, text);
  }
  return merged.size === 0 ? null : Object.fromEntries(merged);
}

/** The faults of an order's whole metadata. */
export function metadataFaults(metadata: Readonly<Record<string, string>>): FieldFault[] {
  const keys = Object.keys(metadata).length;
  if (keys > metadataKeys) {
    const detail = `metadata has ${keys} keys; at most ${metadataKeys} are kept`;
    return [{ field: 'metadata', kind: 'metadata_too_large', detail }];
  }
  const texts = Object.entries(metadata).flat();
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > metadataBytes) {
    const detail = `metadata has ${bytes} bytes of keys and values; at most ${metadataBytes} are kept`;
    return [{ field: 'metadata', kind: 'metadata_too_large', detail }];
  }
  if (!texts.every(isStorableText)) {
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

/** The members of a create that a quote may say as well, of a pair that is named by coins. */
interface PairMembers {
  readonly coinFrom: string;
  readonly networkFrom: string;
  readonly coinTo: string;
  readonly networkTo: string;
  readonly amountFrom: Big;
  readonly rateType: RateType;
}

/** The same members of a create that names a quote, or assets instead of coins. */
export type QuotedMembers = { readonly [Name in keyof PairMembers]: PairMembers[Name] | undefined } & NamedAssets;

/** Members that say the whole exchange: each side of the pair, the amount and the rate type. */
export type WholeMembers = Omit<QuotedMembers, 'amountFrom' | 'rateType'> &
  Pick<PairMembers, 'amountFrom' | 'rateType'>;

/** Whether no member is left out. */
export function isWhole<Members extends QuotedMembers>(members: Members): members is Members & WholeMembers {
  const { coinFrom, networkFrom, assetFrom, coinTo, networkTo, assetTo, amountFrom, rateType } = members;
  const isFrom = assetFrom !== undefined || (coinFrom !== undefined && networkFrom !== undefined);
  const isTo = assetTo !== undefined || (coinTo !== undefined && networkTo !== undefined);
  return isFrom && isTo && amountFrom !== undefined && rateType !== undefined;
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

/**
 * The faults of members that repeat a quote and differ from it.
 *
 * @param asset finds the currency of a CAIP-19 name. Null for an unknown one, which is no fault
 *   here.
 */
export function mismatches(
  members: QuotedMembers,
  { markupBps }: OrderOptions,
  { token, from, to }: OpenedQuote,
  asset: (name: string) => Currency | null,
): FieldFault[] {
  const named = ({ coin, network }: Currency): string => `${coin} on ${network}`;
  const sent = (name: string | undefined): string | undefined => {
    const currency = name === undefined ? null : asset(name);
    return currency ? named(currency) : undefined;
  };
  const repeated: readonly (readonly [field: string, sent: string | number | undefined, quoted: string | number])[] = [
    ['coin_from', members.coinFrom, from.coin],
    ['network_from', members.networkFrom, from.network],
    ['asset_from', sent(members.assetFrom), named(from)],
    ['asset_to', sent(members.assetTo), named(to)],
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
export function termsRow(
  options: OrderOptions,
  quoted: OpenedQuote | null,
  { adverse, usd }: Pick<HonouredQuote, 'adverse' | 'usd'>,
): TermsRow {
  const { externalId, markupBps, minAmountTo, policy, metadata } = options;
  const worth = usd && floorTo(usd, storedDecimals);
  const measured = adverse && worth?.gt('0') ? { adverse, worth } : null;
  return {
    externalId,
    quoteNonce: quoted ? Buffer.from(quoted.token.nonce, 'hex') : null,
    markupBps: quoted ? quoted.token.markupBps : markupBps,
    minAmountTo: minAmountTo && formatDecimal(minAmountTo),
    policy: policy && JSON.stringify(policy),
    metadata: metadata && JSON.stringify(metadata),
    quoteAdverseBps: measured?.adverse.times('10000').toFixed(4) ?? null,
    quoteUsd: measured && formatDecimal(measured.worth),
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
