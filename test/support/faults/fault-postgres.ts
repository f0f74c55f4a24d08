import { appendFile, copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/base/db/embedded/embedded-postgres.ts';
import { query } from '../database/database.ts';
import { childrenOf } from '../gateway/process-group.ts';

/**
 * A durable PostgreSQL that ends and hangs in every way. Its connections are made to a socket in
 * its folder.
 */
export class FaultPostgres {
  readonly #dataDir: string;
  #server: EmbeddedPostgres;

  private constructor(dataDir: string, server: EmbeddedPostgres) {
    this.#dataDir = dataDir;
    this.#server = server;
  }

  static async open(dataDir: string): Promise<FaultPostgres> {
    return new FaultPostgres(dataDir, await start(dataDir));
  }

  /** For tests, past any proxy. */
  get url(): string {
    return this.#server.url;
  }

  /** As the gateway reaches it, through a proxy at this port of a host. */
  urlThrough(port: number, host = '127.0.0.1'): string {
    const { user, password } = this.#server.connection;
    return `postgres://${user}:${password}@${host}:${port}/gateway`;
  }

  /** Where it listens. */
  get socket(): { readonly path: string } {
    const { host, port } = this.#server.connection;
    return { path: join(host, `.s.PGSQL.${port}`) };
  }

  rows<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]> {
    return query<Row>(this.url, sql, values);
  }

  /** Ends the postmaster by SIGKILL; its processes follow it. */
  async kill(): Promise<void> {
    process.kill(await this.#postmaster(), 'SIGKILL');
    await this.#server.stop();
  }

  /** In order. */
  async stop(): Promise<void> {
    await this.#server.stop();
  }

  async start(): Promise<void> {
    this.#server = await start(this.#dataDir);
  }

  /** Stops every process of the server where it is, as a machine that hangs does. */
  async hang(): Promise<void> {
    await this.#signal('SIGSTOP');
  }

  async resume(): Promise<void> {
    await this.#signal('SIGCONT');
  }

  /**
   * Ends the sessions of everybody else, and takes every connection that the server has. Returns
   * how to give them back.
   */
  async occupy(): Promise<() => Promise<void>> {
    await this.rows(
      `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    const held: Client[] = [];
    for (;;) {
      const client = new Client({ connectionString: this.url });
      client.on('error', () => {});
      try {
        await client.connect();
      } catch (error) {
        if ((error as { code?: string }).code !== '53300') throw error;
        break;
      }
      held.push(client);
    }
    return async () => {
      await Promise.all(held.map((client) => client.end()));
    };
  }

  /** Whether sessions may write unless they ask for it. */
  async setReadOnly(isReadOnly: boolean): Promise<void> {
    await this.rows(
      `alter system ${isReadOnly ? 'set default_transaction_read_only = on' : 'reset default_transaction_read_only'}`,
    );
    await this.rows('select pg_reload_conf()');
    const wanted = isReadOnly ? 'on' : 'off';
    for (;;) {
      const [row] = await this.rows<{ setting: string }>(
        `select current_setting('default_transaction_read_only') as setting`,
      );
      if (row?.setting === wanted) return;
      await sleep(20);
    }
  }

  /**
   * Starts a standby of this server, of this name. Without a synchronous one the server then
   * acknowledges nothing.
   */
  async standby(
    dataDir: string,
    { name, isSynchronous }: { name: string; isSynchronous: boolean },
  ): Promise<FaultPostgres> {
    await this.stop();
    await mkdir(dataDir, { recursive: true, mode: 0o711 });
    const copy = join(dataDir, 'postgres');
    await cp(join(this.#dataDir, 'postgres'), copy, { recursive: true, preserveTimestamps: true });
    await copyFile(join(this.#dataDir, 'postgres-password'), join(dataDir, 'postgres-password'));
    await this.start();
    const { host, port, user, password } = this.#server.connection;
    await writeFile(join(copy, 'standby.signal'), '');
    await appendFile(
      join(copy, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=${host} port=${port} user=${user} password=${password} application_name=${name}'\n`,
    );
    const standby = await FaultPostgres.open(dataDir);
    if (isSynchronous) await this.rows(`alter system set synchronous_standby_names = '"${name}"'`);
    await this.rows('select pg_reload_conf()');
    for (;;) {
      const [row] = await this.rows(
        `select 1 from pg_stat_replication where application_name = $1 and sync_state = $2 and state = 'streaming'`,
        [name, isSynchronous ? 'sync' : 'async'],
      );
      if (row) return standby;
      await sleep(50);
    }
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.rows('select pg_promote()');
  }

  async #postmaster(): Promise<number> {
    const file = await readFile(join(this.#dataDir, 'postgres', 'postmaster.pid'), 'utf8');
    return Number.parseInt(file, 10);
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    const postmaster = await this.#postmaster();
    // The one that makes processes first, so that none is missed.
    process.kill(postmaster, signal);
    for (const pid of await childrenOf(postmaster)) process.kill(pid, signal);
  }
}

function start(dataDir: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, maxConnections: 100 });
}
