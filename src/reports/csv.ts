/**
 * A cell of CSV, by RFC 4180. A spreadsheet would compute text that begins like a formula, so an
 * apostrophe comes before it. Amounts are not negative, and stay numbers.
 */
export function cell(value: string | null): string {
  const text = value ?? '';
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row of CSV with its line end. */
export function csvLine(values: readonly (string | null)[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}
