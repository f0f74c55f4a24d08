import type { Outcome } from './run.ts';

/** Whether nothing beat its bound and nothing was found wrong. */
export function isSound(outcome: Outcome): boolean {
  return !outcome.isBeaten && outcome.faults.length === 0 && outcome.house.debits === 0;
}

const columns = [
  ['strategy', ({ strategy }: Outcome) => strategy],
  ['volatility', ({ market }: Outcome) => `${Math.round(market.volatility * 100)} %`],
  ['days', ({ days }: Outcome) => days.toFixed(1)],
  ['orders', ({ turnover }: Outcome) => whole(turnover.created)],
  ['funded', ({ turnover }: Outcome) => whole(turnover.funded)],
  ['exchanged', ({ turnover }: Outcome) => whole(turnover.exchanged)],
  ['refunds', ({ turnover }: Outcome) => whole(turnover.refunds)],
  ['turnover $', ({ turnover }: Outcome) => whole(turnover.usd)],
  ['house $', ({ house }: Outcome) => whole(house.total)],
  ['$ a day and partner', ({ mean }: Outcome) => mean.toFixed(2)],
  ['worst day $', ({ worstDay }: Outcome) => whole(worstDay)],
  ['bound', ({ bound }: Outcome) => `${bound.isEarning ? '>' : '>='} ${whole(bound.usd)}`],
  ['', (outcome: Outcome) => (isSound(outcome) ? 'holds' : 'BEATEN')],
  ['bounded by', ({ bound }: Outcome) => bound.settings],
] as const;

/** A table of outcomes, and below it what is wrong. */
export function renderReport(outcomes: readonly Outcome[]): string {
  const lines = [columns.map(([title]) => title), ...outcomes.map((one) => columns.map(([, show]) => show(one)))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const isText = (index: number): boolean => index === 0 || index >= columns.length - 2;
  const table = lines.map((line) =>
    line
      .map((cell, index) => (isText(index) ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return `${[...table, ...outcomes.flatMap(notes)].join('\n')}\n`;
}

/** What the table has no column for, a line each. */
function notes({ strategy, accounts, refusals, faults, house, seconds, turnover }: Outcome): string[] {
  const shown = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${whole(count)}`)
      .join(', ');
  const perSecond = (turnover.created / seconds).toFixed(0);
  return [
    '',
    `${strategy}: ${whole(seconds)} s, ${perSecond} orders a second`,
    ...(Object.keys(accounts).length > 1 ? [`  house $ by partner: ${shown(accountsOf(accounts))}`] : []),
    ...(Object.keys(refusals).length > 0 ? [`  refused: ${shown(refusals)}`] : []),
    ...(house.debits > 0 ? [`  WRONG: ${house.debits} orders whose user owes the house`] : []),
    ...faults.slice(0, 20).map((fault) => `  WRONG: ${fault}`),
    ...(faults.length > 20 ? [`  and ${faults.length - 20} more`] : []),
  ];
}

/** The results of accounts, from the worst on; of many, the worst and the best. */
function accountsOf(accounts: Outcome['accounts']): Outcome['accounts'] {
  const sorted = Object.entries(accounts).sort(([, one], [, other]) => one - other);
  const told = sorted.length > 8 ? [...sorted.slice(0, 4), ...sorted.slice(-2)] : sorted;
  return Object.fromEntries(told);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
