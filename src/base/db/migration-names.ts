/** All migrations, in order. A merged one is never edited. */
export const migrationNames = [
  '0001-baseline',
  '0002-exchange-account',
  '0003-attempt-expiry',
  '0004-sweep-refusals',
  '0005-unassigned-deposits',
  '0006-wallet-setup',
  '0007-turnover-of-all',
  '0008-commission',
] as const;

export type MigrationName = (typeof migrationNames)[number];

/** The table of the migrations that were applied to the database. */
export const migrationTable = 'migration';
