import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import { DepositAccount } from './chains/deposit-account.entity.ts';
import type { LiveNetworks } from './chains/live-networks.ts';
import { type Signer, SignerError } from './chains/signer.ts';
import type { Clock } from './clock.ts';
import type { Config, Pepper } from './config.ts';
import { Currency } from './currencies/currency.entity.ts';
import { CurrencyService } from './currencies/currency-service.ts';
import { advisoryLocks, durabilityProblems, migrate, schemaState, withAdvisoryLock } from './db/database.ts';
import type { Log } from './log.ts';
import { Partner } from './partners/partner.entity.ts';
import { PartnerService } from './partners/partner-service.ts';
import { KeyHasher } from './partners/secret-key.ts';
import { isFeedStalled } from './reports/order-feed.ts';
import { createSecretFile, readSecretFile } from './secret-file.ts';
import { DepositPool } from './signer/address-pool.ts';
import type { DepositKeys } from './signer/deposit-keys.ts';
import { openLocalSigner } from './signer/local-signer.ts';
import { signerSecret } from './signer/secret.ts';
import { readSeed, seedPath } from './signer/seed.ts';
import { SocketSigner } from './signer/socket-signer.ts';
import { StaffMember } from './staff/staff-member.entity.ts';
import { StaffService } from './staff/staff-service.ts';

/** A start that cannot go on, with what the operator should do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

export interface BootstrapOptions {
  readonly config: Config;
  readonly orm: MikroORM;
  readonly url: string;
  readonly networks: LiveNetworks;
  /** The database is our own embedded one, so that migrating it needs no command. */
  readonly embedded: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly onProgress: (line: string) => void;
  /** Throws when the database is not one for these settings. Asked once it has its tables, before anything is in them. */
  readonly refuseOthers: () => Promise<void>;
}

/** What a very first start made, to be shown once. */
export interface DemoAccess {
  readonly partnerKey: string;
  readonly staffEmail: string;
  readonly staffToken: string;
}

export interface Bootstrapped {
  readonly hasher: KeyHasher;
  readonly signing: Signing | null;
}

/** What a process has that may sign. */
export interface Signing {
  readonly signer: Signer;
  /** Fills pools of deposit addresses. */
  readonly pool: DepositPool;
  close(): Promise<void>;
}

/**
 * Brings the database and the secrets to where a gateway can run on them. On an empty database it migrates, seeds the
 * currencies and makes the signer's keys. Processes that start at once take turns.
 *
 * @throws StartError when an operator must act first.
 */
export async function bootstrap(options: BootstrapOptions): Promise<Bootstrapped> {
  const { config, orm, url, embedded, clock, onProgress } = options;
  if (config.REQUIRE_DURABLE_COMMITS) {
    const problems = await durabilityProblems(orm);
    if (problems.length > 0)
      throw new StartError(`${problems.join('\n')}\nor, where losing orders is fine, REQUIRE_DURABLE_COMMITS=false`);
  }
  // Before the lock is taken, as a person may be asked for a passphrase.
  const seed = config.ROLE === 'api' || config.SIGNER_SOCKET !== null ? null : await openSeed(config);
  return withAdvisoryLock(url, advisoryLocks.firstStart, async () => {
    const state = await schemaState(orm);
    if (state === 'behind' && !embedded) {
      throw new StartError('the database lacks the newest migrations; run: npm run -s cli -- db migrate');
    }
    if (state !== 'current') {
      const applied = await migrate(orm, url);
      onProgress(`migrated the database: ${applied.join(', ')}`);
    }
    await options.refuseOthers();
    const hasher = await openHasher(config, orm);
    const em = orm.em.fork();
    if (await isFeedStalled(em)) {
      onProgress(
        'this database was restored from a dump; for statistics and subscriptions: npm run -s cli -- db renumber',
      );
    }
    if ((await em.count(Currency)) === 0) {
      onProgress(`seeded ${await new CurrencyService(orm, clock).seed()} currencies`);
    }
    return { hasher, signing: config.ROLE === 'api' ? null : await openSigning(options, seed) };
  });
}

/**
 * The hasher of keys and tokens. Its pepper comes from KEY_PEPPER, or from a file in DATA_DIR that is made when no key
 * depends on another yet.
 *
 * @throws StartError when the pepper is not the one that the database's keys were hashed with.
 */
export async function openHasher(config: Config, orm: MikroORM): Promise<KeyHasher> {
  const em = orm.em.fork();
  const rows = await em.execute<{ name: string; value: string }[]>(
    `select name, value from setting where name like 'pepper:%'`,
  );
  const known = new Map(rows.map(({ name, value }) => [name, value]));
  const hasher = new KeyHasher(config.KEY_PEPPER ?? [await filePepper(config, known.size > 0)]);
  for (const [version, fingerprint] of hasher.fingerprints()) {
    const name = `pepper:${version}`;
    await em.execute('insert into setting (name, value) values (?, ?) on conflict do nothing', [name, fingerprint]);
    const [stored] = await em.execute<{ value: string }[]>('select value from setting where name = ?', [name]);
    if (stored?.value !== fingerprint) {
      throw new StartError(
        `version ${version} of KEY_PEPPER is not the pepper that this database's keys were hashed with; set KEY_PEPPER to that one, or give a new pepper a new version in front of it`,
      );
    }
  }
  await refuseOrphanedKeys(orm, hasher);
  return hasher;
}

