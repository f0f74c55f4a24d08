import type { MikroORM } from '@mikro-orm/postgresql';
import { DatabaseClient } from './database-client.ts';
import { migrationNames, migrationTable } from './migration-names.ts';
import { sql } from './sql.ts';

/** Advisory locks of this product, in one table, so that no two uses share a number. */
export const advisoryLocks = {
  migrate: 7_310_001,
  /**
   * Shared by API processes that count limits in Redis; exclusive for one that counts in memory.
   */
  limiter: 7_310_002,
  poolTopUp: 7_310_003,
  firstStart: 7_310_004,
  /** Held while a payment is counted against the payout limits. */
  payoutLimits: 7_310_005,
} as const;

/**
 * Runs an action under an advisory lock that one session of the database holds at a time. Other
 * processes wait their turn.
 */
export async function withAdvisoryLock<T>(url: string, lock: number, action: () => Promise<T>): Promise<T> {
  const client = new DatabaseClient({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lock]);
    return await action();
  } finally {
    await client.end();
  }
}

/** The database was made by a checkout from before release 0.1.0. No migration leads from there. */
class PreReleaseDatabase extends Error {
  override readonly name = 'PreReleaseDatabase';
  constructor() {
    super(
      'a checkout from before release 0.1.0 made this database, and its data cannot be carried over: set DATABASE_URL to another database, or drop this one and create it again; with the embedded PostgreSQL, set DATA_DIR to another folder, or remove the present one if no coins depend on its seed',
    );
  }
}

/**
 * Migrates the schema to the newest version and returns the names of the migrations it applied.
 * Safe when several processes start at once.
 *
 * @throws PreReleaseDatabase
 */
export async function migrate(orm: MikroORM, url: string): Promise<string[]> {
  return withAdvisoryLock(url, advisoryLocks.migrate, async () => {
    await appliedMigrations(orm);
    // Most processes never migrate, so that they do not load the migrator.
    const { migratorOf } = await import('./migrator.ts');
    const applied = await migratorOf(orm).up();
    return applied.map((migration) => migration.name);
  });
}

/** `empty`: never migrated. `behind`: the newest migrations are missing. */
export type SchemaState = 'empty' | 'behind' | 'current';

/** @throws PreReleaseDatabase */
export async function schemaState(orm: MikroORM): Promise<SchemaState> {
  const applied = await appliedMigrations(orm);
  if (applied === null) return 'empty';
  return migrationNames.every((name) => applied.has(name)) ? 'current' : 'behind';
}

/**
 * Names of the applied migrations, also of a newer version. Null for a database that was never
 * migrated.
 *
 * @throws PreReleaseDatabase
 */
async function appliedMigrations(orm: MikroORM): Promise<Set<string> | null> {
  const em = orm.em.fork();
  const [row] = await sql<{ present: boolean }>(em, 'select to_regclass(?) is not null as present', [migrationTable]);
  if (!row?.present) return null;
  const applied = await sql<{ name: string }>(em, 'select name from ??', [migrationTable]);
  const names = new Set(applied.map(({ name }) => name));
  if (names.size > 0 && !names.has(migrationNames[0])) throw new PreReleaseDatabase();
  return names;
}

/**
 * Names each setting that could make PostgreSQL forget an acknowledged commit, with the remedy.
 * Empty when commits are durable.
 */
export async function durabilityProblems(orm: MikroORM): Promise<string[]> {
  const rows = await sql<{ name: string; setting: string }>(
    orm.em.fork(),
    `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')`,
  );
  return rows
    .filter(({ setting }) => setting === 'off')
    .map(({ name }) => `PostgreSQL runs with ${name}=off and may lose acknowledged orders: set ${name}=on`);
}

/**
 * Yields the error and its causes, outermost first. It looks at the shape, because an error of
 * another realm is no instance of our Error.
 */
function* causes(
  error: unknown,
): Generator<{ name?: unknown; message?: unknown; code?: unknown; constraint?: unknown }> {
  let cause = error;
  for (let depth = 0; depth < 5 && typeof cause === 'object' && cause !== null; depth++) {
    yield cause;
    cause = 'cause' in cause ? cause.cause : 'previous' in cause ? cause.previous : undefined;
  }
}

/**
 * Codes that mean 'the database is away':
 * - PostgreSQL: connection exceptions (class 08), shutdowns (57P0x), timeouts (57014, 25P03,
 *   55P03), missing resources (class 53), and a server that became a standby (25006);
 * - the codes of the socket.
 */
const awayCode =
  /^(08\w{3}|57P0\d|57014|55P03|53\d{3}|25006|25P03|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/;
/** node-postgres gives these errors no code. */
const awayMessage =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection|Client was closed)/;

/**
 * Whether an error means that the database cannot be reached or is shutting down. Any other error
 * is a fault of the gateway.
 */
export function isDatabaseAway(error: unknown): boolean {
  for (const { code, message } of causes(error)) {
    if (typeof code === 'string' && awayCode.test(code)) return true;
    if (typeof message === 'string' && awayMessage.test(message)) return true;
  }
  return false;
}

/**
 * The SQLSTATE of a database error, or null.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function sqlState(error: unknown): string | null {
  for (const { code } of causes(error)) {
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  }
  return null;
}

/** The name of the constraint that a write violated, or null. */
export function brokenConstraint(error: unknown): string | null {
  for (const { constraint } of causes(error)) {
    if (typeof constraint === 'string') return constraint;
  }
  return null;
}
