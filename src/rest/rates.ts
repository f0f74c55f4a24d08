import { AppError } from '../errors.ts';
import type { components } from '../generated/openapi.ts';
import { jsonNumber, parseDecimal } from '../money.ts';
import type { RateService } from '../rates/rate-service.ts';
import type { Handler } from './api.ts';
import { toJson } from './contract.ts';

/** GET /partner/rates */
export function getRateHandler(rates: RateService): Handler<'getRate'> {
  return ({ query, state }) => {
    const amount = query.amount === undefined ? null : parseDecimal(query.amount);
    if (query.amount !== undefined && !amount) {
      throw new AppError('invalid_number', 'amount must be a plain decimal number of at most 40 characters');
    }
    const partner = state.caller?.scopes.includes('rates:read') ? state.caller.partner : null;
    const pair = {
      coinFrom: query.coin_from,
      networkFrom: query.network_from,
      coinTo: query.coin_to,
      networkTo: query.network_to,
      rateType: query.rate_type ?? 'float',
    };
    const quote = rates.quote(pair, amount, rates.pricing(partner), 'amount');
    return {
      status: 200,
      body: toJson<components['schemas']['RateQuote']>({
        coin_from: quote.from.coin,
        coin_to: quote.to.coin,
        rate_type: quote.rateType,
        rate: jsonNumber(quote.rate),
        min_amount: jsonNumber(quote.minAmount),
        max_amount: jsonNumber(quote.maxAmount),
        expires_in: quote.expiresIn,
      }),
    };
  };
}
