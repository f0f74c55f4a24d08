import BigJs from 'big.js';

/**
 * Exact decimal arithmetic for amounts and rates. It refuses binary floats. Every division and
 * explicit rounding goes down, so that no rounding pays out more than was agreed.
 */
export const Big = BigJs();
Big.strict = true;
Big.DP = 40;
Big.RM = BigJs.roundDown;
export type Big = BigJs;

/** Digits after the point that amounts and rates keep in the database: numeric(38,18). */
export const storedDecimals = 18;
/** The largest amount that numeric(38,18) holds is just below this. */
const storedLimit = new Big('1e20');
/** The largest amount that the database holds. */
export const storedMost = storedLimit.minus(new Big(`1e-${storedDecimals}`));

const maxTextLength = 40;
const maxExponent = 30;
const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]([+-]?\d{1,3}))?$/;

/** The rule of `parseDecimal`, worded as the end of a sentence. */
export const numberRule = 'a JSON number of at most 40 characters, with an exponent from -30 to 30 if it has one';

/**
 * Reads the source text of a JSON number exactly. Returns null when it is not a JSON number, is
 * longer than 40 characters or has an exponent beyond ±30 (expanding such a number would cost
 * memory).
 */
export function parseDecimal(text: string): Big | null {
  return isDecimal(text) ? new Big(text) : null;
}

/** Whether `parseDecimal` reads the text. */
export function isDecimal(text: string): boolean {
  if (text.length > maxTextLength) return false;
  const match = numberText.exec(text);
  return match !== null && (match[1] === undefined || Math.abs(Number.parseInt(match[1], 10)) <= maxExponent);
}

/** Plain decimal notation without exponent or trailing zeros: '0.0000001', '1500'. */
export function formatDecimal(value: Big | string): string {
  return (typeof value === 'string' ? new Big(value) : value).toFixed();
}

/** Digits after the decimal point that the value really has (1.50 has one). */
export function fractionDigits(value: Big): number {
  return Math.max(0, value.c.length - 1 - value.e);
}

/** Whether the database can hold the value without losing a digit. */
export function isStorable(value: Big): boolean {
  return value.abs().lt(storedLimit) && fractionDigits(value) <= storedDecimals;
}

/** Rounds towards zero to `places` digits after the point. */
export function floorTo(value: Big, places: number): Big {
  return value.round(places, BigJs.roundDown);
}

/** Rounds away from zero to `places` digits after the point. */
export function ceilTo(value: Big, places: number): Big {
  return value.round(places, BigJs.roundUp);
}

/** Rounds to `digits` significant digits, half up. Zero stays zero. */
export function roundToSignificant(value: Big, digits: number): Big {
  return value.eq('0') ? value : value.prec(digits, BigJs.roundHalfUp);
}

/** Converts a whole number of smallest units (satoshi, wei) to an amount of the coin. */
export function fromUnits(units: bigint, decimals: number): string {
  return formatDecimal(new Big(units.toString()).times(new Big(`1e-${decimals}`)));
}

/**
 * Converts an amount of a coin to a whole number of its smallest units.
 *
 * @throws Error when the amount is finer than the smallest unit.
 */
export function toUnits(amount: Big | string, decimals: number): bigint {
  const value = typeof amount === 'string' ? new Big(amount) : amount;
  if (fractionDigits(value) > decimals) throw new Error(`${value.toFixed()} is finer than ${decimals} decimals`);
  return BigInt(value.times(new Big(`1e${decimals}`)).toFixed());
}

export function maxOf(a: Big, b: Big): Big {
  return a.gt(b) ? a : b;
}

export function minOf(a: Big, b: Big): Big {
  return a.lt(b) ? a : b;
}

/** The larger of two whole numbers of smallest units. */
export function maxUnits(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function minUnits(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** A JSON number with exactly the digits of the decimal, for JSON.stringify. */
export function jsonNumber(value: Big | string): JsonNumber {
  return JSON.rawJSON(formatDecimal(value));
}

declare global {
  /** A number as JSON text that JSON.stringify writes verbatim. */
  interface JsonNumber {
    readonly rawJSON: string;
  }
  interface JSON {
    /** https://tc39.es/proposal-json-parse-with-source/ */
    rawJSON(text: string): JsonNumber;
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}
