import type { Document } from 'openapi-backend';
import { AppError } from '../errors.ts';
import { formatDecimal, parseDecimal } from '../money.ts';
import type { Quote, RateService } from '../rates/rate-service.ts';
import type { ApiRequest, Handler, Refusal } from './api.ts';
import { jsonWriter } from './json-writer.ts';

/** GET /partner/rates */
export function getRateHandler(document: Document, rates: RateService): Handler<'getRate'> {
  const write = jsonWriter(document, 'RateQuote');
  return (request) => {
    const quote = quoteOf(rates, request);
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

/** Finds the faults of a quote request beyond the contract. */
export function getRateRefusal(rates: RateService): Refusal<'getRate'> {
  return async (request) => {
    try {
      quoteOf(rates, request);
      return null;
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  };
}

function quoteOf(rates: RateService, { query, call: { caller } }: ApiRequest<'getRate'>): Quote {
  const amount = query.amount === undefined ? null : parseDecimal(query.amount);
  if (query.amount !== undefined && !amount) throw new Error('the contract let through text that is no number');
  const partner = caller?.scopes.includes('rates:read') ? caller.partner : null;
  const pair = {
    coinFrom: query.coin_from,
    networkFrom: query.network_from,
    coinTo: query.coin_to,
    networkTo: query.network_to,
    rateType: query.rate_type ?? 'float',
  };
  return rates.quote(pair, amount, rates.pricing(partner), 'amount');
}
