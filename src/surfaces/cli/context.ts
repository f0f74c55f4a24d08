import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuditedResult } from '../../accounts/staff/audit/audit-log.ts';
import { openHasher } from '../../app/bootstrap.ts';
import { openKnownChains } from '../../app/open-chains.ts';
import { openNetworks } from '../../app/open-networks.ts';
import { createOrm } from '../../app/orm.ts';
import { type KeylessServices, keylessServices, type Services, services, sharedOf } from '../../app/services.ts';
import { StartError } from '../../app/start-error.ts';
import { systemClock } from '../../base/clock.ts';
import { type SchemaState, schemaState } from '../../base/db/database.ts';
import { findRunningEmbeddedPostgres, startEmbeddedPostgres } from '../../base/db/embedded/embedded-postgres.ts';
import { createLog } from '../../base/log.ts';
import type { LiveNetworks } from '../../chains/families/live-networks.ts';
import { rulesByName } from '../../chains/sandbox/sandbox-rules.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Config } from '../../config/settings.ts';
import type { ReconcileOptions } from '../../ledger/reconcile.ts';

/** The database and settings that a command works on. */
export interface DatabaseContext extends KeylessServices {
  readonly config: Config;
  readonly url: string;
  readonly embedded: boolean;
  readonly networks: LiveNetworks;
  /** As it was when the command began. */
  readonly schema: SchemaState;
}

export interface CommandContext extends DatabaseContext, Services {}

/**
 * Runs a command on the database of the settings: DATABASE_URL, or the embedded one of DATA_DIR.
 * When no gateway runs, the embedded database is started for the command.
 */
export async function withDatabase<T>(command: (context: DatabaseContext) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const networks = await openNetworks(config);
  const { url, close } = await openDatabase(config);
  try {
    const orm = await createOrm({ url, poolSize: 2, statementTimeoutMs: 0 });
    try {
      // Also for commands that work on an empty database: it refuses one from before the release.
      const schema = await schemaState(orm);
      const own = keylessServices(orm, { clock: systemClock, networks });
      return await command({ config, url, embedded: config.DATABASE_URL === null, networks, schema, ...own });
    } finally {
      await orm.close(true);
    }
  } finally {
    await close();
  }
}

/** Runs a command with the services, on a database that a gateway could use. */
export async function withServices<T>(command: (context: CommandContext) => Promise<T>): Promise<T> {
  return withDatabase(async (context) => {
    const { schema } = context;
    if (schema !== 'current') {
      const advice = 'run: npm run -s cli -- db migrate, then npm run -s cli -- db seed; or start the gateway once';
      throw new StartError(
        schema === 'empty' ? `the database is empty; ${advice}` : `migrations are missing; ${advice}`,
      );
    }
    const { config, orm, networks } = context;
    const hasher = await openHasher(config, orm);
    const shared = sharedOf({ config, networks, clock: systemClock, log: createLog('silent') }, hasher);
    return command({ ...context, ...services(orm, shared) });
  });
}

/** A command that changes something, for the audit log. */
export interface Change {
  /** The command as it is typed: 'partner set'. */
  readonly command: string;
  readonly reason: string;
}

/** Runs a command that changes something, and writes its audit entry in the same transaction. */
export async function withChange<T>(
  change: Change,
  work: (context: CommandContext, em: EntityManager) => Promise<AuditedResult<T>>,
): Promise<T> {
  return withServices((context) => writtenDown(context, change, (em) => work(context, em)));
}

/**
 * Runs work in a transaction, and writes an audit entry with the operator's account on this
 * machine.
 */
export function writtenDown<T>(
  { audit }: DatabaseContext,
  { command, reason }: Change,
  work: (em: EntityManager) => Promise<AuditedResult<T>>,
): Promise<T> {
  const actor = { operator: operator(), requestId: randomUUID(), ip: 'local' };
  return audit.act(actor, `cli ${command}`, reason, work);
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
    // An account without a name, as in containers.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Runs a command on the database and its chains. */
export async function withLedger<T>(
  command: (context: Pick<ReconcileOptions, 'orm' | 'adapters'>) => Promise<T>,
): Promise<T> {
  return withServices(async ({ config, orm, networks, currencies }) => {
    const rules = rulesByName(config.SANDBOX_RULES);
    return command({ orm, adapters: await openKnownChains(orm, networks, await currencies.list(), rules) });
  });
}

async function openDatabase(config: Config): Promise<{ url: string; close: () => Promise<void> }> {
  if (config.DATABASE_URL !== null) return { url: config.DATABASE_URL, close: async () => {} };
  const running = await findRunningEmbeddedPostgres(config.DATA_DIR);
  if (running) return { url: running.url, close: async () => running.close() };
  const started = await startEmbeddedPostgres({ dataDir: config.DATA_DIR });
  return { url: started.url, close: () => started.stop() };
}
