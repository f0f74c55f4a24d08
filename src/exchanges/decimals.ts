import { type Big, isStorable, parseDecimal } from '../base/money.ts';
import { ExchangeUnavailable } from './exchange.ts';

/** An exact decimal out of an answer. @throws ExchangeUnavailable */
export function decimal(text: unknown): Big {
  const value = typeof text === 'string' ? parseDecimal(text) : null;
  if (value === null) throw new ExchangeUnavailable('an amount is not a decimal');
  // The ledger could not account for an amount that the database rounds.
  if (!isStorable(value)) throw new ExchangeUnavailable('an amount is too large or too fine');
  return value;
}

/** A decimal that is zero or more. @throws ExchangeUnavailable */
export function notNegative(text: unknown): Big {
  const value = decimal(text);
  if (value.lt('0')) throw new ExchangeUnavailable('an amount is negative');
  return value;
}

/** A decimal above zero. @throws ExchangeUnavailable */
export function positive(text: unknown): Big {
  const value = decimal(text);
  if (value.lte('0')) throw new ExchangeUnavailable('an amount is not positive');
  return value;
}
