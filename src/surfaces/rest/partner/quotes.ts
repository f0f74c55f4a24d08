import type { KeyCaller } from '../../../accounts/partners/authenticator.ts';
import { AppError } from '../../../base/errors.ts';
import { jsonNumber, parseDecimal } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { BindingQuote, BindingQuotes, QuoteRequest } from '../../../market/rates/binding-quotes.ts';
import type { OrderCreation } from '../../../orders/order-creation.ts';
import { numberSource } from '../api/body.ts';
import { json } from '../api/json.ts';
import { keyOf } from './authenticate.ts';
import type { Body } from './contract.ts';
import type { Handler, Refusal } from './handler.ts';
import { limitsBody } from './pairs.ts';

type QuoteBody = components['schemas']['BindingQuote'];

/** POST /partner/quotes */
export function createQuoteHandler(quotes: BindingQuotes): Handler<'createQuote'> {
  return ({ body, call }) => {
    const quote = quotes.quote(quoteRequest(body, keyOf(call)), keyOf(call).partner);
    return { status: 201, body: json(quoteBody(quote, 'open', null)) };
  };
}

/** Finds the faults of a quote request beyond the contract. */
export function createQuoteRefusal(quotes: BindingQuotes): Refusal<'createQuote'> {
  return async ({ body, call }) => {
    // Without one amount there is nothing to judge.
    if ((body.amount_from === undefined) === (body.amount_to === undefined)) return null;
    try {
      quotes.quote(quoteRequest(body, keyOf(call)), keyOf(call).partner);
      return null;
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  };
}

/** GET /partner/quotes/{quote_id} */
export function getQuoteHandler(quotes: BindingQuotes, orders: OrderCreation): Handler<'getQuote'> {
  return async ({ path, call }) => {
    const quote = quotes.read(path.quote_id, keyOf(call).partner.id);
    if (!quote) throw new AppError('not_found', 'there is no such quote');
    const orderId = await orders.orderOfQuote(quote.token);
    const state = orderId !== null ? 'used' : quotes.isExpired(quote.token) ? 'expired' : 'open';
    return { status: 200, body: json(quoteBody(quote, state, orderId)) };
  };
}

function quoteRequest(body: Body<'createQuote'>, { defaultMarkupBps }: KeyCaller): QuoteRequest {
  const side = body.amount_from === undefined ? 'to' : 'from';
  const amount = parseDecimal(numberSource(body, `amount_${side}`));
  if (!amount) throw new Error('parseBody let through a number that is not exact');
  return {
    coinFrom: body.coin_from,
    networkFrom: body.network_from,
    coinTo: body.coin_to,
    networkTo: body.network_to,
    assetFrom: body.asset_from,
    assetTo: body.asset_to,
    rateType: body.rate_type,
    side,
    amount,
    clamp: body.clamp ?? false,
    markupBps: body.markup_bps ?? defaultMarkupBps ?? 0,
    country: body.country ?? null,
  };
}

function quoteBody(
  { id, token, from, to, terms, parts, limits }: BindingQuote,
  state: QuoteBody['state'],
  orderId: string | null,
): QuoteBody {
  return {
    quote_id: id,
    state,
    order_id: orderId,
    coin_from: from.coin,
    network_from: from.network,
    coin_to: to.coin,
    network_to: to.network,
    rate_type: token.rateType,
    side: token.side,
    clamped: token.clamped,
    amount_from: jsonNumber(token.amountFrom),
    amount_to: jsonNumber(token.amountTo),
    rate: jsonNumber(terms.rate),
    parts: {
      mid: jsonNumber(parts.mid),
      gross: jsonNumber(parts.gross),
      service_fee: jsonNumber(parts.serviceFee),
      partner_markup: jsonNumber(parts.partnerMarkup),
      network_fee: jsonNumber(parts.networkFee),
      rounding: jsonNumber(parts.rounding),
    },
    limits: limitsBody(limits),
    issued_at: new Date(token.issuedMs).toISOString(),
    expires_at: new Date(token.expiresMs).toISOString(),
  };
}
