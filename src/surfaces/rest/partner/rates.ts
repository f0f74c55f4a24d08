import type { Caller } from '../../../accounts/members/sessions.ts';
import { AppError } from '../../../base/errors.ts';
import { jsonNumber, parseDecimal } from '../../../base/money.ts';
import type { Pricing, Quote, RateService } from '../../../market/rates/rate-service.ts';
import { json } from '../api/json.ts';
import type { ApiRequest, Handler, Refusal } from './handler.ts';

/** GET /partner/rates */
export function getRateHandler(rates: RateService): Handler<'getRate'> {
  return (request) => {
    const { from, to, rate, minAmount, maxAmount, expiresIn } = rateOf(rates, request);
    return {
      status: 200,
      body: json({
        coin_from: from.coin,
        coin_to: to.coin,
        rate_type: request.query.rate_type ?? defaultType,
        rate: jsonNumber(rate),
        min_amount: jsonNumber(minAmount),
        max_amount: jsonNumber(maxAmount),
        expires_in: expiresIn,
      }),
    };
  };
}

/** Finds the faults of a quote request beyond the contract. */
export function getRateRefusal(rates: RateService): Refusal<'getRate'> {
  return async (request) => {
    try {
      rateOf(rates, request);
      return null;
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  };
}

/**
 * The fees that a caller is shown: those of its creates, with the default markup of its key. A
 * caller that may not read rates is shown those of the public.
 */
export function shownPricing(rates: RateService, caller: Caller | null): Pricing {
  if (caller?.kind !== 'key' || !caller.scopes.includes('rates:read')) return rates.pricing(null);
  return rates.pricing(caller.partner, caller.defaultMarkupBps);
}

const defaultType = 'float';

function rateOf(rates: RateService, { query, call: { caller } }: ApiRequest<'getRate'>): Quote {
  const amount = query.amount === undefined ? null : parseDecimal(query.amount);
  if (query.amount !== undefined && !amount) throw new Error('the contract let through text that is no number');
  const pair = {
    coinFrom: query.coin_from,
    networkFrom: query.network_from,
    coinTo: query.coin_to,
    networkTo: query.network_to,
    rateType: query.rate_type ?? defaultType,
  };
  return rates.quote(pair, amount, shownPricing(rates, caller), 'amount');
}
