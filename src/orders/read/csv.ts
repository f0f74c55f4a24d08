/**
 * A cell of CSV, by RFC 4180. A spreadsheet would compute text that begins like a formula, so an
 * apostrophe comes before it. Some begin a cell after each semicolon. Amounts are not negative, and
 * stay numbers.
 */
export function cell(value: string | null): string {
  const text = value ?? '';
  const safe = text.replace(/(^|;)(?=[=+\-@\t\r\n＝＋－＠])/g, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row of CSV with its line end. */
export function csvLine(values: readonly (string | null)[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}
