/**
 * A cell of CSV, by RFC 4180. A spreadsheet would compute text that begins like a formula, so an
 * apostrophe comes before it. Some begin a cell after each semicolon.
 */
export function cell(value: string | null): string {
  const text = value ?? '';
  const safe = text.replace(/(^|;)(?=[=+\-@\t\r\n＝＋－＠])/g, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A number that the gateway wrote itself. It may be negative, and spreadsheets read it as one. */
export interface CsvNumber {
  /** Plain decimal text. */
  readonly decimal: string;
}

export type CsvValue = string | null | CsvNumber;

/** A row of CSV with its line end. */
export function csvLine(values: readonly CsvValue[]): string {
  const cells = values.map((value) => (typeof value === 'object' && value !== null ? value.decimal : cell(value)));
  return `${cells.join(',')}\r\n`;
}
