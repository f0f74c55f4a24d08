import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import { usualScopes } from '../accounts/partners/key-scope.ts';
import { Partner } from '../accounts/partners/partner.entity.ts';
import { KeyHasher } from '../accounts/partners/secret-key.ts';
import { StaffMember } from '../accounts/staff/staff-member.entity.ts';
import { advisoryLocks, durabilityProblems, migrate, schemaState, withAdvisoryLock } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { createSecretFile, readSecretFile } from '../base/secret-file.ts';
import { gatewayTerms } from '../config/fixed-rates.ts';
import type { Config, Pepper } from '../config/settings.ts';
import { Currency } from '../market/currencies/currency.entity.ts';
import { isFeedStalled } from '../orders/read/order-feed.ts';
import type { Foundation } from './foundation.ts';
import { refuseOtherChains } from './open-chains.ts';
import type { Signing, SigningParts } from './open-signing.ts';
import { createOrm } from './orm.ts';
import { type Services, type Shared, services, sharedOf } from './services.ts';
import { StartError } from './start-error.ts';

/** Access that the first start created, shown once. */
export interface DemoAccess {
  readonly partnerKey: string;
  readonly staffEmail: string;
  readonly staffToken: string;
  /** The invitation of the demo partner's first owner. Null without a cabinet. */
  readonly invitation: string | null;
}

interface Bootstrapped {
  readonly shared: Shared;
  readonly signing: Signing | null;
}

/**
 * Prepares the database and the secrets for a gateway. On an empty database it migrates, seeds the
 * currencies and makes the signer's keys. Processes that start at the same time take turns.
 *
 * @throws StartError when an operator must act first.
 */
export async function bootstrap(foundation: Foundation, parts: SigningParts): Promise<Bootstrapped> {
  const { config, databaseUrl: url, embedded, onProgress } = foundation;
  const { orm, networks } = parts;
  if (config.REQUIRE_DURABLE_COMMITS) {
    const problems = await durabilityProblems(orm);
    if (problems.length > 0) throw new StartError(problems.join('\n'));
  }
  // An api process must not load the code for signing.
  const signingSetup = config.ROLE === 'api' ? null : await import('./open-signing.ts');
  // Before the lock is taken, because a person may be asked for a passphrase.
  const seed = config.SIGNER_SOCKET === null ? ((await signingSetup?.openSeed(config)) ?? null) : null;
  return withAdvisoryLock(url, advisoryLocks.firstStart, async () => {
    const state = await schemaState(orm);
    if (state === 'behind' && !embedded) {
      throw new StartError('the database lacks the newest migrations; run: npm run -s cli -- db migrate');
    }
    if (state !== 'current') {
      // A migration may rewrite large tables, so it has no statement timeout.
      const patient = await createOrm({ url, poolSize: 1, statementTimeoutMs: 0 });
      const applied = await migrate(patient, url).finally(() => patient.close(true));
      onProgress(`migrated the database: ${applied.join(', ')}`);
    }
    // After the tables exist, before any rows are in them.
    await refuseOtherChains(orm, networks);
    const shared = sharedOf({ ...foundation, networks }, await openHasher(config, orm));
    const em = orm.em.fork();
    if (await isFeedStalled(em)) {
      onProgress(
        'this database was restored from a dump; for statistics and subscriptions: npm run -s cli -- db renumber',
      );
    }
    if ((await em.count(Currency)) === 0) {
      onProgress(`seeded ${await services(orm, shared).currencies.seed()} currencies`);
    }
    return { shared, signing: (await signingSetup?.openSigning(foundation, parts, seed)) ?? null };
  });
}

/**
 * Opens the hasher of keys and tokens. Its pepper comes from KEY_PEPPER, or from a file in
 * DATA_DIR. The file is made only while no key depends on another pepper.
 *
 * @throws StartError when the pepper is not the one that the database's keys were hashed with.
 */
