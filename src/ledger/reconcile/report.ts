import { Big, formatDecimal } from '../../base/money.ts';

/**
 * The checks of a reconciliation.
 *
 * - `deposits`, `hot`: the ledger against the chains.
 * - `chain`: a chain that gave no answer.
 * - `clients`: the ledger against the order rows.
 * - `debits`: the account of an order that received more than its deposits cover.
 * - `rest`: what ended orders are owed, against the refunds that still wait.
 * - `accounts`: the accounts that follow from rows.
 * - `markups`: what each completed order earned its partner, against its journal entries.
 * - `commission`: the months of partners, against their entries and payments.
 * - `venue`: the ledger against the venue's fills and orders.
 * - `venue_balance`: the ledger against the balances that the exchange tells.
 * - `transit`: coins on their way to or from an exchange, transfer by transfer.
 * - `trades`: the rows against the venue's fills, and what trades left at an exchange.
 * - `book`: the ledger against zero.
 * - `histories`, `addresses`, `payments`: invariants of every order and every payment.
 */
export const reconcileChecks = [
  'chain',
  'deposits',
  'hot',
  'clients',
  'debits',
  'rest',
  'accounts',
  'markups',
  'commission',
  'venue',
  'venue_balance',
  'transit',
  'trades',
  'book',
  'histories',
  'addresses',
  'payments',
] as const;

export type ReconcileCheck = (typeof reconcileChecks)[number];

/**
 * One comparison. Amounts are decimal text with the ledger's signs: what we hold is positive, what
 * we owe is negative. `difference` is `expected - in_flight - actual`, or 1 where no amounts are
 * compared.
 */
export interface ReconcileRow {
  readonly check: ReconcileCheck;
  /** An asset ('USDT on TRC20'), or the name of another subject. */
  readonly subject: string;
  /** The value from the chains, the venue or the rows. */
  readonly expected: string;
  /** The value from the ledger, or from the checked rows. */
  readonly actual: string;
  /** What happened outside and is rightly not booked yet. */
  readonly in_flight: string;
  readonly difference: string;
}

export interface ReconcileReport {
  /** The totals of each asset, zero or not. Of all other subjects only differences. */
  readonly rows: readonly ReconcileRow[];
  /** Number of rows that differ. */
  readonly differences: number;
  /** Number of comparisons of each check. */
  readonly checked: Readonly<Record<ReconcileCheck, number>>;
}

/** Renders the report for people: a table of the rows that are not all zero, and a summary. */
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

  /** Adds a comparison of amounts. */
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

  /** Adds a fault: a subject that breaks an invariant. */
  fault(check: ReconcileCheck, subject: string, expected: string, actual: string): void {
    this.#rows.push({ check, subject, expected, actual, in_flight: '0', difference: '1' });
  }

  /** Adds the rows and counts of another tally. */
  add(other: Tally): void {
    this.#rows.push(...other.#rows);
    for (const [check, comparisons] of other.#checked) this.count(check, comparisons);
  }

  /** Counts the rows that differ. */
  differences(): number {
    return this.#rows.filter(({ difference }) => difference !== '0').length;
  }

  report(): ReconcileReport {
    const checked = Object.fromEntries(reconcileChecks.map((check) => [check, this.#checked.get(check) ?? 0]));
    const rows = reconcileChecks.flatMap((check) => this.#rows.filter((row) => row.check === check));
    return { rows, differences: this.differences(), checked: checked as Record<ReconcileCheck, number> };
  }
}

/** Formats an amount. Zero has no sign. */
function plain(value: Big | string): string {
  const decimal = new Big(value);
  return decimal.eq('0') ? '0' : formatDecimal(decimal);
}
