import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';

function url(database: string): string {
  return (process.env.TEST_POSTGRES_URL ?? '').replace(/\/template_gateway$/, `/${database}`);
}

function databaseName(databaseUrl: string): string {
  return databaseUrl.slice(databaseUrl.lastIndexOf('/') + 1);
}

async function onServer(sql: string): Promise<void> {
  const client = new Client({ connectionString: url('postgres') });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A database that a test made. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Where the server of a database listens, and how to reach the database through a port of this
 * machine instead.
 */
export function behindPort(databaseUrl: string): {
  readonly socket: { readonly path: string };
  readonly url: (port: number) => string;
} {
  const { hostname, port, username, password } = new URL(databaseUrl);
  return {
    socket: { path: join(decodeURIComponent(hostname), `.s.PGSQL.${port}`) },
    url: (ownPort) => `postgres://${username}:${password}@127.0.0.1:${ownPort}/${databaseName(databaseUrl)}`,
  };
}

/** A database of one's own, migrated and seeded, or an empty one. */
export function createDatabase(kind: 'seeded' | 'empty' = 'seeded'): Promise<TestDatabase> {
  return createFrom(kind === 'seeded' ? 'template_gateway' : 'template1');
}

/** Copies a database of the test server. It must have no connections meanwhile. */
export function cloneDatabase(source: Pick<TestDatabase, 'url'>): Promise<TestDatabase> {
  return createFrom(databaseName(source.url));
}

async function createFrom(template: string): Promise<TestDatabase> {
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  await onServer(`create database ${name} template ${template}`);
  return { url: url(name), drop: () => onServer(`drop database ${name} with (force)`) };
}

/** Rows of one statement, on a separate connection. */
export async function query<Row extends object>(
  databaseUrl: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}
