import { fieldError } from '../../../base/errors.ts';
import { formatDecimal } from '../../../base/money.ts';

/** The rule of `moment`, worded as the end of a sentence. */
export const timeRule = 'an ISO 8601 time with its offset, such as 2026-11-21T00:00:00Z';

/**
 * Reads a text of a query. PostgreSQL stores no text with NUL.
 *
 * @throws AppError invalid_value
 */
export function plainText(field: string, text: string | undefined): string | null {
  if (text?.includes('\0')) throw fieldError('invalid_value', field, `${field} must not contain NUL characters`);
  return text ?? null;
}

/**
 * Reads a time of a query.
 *
 * @throws AppError invalid_value for a time that does not exist.
 */
export function moment(field: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const date = new Date(text);
  // PostgreSQL has no year 0, and the format of the contract allows leap seconds.
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1) {
    throw fieldError('invalid_value', field, `${field} must be ${timeRule}`);
  }
  return date;
}

/** Reads a whole number that the contract has checked. `1e1` is one, as in JSON. */
export function wholeNumber(text: string | undefined, absent: number): number {
  return text === undefined ? absent : Number.parseInt(formatDecimal(text), 10);
}
