// Exact decimals as whole numbers of 10⁻¹⁸, the places that amounts and rates keep in the database.

export const places = 18;
export const one = 10n ** BigInt(places);

const numberText = /^(0|[1-9]\d{0,19})(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * Reads the text of a number that is not negative; null when it is none, or is finer than 10⁻¹⁸.
 */
export function parse(text: string): bigint | null {
  if (text.length > 40) return null;
  const match = numberText.exec(text);
  if (!match) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const shift = places - fraction.length + Number.parseInt(exponent, 10);
  const digits = BigInt(whole + fraction);
  if (shift >= 0) return shift <= 40 ? digits * 10n ** BigInt(shift) : null;
  const finer = 10n ** BigInt(-shift);
  return digits % finer === 0n ? digits / finer : null;
}

/** Plain notation without trailing zeros. */
export function format(value: bigint): string {
  const text = value.toString().padStart(places + 1, '0');
  let end = text.length;
  const point = end - places;
  while (end > point && text.charCodeAt(end - 1) === 48) end--;
  return end === point ? text.slice(0, point) : `${text.slice(0, point)}.${text.slice(point, end)}`;
}

/** The largest multiple of 10⁻ᵈ that is not above the value. */
export function floorTo(value: bigint, decimals: number): bigint {
  return value - (value % 10n ** BigInt(places - decimals));
}

export function ceilTo(value: bigint, decimals: number): bigint {
  const step = 10n ** BigInt(places - decimals);
  return ((value + step - 1n) / step) * step;
}
