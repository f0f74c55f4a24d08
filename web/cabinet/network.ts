/** The network of one address alone, in CIDR notation. */
export function networkOf(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
