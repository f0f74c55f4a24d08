import { Big, formatDecimal } from '../../money.ts';

/**
 * What is compared. `deposits` and `hot`: the book with the chains. `chain`: a chain that gave no answer. `clients`: the
 * book with the rows of orders. `debits`: the account of an order that got more than its deposits cover. `rest`: what
 * orders that have ended are owed, with what waits to be sent back. `accounts`: the accounts that follow from
 * rows. `venue`: the book with the venue's fills and orders. `trades`: the rows with the venue's fills, and what trades
 * left at an exchange. `book`: the book with zero.
 * `histories`, `addresses`, `payments`: what must hold for every order and every payment.
 */
export const reconcileChecks = [
  'chain',
  'deposits',
  'hot',
  'clients',
  'debits',
  'rest',
  'accounts',
  'venue',
  'trades',
  'book',
  'histories',
  'addresses',
  'payments',
] as const;

export type ReconcileCheck = (typeof reconcileChecks)[number];

/**
 * One comparison. Amounts are decimal text with the signs of the book: what we hold is positive, what we owe is
 * negative. `difference` is `expected - in_flight - actual`, or 1 where no amounts are compared.
 */
export interface ReconcileRow {
  readonly check: ReconcileCheck;
  /** An asset ('USDT on TRC20'), or what else is compared. */
  readonly subject: string;
  /** By the chains, the venue or the rows. */
  readonly expected: string;
  /** By the book, or by what is checked. */
  readonly actual: string;
  /** What has happened outside and is rightly not booked yet. */
  readonly in_flight: string;
  readonly difference: string;
}

export interface ReconcileReport {
  /** The totals of each asset, zero or not, and of the rest only what differs. */
  readonly rows: readonly ReconcileRow[];
  /** How many rows differ. */
  readonly differences: number;
  /** How many comparisons each check made. */
  readonly checked: Readonly<Record<ReconcileCheck, number>>;
}

/** The report as a table for people: the rows that have something to say, and a summary. */
export function renderReport({ rows, differences, checked }: ReconcileReport): string {
  const shown = rows.filter(({ expected, actual, in_flight, difference }) =>
    [expected, actual, in_flight, difference].some((value) => value !== '0'),
  );
  const lines = [
    ['check', 'subject', 'expected', 'actual', 'in flight', 'difference'],
    ...shown.map((row) => [row.check, row.subject, row.expected, row.actual, row.in_flight, row.difference]),
  ];
  const widths = lines.reduce<number[]>(
    (most, line) => line.map((cell, column) => Math.max(cell.length, most[column] ?? 0)),
    [],
  );
  const table = lines.map((line) =>
    line
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  const checks = Object.values(checked).reduce((sum, count) => sum + count, 0);
  return [...(shown.length > 0 ? table : []), `reconcile: ${checks} checks, ${differences} differences`].join('\n');
}

/** Collects rows and counts. Amounts are decimals or their text. */
export class Tally {
  readonly #rows: ReconcileRow[] = [];
  readonly #checked = new Map<ReconcileCheck, number>();

  count(check: ReconcileCheck, comparisons: number): void {
    this.#checked.set(check, (this.#checked.get(check) ?? 0) + comparisons);
  }

  /** Compares amounts. */
  amounts(
    check: ReconcileCheck,
    subject: string,
    expected: Big | string,
    actual: Big | string,
    inFlight: Big | string = '0',
  ): void {
    this.#rows.push({
      check,
      subject,
      expected: plain(expected),
      actual: plain(actual),
      in_flight: plain(inFlight),
      difference: plain(new Big(expected).minus(inFlight).minus(actual)),
    });
  }

  /** Notes that something is not as it must be. */
  fault(check: ReconcileCheck, subject: string, expected: string, actual: string): void {
    this.#rows.push({ check, subject, expected, actual, in_flight: '0', difference: '1' });
  }

  /** Takes over what another one collected. */
  add(other: Tally): void {
    this.#rows.push(...other.#rows);
    for (const [check, comparisons] of other.#checked) this.count(check, comparisons);
  }

  /** How many rows differ. */
  differences(): number {
    return this.#rows.filter(({ difference }) => difference !== '0').length;
  }

  report(): ReconcileReport {
    const checked = Object.fromEntries(reconcileChecks.map((check) => [check, this.#checked.get(check) ?? 0]));
    const rows = reconcileChecks.flatMap((check) => this.#rows.filter((row) => row.check === check));
    return { rows, differences: this.differences(), checked: checked as Record<ReconcileCheck, number> };
  }
}

/** Zero has no sign. */
function plain(value: Big | string): string {
  const decimal = new Big(value);
  return decimal.eq('0') ? '0' : formatDecimal(decimal);
}
