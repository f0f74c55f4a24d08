import type { Document } from 'openapi-backend';
import { AppError } from '../errors.ts';
import { formatDecimal, parseDecimal } from '../money.ts';
import type { RateService } from '../rates/rate-service.ts';
import type { Handler } from './api.ts';
import { jsonWriter } from './json-writer.ts';

/** GET /partner/rates */
export function getRateHandler(document: Document, rates: RateService): Handler<'getRate'> {
  const write = jsonWriter(document, 'RateQuote');
  return ({ query, call: { caller } }) => {
    const amount = query.amount === undefined ? null : parseDecimal(query.amount);
    if (query.amount !== undefined && !amount) {
      throw new AppError('invalid_number', 'amount must be a plain decimal number of at most 40 characters');
    }
    const partner = caller?.scopes.includes('rates:read') ? caller.partner : null;
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
      body: write({
        coin_from: quote.from.coin,
        coin_to: quote.to.coin,
        rate_type: quote.rateType,
        rate: formatDecimal(quote.rate),
        min_amount: formatDecimal(quote.minAmount),
        max_amount: formatDecimal(quote.maxAmount),
        expires_in: quote.expiresIn,
      }),
    };
  };
}
