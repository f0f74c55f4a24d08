/**
 * The smallest units (10^-8 of a coin) of an amount as nodes write it: '0.00001', '50.00000000'. Null for what is no
 * such text: a sign, an exponent, more than eight decimals.
 */
export function parseCoins(text: unknown): bigint | null {
  const match = typeof text === 'string' ? /^(\d{1,12})(?:\.(\d{1,8}))?$/.exec(text) : null;
  return match ? BigInt(`${match[1]}${(match[2] ?? '').padEnd(8, '0')}`) : null;
}
