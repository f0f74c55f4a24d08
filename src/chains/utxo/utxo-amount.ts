/**
 * Reads an amount as nodes write it, '0.00001' or '50.00000000', in smallest units (10^-8 of a
 * coin). Null for any other text: with a sign, an exponent, or more than eight decimals.
 */
export function parseCoins(text: unknown): bigint | null {
  const match = typeof text === 'string' ? /^(\d{1,12})(?:\.(\d{1,8}))?$/.exec(text) : null;
  return match ? BigInt(`${match[1]}${(match[2] ?? '').padEnd(8, '0')}`) : null;
}
