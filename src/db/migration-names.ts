/** All migrations, in order. A merged migration is never edited. */
export const migrationNames = [
  '0001-foundation',
  '0002-settlement',
  '0003-staff-acting',
  '0004-staff-sessions',
  '0005-staff-reading',
  '0006-live-chains',
  '0007-venue-orders',
  '0008-trust',
  '0009-timely',
  '0010-identity',
  '0011-payment-patience',
  '0012-exposure',
  '0013-venue-bound',
  '0014-keys-and-staff',
  '0015-payout-brakes',
  '0019-fee-shares',
  '0025-payout-shares',
  '0026-secret-tags',
  '0030-partner-feed',
  '0031-order-terms',
  '0032-order-changes',
  '0033-order-actions',
  '0034-markup',
  '0036-webhooks',
  '0037-sandbox-outcomes',
  '0038-sandbox-magic-values',
  '0039-order-page',
  '0040-partner-cabinet',
  '0041-console-lists',
  '0042-repeatable-requests',
  '0043-partner-pages',
  '0044-staff-work',
  '0045-system-history',
  '0046-cheaper-checks',
  '0047-exposure-shares',
  '0048-fresh-orders',
] as const;

export type MigrationName = (typeof migrationNames)[number];

/** The table of the migrations that were applied to the database. */
export const migrationTable = 'migration';
