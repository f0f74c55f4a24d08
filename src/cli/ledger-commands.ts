import type { MikroORM } from '@mikro-orm/postgresql';
import type { Command } from 'commander';
import type { ChainAdapter } from '../chains/chain-adapter.ts';
import { ledgerBalances, reconcile, renderReport } from '../ledger/reconcile.ts';
import { print } from './output.ts';

/** What the commands on the book work on. */
export interface LedgerContext {
  readonly orm: MikroORM;
  /** By chain. */
  readonly adapters: ReadonlyMap<string, ChainAdapter>;
}

/** Runs a command on the database and the chains of the settings. */
export type WithLedger = <T>(command: (context: LedgerContext) => Promise<T>) => Promise<T>;

/** Adds the commands on the book. A difference ends the process with 1, so that a script notices. */
export function ledgerCommands(program: Command, withLedger: WithLedger): void {
  const ledger = program.command('ledger').description('the book');
  ledger
    .command('reconcile')
    .description('derive every balance from the chains and the orders and compare it with the book; 1 on a difference')
    .option('--json', 'print one JSON object and nothing else')
    .action(async ({ json }: { json?: true }) => {
      const report = await withLedger(({ orm, adapters }) => reconcile({ orm, adapters }));
      process.stdout.write(`${json ? JSON.stringify(report) : renderReport(report)}\n`);
      if (report.differences > 0) process.exitCode = 1;
    });
  ledger
    .command('balances')
    .description('show every balance of the book by account and asset')
    .option('--json', 'print one JSON object and nothing else')
    .action(async ({ json }: { json?: true }) => {
      const balances = await withLedger(({ orm }) => ledgerBalances(orm));
      print({ balances: balances.map((row) => ({ ...row })) }, json ?? false);
    });
}
