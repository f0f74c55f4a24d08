/**
 * The 64 hexadecimal digits of a txid, in lower case and without '0x'. Chains and exchanges write
 * one txid in several forms. Null for any other text.
 */
export function txidDigits(text: string): string | null {
  return /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1]?.toLowerCase() ?? null;
}
