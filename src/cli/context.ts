import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { AuditLog, type Done } from '../audit/audit-log.ts';
import { openHasher } from '../bootstrap.ts';
import type { LiveNetworks } from '../chains/live-networks.ts';
import { openKnownChains } from '../chains-setup.ts';
import { systemClock } from '../clock.ts';
import { type Config, loadConfig } from '../config.ts';
import { CurrencyService } from '../currencies/currency-service.ts';
import { schemaState } from '../db/database.ts';
import { findRunningEmbeddedPostgres, startEmbeddedPostgres } from '../db/embedded-postgres.ts';
import { createOrm } from '../db/orm.ts';
import { openNetworks } from '../networks-setup.ts';
import { PartnerService } from '../partners/partner-service.ts';
import { StaffService } from '../staff/staff-service.ts';
import { StartError } from '../start-error.ts';
import type { LedgerContext } from './ledger-commands.ts';

/** What a command works on. */
export interface DatabaseContext {
  readonly config: Config;
  readonly url: string;
  readonly embedded: boolean;
  readonly orm: MikroORM;
  readonly networks: LiveNetworks;
}

export interface CommandContext extends DatabaseContext {
  readonly partners: PartnerService;
  readonly staff: StaffService;
  readonly currencies: CurrencyService;
}

/**
 * Runs a command on the database of the settings: DATABASE_URL, or the embedded one of DATA_DIR, which is started for
 * the command's duration when no gateway runs.
 */
export async function withDatabase<T>(command: (context: DatabaseContext) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const networks = await openNetworks(config);
  const { url, close } = await openDatabase(config);
  try {
    const orm = await createOrm({ url, poolSize: 2, statementTimeoutMs: 0 });
    try {
      return await command({ config, url, embedded: config.DATABASE_URL === null, orm, networks });
    } finally {
      await orm.close(true);
    }
  } finally {
    await close();
  }
}

/** As `withDatabase`, with the services, on a database that a gateway could run on. */
export async function withServices<T>(command: (context: CommandContext) => Promise<T>): Promise<T> {
  return withDatabase(async (context) => {
    const state = await schemaState(context.orm);
    if (state !== 'current') {
      const advice = 'run: npm run -s cli -- db migrate, then npm run -s cli -- db seed; or start the gateway once';
      throw new StartError(
        state === 'empty' ? `the database is empty; ${advice}` : `migrations are missing; ${advice}`,
      );
    }
    const { config, orm } = context;
    const hasher = await openHasher(config, orm);
    return command({
      ...context,
      partners: new PartnerService(orm, hasher, systemClock, context.networks.areOfValue),
      staff: new StaffService(orm, hasher, systemClock),
      currencies: new CurrencyService(orm, systemClock, context.networks),
    });
  });
}

/** What a command that changes something is, for the audit log. */
export interface Change {
  /** As it is typed: 'partner set'. */
  readonly command: string;
  readonly reason: string;
}

/** Runs a command that changes something, and writes it to the audit log in the same transaction. */
export async function withChange<T>(
  change: Change,
  work: (context: CommandContext, em: EntityManager) => Promise<Done<T>>,
): Promise<T> {
  return withServices((context) => writtenDown(context, change, (em) => work(context, em)));
}

/** Does something in a transaction and writes down which account of this machine did it. */
export function writtenDown<T>(
  { orm }: DatabaseContext,
  { command, reason }: Change,
  work: (em: EntityManager) => Promise<Done<T>>,
): Promise<T> {
  const actor = { operator: operator(), requestId: randomUUID(), ip: 'local' };
  return new AuditLog(orm, systemClock).act(actor, `cli ${command}`, reason, work);
}

/** The account on this machine that runs the command. */
function operator(): string {
  try {
    return (
      userInfo()
        .username.replace(/[^\w.@-]/g, '_')
        .slice(0, 60) || 'unknown'
    );
  } catch {
    // An account without a name, as containers have.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Runs a command on the database and its chains. */
export async function withLedger<T>(command: (context: LedgerContext) => Promise<T>): Promise<T> {
  return withServices(async ({ orm, networks, currencies }) => {
    return command({ orm, adapters: await openKnownChains(orm, networks, await currencies.list()) });
  });
}

async function openDatabase(config: Config): Promise<{ url: string; close: () => Promise<void> }> {
  if (config.DATABASE_URL !== null) return { url: config.DATABASE_URL, close: async () => {} };
  const running = await findRunningEmbeddedPostgres(config.DATA_DIR);
  if (running) return { url: running.url, close: async () => running.close() };
  const started = await startEmbeddedPostgres({ dataDir: config.DATA_DIR });
  return { url: started.url, close: () => started.stop() };
}
