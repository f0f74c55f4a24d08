/** An address without a length stands for itself alone. The server judges all other text. */
function networkOf(text: string): string {
  if (text.includes('/')) return text;
  if (text.includes(':')) return `${text}/128`;
  return /^\d+(\.\d+){3}$/.test(text) ? `${text}/32` : text;
}

/** The networks of a typed list of addresses and ranges, in CIDR notation. */
export function networksOf(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(networkOf);
}
