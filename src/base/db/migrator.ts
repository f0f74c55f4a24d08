import { type Migration, Migrator } from '@mikro-orm/migrations';
import type { Constructor, MikroORM } from '@mikro-orm/postgresql';
import { type MigrationName, migrationNames, migrationTable } from './migration-names.ts';
import { Migration0001Foundation } from './migrations/0001-foundation.ts';
import { Migration0002Settlement } from './migrations/0002-settlement.ts';
import { Migration0003StaffActing } from './migrations/0003-staff-acting.ts';
import { Migration0004StaffSessions } from './migrations/0004-staff-sessions.ts';
import { Migration0005StaffReading } from './migrations/0005-staff-reading.ts';
import { Migration0006LiveChains } from './migrations/0006-live-chains.ts';
import { Migration0007VenueOrders } from './migrations/0007-venue-orders.ts';
import { Migration0008Trust } from './migrations/0008-trust.ts';
import { Migration0009Timely } from './migrations/0009-timely.ts';
import { Migration0010Identity } from './migrations/0010-identity.ts';
import { Migration0011PaymentPatience } from './migrations/0011-payment-patience.ts';
import { Migration0012Exposure } from './migrations/0012-exposure.ts';
import { Migration0013VenueBound } from './migrations/0013-venue-bound.ts';
import { Migration0014KeysAndStaff } from './migrations/0014-keys-and-staff.ts';
import { Migration0015PayoutBrakes } from './migrations/0015-payout-brakes.ts';
import { Migration0019FeeShares } from './migrations/0019-fee-shares.ts';
import { Migration0025PayoutShares } from './migrations/0025-payout-shares.ts';
import { Migration0026SecretTags } from './migrations/0026-secret-tags.ts';
import { Migration0030PartnerFeed } from './migrations/0030-partner-feed.ts';
import { Migration0031OrderTerms } from './migrations/0031-order-terms.ts';
import { Migration0032OrderChanges } from './migrations/0032-order-changes.ts';
import { Migration0033OrderActions } from './migrations/0033-order-actions.ts';
import { Migration0034Markup } from './migrations/0034-markup.ts';
import { Migration0036Webhooks } from './migrations/0036-webhooks.ts';
import { Migration0037SandboxOutcomes } from './migrations/0037-sandbox-outcomes.ts';
import { Migration0038SandboxMagicValues } from './migrations/0038-sandbox-magic-values.ts';
import { Migration0039OrderPage } from './migrations/0039-order-page.ts';
import { Migration0040PartnerCabinet } from './migrations/0040-partner-cabinet.ts';
import { Migration0041ConsoleLists } from './migrations/0041-console-lists.ts';
import { Migration0042RepeatableRequests } from './migrations/0042-repeatable-requests.ts';
import { Migration0043PartnerPages } from './migrations/0043-partner-pages.ts';
import { Migration0044StaffWork } from './migrations/0044-staff-work.ts';
import { Migration0045SystemHistory } from './migrations/0045-system-history.ts';
import { Migration0046CheaperChecks } from './migrations/0046-cheaper-checks.ts';
import { Migration0047ExposureShares } from './migrations/0047-exposure-shares.ts';
import { Migration0048FreshOrders } from './migrations/0048-fresh-orders.ts';
import { Migration0049PaidFloatOrders } from './migrations/0049-paid-float-orders.ts';
import { Migration0050Completions } from './migrations/0050-completions.ts';
import { Migration0051ForcedTransactions } from './migrations/0051-forced-transactions.ts';
import { Migration0052BoundedRows } from './migrations/0052-bounded-rows.ts';
import { Migration0053WebhookAllowance } from './migrations/0053-webhook-allowance.ts';
import { Migration0054ToldDeposits } from './migrations/0054-told-deposits.ts';

const classes: Readonly<Record<MigrationName, Constructor<Migration>>> = {
  '0001-foundation': Migration0001Foundation,
  '0002-settlement': Migration0002Settlement,
  '0003-staff-acting': Migration0003StaffActing,
  '0004-staff-sessions': Migration0004StaffSessions,
  '0005-staff-reading': Migration0005StaffReading,
  '0006-live-chains': Migration0006LiveChains,
  '0007-venue-orders': Migration0007VenueOrders,
  '0008-trust': Migration0008Trust,
  '0009-timely': Migration0009Timely,
  '0010-identity': Migration0010Identity,
  '0011-payment-patience': Migration0011PaymentPatience,
  '0012-exposure': Migration0012Exposure,
  '0013-venue-bound': Migration0013VenueBound,
  '0014-keys-and-staff': Migration0014KeysAndStaff,
  '0015-payout-brakes': Migration0015PayoutBrakes,
  '0019-fee-shares': Migration0019FeeShares,
  '0025-payout-shares': Migration0025PayoutShares,
  '0026-secret-tags': Migration0026SecretTags,
  '0030-partner-feed': Migration0030PartnerFeed,
  '0031-order-terms': Migration0031OrderTerms,
  '0032-order-changes': Migration0032OrderChanges,
  '0033-order-actions': Migration0033OrderActions,
  '0034-markup': Migration0034Markup,
  '0036-webhooks': Migration0036Webhooks,
  '0037-sandbox-outcomes': Migration0037SandboxOutcomes,
  '0038-sandbox-magic-values': Migration0038SandboxMagicValues,
  '0039-order-page': Migration0039OrderPage,
  '0040-partner-cabinet': Migration0040PartnerCabinet,
  '0041-console-lists': Migration0041ConsoleLists,
  '0042-repeatable-requests': Migration0042RepeatableRequests,
  '0043-partner-pages': Migration0043PartnerPages,
  '0044-staff-work': Migration0044StaffWork,
  '0045-system-history': Migration0045SystemHistory,
  '0046-cheaper-checks': Migration0046CheaperChecks,
  '0047-exposure-shares': Migration0047ExposureShares,
  '0048-fresh-orders': Migration0048FreshOrders,
  '0049-paid-float-orders': Migration0049PaidFloatOrders,
  '0050-completions': Migration0050Completions,
  '0051-forced-transactions': Migration0051ForcedTransactions,
  '0052-bounded-rows': Migration0052BoundedRows,
  '0053-webhook-allowance': Migration0053WebhookAllowance,
  '0054-told-deposits': Migration0054ToldDeposits,
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