/** Keys whose pepper is no longer configured would fail one by one, without anyone knowing why. */
async function refuseOrphanedKeys(orm: MikroORM, hasher: KeyHasher): Promise<void> {
  const used = await orm.em.fork().execute<{ version: number; keys: number }[]>(
    `select pepper_version as version, count(*)::int as keys
       from (select pepper_version from api_key where revoked_at is null and (expires_at is null or expires_at > now())
             union all select pepper_version from staff_member where revoked_at is null and token_id is not null) as live
      group by pepper_version order by pepper_version`,
  );
  const orphaned = used.filter(({ version }) => !hasher.fingerprints().has(version));
  if (orphaned.length > 0) {
    const shown = orphaned.map(({ version, keys }) => `version ${version} (${keys} live keys and tokens)`).join(', ');
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
 * The signer: a process of its own, or the seed of this one. With a process of its own no seed is read or made here. Null
 * when neither is there, so that this process leaves chains and pools to others.
 */
async function openSigning(options: BootstrapOptions, stored: Buffer | null): Promise<Signing | null> {
  const { config } = options;
  if (config.SIGNER_SOCKET !== null) return openSocketSigning(options, config.SIGNER_SOCKET);
  const seed = stored ?? (await firstSeed(options));
  if (seed === null) return null;
  const signer = await openLocalSigner({ entropy: seed, dataDir: config.DATA_DIR });
  seed.fill(0);
  const pool = depositPool(options, signer);
  await pool.provision();
  return { signer, pool, close: () => signer.close() };
}

async function openSocketSigning(options: BootstrapOptions, socketPath: string): Promise<Signing> {
  const { config } = options;
  if (config.SIGNER_SEED !== null) {
    throw new StartError('a gateway with SIGNER_SOCKET holds no keys: give SIGNER_SEED to the signer only');
  }
  const signer = new SocketSigner({ socketPath, secret: signerSecret(config) });
  const pool = depositPool(options, signer);
  try {
    await pool.provision();
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    throw new StartError(error.message);
  }
  return { signer, pool, close: async () => {} };
}

/** Addresses made ahead are those of networks that are on. */
function depositPool({ orm, url, networks, clock, log }: BootstrapOptions, keys: DepositKeys): DepositPool {
  return new DepositPool({ orm, url, keys, clock, log, isServed: (chain) => networks.state(chain) !== 'off' });
}

/** @throws StartError when the seed is there and cannot be opened. */
async function openSeed(config: Config): Promise<Buffer | null> {
  try {
    return await readSeed(config);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : 'the signer seed cannot be read');
  }
}

/** Makes the seed when the database has no deposit accounts yet, and never later. */
async function firstSeed({ config, orm, embedded, log, onProgress }: BootstrapOptions): Promise<Buffer | null> {
  const path = seedPath(config.DATA_DIR);
  // Another process of this folder may have made it meanwhile.
  const stored = await openSeed(config);
  if (stored !== null) return stored;
  if ((await orm.em.fork().count(DepositAccount)) === 0) {
    const made = Buffer.from(createSecretFile(path), 'hex');
    onProgress(`made the signer's keys in ${path}; back this file up, it controls all deposits`);
    return made;
  }
  if (embedded) {
    throw new StartError(
      `the signer seed of this database is missing, and without it no deposit can ever be spent: restore ${path} from a backup`,
    );
  }
  log.warn(
    { event: 'signer_elsewhere' },
    'the signer seed of this database is not in DATA_DIR and SIGNER_SOCKET is not set; another process must fill the address pools, watch the chains and make the payments',
  );
  return null;
}

/**
 * A demo partner and a staff admin where there is neither, else null. The last step of a start, so that what can be
 * shown only once is shown.
 */
export async function createDemoAccess(
  { orm, url, clock }: Pick<BootstrapOptions, 'orm' | 'url' | 'clock'>,
  hasher: KeyHasher,
): Promise<DemoAccess | null> {
  return withAdvisoryLock(url, advisoryLocks.firstStart, async () => {
    const em = orm.em.fork();
    const isFirst = (await em.count(Partner)) + (await em.count(StaffMember)) === 0;
    return isFirst ? createDemo(orm, hasher, clock) : null;
  });
}

async function createDemo(orm: MikroORM, hasher: KeyHasher, clock: Clock): Promise<DemoAccess> {
  const partners = new PartnerService(orm, hasher, clock);
  const partner = await partners.create('Demo partner');
  const { key } = await partners.issueKey(partner.id, { label: 'demo' });
  const staffEmail = 'admin@example.com';
  const { token } = await new StaffService(orm, hasher, clock).create(staffEmail, 'admin');
  return { partnerKey: key, staffEmail, staffToken: token };
}
