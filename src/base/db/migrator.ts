import { type Migration, Migrator } from '@mikro-orm/migrations';
import type { Constructor, MikroORM } from '@mikro-orm/postgresql';
import { type MigrationName, migrationNames, migrationTable } from './migration-names.ts';
import { Migration0001Baseline } from './migrations/0001-baseline.ts';
import { Migration0002ExchangeAccount } from './migrations/0002-exchange-account.ts';
import { Migration0003AttemptExpiry } from './migrations/0003-attempt-expiry.ts';
import { Migration0004SweepRefusals } from './migrations/0004-sweep-refusals.ts';
import { Migration0005UnassignedDeposits } from './migrations/0005-unassigned-deposits.ts';
import { Migration0006WalletSetup } from './migrations/0006-wallet-setup.ts';
import { Migration0007TurnoverOfAll } from './migrations/0007-turnover-of-all.ts';
import { Migration0008Commission } from './migrations/0008-commission.ts';

const classes: Readonly<Record<MigrationName, Constructor<Migration>>> = {
  '0001-baseline': Migration0001Baseline,
  '0002-exchange-account': Migration0002ExchangeAccount,
  '0003-attempt-expiry': Migration0003AttemptExpiry,
  '0004-sweep-refusals': Migration0004SweepRefusals,
  '0005-unassigned-deposits': Migration0005UnassignedDeposits,
  '0006-wallet-setup': Migration0006WalletSetup,
  '0007-turnover-of-all': Migration0007TurnoverOfAll,
  '0008-commission': Migration0008Commission,
};

/** Makes the migrator, which runs the migrations that a database lacks. */
export function migratorOf({ config, em }: MikroORM): Migrator {
  config.set('migrations', {
    ...config.get('migrations'),
    migrationsList: migrationNames.map((name) => ({ name, class: classes[name] })),
    snapshot: false,
    snapshotOnMigrate: false,
    tableName: migrationTable,
  });
  return new Migrator(em);
}
