import { Client, type ClientConfig } from 'pg';

/**
 * What the gateway relies on in every session: the form of values, the meaning of statements, and
 * no time limit unless a caller sets one. A database or a role may have other settings.
 */
const sessionSettings = {
  DateStyle: 'ISO,MDY',
  TimeZone: 'UTC',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read\\ committed',
  default_transaction_deferrable: 'off',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
};
const sessionOptions = Object.entries(sessionSettings)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

/**
 * Keeps variables of the shell out of a session. `pg` reads `PGOPTIONS` and the like for what its
 * options lack. TLS is left to `PGSSLMODE` where the URL says nothing of it, except at a Unix
 * socket, which has none.
 */
function withoutShell(config: ClientConfig): ClientConfig {
  const atSocket = { ssl: false, sslnegotiation: 'postgres' } as const;
  return {
    client_encoding: 'utf8',
    ...(isAtSocket(config) && atSocket),
    ...config,
    options: config.options ?? ' ',
  };
}

function isAtSocket({ host = '', connectionString }: ClientConfig): boolean {
  if (connectionString === undefined || !URL.canParse(connectionString)) return host.startsWith('/');
  const { hostname, searchParams } = new URL(connectionString);
  return (searchParams.get('host') ?? decodeURIComponent(hostname)).startsWith('/');
}

/** What `pg` has and its types do not declare. */
interface Undeclared {
  /** What the session begins with. */
  readonly connectionParameters?: { options: string; replication: unknown };
}

/** A session with `sessionSettings`, into which no variable of the shell leads. */
export class SessionClient extends Client {
  constructor(config: ClientConfig) {
    super(withoutShell(config));
    const { connectionParameters: begins } = this as Undeclared;
    // Last, so that options of the URL change none of them.
    if (begins) Object.assign(begins, { options: `${begins.options} ${sessionOptions}`, replication: undefined });
  }
}
