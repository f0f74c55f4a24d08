import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

function url(database: string): string {
  return (process.env.TEST_POSTGRES_URL ?? '').replace(/\/template_gateway$/, `/${database}`);
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

/** A database of one's own, migrated and seeded, or an empty one. */
export async function createDatabase(
  kind: 'seeded' | 'empty' = 'seeded',
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  await onServer(`create database ${name}${kind === 'seeded' ? ' template template_gateway' : ''}`);
  return { url: url(name), drop: () => onServer(`drop database ${name} with (force)`) };
}

/** Rows of one statement, on a connection of its own. */
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
