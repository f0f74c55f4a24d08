import type { Command } from 'commander';
import { ledgerBalances, reconcile, renderReport } from '../../ledger/reconcile.ts';
import { verb } from './arguments.ts';
import { withLedger } from './context.ts';
import { print } from './output.ts';

/**
 * Adds the commands on the ledger. A difference ends the process with 1, for scripts.
 *
 * @param run gives the commands their database. Tests pass their own.
 */
export function ledgerCommands(program: Command, run: typeof withLedger = withLedger): void {
  const ledger = program.command('ledger').description('the book');
  verb(
    ledger,
    'reconcile',
    'derive every balance from the chains and the orders and compare it with the ledger; exit code 1 on a difference',
  ).action(async ({ json }) => {
    const report = await run(({ orm, adapters }) => reconcile({ orm, adapters }));
    process.stdout.write(`${json ? JSON.stringify(report) : renderReport(report)}\n`);
    if (report.differences > 0) process.exitCode = 1;
  });
  verb(ledger, 'balances', 'show every balance of the ledger by account and asset').action(async ({ json }) => {
    const balances = await run(({ orm }) => ledgerBalances(orm.em.fork()));
    print({ balances: balances.map((row) => ({ ...row })) }, json);
  });
}