export async function openHasher(config: Config, orm: MikroORM): Promise<KeyHasher> {
  const em = orm.em.fork();
  const rows = await sql<{ name: string; value: string }>(
    em,
    `select name, value from setting where name like 'pepper:%'`,
  );
  const known = new Map(rows.map(({ name, value }) => [name, value]));
  const hasher = new KeyHasher(config.KEY_PEPPER ?? [await filePepper(config, known.size > 0)]);
  for (const [version, fingerprint] of hasher.fingerprints()) {
    const name = `pepper:${version}`;
    await sql(em, 'insert into setting (name, value) values (?, ?) on conflict do nothing', [name, fingerprint]);
    const [stored] = await sql<{ value: string }>(em, 'select value from setting where name = ?', [name]);
    if (stored?.value !== fingerprint) {
      throw new StartError(
        `version ${version} of KEY_PEPPER is not the pepper that this database's keys were hashed with; set KEY_PEPPER to that one, or give a new pepper a new version in front of it`,
      );
    }
  }
  await refuseOrphanedKeys(orm, hasher);
  return hasher;
}

/**
 * Refuses a start without the pepper of live keys. Those keys would fail without a visible reason.
 */
async function refuseOrphanedKeys(orm: MikroORM, hasher: KeyHasher): Promise<void> {
  const used = await sql<{ version: number; keys: number }>(
    orm.em.fork(),
    `select pepper_version as version, count(*)::int as keys
       from (select pepper_version from api_key where revoked_at is null and (expires_at is null or expires_at > now())
             union all select pepper_version from staff_member where revoked_at is null and token_id is not null
             union all select secret_version from webhook_endpoint where status <> 'deleted') as live
      group by pepper_version order by pepper_version`,
  );
  const orphaned = used.filter(({ version }) => !hasher.fingerprints().has(version));
  if (orphaned.length > 0) {
    const shown = orphaned
      .map(({ version, keys }) => `version ${version} (${keys} live keys, tokens and webhook secrets)`)
      .join(', ');
    throw new StartError(`KEY_PEPPER lacks ${shown}; keep old peppers behind the new one, as 2:new,1:old`);
  }
}

async function filePepper(config: Config, needed: boolean): Promise<Pepper> {
  const path = join(config.DATA_DIR, 'key-pepper');
  const stored = readSecretFile(path);
  if (stored === null && needed) {
    throw new StartError(
      `this database's keys were hashed with a pepper that is not here: set KEY_PEPPER to the one that the first process used, or copy its ${path}`,
    );
  }
  return { version: 1, secret: stored ?? createSecretFile(path) };
}

/**
 * A demo partner and a staff admin where there is neither, else null; null for a worker. The last
 * step of a start, so that what can be shown only once is shown.
 */
export async function createDemoAccess(
  { config, databaseUrl, servesPartners }: Foundation,
  { networks }: Pick<Shared, 'networks'>,
  own: Services,
): Promise<DemoAccess | null> {
  if (!servesPartners) return null;
  return withAdvisoryLock(databaseUrl, advisoryLocks.firstStart, async () => {
    const em = own.orm.em.fork();
    const isFirst = (await em.count(Partner)) + (await em.count(StaffMember)) === 0;
    return isFirst ? createDemo(own, !networks.areOfValue && gatewayTerms(config).publicUrl !== null) : null;
  });
}

async function createDemo({ partners, staff, people }: Services, hasPages: boolean): Promise<DemoAccess> {
  const partner = await partners.create('Demo partner');
  if (hasPages) await partners.change(partner.id, { orderPage: true, displayName: 'Demo partner' });
  const { key } = await partners.issueKey(partner.id, { label: 'demo', scopes: [...usualScopes, 'sandbox'] });
  const staffEmail = 'admin@example.com';
  const { token } = await staff.create(staffEmail, 'admin');
  const invited = await people?.members.invite(partner.id, { name: 'Demo owner', role: 'owner' }, null);
  return { partnerKey: key, staffEmail, staffToken: token, invitation: invited?.link ?? null };
}
